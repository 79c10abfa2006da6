// See blocked_pairs.h. One external sort per key brings equal hashes together; one of all pairs brings pairs that agree
// in several keys together, and gives the order of the result.
#include "core/pairs/blocked_pairs.h"

#include <algorithm>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/hash.h"

namespace neardup {
namespace {

constexpr uint32_t kSetB = uint32_t{1} << 31;
constexpr uint64_t kMaxBlockedRows = uint64_t{1} << 31;
constexpr size_t kFirstBlockedRows = 1024;
// Nanoseconds to make a pair, for polls.
constexpr size_t kBlockedPairCost = 5;

uint64_t pair_count(const OversizedBlock& block, bool two_sets) noexcept {
  // Below 2^62: a set has 2^31 rows at most.
  return two_sets ? block.rows_a * block.rows_b : block.rows_a * (block.rows_a - 1) / 2;
}

struct Larger {
  bool two_sets;
  bool operator()(const OversizedBlock& x, const OversizedBlock& y) const noexcept {
    const uint64_t p = pair_count(x, two_sets), q = pair_count(y, two_sets);
    return p != q ? p > q : x.key != y.key ? x.key < y.key : x.hash < y.hash;
  }
};

uint64_t add_saturating(uint64_t a, uint64_t b) noexcept { return a + b < a ? UINT64_MAX : a + b; }

void put(Array<uint32_t>& rows, size_t n, uint32_t row, Workspace& ws) {
  if (n == rows.size()) resize_polled(&rows, std::max(kFirstBlockedRows, 2 * n), n, ws.ledger, ws.poller);
  rows[n] = row;
}

}  // namespace

uint64_t block_hash(const void* data, size_t size) noexcept { return XXH3_64bits(data, size); }
uint64_t block_hash(uint64_t number) noexcept { return mix64(number); }

BlockedPairs::BlockedPairs(uint32_t keys, const BlockOptions& options)
    : options_(options), ws_(options.memory_limit, options.files, options.stop) {
  if (keys == 0 || keys > kMaxBlockKeys)
    throw Error(Errc::invalid_argument,
                "number of keys must be 1 to " + std::to_string(kMaxBlockKeys) + ": " + std::to_string(keys));
  if (options.max_block == 0 || options.max_block > kMaxBlockRows)
    throw Error(Errc::invalid_argument,
                "max_block must be 1 to " + std::to_string(kMaxBlockRows) + ": " + std::to_string(options.max_block));
  // One half for the entries, the other for the pairs: both are there while keys are swept.
  const size_t each = ws_.limit == SIZE_MAX ? SIZE_MAX : memory_share(ws_, kHalf) / keys;
  for (uint32_t k = 0; k < keys; ++k) entries_.push_back(std::make_unique<RecordSorter>(each, ws_));
}

void BlockedPairs::add(const uint64_t* hashes, uint64_t present) {
  if (rows_ == kMaxBlockedRows) throw Error(Errc::too_large, "more than 2147483648 rows");
  const uint32_t row = static_cast<uint32_t>(rows_++) | (two_sets_ ? kSetB : 0);
  ++stats_.rows;
  for (uint32_t k = 0; k < entries_.size(); ++k) {
    if ((present >> k & 1) == 0) continue;
    entries_[k]->add({static_cast<uint32_t>(hashes[k] >> 32), static_cast<uint32_t>(hashes[k]), row});
    ++stats_.entries;
  }
  ws_.poller.spend(20 * entries_.size());
}

void BlockedPairs::start_set_b() {
  two_sets_ = true;
  rows_ = 0;
}

void BlockedPairs::run(const uint32_t* rank_a, const uint32_t* rank_b) {
  pairs_ = std::make_unique<RecordSorter>(memory_share(ws_, kHalf), ws_);
  sweep(rank_a, rank_b, true);
  block_a_ = {};
  block_b_ = {};
  pairs_->finish();
  has_ahead_ = pairs_->next(&ahead_);
}

void BlockedPairs::sweep(const uint32_t* rank_a, const uint32_t* rank_b, bool emit) {
  const uint32_t keys = static_cast<uint32_t>(entries_.size());
  for (uint32_t k = 0; k < keys; ++k) {
    ws_.poller.steps(k, keys);
    sweep_key(k, rank_a, rank_b, emit);
    entries_[k].reset();
  }
  std::sort(oversized_.begin(), oversized_.end(), Larger{two_sets_});
}

void BlockedPairs::sweep_key(uint32_t key, const uint32_t* rank_a, const uint32_t* rank_b, bool emit) {
  RecordSorter& entries = *entries_[key];
  entries.finish();
  const uint64_t most = options_.max_block;
  SortRecord entry;
  bool more = entries.next(&entry);
  while (more) {
    const uint64_t hash = entry.key();
    uint64_t na = 0, nb = 0;
    do {
      // The sort is stable: the rows of a block come set A first, each set in the order of its numbers.
      const bool b = (entry.value & kSetB) != 0;
      uint64_t& n = b ? nb : na;
      if (emit && n < most) put(b ? block_b_ : block_a_, n, entry.value & ~kSetB, ws_);
      ++n;
      ws_.poller.spend(10);
      more = entries.next(&entry);
    } while (more && entry.key() == hash);
    if (two_sets_ ? na == 0 || nb == 0 : na < 2) continue;
    if (na > most || nb > most) {
      keep({key, hash, na, nb});
      continue;
    }
    ++stats_.blocks;
    if (emit) emit_block(key, rank_a, rank_b, na, nb);
  }
}

void BlockedPairs::emit_block(uint32_t key, const uint32_t* rank_a, const uint32_t* rank_b, size_t na, size_t nb) {
  for (size_t i = 0; i < na; ++i) {
    const uint32_t a = rank_a == nullptr ? block_a_[i] : rank_a[block_a_[i]];
    const size_t first = two_sets_ ? 0 : i + 1;
    const size_t last = two_sets_ ? nb : na;
    for (size_t j = first; j < last; ++j) {
      const uint32_t row = two_sets_ ? block_b_[j] : block_a_[j];
      const uint32_t* const rank = two_sets_ ? rank_b : rank_a;
      const uint32_t b = rank == nullptr ? row : rank[row];
      pairs_->add(two_sets_ || a < b ? SortRecord{a, b, key} : SortRecord{b, a, key});
      ws_.poller.spend(kBlockedPairCost);
    }
    stats_.emitted += last - first;
  }
}

void BlockedPairs::keep(const OversizedBlock& block) {
  ++stats_.oversized;
  stats_.oversized_pairs = add_saturating(stats_.oversized_pairs, pair_count(block, two_sets_));
  if (options_.listed == 0) return;
  const Larger larger{two_sets_};
  if (oversized_.size() == options_.listed) {
    if (!larger(block, oversized_.front())) return;
    std::pop_heap(oversized_.begin(), oversized_.end(), larger);
    oversized_.pop_back();
  }
  oversized_.push_back(block);
  std::push_heap(oversized_.begin(), oversized_.end(), larger);
}

size_t BlockedPairs::next(BlockedPair* out, size_t max) {
  size_t n = 0;
  while (n < max && has_ahead_) {
    const SortRecord first = ahead_;
    uint64_t keys = 0;
    do {
      keys |= uint64_t{1} << ahead_.value;
      has_ahead_ = pairs_->next(&ahead_);
    } while (has_ahead_ && ahead_.key() == first.key());
    out[n++] = {first.hi, first.lo, keys};
    ws_.poller.spend(20);
  }
  return n;
}

const BlockStats& BlockedPairs::stats() noexcept {
  stats_.spilled_bytes = ws_.spilled_bytes;
  stats_.peak_bytes = ws_.ledger.peak();
  return stats_;
}

}  // namespace neardup
