// PairEngine: rows in, equal rows collapsed, candidates compared, pairs out in order. The search is in pairs_join.cpp.
#include "core/pairs.h"

#include <algorithm>
#include <bit>

#include "core/pairs_impl.h"

namespace neardup {
namespace {

// Components: candidates that wait on disk are settled in batches of this many, so that joined() can spare the rest.
constexpr uint64_t kComponentBatch = 1 << 20;

}  // namespace

// ---------------------------------------------------------------- equal rows

// Rows equal to an earlier row of the same set, found by hash and verified. A row that a hash collision or the
// memory limit keeps from its leader stays in the search: that costs time, nothing else.
void PairEngine::Impl::collapse() {
  hashes->finish();
  duplicates = std::make_unique<RecordSorter>(memory_share(ws, kSixteenth), ws);
  groups = std::make_unique<RecordSorter>(memory_share(ws, kSixteenth), ws);
  RecordSorter suspects(memory_share(ws, kEighth), ws);
  SortRecord r;
  uint64_t hash = 0;
  uint32_t leader[2];
  bool known[2] = {false, false};
  while (hashes->next(&r)) {
    ws.poller.spend(4);
    const unsigned set = two_sets && r.value >= count_a;
    if (r.key() != hash) known[0] = known[1] = false;
    hash = r.key();
    if (!known[set]) {
      known[set] = true;
      leader[set] = r.value;
    } else if (rows.in_memory()) {
      ws.poller.spend(row_bytes / 4);
      if (std::memcmp(rows.row(leader[set]), rows.row(r.value), row_bytes) == 0)
        confirm_duplicate(leader[set], r.value);
    } else {
      suspects.add({leader[set] / block_rows, r.value, leader[set]});
    }
  }
  hashes.reset();
  suspects.finish();
  visit_sorted(suspects, [this](uint32_t x, uint32_t y, const std::byte* row_x, const std::byte* row_y) {
    if (std::memcmp(row_x, row_y, row_bytes) == 0) confirm_duplicate(x, y);
  });
  duplicates->finish();
  groups->finish();
  if (groups->size() != 0) {
    members = Array<uint64_t>(ws.ledger, groups->size());
    const size_t words = std::bit_ceil(std::min(members.size() / 8 + 8, memory_share(ws, kSixteenth) / 16));
    leader_bits = Array<uint64_t>(ws.ledger, words);
    std::fill(leader_bits.data(), leader_bits.data() + words, 0);
    for (size_t i = 0; groups->next(&r); ++i) {
      members[i] = r.key();
      leader_bits[r.hi >> 6 & (words - 1)] |= uint64_t{1} << (r.hi & 63);
    }
  }
  groups.reset();
}

void PairEngine::Impl::confirm_duplicate(uint32_t leader, uint32_t row) {
  if (components()) {
    (*sink)(leader, row);
  } else {
    if (groups->size() == memory_share(ws, kSixteenth) / sizeof(uint64_t)) return;
    groups->add({leader, row, 0});
  }
  duplicates->add({0, row, leader});
  ++duplicate_count;
  duplicate_count_a += row < count_a;
}

// The pairs inside each group of equal rows.
void PairEngine::Impl::expand_groups() {
  if (two_sets) return;
  for (size_t first = 0; first < members.size();) {
    const uint32_t leader = static_cast<uint32_t>(members[first] >> 32);
    size_t last = first;
    for (; last < members.size() && members[last] >> 32 == leader; ++last) {
      const uint32_t row = static_cast<uint32_t>(members[last]);
      emit(leader, row, num_perm);
      for (size_t i = first; i < last; ++i) emit(static_cast<uint32_t>(members[i]), row, num_perm);
    }
    first = last;
  }
}

// ---------------------------------------------------------------- results

void PairEngine::Impl::emit(uint32_t x, uint32_t y, uint32_t matches) {
  ws.poller.spend(4);
  if (two_sets) y -= count_a;
  const uint32_t* ranks_of_y = two_sets ? rank_b : rank_a;
  if (rank_a != nullptr) x = rank_a[x];
  if (ranks_of_y != nullptr) y = ranks_of_y[y];
  if (!two_sets && x > y) std::swap(x, y);
  out->add({x, y, matches});
  ++stats.found;
}

// A pair of rows that stand for their groups: the pair of every row of one and every row of the other.
void PairEngine::Impl::found(uint32_t x, uint32_t y, uint32_t matches) {
  if (components()) {
    ++stats.found;
    (*sink)(x, two_sets ? y - count_a : y);
    return;
  }
  const auto group = [this](uint32_t leader) -> std::pair<size_t, size_t> {
    const size_t words = leader_bits.size();
    const uint64_t word = words == 0 ? 0 : leader_bits[leader >> 6 & (words - 1)];
    if ((word >> (leader & 63) & 1) == 0) return {0, 0};
    const auto at = [this](uint64_t from) {
      const uint64_t* begin = members.data();
      return static_cast<size_t>(std::lower_bound(begin, begin + members.size(), from) - begin);
    };
    return {at(static_cast<uint64_t>(leader) << 32), at((static_cast<uint64_t>(leader) + 1) << 32)};
  };
  const auto [x_first, x_last] = group(x);
  const auto [y_first, y_last] = group(y);
  for (size_t i = x_first; i <= x_last; ++i) {
    const uint32_t row_x = i == x_last ? x : static_cast<uint32_t>(members[i]);
    for (size_t j = y_first; j <= y_last; ++j)
      emit(row_x, j == y_last ? y : static_cast<uint32_t>(members[j]), matches);
  }
}

// ---------------------------------------------------------------- candidates

// Takes a pair that passed the key filter. True when it is known at once that the two are joined.
bool PairEngine::Impl::candidate(uint32_t x, uint32_t y) {
  if (already_joined(x, y)) return true;
  if (!rows.in_memory()) {
    candidates->add({x / block_rows, y, x});
    if (components() && candidates->size() == kComponentBatch) settle_candidates();
    return false;
  }
  if (components()) return check_now(x, y);
  Pending& p = pending[pending_count++];
  p = {x, y, rows.row(x), rows.row(y)};
  for (size_t line = 0; line < std::min<size_t>(row_bytes, 1024); line += 64) {
    __builtin_prefetch(p.row_x + line);
    __builtin_prefetch(p.row_y + line);
  }
  if (pending_count == kPending) check_pending();
  return false;
}

bool PairEngine::Impl::check_now(uint32_t x, uint32_t y) {
  ++stats.compared;
  ws.poller.spend(compare_units(row_bytes));
  const uint32_t matches = compare(rows.row(x), rows.row(y));
  if (matches < need) return false;
  found(x, y, matches);
  return true;
}

void PairEngine::Impl::check_pending() {
  stats.compared += pending_count;
  for (size_t i = 0; i < pending_count; ++i) {
    ws.poller.spend(compare_units(row_bytes));
    const uint32_t matches = compare(pending[i].row_x, pending[i].row_y);
    if (matches >= need) found(pending[i].x, pending[i].y, matches);
  }
  pending_count = 0;
}

// Reads the rows of sorted (block of x, y) -> x records: a block of x at a time, y ascending.
template <class OnPair>
void PairEngine::Impl::visit_sorted(RecordSorter& sorted, OnPair on_pair) {
  if (sorted.size() == 0) return;
  Array<std::byte> block(ws.ledger, block_rows * row_bytes);
  Array<std::byte> other(ws.ledger, row_bytes);
  uint32_t loaded = UINT32_MAX;
  uint32_t other_row = UINT32_MAX;
  SortRecord r;
  while (sorted.next(&r)) {
    const uint32_t first = r.hi * block_rows;
    if (r.hi != loaded) {
      rows.read(first, std::min(block_rows, rows.size() - first), block.data());
      loaded = r.hi;
    }
    const std::byte* row_y = other.data();
    if (r.lo - first < block_rows) {
      row_y = block.data() + (r.lo - first) * row_bytes;
    } else if (r.lo != other_row) {
      rows.read(r.lo, 1, other.data());
      other_row = r.lo;
    }
    ws.poller.spend(compare_units(row_bytes));
    on_pair(r.value, r.lo, block.data() + (r.value - first) * row_bytes, row_y);
  }
}

// Compares the candidates that wait on disk.
void PairEngine::Impl::settle_candidates() {
  candidates->finish();
  visit_sorted(*candidates, [this](uint32_t x, uint32_t y, const std::byte* row_x, const std::byte* row_y) {
    if (already_joined(x, y)) return;
    ++stats.compared;
    const uint32_t matches = compare(row_x, row_y);
    if (matches >= need) found(x, y, matches);
  });
  candidates = std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws);
}

