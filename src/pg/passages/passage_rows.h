// The documents of a caller's query, in the engine of repeated passages.
#pragma once

#include "core/passages/passage_search.h"
#include "pg/base/context.h"
#include "pg/base/progress.h"
#include "pg/pairs/row_source.h"

#include "pg/base/pg.h"

namespace neardup {

// A call: its query, and what has been read of it.
struct PassageCall {
  Searching function;
  Unit unit;
  int64 min_units;
  int64 at_least;
  bool keep_first;
  bool numbers_groups;  // the column within is bigint, and what it says of each group is wanted
  RowSource source;
  Owned<PassageSearch>* engine;
  uint32* groups;         // by the column within; null: there is none
  uint64* group_numbers;  // of each group, where they are wanted
  Stages stages;
};

// Opens the query, reads its rows and searches them. SPI must be connected. id_type InvalidOid: ids are not kept.
// ordered: which of equal passages comes first matters.
void search_passages(PassageCall* call, text* query, Oid id_type, bool ordered = true);

// Logs the engine's work for neardup.log_stages, and ends its progress. The engine is gone afterwards.
void end_passages(PassageCall* call, const char* what);

}  // namespace neardup
