// Rows of a query sorted by (within, at, number), to be searched group by group.
#pragma once

#include "pg/pairs/row_source.h"

#include "pg/base/pg.h"

namespace neardup {

// A sort of rows. state null: there is none.
struct RowSort {
  Tuplesortstate* state;
  TupleDesc desc;
  TupleTableSlot* slot;  // for what is put in
};

void begin_sort(RowSort* sort, const RowSource& source);
// A row that may be near others. number: of the row in its query.
void sort_row(RowSort* sort, const RowSource& source, uint64 number, const SourceRow& row);
void finish_sort(RowSort* sort);

// The sorted rows, one at hand after the other.
struct SortedRows {
  const RowSource* source;
  RowSort* sort;
  TupleTableSlot* slot;
  FmgrInfo compare;  // of within
  bool at_end;
  MemoryContext context;  // of the signature at hand
  MemoryContext keep;     // of the group's key
};

// The first row is not yet at hand.
void open_sorted(SortedRows* rows, const RowSource& source, RowSort* sort);
// Ends the sort.
void close_sorted(SortedRows* rows);

// False at the end.
bool advance(SortedRows* rows);
// Before the next row, to come back there.
void mark_position(SortedRows* rows);
// The row that came next after the mark is then the next one.
void go_back(SortedRows* rows);

// The row at hand: its time, the latest time that is near it, its number in the query.
int64 current_time(const SortedRows* rows);
int64 current_until(const SortedRows* rows);
uint32 current_number(const SortedRows* rows);
// Its signature, valid until the next call with these rows.
void read_signature(SortedRows* rows, Signature* out);

// A copy of the key of the row at hand, valid until the next one.
Datum keep_group(SortedRows* rows);
// < 0, 0, > 0: the row at hand is of an earlier group than `within`, of it, or of a later one.
int group_order(SortedRows* rows, Datum within);

}  // namespace neardup
