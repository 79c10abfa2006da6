// See query_source.h.
#include "pg/query_source.h"

#include <cctype>

#include "pg/values.h"

namespace neardup {
namespace {

// A name as psql's users write it, with nothing else around it.
bool is_bare_name(const char* s) {
  while (isspace(static_cast<unsigned char>(*s))) ++s;
  bool any = false;
  bool quoted = false;
  for (; *s != '\0'; ++s) {
    if (*s == '"') {
      quoted = !quoted;
    } else if (!quoted && !isalnum(static_cast<unsigned char>(*s)) && *s != '_' && *s != '.' && *s != '$' &&
               !IS_HIGHBIT_SET(*s)) {
      break;
    }
    any = true;
  }
  while (isspace(static_cast<unsigned char>(*s)) || *s == ';') ++s;
  return any && *s == '\0';
}

[[noreturn]] void refuse(const RowSource* source, const char* what) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("%s must be one SELECT, VALUES or TABLE statement that only reads", source->what),
                  errdetail("%s", what)));
  pg_unreachable();
}

// Refuses what is not one plain reading statement, before it runs.
void check_statement(const RowSource* source, SPIPlanPtr plan) {
  List* sources = SPI_plan_get_plan_sources(plan);
  if (list_length(sources) == 0) refuse(source, "It is empty.");
  if (list_length(sources) > 1) refuse(source, "It holds more than one statement.");
  const auto* plan_source = static_cast<CachedPlanSource*>(linitial(sources));
  if (list_length(plan_source->query_list) == 0) refuse(source, "It is empty.");
  if (list_length(plan_source->query_list) > 1) refuse(source, "A rule turns it into more than one statement.");
  const auto* query = static_cast<Query*>(linitial(plan_source->query_list));
  if (query->commandType != CMD_SELECT) refuse(source, "It is another kind of statement.");
  if (query->hasModifyingCTE) refuse(source, "Its WITH clause changes data.");
  if (query->rowMarks != NIL) refuse(source, "It locks rows (FOR UPDATE or FOR SHARE).");
}

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

void check_columns(RowSource* source) {
  TupleDesc desc = source->portal->tupDesc;
  if (desc == nullptr || desc->natts != 2)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s must return two columns, id and signature: it returns %d", source->what,
                           desc == nullptr ? 0 : desc->natts)));
  const Oid id = TupleDescAttr(desc, 0)->atttypid;
  const Oid signature = TupleDescAttr(desc, 1)->atttypid;
  // A domain's constraint is the query's to check: its column must be of the domain itself.
  const bool fits = source->witness_type == source->id_type ? id_fits(id, source->id_type) : id == source->witness_type;
  if (!fits)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("id is %s, not %s", format_type_be(id), format_type_be(source->witness_type)),
                    errhint("Name the type of the ids by a first argument: NULL::%s.", format_type_be(id))));
  const Oid base = getBaseType(signature);
  int type = 0;
  while (type < kSignatureTypes && source->types.oid[type] != base) ++type;
  if (type == kSignatureTypes)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the second column of %s must be a signature (minhash, simhash or ctph): it is %s",
                           source->what, format_type_be(signature)),
                    errhint("To sign a document, use to_minhash(...).")));
  source->type = static_cast<SignatureType>(type);
  if (source->shape.known && source->shape.type != source->type)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s returns signatures of type %s, the query before it %s", source->what,
                           format_type_be(signature),
                           format_type_be(source->types.oid[static_cast<int>(source->shape.type)]))));
  source->column_type = getBaseType(id);
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
                 const SignatureShape& shape) {
  *source = RowSource{};
  source->shape = shape;
  source->what = what;
  source->text = text_to_cstring(query);
  source->witness_type = id_type;
  source->id_type = id_type = getBaseType(id_type);
  source->types = types;
  source->context = CurrentMemoryContext;
  source->sorted = true;
  if (is_bare_name(source->text))
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("%s is only a name: %s", what, source->text),
                    errhint("To read a whole table, write TABLE %s.", source->text)));
  TypeCacheEntry* type = lookup_type_cache(id_type, TYPECACHE_CMP_PROC_FINFO | TYPECACHE_LT_OPR);
  if (!OidIsValid(type->cmp_proc_finfo.fn_oid) || !OidIsValid(type->lt_opr))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("ids of type %s cannot be put in order", format_type_be(id_type))));
  fmgr_info_copy(&source->compare, &type->cmp_proc_finfo, source->context);

  SPIPlanPtr plan = SPI_prepare(source->text, 0, nullptr);
  if (plan == nullptr) elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
  check_statement(source, plan);
  source->portal = SPI_cursor_open(nullptr, plan, nullptr, nullptr, true);
  check_columns(source);
  const Oid column_collation = TupleDescAttr(source->portal->tupDesc, 0)->attcollation;
  source->ids = make_ids(source->context, id_type, OidIsValid(column_collation) ? column_collation : type->typcollation,
                         ids_memory());
}

