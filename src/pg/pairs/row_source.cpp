#include "pg/pairs/row_source.h"

namespace neardup {
namespace {

// Ids between two checks for interrupts.
constexpr uint64 kIdsChecked = 4096;

// Columns of the ids while they are sorted.
enum IdColumn : AttrNumber { kSortedId = 1, kSortedRow, kSortedColumns = kSortedRow };

Datum widened(Oid from, Datum value) {
  switch (from) {
    case INT2OID:
      return Int64GetDatum(DatumGetInt16(value));
    case INT4OID:
      return Int64GetDatum(DatumGetInt32(value));
    default:
      return value;
  }
}

char* id_text(const RowSource* source, Datum id) {
  Oid output;
  bool varlena;
  getTypeOutputInfo(source->ids->type, &output, &varlena);
  return OidOutputFunctionCall(output, id);
}

[[noreturn]] void duplicate(const RowSource* source, Datum id) {
  ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
                  errmsg("%s returns the id %s more than once", source->what, id_text(source, id))));
  pg_unreachable();
}

int compare_ids(RowSource* source, Datum a, Datum b) {
  return DatumGetInt32(FunctionCall2Coll(&source->compare, source->ids->collation, a, b));
}

// A sort of (id, row), and the columns of what goes into it.
Tuplesortstate* begin_id_sort(const RowSource* source, TupleDesc* columns) {
  TupleDesc desc = CreateTemplateTupleDesc(kSortedColumns);
  TupleDescInitEntry(desc, kSortedId, "id", source->ids->type, -1, 0);
  TupleDescInitEntryCollation(desc, kSortedId, source->ids->collation);
  TupleDescInitEntry(desc, kSortedRow, "row", INT8OID, -1, 0);
  finish_tuple_desc(desc);
  AttrNumber key = kSortedId;
  Oid less = lookup_type_cache(source->ids->type, TYPECACHE_LT_OPR)->lt_opr;
  Oid collation = source->ids->collation;
  bool nulls_first = false;
  *columns = desc;
  return tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first, sort_memory(), nullptr, 0);
}

// Calls visit(position, id, row) in the order of the ids.
template <typename Visit>
void sorted_ids(RowSource* source, Visit visit) {
  MemoryContext work = AllocSetContextCreate(source->context, "neardup id sort", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(work);
  TupleDesc desc;
  Tuplesortstate* sort = begin_id_sort(source, &desc);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
  for (uint64 row = 0; row < source->ids->count; ++row) {
    ExecClearTuple(slot);
    slot->tts_values[kSortedId - 1] = id_at(source->ids, row);
    slot->tts_values[kSortedRow - 1] = Int64GetDatum(static_cast<int64>(row));
    slot->tts_isnull[kSortedId - 1] = slot->tts_isnull[kSortedRow - 1] = false;
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(sort, slot);
    if (row % kIdsChecked == 0) CHECK_FOR_INTERRUPTS();
  }
  tuplesort_performsort(sort);
  TupleTableSlot* in = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
  for (uint64 position = 0; tuplesort_gettupleslot(sort, true, true, in, nullptr); ++position) {
    bool is_null;
    const Datum id = slot_getattr(in, kSortedId, &is_null);
    const Datum row = slot_getattr(in, kSortedRow, &is_null);
    visit(position, id, static_cast<uint64>(DatumGetInt64(row)));
    if (position % kIdsChecked == 0) CHECK_FOR_INTERRUPTS();
  }
  ExecDropSingleTupleTableSlot(in);
  ExecDropSingleTupleTableSlot(slot);
  tuplesort_end(sort);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(work);
}

// The type, if its values can be put in order; else an error.
const TypeCacheEntry* ordered_type(Oid id_type) {
  const TypeCacheEntry* type = lookup_type_cache(id_type, TYPECACHE_CMP_PROC_FINFO | TYPECACHE_LT_OPR);
  if (!OidIsValid(type->cmp_proc_finfo.fn_oid) || !OidIsValid(type->lt_opr))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("ids of type %s cannot be put in order", format_type_be(id_type))));
  return type;
}

