// Rows that repeat an earlier one to the last byte, in document, signature, group and time: where pairs are verified on
// the way to clusters they need no search, for they are near what that row is near.
#pragma once

#include "pg/pairs/pair_result.h"

namespace neardup {

struct CopiedRow {
  uint32 row;
  uint32 of;  // an earlier row, which is no copy
};

// Remembers some of the rows that came, those that were repeated rather than others; memory: kOriginals * 32 bytes, and
// 8 a copy.
struct Copies {
  struct Original {
    uint64 conditions;   // all but the document, hashed
    uint64 document[2];  // hashed
    uint32 row;
    uint16 uses;
    bool known;  // else there is none
    bool document_known;
  } * originals;
  uint64 seed;
  CopiedRow* found;  // in the order of their rows
  uint64 count;
  uint64 capacity;
  MemoryContext context;
};

Copies* make_copies(MemoryContext context);

// True if the side's row `number`, whose document is kept already, is a copy of a row that is remembered; it is then
// noted. Only some of the other rows are remembered, so a row may also be a copy of a forgotten one.
bool note_copy(Copies* copies, const PairSide& side, uint64 number, const SourceRow& row);

// When the others are in their clusters: puts each copy that is near its original's representative, or in its
// component, there. representative, similarity: by row.
void join_copies(Copies* copies, PairResult* result, uint32* representative, double* similarity);

}  // namespace neardup