void fetch_rows(RowSource* source, SourceRow* rows, int* n) {
  SPI_freetuptable(SPI_tuptable);
  SPI_cursor_fetch(source->portal, true, kFetch);
  const SPITupleTable* table = SPI_tuptable;
  *n = static_cast<int>(SPI_processed);
  // Detoasted copies go with the tuple table.
  MemoryContext old = MemoryContextSwitchTo(table->tuptabcxt);
  Datum previous = 0;
  for (int i = 0; i < *n; ++i) {
    bool is_null;
    const Datum column = SPI_getbinval(table->vals[i], table->tupdesc, 1, &is_null);
    if (is_null)
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                      errmsg("%s returns a row whose id is NULL", source->what)));
    Datum id = widened(source->column_type, column);
    if (!source->ids->by_value && source->ids->length == -1)
      id = PointerGetDatum(PG_DETOAST_DATUM(id));
    if (source->sorted && source->ids->count > 0) {
      // Within a batch the row before is at hand; the store may have to read it from its file.
      if (i == 0) previous = id_at(source->ids, source->ids->count - 1);
      const int c = compare_ids(source, previous, id);
      if (c == 0) duplicate(source, id);
      source->sorted = c < 0;
    }
    add_id(source->ids, id);
    previous = id;

    const Datum value = SPI_getbinval(table->vals[i], table->tupdesc, 2, &rows[i].is_null);
    if (rows[i].is_null) continue;
    read_signature(source->type, value, &rows[i].signature);
    if (!fits_shape(&source->shape, rows[i].signature))
      refuse_shape(source->shape, rows[i].signature, psprintf("the row with id %s", id_text(source, id)));
  }
  MemoryContextSwitchTo(old);
}

uint32* rank_rows(RowSource* source) {
  if (source->sorted) return nullptr;
  const uint64 count = source->ids->count;
  auto* rank = static_cast<uint32*>(MemoryContextAllocHuge(source->context, count * sizeof(uint32)));
  IdStore* by_rank = make_ids(source->context, source->ids->type, source->ids->collation, source->ids->bytes_limit);
  sorted_ids(source, [&](uint64 position, Datum id, uint64 row) {
    if (position > 0 && compare_ids(source, id_at(by_rank, position - 1), id) == 0) duplicate(source, id);
    rank[row] = static_cast<uint32>(position);
    add_id(by_rank, id);
  });
  free_ids(source->ids);
  source->ids = by_rank;
  return rank;
}

void check_unique(RowSource* source) {
  if (source->sorted) return;
  MemoryContext last = AllocSetContextCreate(source->context, "neardup last id", ALLOCSET_SMALL_SIZES);
  Datum before = 0;
  sorted_ids(source, [&](uint64 position, Datum id, uint64 /* row */) {
    if (position > 0 && compare_ids(source, before, id) == 0) duplicate(source, id);
    MemoryContextReset(last);
    MemoryContext old = MemoryContextSwitchTo(last);
    before = datumCopy(id, source->ids->by_value, source->ids->length);
    MemoryContextSwitchTo(old);
  });
  MemoryContextDelete(last);
}

void close_source(RowSource* source) {
  SPI_freetuptable(SPI_tuptable);
  SPI_cursor_close(source->portal);
}

Datum argument(FunctionCallInfo fcinfo, int n, const char* name) {
  if (PG_ARGISNULL(n))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name)));
  return PG_GETARG_DATUM(n);
}

Oid id_type_of(FunctionCallInfo fcinfo, bool witness) {
  if (!witness) return INT8OID;
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  if (!OidIsValid(type)) elog(ERROR, "could not determine the type of the ids");
  return type;
}

uint64 ids_memory() { return static_cast<uint64>(maintenance_work_mem) * 1024 / 4; }

size_t engine_memory() { return static_cast<size_t>(maintenance_work_mem) * 1024 / 4 * 3; }

}  // namespace neardup
