// See bit_search.h. The pigeonhole over blocks with radii: bit_pairs.h.
#include "core/pairs/bits/bit_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/near_values.h"
#include "core/kernels/kernels.h"
#include "core/pairs/bits/bit_plan.h"

namespace neardup {
namespace {

// Tiles of the comparing kernel.
constexpr size_t kTile = 256;
// Estimated nanoseconds: of comparing a word, of going to a bucket.
constexpr double kWordCost = 0.5;
constexpr size_t kBucketCost = 4;
// Keys of a task, and tasks of a thread at the least.
constexpr size_t kTaskKeys = 1024;
constexpr size_t kTasksOfThread = 16;

// Words of a code that tell most unlike codes apart at a distance: of random bits, half the number of them less four
// standard deviations is above it. The others are compared where these are near.
size_t compared_words(size_t words, uint32_t most) noexcept {
  for (size_t n = 1; n < words; n *= 2)
    if (32.0 * static_cast<double>(n) - 4 * std::sqrt(16.0 * static_cast<double>(n)) > most) return n;
  return words;
}

// The search of all blocks, one after the other; each by all threads.
class Search {
 public:
  Search(const BitEntries& e, bool cross, uint32_t most, unsigned threads, Workspace& ws);

  SearchCounts run(const std::function<void(const Hit*, size_t)>& take);

 private:
  struct Worker {
    uint64_t looked = 0;
    uint64_t compared = 0;
    uint32_t found[kTile * kTile];
    std::vector<uint16_t> differing;  // by block
  };

  void sort_by(unsigned block);
  void add_by(size_t first, size_t end, unsigned side);
  void search_keys(Worker& worker, unsigned block, size_t first, size_t end, HitSink& sink) const;
  void compare(Worker& worker, unsigned block, size_t x, size_t x_end, size_t y, size_t y_end, HitSink& sink) const;
  void report(Worker& worker, unsigned block, size_t x, size_t y, HitSink& sink) const;
  bool is_first(Worker& worker, unsigned block, const uint64_t* a, const uint64_t* b) const;
  size_t buckets() const noexcept { return size_t{1} << plan_.key_bits; }

