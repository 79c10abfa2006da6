// Queries that callers hand over as text: one statement that only reads, planned by SPI, its rows one by one.
// SPI must be connected.
#pragma once

#include "pg/base/pg.h"

namespace neardup {

// Plans a query; options: CURSOR_OPT_* of PostgreSQL. It keeps its columns: an error when it runs and has others by
// then.
SPIPlanPtr prepare_query(const char* query, int options);

// The one statement of a plan, which only reads: an error that names the query, `what`, where it is another.
const CachedPlanSource* reading_statement(const char* what, SPIPlanPtr plan);

// An error for what is only a name, as `what`.
void refuse_bare_name(const char* what, const char* text);

// Plans a query that returns documents: they are in *column, from 1, the first of type text, or text[] where `arrays`
// is not null; it then tells which.
SPIPlanPtr prepare_documents(const char* query, int* column, bool* arrays);

// Runs a plan under the caller's snapshot, reading only; on_row(slot) for each row, until it returns false. What it
// leaves in the memory context of the call stays.
void for_each_row(SPIPlanPtr plan, bool (*on_row)(void* arg, TupleTableSlot* slot), void* arg);

template <typename OnRow>
void for_each_row(SPIPlanPtr plan, OnRow on_row) {
  for_each_row(
      plan, [](void* arg, TupleTableSlot* slot) { return (*static_cast<OnRow*>(arg))(slot); }, &on_row);
}

}  // namespace neardup
