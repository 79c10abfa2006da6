// What the functions that look into an lsh index share: opening it, and which of its blocks the directory reaches.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// An lsh index and its table, both under AccessShareLock.
struct InspectedIndex {
  Relation table;
  Relation index;
};

// Opens the index. Errors: no lsh index, or none any more; no right to SELECT from its table, or row security that
// hides some of its rows, of which all that an index holds would tell; not to be read here (another session's temporary
// table, an unlogged one during recovery). All that is asked of both is asked while they are locked.
InspectedIndex open_inspected(Oid index);
void close_inspected(const InspectedIndex& opened);

// A set of blocks of an index.
struct BlockSet {
  uint64_t* words;
  BlockNumber blocks;  // those from here on are never in it

  void init(BlockNumber n) {
    blocks = n;
    words = static_cast<uint64_t*>(palloc0(sizeof(uint64_t) * (n / 64 + 1)));
  }
  bool has(BlockNumber block) const { return block < blocks && (words[block / 64] >> (block % 64) & 1) != 0; }
  void add(BlockNumber block) {
    if (block < blocks) words[block / 64] |= uint64_t{1} << (block % 64);
  }
};

}  // namespace neardup
