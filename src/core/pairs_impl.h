// The inside of PairEngine, shared by pairs.cpp (rows in, results out) and pairs_join.cpp (the search).
#pragma once

#include <memory>

#include "core/band_join.h"
#include "core/banding.h"
#include "core/pairs.h"
#include "core/row_store.h"
#include "core/spill.h"
#include "core/workspace.h"

namespace neardup {

// Shares of the memory limit; together at most 15/16 of it are held. Rows in memory: rows and keys 5/8, results 1/8,
// groups 1/16. Rows on disk: keys 1/2, candidates 1/8, rows 1/8, results 1/8, groups 1/16.
inline constexpr size_t kHalf = 2;
inline constexpr size_t kQuarter = 4;
inline constexpr size_t kEighth = 8;
inline constexpr size_t kSixteenth = 16;
inline size_t memory_share(const Workspace& ws, size_t part) {
  return ws.limit == SIZE_MAX ? SIZE_MAX : ws.limit / part;
}

// Estimated nanoseconds of a comparison of two rows.
inline size_t compare_units(size_t row_bytes) { return 5 + row_bytes / 64; }

struct PairEngine::Impl {
  using Joined = std::function<bool(uint32_t, uint32_t)>;
  using Sink = std::function<void(uint32_t, uint32_t)>;

  Impl(uint32_t num_perm_, uint32_t bits, uint32_t need_, const EngineOptions& options)
      : ws(options.memory_limit, options.files, options.stop),
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
    const uint64_t h = hash_row(components, row_bytes);
    const uint32_t row = rows.size();
    rows.add(components);
    hashes->add({static_cast<uint32_t>(h >> 32), static_cast<uint32_t>(h), row});
  }

  void search();
  void collapse();
  void confirm_duplicate(uint32_t leader, uint32_t row);
  void expand_groups();
  bool choose_bands(const double* load);
  template <class OnRow>
  void for_each_distinct(OnRow on_row);
  void join_in_memory();
  void join_blocks();
  template <class Visit>
  void join_self(const uint64_t* entries, size_t n, const KeyRows& keys, Visit& visit);
  template <class Pair>
  void join_classes(const uint64_t* bucket, size_t n, const KeyRows& keys, Pair pair);
  void compare_all();
  bool candidate(uint32_t x, uint32_t y);
  bool check_now(uint32_t x, uint32_t y);
  void check_pending();
  void settle_candidates();
  template <class OnPair>
  void visit_sorted(RecordSorter& sorted, OnPair on_pair);
  void found(uint32_t x, uint32_t y, uint32_t matches);
  void emit(uint32_t x, uint32_t y, uint32_t matches);
  void count_matches(const uint32_t* of, uint32_t* matches);
  bool already_joined(uint32_t x, uint32_t y) { return components() && (*joined)(x, y - (two_sets ? count_a : 0)); }
  bool components() const { return sink != nullptr; }
  // With two sets a pair is a row before count_a and one from it on.
  uint32_t distinct_rows() const { return rows.size() - duplicate_count; }

  Workspace ws;
  uint32_t num_perm;
  uint32_t need;
  size_t row_bytes;
  Banding banding;
  RowCompare compare;
  KeyFilter filter;
  Stats stats;

  RowStore rows;  // those of set B after those of set A
  bool two_sets = false;
  uint32_t count_a = 0;
  std::unique_ptr<RecordSorter> hashes;

  const uint32_t* rank_a = nullptr;
  const uint32_t* rank_b = nullptr;
  const Joined* joined = nullptr;
  const Sink* sink = nullptr;

  // Rows equal to an earlier one (their leader) take no part in the search: (row, leader) sorted by row, and for
  // the expansion of pairs leader << 32 | row, sorted.
  std::unique_ptr<RecordSorter> duplicates;
  std::unique_ptr<RecordSorter> groups;
  Array<uint64_t> members;
  Array<uint64_t> leader_bits;  // may say yes for a row that leads nothing
  uint32_t duplicate_count = 0;
  uint32_t duplicate_count_a = 0;

  uint8_t order[Banding::kMostBands];  // all bands by load; the first probes() are joined

  struct Pending {
    uint32_t x;
    uint32_t y;
    const std::byte* row_x;
    const std::byte* row_y;
  };
  static constexpr size_t kPending = 32;
  Pending pending[kPending];
  size_t pending_count = 0;
  std::unique_ptr<RecordSorter> candidates;  // (block of x, y) -> x, where rows lie on disk
  uint32_t block_rows = 1;

  std::unique_ptr<RecordSorter> out;
};

}  // namespace neardup
