// The inputs of a merge step, read side by side.
#pragma once

#include "core/lsh/entry_sort.h"
#include "pg/base/pg.h"
#include "pg/lsh/lsh.h"

namespace neardup {

// The entries of the inputs, merged a piece at a time: up to where the first of the decoded leaves ends. Plain data,
// palloced, between scratch_begin()s.
class MergeInputs {
 public:
  void init();

  // from: the first entry of the run that counts.
  void add(Relation index, const RunSlot& run, const Entry& from);

  // Reads on; inputs that have nothing left go. False: none is left.
  bool read_on();

  // Follows read_on(). An entry that several inputs have comes as often. Valid until the next call.
  EntrySlice next_piece();

  // Names the leaf, if it is still the one that its input reads.
  [[noreturn]] void report_disorder() const;

 private:
  struct Input;

  Input* inputs_;
  int n_;
  Entry* rooms_[2];
  size_t capacity_;  // of each
};

}  // namespace neardup