  // Bit strings of all are in e_, those that are compared first lie in the order of their keys.
  const BitEntries& e_;
  const bool cross_;
  const uint32_t most_;
  const size_t compared_words_;
  const unsigned threads_;
  Workspace& ws_;
  BitPlan plan_;
  std::vector<uint16_t> block_of_;  // of a bit; kNoBlock: of none
  std::vector<std::unique_ptr<Worker>> workers_;
  Array<uint32_t> keys_;
  Array<uint32_t> order_;       // entries by key, those of side A first
  Array<uint64_t> sorted_;      // their first words
  std::vector<uint32_t> ends_;  // 2 * key + side: where it ends in order_
  static constexpr uint16_t kNoBlock = UINT16_MAX;
};

Search::Search(const BitEntries& e, bool cross, uint32_t most, unsigned threads, Workspace& ws)
    : e_(e),
      cross_(cross),
      most_(most),
      compared_words_(compared_words(e.words, most)),
      threads_(threads),
      ws_(ws),
      keys_(ws.ledger, e.n),
      order_(ws.ledger, e.n),
      sorted_(ws.ledger, e.n * compared_words_) {
  for (unsigned i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>());
  plan_ = choose_bit_plan(e, cross, most, kWordCost * static_cast<double>(compared_words_), ws.poller);
  block_of_.assign(e.bits, kNoBlock);
  for (size_t i = 0; i < plan_.placed.size(); ++i)
    block_of_[plan_.placed[i]] = static_cast<uint16_t>(i / plan_.key_bits);
  for (const auto& worker : workers_) worker->differing.resize(plan_.blocks);
}

void Search::add_by(size_t first, size_t end, unsigned side) {
  constexpr size_t kCodesBetweenPolls = 1024;
  for (size_t i = first; i < end; ++i) {
    const uint32_t at = ends_[2 * size_t{keys_[i]} + side]++;
    order_[at] = static_cast<uint32_t>(i);
    std::copy_n(e_.code(i), compared_words_, sorted_.data() + at * compared_words_);
    if (i % kCodesBetweenPolls == 0) ws_.poller.spend(kCodesBetweenPolls * 20);
  }
}

void Search::sort_by(unsigned block) {
  constexpr size_t kCodesBetweenPolls = 1024;
  ends_.assign(2 * buckets(), 0);
  for (size_t i = 0; i < e_.n; ++i) {
    keys_[i] = plan_.key(e_.code(i), block);
    ++ends_[2 * size_t{keys_[i]} + (i >= e_.n_a)];
    if (i % kCodesBetweenPolls == 0) ws_.poller.spend(kCodesBetweenPolls * (10 + 2 * plan_.key_bits));
  }
  // A number is where its entries begin, and moves to where they end as they are placed.
  uint32_t begin = 0;
  for (uint32_t& count : ends_) begin += std::exchange(count, begin);
  ws_.poller.spend(2 * buckets());
  add_by(0, e_.n_a, 0);
  add_by(e_.n_a, e_.n, 1);
}

SearchCounts Search::run(const std::function<void(const Hit*, size_t)>& take) {
  for (unsigned block = 0; block < plan_.blocks; ++block) {
    sort_by(block);
    const size_t of_task = std::max<size_t>(1, std::min(kTaskKeys, buckets() / (size_t{threads_} * kTasksOfThread)));
    // All with all: the tasks are tiles of the one bucket.
    const bool all = plan_.key_bits == 0;
    const size_t tasks = all ? (e_.n_a + kTile - 1) / kTile : (buckets() + of_task - 1) / of_task;
    run_tasks(
        threads_, tasks, ws_.poller,
        [&](unsigned worker, size_t task, HitSink& sink) {
          if (!all) {
            search_keys(*workers_[worker], block, task * of_task, std::min(buckets(), (task + 1) * of_task), sink);
            return;
          }
          const size_t x = task * kTile;
          const size_t x_end = std::min(x + kTile, e_.n_a);
          compare(*workers_[worker], block, x, x_end, cross_ ? e_.n_a : x, e_.n, sink);
        },
        take);
  }
  SearchCounts counts;
  counts.brute_force = plan_.key_bits == 0;
  for (const auto& worker : workers_) {
    counts.looked += worker->looked;
    counts.compared += worker->compared;
  }
  return counts;
}

// The pairs of codes with keys first .. end - 1 and those with a key within the block's radius: with one set of two
// buckets once.
void Search::search_keys(Worker& worker, unsigned block, size_t first, size_t end, HitSink& sink) const {
  for (size_t key = first; key < end; ++key) {
    const size_t x = key == 0 ? 0 : ends_[2 * key - 1];
    const size_t x_end = ends_[2 * key];
    sink.spend(2);
    if (x == x_end) continue;
    for_each_flips(plan_.key_bits, plan_.radius_in(block), [&](uint64_t flips) {
      const size_t other = key ^ flips;
      sink.spend(kBucketCost);
      if (!cross_ && other < key) return;
      const size_t side_a = other == 0 ? 0 : ends_[2 * other - 1];
      const size_t y = cross_ ? ends_[2 * other] : side_a;
      const size_t y_end = cross_ ? ends_[2 * other + 1] : ends_[2 * other];
      if (y != y_end) compare(worker, block, x, x_end, y, y_end, sink);
    });
  }
}

// Codes x .. x_end - 1 of the order with y .. y_end - 1; of those that are in both each pair once.
void Search::compare(Worker& worker, unsigned block, size_t x, size_t x_end, size_t y, size_t y_end,
                     HitSink& sink) const {
  const auto near_codes = kernels().near_codes;
  for (size_t i = x; i < x_end; i += kTile) {
    const size_t n_i = std::min(kTile, x_end - i);
    for (size_t j = x == y ? i : y; j < y_end; j += kTile) {
      const size_t n_j = std::min(kTile, y_end - j);
      const bool triangle = i == j;
      const size_t looks = triangle ? n_i * (n_i - 1) / 2 : n_i * n_j;
      worker.looked += looks;
      sink.spend(looks * compared_words_ / 2 + 4);
      const size_t found = near_codes(sorted_.data() + i * compared_words_, n_i, sorted_.data() + j * compared_words_,
                                      n_j, compared_words_, triangle, most_, worker.found);
      for (size_t k = 0; k < found; ++k)
        report(worker, block, i + (worker.found[k] >> 16), j + (worker.found[k] & 0xffff), sink);
    }
  }
}

// x, y: places in the order.
void Search::report(Worker& worker, unsigned block, size_t x, size_t y, HitSink& sink) const {
  ++worker.compared;
  const uint32_t a = order_[x];
  const uint32_t b = order_[y];
  const size_t distance = kernels().count_differing(reinterpret_cast<const uint8_t*>(e_.code(a)),
                                                    reinterpret_cast<const uint8_t*>(e_.code(b)), e_.words * 8);
  sink.spend(20 + e_.words);
  if (distance > most_ || !is_first(worker, block, e_.code(a), e_.code(b))) return;
  sink.add(e_.rows[a], e_.rows[b], static_cast<uint32_t>(distance));
}

// True if the pair is within the radius in no block before this one: it counts in the first.
bool Search::is_first(Worker& worker, unsigned block, const uint64_t* a, const uint64_t* b) const {
  if (block == 0) return true;
  std::fill_n(worker.differing.data(), block, 0);
  for (size_t w = 0; w < e_.words; ++w) {
    for (uint64_t difference = a[w] ^ b[w]; difference != 0; difference &= difference - 1) {
      const uint16_t of = block_of_[w * 64 + static_cast<size_t>(std::countr_zero(difference))];
      if (of < block) ++worker.differing[of];
    }
  }
  for (unsigned before = 0; before < block; ++before)
    if (worker.differing[before] <= plan_.radius_in(before)) return false;
  return true;
}

}  // namespace

size_t bit_search_bytes(size_t words, uint32_t most) noexcept {
  return 2 * sizeof(uint32_t) + compared_words(words, most) * sizeof(uint64_t);
}

SearchCounts search_bits(const BitEntries& e, bool cross, uint32_t most, unsigned threads, Workspace& ws,
                         const std::function<void(const Hit*, size_t)>& take) {
  return Search(e, cross, most, threads, ws).run(take);
}

}  // namespace neardup
