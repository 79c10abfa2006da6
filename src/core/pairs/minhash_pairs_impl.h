// The inside of MinhashPairs, shared by minhash_pairs.cpp (rows in, results out) and minhash_pairs_join.cpp (the search).
#pragma once

#include <algorithm>
#include <memory>

#include "core/pairs/band_join.h"
#include "core/pairs/banding.h"
#include "core/pairs/equal_rows.h"
#include "core/pairs/pair_output.h"
#include "core/pairs/minhash_pairs.h"
#include "core/work/parallel.h"
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

// What one band joins: the entries of x, grouped by key, with each other, or those of x with those of y, both sorted by key.
struct BandJoin {
  JoinList x;
  JoinList y;
  KeyFilter filter;

  bool within() const noexcept { return y.row_of == nullptr; }
  const uint32_t* row_of_y() const noexcept { return within() ? x.row_of : y.row_of; }
};

struct MinhashPairs::Impl {
  Impl(uint32_t num_perm_, uint32_t bits, uint32_t need_, const EngineOptions& options)
      : ws(options.memory_limit, options.files, options.stop),
        identical(options.identical),
        swapped(options.swapped),
        offload(options.offload),
        threads(std::clamp(options.threads, 1u, 256u)),
        num_perm(num_perm_),
        need(need_),
        row_bytes(size_t{num_perm_} * bits / 8),
        banding(num_perm_, bits, need_),
        compare(num_perm_, bits),
        filter(banding),
        rows(row_bytes, memory_share(ws, kEighth) / (row_bytes + key_stage_bytes()) * 5, ws),
        hashes(std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws)) {}

  // Bytes a row of the join in memory: key vector, row number, two sort entries.
  size_t key_stage_bytes() const { return 4 * size_t{banding.stride()} + 4 + BandEntries::kBytesEach; }

  void add(const void* components) {
    if (two_sets && set_aside(components)) return;
    const uint64_t h = hash_row(components, row_bytes);
    const uint32_t row = rows.size();
    rows.add(components);
    hashes->add({static_cast<uint32_t>(h >> 32), static_cast<uint32_t>(h), row});
  }

  void start_set_b();
  bool set_aside(const void* components);
  void keep_number(uint32_t i, uint32_t row);
  const uint32_t* rank_kept(const uint32_t* rank_b);

  void search();
  void collapse();
  void confirm_duplicate(uint32_t leader, uint32_t row);
  bool choose_bands(const double* load);
  template <class OnRow>
  void for_each_distinct(OnRow on_row);
  bool join_offloaded();
  double cost_here(const Array<uint32_t>& row_of, uint32_t n_a);
  void join_in_memory();
  bool worth_threads(size_t entries) const;
  void make_keys(const Array<uint32_t>& row_of, Array<uint32_t>* keys);
  void estimate_loads(const Array<uint32_t>& keys, uint32_t n, uint32_t n_a, double* load);
  uint32_t bands_at_once(uint32_t n) const;
  void join(const std::vector<BandJoin>& joins);
  void join_on_threads(const std::vector<BandJoin>& joins);
  void join_blocks();
  template <class Polls, class Pair>
  uint64_t join_piece(const BandJoin& join, size_t first, size_t last, Polls& polls, Pair pair);
  template <class Polls, class Pair>
  uint64_t join_classes(const BandJoin& join, const uint64_t* bucket, size_t n, Polls& polls, Pair pair);
  uint32_t distinct_of(uint32_t first, uint32_t last, uint32_t* tile) const;
  void compare_on_threads();
  void compare_all();
  void await(uint32_t x, uint32_t y);
  // A near pair that a worker has found: left for found(), or where components are sought joined at once and counted.
  void found_by_worker(uint32_t x, uint32_t y, uint32_t matches, HitSink& hits, uint64_t* joins_made) const;
  void check_pending();
  void settle_candidates();
  template <class OnPair>
  void visit_sorted(RecordSorter& sorted, OnPair on_pair);
  void found(uint32_t x, uint32_t y, uint32_t matches);
  void values_with(const uint32_t* of, uint32_t* matches);
  // By any thread.
  bool already_joined(uint32_t x, uint32_t y) const { return components() && sets->same(x, y); }
  bool components() const { return sets != nullptr; }
  // With two sets a pair is a row before count_a and one from it on.
  uint32_t distinct_rows() const { return rows.size() - equal_rows.count(); }

  Workspace ws;
  Identical identical;
  bool swapped;
  PairJoin* offload;
  unsigned threads;
  uint32_t num_perm;
  uint32_t need;
  size_t row_bytes;
  Banding banding;
  RowCompare compare;
  KeyFilter filter;
  SearchStats stats;

  RowStore rows;  // those of set B after those of set A
  bool two_sets = false;
  uint32_t count_a = 0;
  uint32_t rows_b = 0;              // added, with those set aside
  std::unique_ptr<KeyBits> keys_a;  // while set B comes: what must be met; null where memory does not allow it
  Array<uint32_t> key_vector;
  Array<uint32_t> kept_b;  // numbers of the rows of B that were kept; empty while all are
  std::unique_ptr<RecordSorter> hashes;

  const uint32_t* rank_a = nullptr;
  const uint32_t* rank_b = nullptr;
  UnionFind* sets = nullptr;  // where components are sought

  // Rows equal to an earlier one (their leader) take no part in the search.
  EqualRows equal_rows;
  uint32_t duplicate_count_a = 0;

  uint8_t order[Banding::kMaxBands];  // all bands by load; the first probes() are joined

  // Candidates that are compared a few at a time, with their rows on the way.
  class Batch {
   public:
    template <class Polls, class Found>
    void add(const Impl& impl, uint32_t x, uint32_t y, Polls& poller, Found found) {
      Pair& p = pairs_[n_++];
      p = {x, y, impl.rows.row(x), impl.rows.row(y)};
      for (size_t line = 0; line < std::min<size_t>(impl.row_bytes, 1024); line += 64) {
        __builtin_prefetch(p.row_x + line);
        __builtin_prefetch(p.row_y + line);
      }
      if (n_ == kMost) compare(impl, poller, found);
    }
    template <class Polls, class Found>
    void compare(const Impl& impl, Polls& poller, Found found) {
      compared += n_;
      for (const Pair* p = pairs_; p < pairs_ + n_; ++p) {
        poller.spend(compare_units(impl.row_bytes));
        const uint32_t matches = impl.compare(p->row_x, p->row_y);
        if (matches >= impl.need) found(p->x, p->y, matches);
      }
      n_ = 0;
    }

    // Compares a pair at once.
    template <class Polls, class Found>
    bool near(const Impl& impl, uint32_t x, uint32_t y, Polls& poller, Found found) {
      ++compared;
      poller.spend(compare_units(impl.row_bytes));
      const uint32_t matches = impl.compare(impl.rows.row(x), impl.rows.row(y));
      if (matches < impl.need) return false;
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
    static constexpr size_t kMost = 32;
    Pair pairs_[kMost];
    size_t n_ = 0;
  };
  Batch batch;

  // Takes a pair that passed the key filter. True when it is known at once that the two are joined. on_disk(x, y) where rows
  // lie on disk.
  template <class Polls, class OnDisk, class Found>
  bool candidate(uint32_t x, uint32_t y, Batch& to, Polls& poller, OnDisk on_disk, Found found_here) const {
    if (already_joined(x, y)) return true;
    if (!rows.in_memory()) {
      on_disk(x, y);
      return false;
    }
    if (components()) return to.near(*this, x, y, poller, found_here);
    to.add(*this, x, y, poller, found_here);
    return false;
  }

  std::unique_ptr<RecordSorter> candidates;  // (block of x, y) -> x, where rows lie on disk
  uint32_t block_rows = 1;

  std::unique_ptr<PairOutput> out;  // not for components
};

}  // namespace neardup