// Makes the store of the ids, which are in the order that the query's column has.
void begin_ids(RowSource* source, const TypeCacheEntry* type, Form_pg_attribute column) {
  fmgr_info_copy(&source->compare, const_cast<FmgrInfo*>(&type->cmp_proc_finfo), source->context);
  source->sorted = true;
  source->ids = make_ids(source->context, type->type_id,
                         OidIsValid(column->attcollation) ? column->attcollation : type->typcollation, ids_memory());
}

}  // namespace

void open_source(RowSource* source, const char* what, text* query, Oid id_type, const SignatureTypes& types,
                 const SourceWants& wants) {
  *source = RowSource{};
  source->wants = wants;
  source->what = what;
  source->text = text_to_cstring(query);
  source->context = CurrentMemoryContext;
  refuse_bare_name(what, source->text);
  const TypeCacheEntry* type = OidIsValid(id_type) ? ordered_type(getBaseType(id_type)) : nullptr;

  SPIPlanPtr plan = prepare_query(source->text, 0);
  // Parallel workers return rows in no order: where the order matters, the query must give it.
  const auto* parsed = static_cast<Query*>(linitial(reading_statement(what, plan)->query_list));
  const bool parallel = !wants.ordered || parsed->sortClause != NIL;
  source->plan = parallel ? prepare_query(source->text, CURSOR_OPT_PARALLEL_OK) : plan;
  const auto* plan_source = reading_statement(what, source->plan);
  source->columns = check_columns(what, plan_source->resultDesc, id_type, types, wants);
  if (type != nullptr) begin_ids(source, type, TupleDescAttr(plan_source->resultDesc, kIdColumn));
  source->row_context = AllocSetContextCreate(source->context, "neardup row", ALLOCSET_DEFAULT_SIZES);
}

