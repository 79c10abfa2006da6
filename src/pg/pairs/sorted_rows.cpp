#include "pg/pairs/sorted_rows.h"

namespace neardup {
namespace {

// Columns of the sorted rows.
enum SortColumn : AttrNumber { kWithin = 1, kAt, kUntil, kNumber, kValue, kColumns = kValue };

bool has_within(const RowSource& source) { return source.columns.within != kColumnAbsent; }

Datum column(const SortedRows* rows, AttrNumber n) {
  bool is_null;
  return slot_getattr(rows->slot, n, &is_null);
}

}  // namespace

void begin_sort(RowSort* sort, const RowSource& source) {
  const SourceColumns& columns = source.columns;
  const bool within = has_within(source);
  const Oid within_type = within ? columns.within_type : INT4OID;
  TupleDesc desc = CreateTemplateTupleDesc(kColumns);
  TupleDescInitEntry(desc, kWithin, "within", within_type, -1, 0);
  if (within) TupleDescInitEntryCollation(desc, kWithin, columns.within_collation);
  TupleDescInitEntry(desc, kAt, "at", INT8OID, -1, 0);
  TupleDescInitEntry(desc, kUntil, "until", INT8OID, -1, 0);
  TupleDescInitEntry(desc, kNumber, "number", INT8OID, -1, 0);
  TupleDescInitEntry(desc, kValue, "value", columns.signature_type, -1, 0);
  finish_tuple_desc(desc);
  sort->desc = desc;
  AttrNumber keys[] = {kWithin, kAt, kNumber};
  Oid less[] = {lookup_type_cache(within_type, TYPECACHE_LT_OPR)->lt_opr, Int8LessOperator, Int8LessOperator};
  Oid collations[] = {within ? columns.within_collation : InvalidOid, InvalidOid, InvalidOid};
  bool nulls_first[] = {false, false, false};
  sort->state = tuplesort_begin_heap(desc, lengthof(keys), keys, less, collations, nulls_first, sort_memory(), nullptr,
                                     kTuplesortRandomAccess);
  sort->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
}

void sort_row(RowSort* sort, const RowSource& source, uint64 number, const SourceRow& row) {
  TupleTableSlot* slot = sort->slot;
  ExecClearTuple(slot);
  const Form_pg_attribute key = TupleDescAttr(sort->desc, kWithin - 1);
  slot->tts_values[kWithin - 1] = !has_within(source) ? Int32GetDatum(0)
                                  : key->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM(row.within))
                                                      : row.within;
  slot->tts_values[kAt - 1] = Int64GetDatum(row.at);
  slot->tts_values[kUntil - 1] = Int64GetDatum(row.until);
  slot->tts_values[kNumber - 1] = Int64GetDatum(static_cast<int64>(number));
  slot->tts_values[kValue - 1] = row.value;
  for (int i = 0; i < kColumns; ++i) slot->tts_isnull[i] = false;
  ExecStoreVirtualTuple(slot);
  tuplesort_puttupleslot(sort->state, slot);
}

void finish_sort(RowSort* sort) {
  ExecDropSingleTupleTableSlot(sort->slot);
  tuplesort_performsort(sort->state);
}

void open_sorted(SortedRows* rows, const RowSource& source, RowSort* sort) {
  *rows = SortedRows{};
  rows->source = &source;
  rows->sort = sort;
  rows->slot = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
  rows->context = AllocSetContextCreate(CurrentMemoryContext, "neardup sorted row", ALLOCSET_DEFAULT_SIZES);
  rows->keep = AllocSetContextCreate(CurrentMemoryContext, "neardup group", ALLOCSET_SMALL_SIZES);
  if (!has_within(source)) return;
  const TypeCacheEntry* type = lookup_type_cache(source.columns.within_type, TYPECACHE_CMP_PROC_FINFO);
  fmgr_info_copy(&rows->compare, const_cast<FmgrInfo*>(&type->cmp_proc_finfo), CurrentMemoryContext);
}

void close_sorted(SortedRows* rows) {
  ExecDropSingleTupleTableSlot(rows->slot);
  tuplesort_end(rows->sort->state);
  rows->sort->state = nullptr;
  MemoryContextDelete(rows->context);
  MemoryContextDelete(rows->keep);
}

bool advance(SortedRows* rows) {
  CHECK_FOR_INTERRUPTS();
  rows->at_end = !tuplesort_gettupleslot(rows->sort->state, true, false, rows->slot, nullptr);
  return !rows->at_end;
}

void mark_position(SortedRows* rows) { tuplesort_markpos(rows->sort->state); }

void go_back(SortedRows* rows) {
  tuplesort_restorepos(rows->sort->state);
  advance(rows);
}

int64 current_time(const SortedRows* rows) { return DatumGetInt64(column(rows, kAt)); }
int64 current_until(const SortedRows* rows) { return DatumGetInt64(column(rows, kUntil)); }
uint32 current_number(const SortedRows* rows) { return static_cast<uint32>(DatumGetInt64(column(rows, kNumber))); }

void read_signature(SortedRows* rows, Signature* out) {
  MemoryContextReset(rows->context);
  MemoryContext old = MemoryContextSwitchTo(rows->context);
  read_signature(rows->source->columns.signature, column(rows, kValue), out);
  MemoryContextSwitchTo(old);
}

Datum keep_group(SortedRows* rows) {
  if (!has_within(*rows->source)) return static_cast<Datum>(0);
  const Form_pg_attribute key = TupleDescAttr(rows->sort->desc, kWithin - 1);
  MemoryContextReset(rows->keep);
  MemoryContext old = MemoryContextSwitchTo(rows->keep);
  const Datum copy = datumCopy(column(rows, kWithin), key->attbyval, key->attlen);
  MemoryContextSwitchTo(old);
  return copy;
}

int group_order(SortedRows* rows, Datum within) {
  if (!has_within(*rows->source)) return 0;
  MemoryContext old = MemoryContextSwitchTo(rows->context);
  MemoryContextReset(rows->context);
  const Oid collation = rows->source->columns.within_collation;
  const int c = DatumGetInt32(FunctionCall2Coll(&rows->compare, collation, column(rows, kWithin), within));
  MemoryContextSwitchTo(old);
  return c;
}

}  // namespace neardup
