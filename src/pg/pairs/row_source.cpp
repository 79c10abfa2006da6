// See row_source.h.
#include "pg/pairs/row_source.h"

#include "pg/query/read_query.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

// What a column of type `from` needs to be taken as `to`: nothing, or int2/int4 widened to int8.
bool id_fits(Oid from, Oid to) {
  from = getBaseType(from);
  return from == to || (to == INT8OID && (from == INT4OID || from == INT2OID)) ||
         (to == TEXTOID && from == VARCHAROID);
}

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

void check_id(RowSource* source, Form_pg_attribute column) {
  const Oid id = column->atttypid;
  // A domain's constraint is the query's to check: its column must be of the domain itself.
  const bool fits = source->witness_type == source->id_type ? id_fits(id, source->id_type) : id == source->witness_type;
  if (!fits)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("id is %s, not %s", format_type_be(id), format_type_be(source->witness_type)),
                    source->wants.keys
                        ? errhint("Name the type of the ids: id => NULL::%s.", format_type_be(id))
                        : errhint("Name the type of the ids by a first argument: NULL::%s.", format_type_be(id))));
  source->column_type = getBaseType(id);
}

void check_signature(RowSource* source, Form_pg_attribute column) {
  const Oid signature = column->atttypid;
  const Oid base = getBaseType(signature);
  int type = 0;
  while (type < kSignatureTypes && source->types.oid[type] != base) ++type;
  if (type == kSignatureTypes)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the second column of %s must be a signature (minhash, simhash or ctph): it is %s",
                           source->what, format_type_be(signature)),
                    errhint("To sign a document, use to_minhash(...).")));
  source->type = static_cast<SignatureType>(type);
}

void check_doc(RowSource* source, Form_pg_attribute column) {
  if (source->wants.no_doc != nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns a column \"doc\", %s", source->what, source->wants.no_doc)));
  const Oid type = getBaseType(column->atttypid);
  if (type != TEXTOID && type != VARCHAROID && type != BYTEAOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the column \"doc\" of %s must be text or bytea: it is %s", source->what,
                           format_type_be(column->atttypid))));
  source->doc_type = type == BYTEAOID ? BYTEAOID : TEXTOID;
}

void check_within(RowSource* source, Form_pg_attribute column) {
  source->within_type = column->atttypid;
  source->within_collation = column->attcollation;
  const TypeCacheEntry* type = lookup_type_cache(column->atttypid, TYPECACHE_CMP_PROC | TYPECACHE_LT_OPR);
  if (!OidIsValid(type->cmp_proc) || !OidIsValid(type->lt_opr))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("the column \"within\" of %s cannot be put in order: it is %s", source->what,
                           format_type_be(column->atttypid))));
}

void check_at(RowSource* source, Form_pg_attribute column) {
  if (source->wants.apart == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns a column \"at\", but at_most_apart is not given", source->what),
                    errhint("Add at_most_apart => interval '1 day', or leave the column out.")));
  source->at_type = getBaseType(column->atttypid);
  if (source->at_type != TIMESTAMPTZOID && source->at_type != TIMESTAMPOID && source->at_type != DATEOID)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the column \"at\" of %s must be timestamptz, timestamp or date: it is %s", source->what,
                           format_type_be(column->atttypid))));
}

void check_columns(RowSource* source, TupleDesc desc) {
  if (source->wants.keys) {
    if (desc == nullptr || desc->natts < 2)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("%s must return an id and at least one key: number of columns is %d", source->what,
                             desc == nullptr ? 0 : desc->natts)));
    if (OidIsValid(source->id_type)) check_id(source, TupleDescAttr(desc, 0));
    return;
  }
  if (desc == nullptr || desc->natts < 2)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must return two columns, id and signature: it returns %d", source->what,
                           desc == nullptr ? 0 : desc->natts)));
  check_id(source, TupleDescAttr(desc, 0));
  check_signature(source, TupleDescAttr(desc, 1));
  source->columns = {-1, -1, -1};
  for (int i = 2; i < desc->natts; ++i) {
    const Form_pg_attribute column = TupleDescAttr(desc, i);
    const char* name = NameStr(column->attname);
    int* known = strcmp(name, "doc") == 0      ? &source->columns.doc
                 : strcmp(name, "within") == 0 ? &source->columns.within
                 : strcmp(name, "at") == 0     ? &source->columns.at
                                               : nullptr;
    if (known == nullptr)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("%s returns a column \"%s\", which has no meaning here", source->what, name),
                      errhint("After id and signature there may be columns named doc, within and at.")));
    if (*known != -1)
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
                      errmsg("%s returns more than one column \"%s\"", source->what, name)));
    *known = i;
  }
  if (source->columns.doc != -1) check_doc(source, TupleDescAttr(desc, source->columns.doc));
  if (source->columns.within != -1) check_within(source, TupleDescAttr(desc, source->columns.within));
  if (source->columns.at != -1) check_at(source, TupleDescAttr(desc, source->columns.at));
  if (source->wants.no_doc == nullptr && source->columns.doc == -1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns no column \"doc\", which verify compares", source->what),
                    errhint("Write SELECT id, signature, body AS doc.")));
  if (source->wants.apart != nullptr && source->columns.at == -1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s returns no column \"at\", which at_most_apart is about", source->what)));
}

