// The inside of MinhashPairs, shared by pairs.cpp (rows in, results out) and pairs_join.cpp (the search).
#pragma once

#include <algorithm>
#include <memory>

#include "core/band_join.h"
#include "core/banding.h"
#include "core/equal_rows.h"
#include "core/pair_output.h"
#include "core/pairs.h"
#include "core/row_store.h"
#include "core/spill.h"
#include "core/workspace.h"

namespace neardup {

// Shares of the memory limit; together at most 15/16 of it are held. Rows in memory: rows and keys 5/8, results 1/8,
// groups 1/16. Rows on disk: keys 1/2, candidates 1/8, rows 1/8, results 1/8, groups 1/16.
// Estimated nanoseconds of a comparison of two rows.
inline size_t compare_units(size_t row_bytes) { return 5 + row_bytes / 64; }

// Entries of one band, grouped or sorted by key; their indexes are those of `keys` and `row_of`.
struct JoinList {
  const uint64_t* entries;
  size_t n;
  KeyRows keys;
  const uint32_t* row_of;
};

struct MinhashPairs::Impl {
  Impl(uint32_t num_perm_, uint32_t bits, uint32_t need_, const EngineOptions& options)
      : ws(options.memory_limit, options.files, options.stop),
        identical(options.identical),
        swapped(options.swapped),
        elsewhere(options.elsewhere),
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
  size_t key_stage_bytes() const { return 4 * size_t{banding.stride()} + 4 + 16; }

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
  bool join_elsewhere();
  void join_in_memory();
  bool worth_threads(size_t entries) const;
  void join_on_threads(const JoinList& x, const JoinList* y);
  void join_within(const JoinList& x);
  void join_between(const JoinList& x, const JoinList& y);
  void join_blocks();
  template <class Visit>
  void join_self(const uint64_t* entries, size_t n, const KeyRows& keys, const Visit& visit);
  template <class Pair>
  void join_classes(const uint64_t* bucket, size_t n, const KeyRows& keys, Pair pair);
  uint32_t distinct_of(uint32_t first, uint32_t last, uint32_t* tile) const;
  void compare_on_threads();
  void compare_all();
  bool candidate(uint32_t x, uint32_t y);
  bool check_now(uint32_t x, uint32_t y);
  void check_pending();
  void settle_candidates();
  template <class OnPair>
  void visit_sorted(RecordSorter& sorted, OnPair on_pair);
  void found(uint32_t x, uint32_t y, uint32_t matches);
  void values_with(const uint32_t* of, uint32_t* matches);
  bool already_joined(uint32_t x, uint32_t y) { return components() && (*joined)(x, two_sets ? row_of_b(y) : y); }
  // The row of set B, as it was added.
  uint32_t row_of_b(uint32_t row) const { return stats.set_aside == 0 ? row - count_a : kept_b[row - count_a]; }
  bool components() const { return sink != nullptr; }
  // With two sets a pair is a row before count_a and one from it on.
  uint32_t distinct_rows() const { return rows.size() - equal_rows.count(); }

  Workspace ws;
  Identical identical;
  bool swapped;
  PairJoin* elsewhere;
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
  const Joined* joined = nullptr;
  const Sink* sink = nullptr;

  // Rows equal to an earlier one (their leader) take no part in the search.
  EqualRows equal_rows;
  uint32_t duplicate_count_a = 0;

  uint8_t order[Banding::kMostBands];  // all bands by load; the first probes() are joined

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
  std::unique_ptr<RecordSorter> candidates;  // (block of x, y) -> x, where rows lie on disk
  uint32_t block_rows = 1;

  std::unique_ptr<PairOutput> out;  // not for components
};

}  // namespace neardup
