// The shell of the engines that find pairs of rows: options and sets of rows in, pairs or components out, statistics.
// An engine adds what is particular to its signatures: how it keeps rows, and how it finds near ones.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/union_find.h"
#include "core/pairs/pair_output.h"
#include "core/pairs/pair_search.h"
#include "core/work/workspace.h"

namespace neardup {

struct PairEngine {
  explicit PairEngine(const EngineOptions& options);
  virtual ~PairEngine() = default;
  PairEngine(const PairEngine&) = delete;
  PairEngine& operator=(const PairEngine&) = delete;

  // As PairSearch has them.
  virtual void start_set_b();
  void run(const uint32_t* ranks_a, const uint32_t* ranks_b);
  size_t next(RowPair* to, size_t max);
  void rewind();
  void run_components(UnionFind& to);
  virtual void values_with(const uint32_t* of, uint32_t* values) = 0;
  const SearchStats& current_stats() noexcept;

  // ---- what an engine adds

  // Rows that are kept, those of set B after those of set A.
  virtual uint32_t num_rows() const = 0;
  virtual void clear_rows() = 0;
  // Called after the last row, where pairs are sought.
  virtual std::unique_ptr<PairOutput> make_output() = 0;
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

 private:
  void search();
};

}  // namespace neardup
