// See merge_inputs.h.
#include "pg/lsh/write/merge_inputs.h"

#include <algorithm>

#include "pg/lsh/store/lsh_page.h"
#include "pg/lsh/store/run_reader.h"
#include "pg/lsh/write/scratch.h"

namespace neardup {

// Decoded leaf by leaf.
struct MergeInputs::Input {
  RunReader reader;
  Entry* entries;
  uint32_t capacity;
  uint32_t at;
  uint32_t n;

  // Makes entries[at] the next one; false at the run's end.
  bool refill() {
    while (at == n) {
      LeafView leaf;
      Buffer buffer;
      if (!reader.next_leaf(&buffer, &leaf)) return false;
      const uint32_t from = leaf.lower_bound(reader.from());
      const uint32_t to = leaf.lower_bound(reader.tree().hi());
      at = 0;
      n = to > from ? to - from : 0;
      if (n > kMaxLeafEntries) report_corrupt(reader.index(), reader.block(), "impossible leaf");
      if (n > capacity) {
        capacity = n + n / 4;
        entries = static_cast<Entry*>(scratch_alloc(sizeof(Entry) * capacity));
      }
      leaf.decode(from, from + n, entries);
      UnlockReleaseBuffer(buffer);
      // The others would be merged, and this run's lo move, past what lies in its next leaves.
      if (n != 0 && !(entries[n - 1] < reader.next_fence()))
        report_corrupt(reader.index(), reader.block(), "entries beyond those of the next leaf");
    }
    return true;
  }
};

void MergeInputs::init() {
  inputs_ = static_cast<Input*>(palloc(sizeof(Input) * kMaxRuns));
  n_ = 0;
  rooms_[0] = rooms_[1] = nullptr;
  capacity_ = 0;
}

void MergeInputs::add(Relation index, const RunSlot& run, const Entry& from) {
  Input* input = &inputs_[n_++];
  input->reader.init(index, run, nullptr);
  input->reader.seek(from);
  input->entries = nullptr;
  input->capacity = input->at = input->n = 0;
}

bool MergeInputs::read_on() {
  for (int i = 0; i < n_;)
    if (inputs_[i].refill()) {
      ++i;
    } else {
      std::swap(inputs_[i], inputs_[n_ - 1]);
      --n_;
    }
  return n_ != 0;
}

void MergeInputs::report_disorder() const {
  const Input* damaged = &inputs_[0];
  for (int i = 0; i < n_; ++i)
    if (!std::is_sorted(inputs_[i].entries, inputs_[i].entries + inputs_[i].n)) damaged = &inputs_[i];
  report_corrupt(damaged->reader.index(), damaged->reader.block(), "entries out of order");
}

EntrySlice MergeInputs::next_piece() {
  Entry last = inputs_[0].entries[inputs_[0].n - 1];
  for (int i = 1; i < n_; ++i) last = std::min(last, inputs_[i].entries[inputs_[i].n - 1]);
  EntrySlice slices[kMaxRuns];
  uint32_t used = 0;
  size_t total = 0;
  for (int i = 0; i < n_; ++i) {
    Input* input = &inputs_[i];
    const Entry* from = input->entries + input->at;
    const Entry* to = std::upper_bound(from, static_cast<const Entry*>(input->entries + input->n), last);
    if (to == from) continue;
    slices[used++] = {from, static_cast<size_t>(to - from)};
    total += static_cast<size_t>(to - from);
    input->at = static_cast<uint32_t>(to - input->entries);
  }
  if (total == 0) report_disorder();
  if (total > capacity_) {
    capacity_ = Max(total, 2 * capacity_);
    for (Entry*& room : rooms_) room = static_cast<Entry*>(scratch_alloc(sizeof(Entry) * capacity_));
  }
  return {merge_slices(slices, used, rooms_[0], rooms_[1]), total};
}

}  // namespace neardup
