// The results of a search: rows with equal signatures expanded or left out, rows renamed, pairs in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/pairs/pair_search.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

// Rows are numbered through, those of set B after those of set A. Of rows with equal signatures within a set one, the
// leader, takes part in the search. Holds at most 5/16 of the memory limit.
class PairOutput {
 public:
  // identical_value: of a pair of equal rows. With one set count_a is the number of rows.
  PairOutput(Identical identical, uint32_t identical_value, bool two_sets, uint32_t count_a, const uint32_t* rank_a,
             const uint32_t* rank_b, Workspace& ws);

  // Where equal rows do not all have one value: what a row and its equals have, or kNotNear. Called by finish(), rows
  // of one group one after the other.
  void set_identical_value(std::function<uint32_t(uint32_t row)> value) { identical_value_of_ = std::move(value); }

  // Pairs of two sets are reported as (row of set B, row of set A).
  void report_swapped() { swapped_ = true; }

  // Pairs of one set are reported as they are added, and those of equal rows both ways.
  void report_directed() { directed_ = true; }

  // Called before the search: `row` has the signature of `leader`, of the same set. False where there is no memory for
  // it: then the row must take part in the search (never with star or none).
  bool add_equal(uint32_t leader, uint32_t row);
  void finish_equal();

  // A pair of leaders, x before y (x of set A; of directed pairs in their direction). identical: of two sets, with
  // equal signatures.
  void add(uint32_t x, uint32_t y, uint32_t value, bool identical);

  void finish();

  size_t next(RowPair* out, size_t max);
  void rewind() { out_->rewind(); }

  uint64_t found() const noexcept { return found_; }
  uint64_t left_out() const noexcept { return left_out_; }

 private:
  uint32_t rank(uint32_t row) const noexcept;
  void emit(uint32_t x, uint32_t y, uint32_t value);
  void emit_equal(uint32_t x, uint32_t y, uint32_t value);
  uint32_t identical_value(uint32_t row) const {
    return identical_value_of_ ? identical_value_of_(row) : identical_value_;
  }
  void first_of_groups();
  std::pair<size_t, size_t> group(uint32_t leader) const noexcept;

  Workspace& ws_;
  Identical identical_;
  uint32_t identical_value_;
  std::function<uint32_t(uint32_t)> identical_value_of_;  // may be empty
  bool two_sets_;
  bool swapped_ = false;
  bool directed_ = false;
  uint32_t count_a_;
  const uint32_t* rank_a_;
  const uint32_t* rank_b_;
  uint64_t found_ = 0;
  uint64_t left_out_ = 0;
  std::unique_ptr<RecordSorter> groups_;
  std::unique_ptr<RecordSorter> star_;  // (first, other) of equal rows, until it is known whether they match
  Array<uint64_t> members_;      // leader << 32 | row: its equals; with star and none: the one that stands for it
  Array<uint64_t> leader_bits_;  // may say yes for a row that leads nothing
  std::unique_ptr<RecordSorter> out_;
};

}  // namespace neardup