// ---------------------------------------------------------------- the whole

void PairEngine::Impl::search() {
  stats.rows = rows.size();
  if (!two_sets) count_a = rows.size();
  if (!components()) out = std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws);
  if (count_a != 0 && (!two_sets || count_a != rows.size())) {
    block_rows =
        rows.in_memory() ? 1 : static_cast<uint32_t>(std::max<size_t>(1, memory_share(ws, kEighth) / row_bytes));
    // Equal rows of one set are no pair of two sets, so there components must not run through them.
    if (components() ? !two_sets : banding.usable()) collapse();
    hashes.reset();
    stats.distinct = distinct_rows();
    if (banding.usable()) {
      if (!rows.in_memory()) candidates = std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws);
      const bool keys_fit = distinct_rows() <= memory_share(ws, kHalf) / key_stage_bytes();
      keys_fit ? join_in_memory() : join_blocks();
      if (candidates != nullptr) settle_candidates();
      candidates.reset();
    } else {
      compare_all();
    }
  }
  if (!components()) {
    expand_groups();
    out->finish();
  }
}

void PairEngine::Impl::count_matches(const uint32_t* of, uint32_t* matches) {
  const uint32_t n = rows.size();
  std::fill(matches, matches + n, num_perm);
  if (rows.in_memory()) {
    for (uint32_t i = 0; i < n; ++i) {
      if (of[i] != i) matches[i] = compare(rows.row(i), rows.row(of[i]));
      ws.poller.spend(2 * compare_units(row_bytes));
    }
    return;
  }
  const uint32_t block = static_cast<uint32_t>(std::clamp<size_t>(memory_share(ws, kHalf) / row_bytes, 1, n));
  Array<std::byte> block_of(ws.ledger, block * row_bytes);
  Array<std::byte> other(ws.ledger, row_bytes);
  for (uint32_t first = 0; first < n; first += block) {
    const uint32_t count = std::min(block, n - first);
    bool loaded = false;
    for (uint32_t i = 0; i < n; ++i) {
      ws.poller.spend(2);
      if (of[i] == i || of[i] - first >= count) continue;
      if (!loaded) rows.read(first, count, block_of.data());
      loaded = true;
      rows.read(i, 1, other.data());
      matches[i] = compare(other.data(), block_of.data() + (of[i] - first) * row_bytes);
      ws.poller.spend(compare_units(row_bytes));
    }
  }
}

