// Rows with equal signatures, found by the hashes of their bytes: what engines do before they search.
#pragma once

#include <cstdint>
#include <memory>

#include "core/work/row_bits.h"
#include "core/work/spill.h"
#include "core/work/workspace.h"

namespace neardup {

// Sorts records, and calls visit(hi, lo, is_first) for each in order; is_first: it is the first one with its hi.
template <class Visit>
void visit_groups(RecordSorter& records, Visit visit) {
  records.finish();
  uint32_t before = UINT32_MAX;
  for (SortRecord r; records.next(&r); before = r.hi) visit(r.hi, r.lo, r.hi != before);
}

// First the rows with their hashes, then those that may be equal to an earlier one of their set, then which are: those
// take no part in the search. An eighth of the memory limit for the hashes; a bit a row.
class EqualRows {
 public:
  explicit EqualRows(Workspace& ws) : ws_(ws), hashes_(std::make_unique<RecordSorter>(memory_share(ws, kEighth), ws)) {}

  // hash: of the bytes of the next row.
  void add(uint64_t hash) { hashes_->add({static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash), rows_++}); }

  // Called after the last row. on_suspect(leader, row) for every row whose hash an earlier one of its set has, leader
  // being the first with it. count_a: rows from it on are of set B.
  template <class OnSuspect>
  void for_each_suspect(uint32_t count_a, OnSuspect on_suspect) {
    hashes_->finish();
    count_a_ = count_a;
    equal_ = RowBits(ws_.ledger, rows_);
    SortRecord r;
    uint64_t hash = 0;
    uint32_t leader[2];
    bool known[2] = {false, false};
    while (hashes_->next(&r)) {
      ws_.poller.spend(4);
      const unsigned set = r.value >= count_a;
      if (r.key() != hash) known[0] = known[1] = false;
      hash = r.key();
      if (!known[set]) {
        known[set] = true;
        leader[set] = r.value;
      } else {
        on_suspect(leader[set], r.value);
      }
    }
    hashes_.reset();
  }

  // During for_each_suspect() or after it: the row is equal to an earlier one.
  void mark(uint32_t row) noexcept {
    equal_.set(row);
    ++count_;
    count_of_a_ += row < count_a_;
  }
  // No row is before for_each_suspect().
  bool has(uint32_t row) const noexcept { return !equal_.empty() && equal_.has(row); }
  uint32_t count() const noexcept { return count_; }
  uint32_t count_of_a() const noexcept { return count_of_a_; }

 private:
  Workspace& ws_;
  std::unique_ptr<RecordSorter> hashes_;
  uint32_t rows_ = 0;
  uint32_t count_a_ = 0;
  RowBits equal_;
  uint32_t count_ = 0;
  uint32_t count_of_a_ = 0;
};

}  // namespace neardup