char* id_text(const RowSource* source, Datum id) {
  Oid output;
  bool varlena;
  getTypeOutputInfo(source->id_type, &output, &varlena);
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

// Sorts (id, row) and calls visit(position, id, row) in order.
template <typename Visit>
void sorted_ids(RowSource* source, Visit visit) {
  MemoryContext work = AllocSetContextCreate(source->context, "neardup id sort", ALLOCSET_DEFAULT_SIZES);
  MemoryContext old = MemoryContextSwitchTo(work);
  TupleDesc desc = CreateTemplateTupleDesc(2);
  TupleDescInitEntry(desc, 1, "id", source->id_type, -1, 0);
  TupleDescInitEntryCollation(desc, 1, source->ids->collation);
  TupleDescInitEntry(desc, 2, "row", INT8OID, -1, 0);
  finish_tuple_desc(desc);
  AttrNumber key = 1;
  Oid less = lookup_type_cache(source->id_type, TYPECACHE_LT_OPR)->lt_opr;
  Oid collation = source->ids->collation;
  bool nulls_first = false;
  Tuplesortstate* sort = tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first,
                                              Max(64, maintenance_work_mem / 4), nullptr, 0);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
  for (uint64 row = 0; row < source->ids->count; ++row) {
    ExecClearTuple(slot);
    slot->tts_values[0] = id_at(source->ids, row);
    slot->tts_values[1] = Int64GetDatum(static_cast<int64>(row));
    slot->tts_isnull[0] = slot->tts_isnull[1] = false;
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(sort, slot);
    if (row % 4096 == 0) CHECK_FOR_INTERRUPTS();
  }
  tuplesort_performsort(sort);
  TupleTableSlot* in = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
  for (uint64 position = 0; tuplesort_gettupleslot(sort, true, true, in, nullptr); ++position) {
    bool is_null;
    const Datum id = slot_getattr(in, 1, &is_null);
    const Datum row = slot_getattr(in, 2, &is_null);
    visit(position, id, static_cast<uint64>(DatumGetInt64(row)));
    if (position % 4096 == 0) CHECK_FOR_INTERRUPTS();
  }
  ExecDropSingleTupleTableSlot(in);
  ExecDropSingleTupleTableSlot(slot);
  tuplesort_end(sort);
  MemoryContextSwitchTo(old);
  MemoryContextDelete(work);
}

}  // namespace

void open_source(RowSource* source, const char* what, text* query, Oid id_type, const SignatureTypes& types,
                 const SourceWants& wants) {
  *source = RowSource{};
  source->wants = wants;
  source->what = what;
  source->text = text_to_cstring(query);
  source->witness_type = id_type;
  source->id_type = id_type = OidIsValid(id_type) ? getBaseType(id_type) : InvalidOid;
  source->types = types;
  source->context = CurrentMemoryContext;
  source->sorted = true;
  refuse_bare_name(what, source->text);
  TypeCacheEntry* type = nullptr;
  if (OidIsValid(id_type)) {
    type = lookup_type_cache(id_type, TYPECACHE_CMP_PROC_FINFO | TYPECACHE_LT_OPR);
    if (!OidIsValid(type->cmp_proc_finfo.fn_oid) || !OidIsValid(type->lt_opr))
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                      errmsg("ids of type %s cannot be put in order", format_type_be(id_type))));
    fmgr_info_copy(&source->compare, &type->cmp_proc_finfo, source->context);
  }

  SPIPlanPtr plan = prepare_query(source->text, 0);
  const auto* plan_source = reading_statement(source->what, plan);
  check_columns(source, plan_source->resultDesc);
  // What several workers return comes in no order: where the order matters, the query must give it.
  const auto* parsed = static_cast<Query*>(linitial(plan_source->query_list));
  const bool parallel = !wants.ordered || parsed->sortClause != NIL;
  source->plan = parallel ? prepare_query(source->text, CURSOR_OPT_PARALLEL_OK) : plan;
  if (type != nullptr) {
    const Oid column_collation = TupleDescAttr(plan_source->resultDesc, 0)->attcollation;
    source->ids = make_ids(source->context, id_type,
                           OidIsValid(column_collation) ? column_collation : type->typcollation, ids_memory());
  }
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

