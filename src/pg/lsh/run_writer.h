// Writing runs: leaves, inner pages, and their places in the directory.
#pragma once

#include "pg/lsh/lsh_am.h"

namespace neardup {

// Freed pages, and the range that the free space map's upper levels are to be told of.
struct FreedRange {
  BlockNumber least = InvalidBlockNumber;
  BlockNumber most = 0;

  void add(Relation index, BlockNumber block);
  void publish(Relation index) const;
};

// Counts of a run's entries, added in order.
struct RunTally {
  uint64_t entries;
  uint64_t rows;
  double sum_sq;
  uint64_t key;   // of the list at the end
  uint64_t list;  // its length so far

  void add(uint64_t entry_key) noexcept {
    ++entries;
    if (entry_key == kRosterKey) {
      ++rows;
      return;
    }
    if (entry_key != key) {
      key = entry_key;
      list = 0;
    }
    sum_sq += 2.0 * static_cast<double>(list) + 1;  // (n+1)^2 - n^2
    ++list;
  }
};

// A run as the directory holds it takes these counts.
inline void set_counts(RunSlot* run, const RunTally& counts) {
  run->entries = counts.entries;
  run->rows = counts.rows;
  run->sum_sq = counts.sum_sq;
}

struct Child {
  BlockNumber block;
  Entry first;
};

// Leaves of a run, written in order and not linked yet.
class LeafWriter {
 public:
  // directory: for finding free pages; the run's id is in it. All in the current memory context.
  void init(Relation index, const LshMeta* directory, uint64_t owner, uint32_t ordinal, uint32_t most) {
    index_ = index;
    directory_ = directory;
    owner_ = owner;
    ordinal_ = ordinal;
    packer_ = static_cast<LeafPacker*>(palloc(sizeof(LeafPacker)));
    packer_->clear();
    children_ = static_cast<Child*>(palloc(sizeof(Child) * most));
    most_ = most;
  }

  // False when the entry would begin a leaf beyond `most`; it is then not added.
  bool add(const Entry& e) {
    if (packer_->add(e)) return true;
    write_leaf();
    if (n_ == most_) return false;
    packer_->add(e);
    return true;
  }

  void finish() {
    if (packer_->count() != 0) write_leaf();
  }

  uint32_t count() const { return n_; }
  const Child* children() const { return children_; }

 private:
  void write_leaf();

  Relation index_;
  const LshMeta* directory_;
  uint64_t owner_;
  uint32_t ordinal_;
  LeafPacker* packer_;
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
