// The shell of the engines that find pairs of rows: options and sets of rows in, pairs or components out, statistics.
// An engine adds what is particular to its signatures: how it keeps rows, and how it finds near ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/base/union_find.h"
#include "core/pairs/pair_output.h"
#include "core/pairs/pair_search.h"
#include "core/work/parallel.h"
#include "core/work/row_store.h"
#include "core/work/workspace.h"

namespace neardup {

struct PairEngine {
  explicit PairEngine(const EngineOptions& options);
  virtual ~PairEngine() = default;
  PairEngine(const PairEngine&) = delete;
  PairEngine& operator=(const PairEngine&) = delete;

  // As PairSearch has them.
  virtual void start_set_b();
  virtual void values_with(const uint32_t* of, uint32_t* values) = 0;
  // The search of PairSearch::run() and run_components().
  void search();

  // ---- what an engine adds

  // Rows that are kept, those of set B after those of set A.
  virtual uint32_t num_rows() const = 0;
  virtual void clear_rows() = 0;
  // Called after the last row, where pairs are sought.
  virtual std::unique_ptr<PairOutput> make_output();
  // Unites equal rows, then finds the pairs of what is left. There are rows, with two sets of both.
  virtual void find_pairs() = 0;

  // ---- what the engines share

  bool components() const noexcept { return sets != nullptr; }
  // `row` has the signature of `leader`, an earlier row of its set. False where memory does not allow to note that:
  // then the row takes part in the search.
  bool unite_equal(uint32_t leader, uint32_t row);
  // Called after the last unite_equal().
  void finish_equal();
  // Takes a near pair, x before y (x of set A). identical: of two sets, with equal signatures.
  void found(uint32_t x, uint32_t y, uint32_t value, bool identical);
  // True if the offload may be asked to join the rows. Those that do not fit in memory it cannot have; it throws where
  // only the device will do.
  bool may_offload(bool in_memory);
  void count(const SearchCounts& counts) noexcept;
  // Takes near pairs whose value is a distance, those of set A first. With one set, blocks are in no order of rows.
  void found_at_distance(const Hit* hits, size_t n);
  // values[i] = value(row i, row of[i]) by the bytes of rows, which cost `units` each; `own` where of[i] is i. On disk,
  // rows `of` are read a block at a time, and the others one by one, or in batches where they are narrow.
  template <class Value>
  void values_of_rows(RowStore& rows, const uint32_t* of, size_t units, uint32_t* values, uint32_t own, Value value) {
    constexpr size_t kNarrowBytes = 64;
    const uint32_t n = rows.size();
    std::fill(values, values + n, own);
    if (rows.in_memory()) {
      for (uint32_t i = 0; i < n; ++i) {
        if (of[i] != i) values[i] = value(rows.row(i), rows.row(of[i]));
        ws.poller.spend(units);
      }
      return;
    }
    const size_t bytes = rows.row_bytes();
    const auto block_rows = static_cast<uint32_t>(std::clamp<size_t>(memory_share(ws, kQuarter) / bytes, 1, n));
    Array<std::byte> block(ws.ledger, block_rows * bytes);
    RowReader others(rows, bytes <= kNarrowBytes ? memory_share(ws, kSixteenth) : bytes, ws);
    for (uint32_t first = 0; first < n; first += block_rows) {
      const uint32_t count = std::min(block_rows, n - first);
      bool loaded = false;
      for (uint32_t i = 0; i < n; ++i) {
        ws.poller.spend(2);
        if (of[i] == i || of[i] - first >= count) continue;
        if (!loaded) rows.read(first, count, block.data());
        loaded = true;
        const std::byte* row = i - first < count ? block.data() + (i - first) * bytes : others.row(i);
        values[i] = value(row, block.data() + (of[i] - first) * bytes);
        ws.poller.spend(units);
      }
    }
  }

  Workspace ws;
  const Identical identical;
  PairJoin* const offload;
  const unsigned threads;
  SearchStats stats;

  bool two_sets = false;
  uint32_t count_a = 0;  // rows of set A; with one set, all of them once they are searched
  const uint32_t* rank_a = nullptr;
  const uint32_t* rank_b = nullptr;
  UnionFind* sets = nullptr;        // where components are sought
  std::unique_ptr<PairOutput> out;  // where pairs are
};

}  // namespace neardup
