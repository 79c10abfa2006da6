// Directories of lsh indexes and copies of their runs' inner pages, kept by the session from one query to the next:
// looking at one number in the meta page tells whether they still hold.
#pragma once

#include "pg/lsh/store/run_reader.h"

namespace neardup {

// A directory and the trees of its runs. Readers of one session share it.
struct TreeSet {
  LshMeta directory;
  RunTree* trees;  // one for each run of the directory

  // The cache's own.
  TreeSet* next;
  MemoryContext context;
  Oid index;
  RelFileNumber file;
  uint32_t users;
  bool listed;  // the next reader may have it
};

// The set of the index's directory as it is now. What readers of it read is theirs to share; release_trees() ends that.
// pinned: the caller holds a lock that keeps the directory as it is; the set is not for others.
TreeSet* borrow_trees(Relation index, bool pinned);
void release_trees(TreeSet* set);

// True if the set still shows the directory.
bool trees_hold(Relation index, const TreeSet* set);

}  // namespace neardup
