// External sort: records of 12 bytes by a 64-bit key, in memory while they fit, else in runs of one temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/work/workspace.h"

namespace neardup {

// Ordered by (hi, lo); value is carried along. Every intermediate list of the engines has this form.
struct SortRecord {
  uint32_t hi;
  uint32_t lo;
  uint32_t value;

  uint64_t key() const noexcept { return static_cast<uint64_t>(hi) << 32 | lo; }
};

// Add records, finish(), then next() until false, or rewind(). Stable: equal keys come out in the order they came in.
// Errors: what the poller and the temporary files throw; the object can then only be destroyed.
class RecordSorter {
 public:
  // budget: bytes this sorter may hold, for adding and for merging; at least about 4 kB are used.
  RecordSorter(size_t budget, Workspace& ws);
  ~RecordSorter();

  void add(const SortRecord& record) {
    if (n_ == buffer_.size()) make_room();
    buffer_[n_++] = record;
    ++total_;
  }

  uint64_t size() const noexcept { return total_; }

  // Ends adding. Cost: radix passes in memory, or as many merge passes as the budget demands.
  void finish();

  // The next record in order; false at the end.
  bool next(SortRecord* record);

  // Makes next() begin with the first record again.
  void rewind();

 private:
  struct Run {
    uint64_t first;  // in records from the start of the file
    uint64_t count;
  };
  class Merge;

  void make_room();
  void merge_runs(size_t fan_in);
  void start_merge();
  void sort_buffer();
  void spill();

  Workspace& ws_;
  size_t budget_;
  size_t most_;  // records that the buffer may grow to
  Array<SortRecord> buffer_;
  Array<SortRecord> scratch_;
  size_t n_ = 0;
  size_t taken_ = 0;
  uint64_t total_ = 0;
  std::unique_ptr<TempFile> file_;
  uint64_t file_records_ = 0;
  std::vector<Run> runs_;
  std::unique_ptr<Merge> merge_;
};

// LSD radix sort by key(), skipping the digits in which all keys agree. tmp: n records of scratch.
// Returns where the result lies, `a` or `tmp`.
SortRecord* sort_records(SortRecord* a, SortRecord* tmp, size_t n, Poller& poller);

}  // namespace neardup
