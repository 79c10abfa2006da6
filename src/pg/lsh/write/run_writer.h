// Writing runs: leaves, inner pages, and their places in the directory.
#pragma once

#include "core/lsh/entry_sort.h"
#include "pg/lsh/lsh.h"
#include "pg/lsh/write/scratch.h"

namespace neardup {

// Freed pages, and the range in which the free space map's upper levels change.
struct FreedRange {
  BlockNumber least = InvalidBlockNumber;
  BlockNumber most = 0;

  void add(Relation index, BlockNumber block);
  void publish(Relation index) const;
};

inline void add_counts(RunSlot* run, const EntryCounts& counts) {
  run->entries += counts.entries;
  run->rows += counts.rows;
  run->sum_sq += static_cast<double>(counts.sum_sq);
}

struct Child {
  BlockNumber block;
  Entry first;
};

// Leaves of a run, written in order and not linked yet.
class LeafWriter {
 public:
  // directory: for finding free pages; the run's id is in it. Between scratch_begin()s.
  void init(Relation index, const LshMeta* directory, uint64_t owner, uint32_t ordinal, uint32_t most) {
    index_ = index;
    directory_ = directory;
    owner_ = owner;
    ordinal_ = ordinal;
    packer_ = static_cast<RunPacker*>(scratch_alloc(sizeof(RunPacker)));
    packer_->begin_run();
    children_ = static_cast<Child*>(palloc(sizeof(Child) * most));
    most_ = most;
  }

  // The entries continue a run's list, as RunPacker::resume() says.
  void resume(uint64_t key, uint64_t list) { packer_->resume(key, list); }

  // Adds entries as RunPacker does. False when one would begin a leaf beyond `most`:
  // it and those after it are not added.
  bool add(const Entry* entries, size_t n) {
    for (;;) {
      const size_t taken = packer_->add(entries, n);
      if (taken == n) return true;
      entries += taken;
      n -= taken;
      write_leaf();
      if (n_ == most_) return false;
    }
  }

  void finish() {
    if (!packer_->empty()) write_leaf();
  }

  bool disordered() const { return packer_->disordered(); }

  // The last of the entries added, if any, and the counts of all.
  const Entry& last() const { return packer_->last(); }
  EntryCounts counts() const { return packer_->counts(); }

  uint32_t count() const { return n_; }
  const Child* children() const { return children_; }

 private:
  void write_leaf();

  Relation index_;
  const LshMeta* directory_;
  uint64_t owner_;
  uint32_t ordinal_;
  RunPacker* packer_;
  Child* children_;
  uint32_t n_ = 0;
  uint32_t most_;
};

// Appends a child to a root or inner page (an image or a registered page).
void add_child(Page page, const Child& child);
void init_inner(Page page, uint64_t owner, uint32_t ordinal, uint16_t level);

// Puts the page's content into a page that nothing links yet, and logs it whole.
void finish_new_page(Relation index, Buffer buffer, const PGAlignedBlock* image);

// Directory entries; the page is registered for change.
uint8_t free_unit(const LshMeta& meta);
void remove_run(LshMeta* meta, uint64_t id);
// Draws an id. hi is least but for live runs.
RunSlot* add_run(LshMeta* meta, RunState state);

}  // namespace neardup