Datum take_id(RowSource* source, Datum column) {
  Datum id = widened(source->column_type, column);
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
void take_time(const RowSource* source, Datum value, SourceRow* row) {
  if (source->at_type == DATEOID) value = DirectFunctionCall1(date_timestamp, value);
  row->at = DatumGetTimestamp(value);
  const Datum until =
      DirectFunctionCall2(source->at_type == TIMESTAMPTZOID ? timestamptz_pl_interval : timestamp_pl_interval, value,
                          IntervalPGetDatum(const_cast<Interval*>(source->wants.apart)));
  row->until = DatumGetTimestamp(until);
}

struct Reading {
  RowSource* source;
  void (*on_row)(void* arg, const SourceRow& row);
  void* arg;
};

bool take_row(void* arg, TupleTableSlot* slot) {
  auto* r = static_cast<Reading*>(arg);
  RowSource* source = r->source;
  MemoryContext old = MemoryContextSwitchTo(source->row_context);
  slot_getallattrs(slot);
  if (slot->tts_isnull[0])
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("%s returns a row whose id is NULL", source->what)));
  Datum id = 0;
  if (source->ids != nullptr) id = take_id(source, slot->tts_values[0]);
  SourceRow row = {};
  if (source->wants.keys) {
    row.columns = slot->tts_values;
    row.nulls = slot->tts_isnull;
    r->on_row(r->arg, row);
    MemoryContextSwitchTo(old);
    MemoryContextReset(source->row_context);
    return !source->enough;
  }
  row.is_null = row.alone = slot->tts_isnull[1];
  if (!row.is_null) {
    row.value = slot->tts_values[1];
    read_signature(source->type, row.value, &row.signature);
    if (!fits_shape(&source->shape, row.signature))
      refuse_shape(source->shape, row.signature, psprintf("the row with id %s", id_text(source, id)));
    row.alone = row.signature.empty;
  }
  const SourceColumns& c = source->columns;
  for (const int column : {c.doc, c.within, c.at})
    if (column != -1 && slot->tts_isnull[column]) row.alone = true;
  if (c.doc != -1) row.doc = slot->tts_isnull[c.doc] ? PointerGetDatum(cstring_to_text("")) : slot->tts_values[c.doc];
  if (!row.alone) {
    if (c.within != -1) row.within = slot->tts_values[c.within];
    if (c.at != -1) take_time(source, slot->tts_values[c.at], &row);
  }
  r->on_row(r->arg, row);
  MemoryContextSwitchTo(old);
  MemoryContextReset(source->row_context);
  return true;
}

}  // namespace

double estimated_rows(const RowSource& source) {
  CachedPlan* plan = SPI_plan_get_cached_plan(source.plan);
  if (plan == nullptr) return 0;
  const double rows = linitial_node(PlannedStmt, plan->stmt_list)->planTree->plan_rows;
  ReleaseCachedPlan(plan, nullptr);  // the statement is not a saved one: no owner counts it
  return rows;
}

TupleDesc columns_of(const RowSource& source) {
  return static_cast<CachedPlanSource*>(linitial(SPI_plan_get_plan_sources(source.plan)))->resultDesc;
}

void read_rows(RowSource* source, void (*on_row)(void* arg, const SourceRow& row), void* arg) {
  Reading reading = {source, on_row, arg};
  for_each_row(source->plan, take_row, &reading);
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

Oid id_type_of(FunctionCallInfo fcinfo, bool witness) {
  if (!witness) return INT8OID;
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  if (!OidIsValid(type)) elog(ERROR, "could not determine the type of the ids");
  return type;
}

}  // namespace neardup
