// Reading runs: a run's root and inner pages as copies, positions of leaves, leaves under a share lock; pending pages.
#pragma once

#include "pg/lsh/store/lsh_page.h"

namespace neardup {

enum class LeafResult {
  leaf,   // locked: the caller unlocks and releases
  empty,  // the leaf lies below the run's lo and its page serves something else
  stale,  // the directory has moved on: read it again
};

// Where a page was when it was read last, and how it lay there.
struct PageHint {
  Buffer buffer;          // or 0
  LeafView::Shape shape;  // of a leaf
};

// A copy of what an inner or root page lists: what is read together lies together.
struct ChildCopy {
  BlockNumber block;
  PageHint hint;
  PackedEntry first;
};
static_assert(sizeof(ChildCopy) == 24);
struct InnerCopy {
  uint32_t n;
  uint32_t* top;  // the upper 32 bits of each fence's key
  ChildCopy* child;
};

// A leaf's place, entry j of inner page i (i = 0 where the root lists leaves), and what is listed there.
struct LeafPlace {
  uint32_t i;
  uint32_t j;
  BlockNumber block;
  Entry fence;       // first entry when the leaf was written
  Entry next_fence;  // that of the leaf after it, kBeyondEntry after the last
  PageHint* hint;    // in the copy, or null
};

// One run of a directory. Plain data, in the memory context given to init(). Pages are read when needed.
class RunTree {
 public:
  // change: the counter of the directory that the run comes from, for readers without locks. kPinned: the caller holds
  // a lock that keeps the run where it is.
  static constexpr uint64_t kPinned = ~uint64_t{0};
  void init(Relation index, const RunSlot& run, uint64_t change, MemoryContext context, BufferAccessStrategy strategy,
            Snapshot snapshot);

  // Another reader's relation and snapshot from now on.
  void attach(Relation index, Snapshot snapshot) {
    index_ = index;
    snapshot_ = snapshot;
  }

  const RunSlot& run() const { return run_; }
  const Entry& lo() const { return lo_; }
  const Entry& hi() const { return hi_; }

  // Inner pages are copied from now on when they are first searched: worth it for those that are searched again.
  void keep_inners() { keep_ = true; }

  // False: stale. Everything below needs it first.
  bool load_root();

  // The last leaf that begins at or below e, else the first leaf. False: stale. *end when the run has no leaf.
  bool find(const Entry& e, LeafPlace* place, bool* end);
  // False: stale. *end when there is no next.
  bool next(LeafPlace* place, bool* end);

  LeafResult lock_leaf(const LeafPlace& place, Buffer* buffer, LeafView* leaf);

  uint32_t inners() const { return run_.height == 2 && root_ != nullptr ? root_->n : 0; }
  BlockNumber inner_block(uint32_t i) const { return root_->child[i].block; }

 private:
  bool load_inner(uint32_t i);
  InnerCopy* copy_inner(BlockNumber block, uint16_t level);
  // An inner or root page, locked; InvalidBuffer: stale.
  Buffer lock_inner(BlockNumber block);
  void fill(const InnerCopy& copy, LeafPlace* place) const;
  void fill(const InnerPage& inner, LeafPlace* place) const;
  Entry fence_after_inner(uint32_t i) const;

  Relation index_;
  RunSlot run_;
  uint64_t change_;
  MemoryContext context_;
  BufferAccessStrategy strategy_;
  Snapshot snapshot_;
  Entry lo_;
  Entry hi_;
  InnerCopy* root_;
  InnerCopy** inners_;
  bool keep_;
};

// All entries of a pinned run in [from, hi), leaf by leaf: for merge and vacuum.
class RunReader {
 public:
  void init(Relation index, const RunSlot& run, BufferAccessStrategy strategy);
  // from: at least the run's lo.
  void seek(const Entry& from);

  const Entry& from() const { return from_; }

  // The next leaf that may hold such entries, share-locked; false at the end. Entries outside are in it, too.
  bool next_leaf(Buffer* buffer, LeafView* leaf);
  // Where the leaf of the last next_leaf() is.
  BlockNumber block() const { return last_.block; }
  // Its entries lie below this.
  const Entry& next_fence() const { return last_.next_fence; }

  RunTree& tree() { return tree_; }
  Relation index() const { return index_; }

 private:
  Relation index_;
  RunTree tree_;
  Entry from_;
  LeafPlace place_;
  LeafPlace last_;
  bool end_;
};

// The blocks of a pinned run that are free once its lo is `below`; all of them when `gone`. Only leaves that were not
// already free at its lo. Palloced.
struct BlockList {
  BlockNumber* blocks;
  uint32_t n;
};
BlockList blocks_below(Relation index, const RunSlot& run, const Entry& below, bool gone);

// Number of entries of the key in a pinned run, within [lo, hi).
uint64_t key_list_length(Relation index, const RunSlot& run, uint64_t key);

struct PendingRowView {
  uint64_t tid;
  const uint8_t* keys;  // 5 bytes each
  uint32_t nkeys;
};
inline uint64_t pending_key(const uint8_t* keys, uint32_t i) {
  const uint8_t* p = keys + size_t{5} * i;
  return uint64_t{p[0]} << 32 | uint64_t{p[1]} << 24 | uint64_t{p[2]} << 16 | uint64_t{p[3]} << 8 | p[4];
}
class PendingReader {
 public:
  void open(Page page) {
    at_ = reinterpret_cast<const uint8_t*>(page) + SizeOfPageHeaderData;
    end_ = reinterpret_cast<const uint8_t*>(page) + reinterpret_cast<PageHeader>(page)->pd_lower;
  }
  // False at the end; an error for an item that does not fit.
  bool next(Relation index, BlockNumber block, PendingRowView* row) {
    if (at_ == end_) return false;
    PendingItem item;
    if (static_cast<size_t>(end_ - at_) < sizeof item) report_corrupt(index, block, "impossible pending row");
    memcpy(&item, at_, sizeof item);
    if (item.nkeys > kMaxPendingKeys || static_cast<size_t>(end_ - at_) < sizeof item + kPendingKeyBytes * item.nkeys)
      report_corrupt(index, block, "impossible pending row");
    row->tid = uint64_t{item.block} << 16 | item.off;
    row->keys = at_ + sizeof item;
    row->nkeys = item.nkeys;
    at_ += sizeof item + kPendingKeyBytes * item.nkeys;
    return true;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// Calls f(row) for each row of the directory's pending pages. False: the directory has moved on. pinned: it cannot, the
// caller holds a lock. snapshot: of a scan, or null.
template <typename F>
bool for_pending_rows(Relation index, const LshMeta& directory, bool pinned, Snapshot snapshot, F f) {
  for (int i = 0; i < directory.npending; ++i) {
    CHECK_FOR_INTERRUPTS();
    const PendingSlot& slot = directory.pending[i];
    Buffer buffer;
    if (lock_page(index, slot.block, slot.id, kPendingPage, nullptr, &buffer) != PageState::good) {
      if (pinned || directory_change(index) == directory.change)
        report_corrupt(index, slot.block, "a pending page is not there");
      return false;
    }
    if (snapshot != nullptr) test_old_snapshot(snapshot, index, BufferGetPage(buffer));
    PendingReader reader;
    reader.open(BufferGetPage(buffer));
    PendingRowView row;
    while (reader.next(index, slot.block, &row)) f(row);
    UnlockReleaseBuffer(buffer);
  }
  return true;
}

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

}  // namespace neardup
