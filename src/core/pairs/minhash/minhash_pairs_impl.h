// The inside of MinhashPairs: minhash_pairs.cpp (rows in, candidates compared, results out), minhash_pairs_bands.cpp
// (which bands, and what they cost), minhash_pairs_join.cpp (the join of bands), minhash_pairs_runs.cpp and
// minhash_pairs_blocks.cpp (the same where their keys lie on disk), minhash_pairs_all.cpp (comparing everything).
#pragma once

#include <algorithm>
#include <memory>

#include "core/pairs/banding.h"
#include "core/pairs/equal_rows.h"
#include "core/pairs/minhash/band_join.h"
#include "core/pairs/minhash/minhash_pairs.h"
#include "core/pairs/pair_engine.h"
#include "core/work/parallel.h"
#include "core/work/row_bits.h"
#include "core/work/row_store.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

// Shares of the memory limit; together at most 15/16 of it are held. Rows in memory: rows and keys 5/8, results 1/8,
// groups 1/16. Rows on disk: keys 1/2, candidates 1/8, rows 1/8, results 1/8, groups 1/16.

// Estimated nanoseconds of a comparison of two rows.
inline size_t compare_units(size_t row_bytes) { return 5 + row_bytes / 64; }

// Entries of one band, grouped or sorted by key; their indexes are those of `keys` and `row_of`.
struct JoinList {
  const uint64_t* entries = nullptr;
  size_t n = 0;
  KeyRows keys = {};
  const uint32_t* row_of = nullptr;
};

// The join of one band: the entries of x, grouped by key, with each other, or those of x with those of y, both sorted
// by key.
struct BandJoin {
  JoinList x;
  JoinList y;
  KeyFilter filter;

  bool within() const noexcept { return y.row_of == nullptr; }
  const uint32_t* row_of_y() const noexcept { return within() ? x.row_of : y.row_of; }
};

// Entries of a task of a join.
inline constexpr size_t kJoinTask = 1 << 10;
// Loads are estimated from a sample of at most this many rows.
inline constexpr uint32_t kSampleRows = 1 << 17;
// A bucket of so many rows is a large one.
inline constexpr size_t kDenseBucket = 64;

struct MinhashEngine final : PairEngine {
  MinhashEngine(uint32_t num_perm, uint32_t bits, uint32_t need, const EngineOptions& options);

  // minhash_pairs.cpp
  bool add(const void* components);
  void start_set_b() override;
  uint32_t num_rows() const override { return rows.size(); }
  void clear_rows() override { rows.clear(); }
  std::unique_ptr<PairOutput> make_output() override;
  void find_pairs() override;
  void values_with(const uint32_t* of, uint32_t* matches) override;
  bool set_aside(const void* components);
  void keep_number(uint32_t i, uint32_t row);
  const uint32_t* rank_kept(const uint32_t* rank_b);
  void collapse();
  void confirm_equal(uint32_t leader, uint32_t row);
  void await(uint32_t x, uint32_t y);
  void settle_candidates(bool inside = false);
  template <class OnPair>
  void visit_sorted(RecordSorter& sorted, OnPair on_pair);
  void found_near(uint32_t x, uint32_t y, uint32_t matches);

  // minhash_pairs_bands.cpp
  double cost_on_cpu(const Array<uint32_t>& row_of, uint32_t n_a);
  bool choose_bands(const double* load);
  void make_keys(const Array<uint32_t>& row_of, Array<uint32_t>* keys);
  void estimate_loads(const Array<uint32_t>& keys, uint32_t n, uint32_t n_a, double* load);
  uint32_t bands_at_once(uint32_t n) const;
  bool worth_threads(size_t entries) const;

  // minhash_pairs_join.cpp
  bool join_offloaded();
  void join_in_memory();
  void join(const std::vector<BandJoin>& joins);
  template <class Pair>
  uint64_t join_piece(const BandJoin& join, size_t first, size_t last, HitSink& polls, Pair pair);
  template <class Pair>
  uint64_t join_classes(const BandJoin& join, const uint64_t* bucket, size_t n, HitSink& polls, Pair pair);
  bool leave_dense(const JoinList& list, const uint64_t* bucket, size_t size, HitSink& polls);
  // A near pair that a worker has found: left for found(), or where components are sought joined at once and counted.
  void found_by_worker(uint32_t x, uint32_t y, uint32_t matches, HitSink& hits, uint64_t* joins_made) const;

  // minhash_pairs_runs.cpp
  void join_runs();
  bool choose_bands_by_sample();
  void join_large(const RowBits& large);
  void join_inside(uint32_t count);
  void count_inside(const SearchStats& own);

  // minhash_pairs_blocks.cpp
  void join_blocks();