PairEngine::PairEngine(uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options) {
  check_engine_parameters(num_perm, bits, need);
  impl_ = std::make_unique<Impl>(num_perm, bits, need, options);
}

PairEngine::~PairEngine() = default;

void PairEngine::add(const void* components) { impl_->add(components); }

void PairEngine::start_set_b() {
  impl_->two_sets = true;
  impl_->count_a = impl_->rows.size();
}

void PairEngine::run(const uint32_t* rank_a, const uint32_t* rank_b) {
  impl_->rank_a = rank_a;
  impl_->rank_b = rank_b;
  impl_->search();
  impl_->rows.clear();
}

size_t PairEngine::next(MatchPair* out, size_t max) {
  size_t n = 0;
  SortRecord r;
  for (; n < max && impl_->out != nullptr && impl_->out->next(&r); ++n) out[n] = {r.hi, r.lo, r.value};
  return n;
}

void PairEngine::run_components(const std::function<bool(uint32_t, uint32_t)>& joined,
                                const std::function<void(uint32_t, uint32_t)>& sink) {
  impl_->joined = &joined;
  impl_->sink = &sink;
  impl_->search();
}

void PairEngine::count_matches(const uint32_t* of, uint32_t* matches) { impl_->count_matches(of, matches); }

const PairEngine::Stats& PairEngine::stats() const noexcept {
  impl_->stats.spilled_bytes = impl_->ws.spilled_bytes;
  impl_->stats.peak_bytes = impl_->ws.ledger.peak();
  return impl_->stats;
}

}  // namespace neardup