namespace {

// The row before the one that comes is needed, and the store may have it in a file.
void remember_id(RowSource* source, Datum id) {
  if (source->ids->by_value) return;
  const Size size = datumGetSize(id, false, source->ids->length);
  if (size > source->last_capacity) {
    source->last_capacity = 2 * size;
    if (source->last_id != nullptr) pfree(source->last_id);
    source->last_id = static_cast<char*>(MemoryContextAllocHuge(source->context, source->last_capacity));
  }
  memcpy(source->last_id, DatumGetPointer(id), size);
}

Datum keep_id(RowSource* source, Datum column) {
  Datum id = widened(source->columns.id_type, column);
  IdStore* ids = source->ids;
  if (!ids->by_value && ids->length == -1) id = PointerGetDatum(PG_DETOAST_DATUM(id));
  if (source->sorted && ids->count > 0) {
    const Datum before = ids->by_value ? ids->values[ids->count - 1] : PointerGetDatum(source->last_id);
    const int c = compare_ids(source, before, id);
    if (c == 0) duplicate(source, id);
    source->sorted = c < 0;
  }
  add_id(ids, id);
  if (source->sorted) remember_id(source, id);
  return id;
}

// In microseconds, with what at_most_apart adds to it.
void read_time(const RowSource* source, Datum value, SourceRow* row) {
  if (source->columns.at_type == DATEOID) value = DirectFunctionCall1(date_timestamp, value);
  row->at = DatumGetTimestamp(value);
  const Datum until =
      DirectFunctionCall2(source->columns.at_type == TIMESTAMPTZOID ? timestamptz_pl_interval : timestamp_pl_interval,
                          value, IntervalPGetDatum(const_cast<Interval*>(source->wants.apart)));
  row->until = DatumGetTimestamp(until);
}

void demand_id(const RowSource* source, const TupleTableSlot* slot) {
  if (slot->tts_isnull[kIdColumn])
    ereport(ERROR,
            (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s returns a row whose id is NULL", source->what)));
}

}  // namespace

KeyRow read_key_row(RowSource* source, TupleTableSlot* slot) {
  slot_getallattrs(slot);
  demand_id(source, slot);
  if (source->ids != nullptr) keep_id(source, slot->tts_values[kIdColumn]);
  return {slot->tts_values, slot->tts_isnull};
}

SourceRow read_row(RowSource* source, TupleTableSlot* slot) {
  slot_getallattrs(slot);
  demand_id(source, slot);
  const Datum id = keep_id(source, slot->tts_values[kIdColumn]);
  SourceRow row = {};
  row.is_null = row.alone = slot->tts_isnull[kSignatureColumn];
  if (!row.is_null) {
    row.value = slot->tts_values[kSignatureColumn];
    read_signature(source->columns.signature, row.value, &row.signature);
    if (!fits_shape(&source->shape, row.signature))
      refuse_shape(source->shape, row.signature, psprintf("the row with id %s", id_text(source, id)));
    row.alone = row.signature.is_empty;
  }
  const SourceColumns& c = source->columns;
  for (const int column : {c.doc, c.within, c.at})
    if (column != kColumnAbsent && slot->tts_isnull[column]) row.alone = true;
  if (c.doc != kColumnAbsent)
    row.doc = slot->tts_isnull[c.doc] ? PointerGetDatum(cstring_to_text("")) : slot->tts_values[c.doc];
  if (row.alone) return row;
  if (c.within != kColumnAbsent) row.within = slot->tts_values[c.within];
  if (c.at != kColumnAbsent) read_time(source, slot->tts_values[c.at], &row);
  return row;
}

double estimated_rows(const RowSource& source) {
  CachedPlan* plan = SPI_plan_get_cached_plan(source.plan);
  if (plan == nullptr) return 0;
  const double rows = linitial_node(PlannedStmt, plan->stmt_list)->planTree->plan_rows;
  ReleaseCachedPlan(plan, nullptr);  // the statement is not a saved one: no owner counts it
  return rows;
}

TupleDesc result_columns(const RowSource& source) {
  return static_cast<CachedPlanSource*>(linitial(SPI_plan_get_plan_sources(source.plan)))->resultDesc;
}

namespace {

// As sorted_ids(), with an error for the first id that comes twice.
template <typename Visit>
void visit_unique(RowSource* source, Visit visit) {
  MemoryContext last = AllocSetContextCreate(source->context, "neardup last id", ALLOCSET_SMALL_SIZES);
  // A copy: read back from a store that is being written, in a file, every id would cost a write and a read of a block.
  Datum before = 0;
  sorted_ids(source, [&](uint64 position, Datum id, uint64 row) {
    if (position > 0 && compare_ids(source, before, id) == 0) duplicate(source, id);
    MemoryContextReset(last);
    MemoryContext old = MemoryContextSwitchTo(last);
    before = datumCopy(id, source->ids->by_value, source->ids->length);
    MemoryContextSwitchTo(old);
    visit(position, id, row);
  });
  MemoryContextDelete(last);
}

}  // namespace

uint32* rank_rows(RowSource* source) {
  if (source->sorted) return nullptr;
  const uint64 count = source->ids->count;
  auto* rank = static_cast<uint32*>(MemoryContextAllocHuge(source->context, count * sizeof(uint32)));
  IdStore* by_rank = make_ids(source->context, source->ids->type, source->ids->collation, source->ids->bytes_limit);
  visit_unique(source, [&](uint64 position, Datum id, uint64 row) {
    rank[row] = static_cast<uint32>(position);
    add_id(by_rank, id);
  });
  free_ids(source->ids);
  source->ids = by_rank;
  return rank;
}

void check_unique(RowSource* source) {
  if (source->sorted) return;
  visit_unique(source, [](uint64 /* position */, Datum /* id */, uint64 /* row */) {});
}

Oid wanted_id_type(FunctionCallInfo fcinfo, bool witness) {
  if (!witness) return INT8OID;
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  if (!OidIsValid(type)) elog(ERROR, "could not determine the type of the ids");
  return type;
}

}  // namespace neardup