  // minhash_pairs_all.cpp
  void compare_all();
  void leave_all();
  void compare_in_memory();
  uint32_t list_distinct(uint32_t first, uint32_t last, uint32_t* tile) const;

  // Bytes a row of the join in memory: key vector, row number, two sort entries.
  size_t key_stage_bytes() const { return 4 * size_t{banding.stride()} + 4 + BandEntries::kBytesEach; }
  bool keys_fit(uint32_t n) const { return n <= memory_share(ws, kHalf) / key_stage_bytes(); }
  // Any thread may ask.
  bool already_joined(uint32_t x, uint32_t y) const { return components() && sets->same(x, y); }
  // With two sets a pair is a row before count_a and one from it on.
  uint32_t distinct_rows() const { return rows.size() - equal_rows.count(); }
  uint32_t distinct_rows_of_a() const { return two_sets ? count_a - equal_rows.count_of_a() : distinct_rows(); }
  // on_row(row number) for every row that takes part in the search, ascending.
  template <class OnRow>
  void for_each_distinct(OnRow on_row) {
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (!equal_rows.has(row)) on_row(row);
      ws.poller.spend(2);
    }
  }

  // The same of those that are joined: all of them, or those of large buckets.
  template <class OnRow>
  void for_each_searched(OnRow on_row) {
    for_each_distinct([&](uint32_t row) {
      if (only == nullptr || only->has(row)) on_row(row);
    });
  }

  const bool swapped;
  const uint32_t num_perm;
  const uint32_t need;
  const size_t row_bytes;
  Banding banding;
  RowCompare compare;
  KeyFilter filter;

  RowStore rows;  // those of set B after those of set A
  EqualRows equal_rows;
  uint32_t rows_b = 0;              // added, with those set aside
  std::unique_ptr<KeyBits> keys_a;  // while set B comes: what must be met; null where memory does not allow it
  Array<uint32_t> key_vector;
  Array<uint32_t> kept_b;  // numbers of the rows of B that were kept; empty while all are

  uint8_t order[Banding::kMaxBands];  // all bands by load; the first probes() are joined

  // The rows of large buckets, whose pairs are left out; null where none is.
  RowBits* dense = nullptr;
  // Those that are joined; null: all.
  const RowBits* only = nullptr;

  // Candidates that are compared a few at a time, with their rows on the way.
  class Batch {
   public:
    template <class Found>
    void add(const MinhashEngine& engine, uint32_t x, uint32_t y, HitSink& poller, Found found) {
      Pair& p = pairs_[n_++];
      p = {x, y, engine.rows.row(x), engine.rows.row(y)};
      for (size_t line = 0; line < std::min<size_t>(engine.row_bytes, 1024); line += 64) {
        __builtin_prefetch(p.row_x + line);
        __builtin_prefetch(p.row_y + line);
      }
      if (n_ == kBatchPairs) compare(engine, poller, found);
    }
    template <class Found>
    void compare(const MinhashEngine& engine, HitSink& poller, Found found) {
      compared += n_;
      for (const Pair* p = pairs_; p < pairs_ + n_; ++p) {
        poller.spend(compare_units(engine.row_bytes));
        const uint32_t matches = engine.compare(p->row_x, p->row_y);
        if (matches >= engine.need) found(p->x, p->y, matches);
      }
      n_ = 0;
    }

    // Compares a pair at once.
    template <class Found>
    bool near(const MinhashEngine& engine, uint32_t x, uint32_t y, HitSink& poller, Found found) {
      ++compared;
      poller.spend(compare_units(engine.row_bytes));
      const uint32_t matches = engine.compare(engine.rows.row(x), engine.rows.row(y));
      if (matches < engine.need) return false;
      found(x, y, matches);
      return true;
    }

    uint64_t compared = 0;

   private:
    struct Pair {
      uint32_t x;
      uint32_t y;
      const std::byte* row_x;
      const std::byte* row_y;
    };
    static constexpr size_t kBatchPairs = 32;
    Pair pairs_[kBatchPairs];
    size_t n_ = 0;
  };

  // Takes a pair that passed the key filter. True when it is known at once that the two are joined. on_disk(x, y) where
  // candidates wait.
  template <class OnDisk, class Found>
  bool candidate(uint32_t x, uint32_t y, Batch& to, HitSink& poller, OnDisk on_disk, Found found_here) const {
    if (already_joined(x, y)) return true;
    if (candidates != nullptr) {
      on_disk(x, y);
      return false;
    }
    if (components()) return to.near(*this, x, y, poller, found_here);
    to.add(*this, x, y, poller, found_here);
    return false;
  }

  std::unique_ptr<RecordSorter> candidates;  // (block of x, y) -> x, where rows or keys lie on disk
  uint32_t block_rows = 1;
};

}  // namespace neardup
