// repeated_passages() and passage_counts(): what stands more than once in the documents of a query.
#include <optional>

#include "core/base/named_values.h"
#include "pg/passages/passage_rows.h"
#include "pg/base/result_row.h"
#include "pg/query/id_store.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

constexpr size_t kPassageBatch = 1024;
constexpr NamedValue<bool> kKeeps[] = {{"first", true}, {"none", false}};

// The common arguments, from min_units on; -1: the function has no such argument.
PassageCall read_call(FunctionCallInfo fcinfo, Searching function, int min_units, int keep, int at_least) {
  PassageCall call = {};
  call.function = function;
  call.min_units = DatumGetInt32(argument(fcinfo, min_units, "min_units"));
  argument(fcinfo, min_units + 1, "unit");
  call.unit = unit_arg(fcinfo, min_units + 1);
  call.keep_first = keep != -1 && parse_named(kKeeps, "keep", argument(fcinfo, keep, "keep"),
                                              "With 'first', the first occurrence of a passage is not returned.");
  call.at_least = DatumGetInt32(argument(fcinfo, at_least, "at_least"));
  return call;
}

// Calls take(batch, n) with what the engine has found.
template <typename Found, typename Take>
void for_each_batch(PassageCall* call, Take take) {
  auto* batch = static_cast<Found*>(palloc(kPassageBatch * sizeof(Found)));
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    size_t n = 0;
    call_core([&] { n = call->engine->object->next(batch, kPassageBatch); });
    if (n == 0) break;
    take(batch, n);
  }
  pfree(batch);
}

void put_ranges(ReturnSetInfo* rows, PassageCall* call) {
  enum Column { kId, kStart, kLength, kOccurrences, kFirstId, kFirstStart, kColumns };
  IdStore* ids = call->source.ids;
  MemoryContext copies = AllocSetContextCreate(CurrentMemoryContext, "neardup passage", ALLOCSET_SMALL_SIZES);
  uint64 returned = 0;
  for_each_batch<RepeatedRange>(call, [&](const RepeatedRange* batch, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const RepeatedRange& r = batch[i];
      ResultRow<Column> row;
      row.set(kId, kept_id(ids, r.row, copies));
      row.set(kStart, Int32GetDatum(static_cast<int32>(r.start) + 1));
      row.set(kLength, Int32GetDatum(static_cast<int32>(r.length)));
      row.set(kOccurrences, Int64GetDatum(r.occurrences));
      row.set(kFirstId, id_at(ids, r.first_row));
      row.set(kFirstStart, Int32GetDatum(static_cast<int32>(r.first_start) + 1));
      row.put(rows);
    }
    report_pairs(returned += n);
  });
}

Datum repeated_passages(FunctionCallInfo fcinfo, PassageCall call, Oid id_type) {
  text* query = DatumGetTextPP(argument(fcinfo, 0, "query"));
  ReturnSetInfo* rows = begin_rows(fcinfo);
  SPI_connect();
  search_passages(&call, query, id_type);
  put_ranges(rows, &call);
  end_passages(&call, "ranges returned");
  free_ids(call.source.ids);
  SPI_finish();
  return static_cast<Datum>(0);
}

// Passages while they are put in order: the most frequent first, and of these the first.
enum SortedPassage : AttrNumber { kDocuments = 1, kOccurrences, kByte, kBytes, kPassageColumns = kBytes };

Tuplesortstate* begin_passage_sort(TupleDesc* columns) {
  TupleDesc desc = CreateTemplateTupleDesc(kPassageColumns);
  for (AttrNumber n = 1; n <= kPassageColumns; ++n) TupleDescInitEntry(desc, n, nullptr, INT8OID, -1, 0);
  finish_tuple_desc(desc);
  AttrNumber keys[] = {kDocuments, kOccurrences, kByte};
  const TypeCacheEntry* type = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
  Oid orders[] = {type->gt_opr, type->gt_opr, type->lt_opr};
  Oid collations[lengthof(keys)] = {};
  bool nulls_first[lengthof(keys)] = {};
  *columns = desc;
  return tuplesort_begin_heap(desc, lengthof(keys), keys, orders, collations, nulls_first, sort_memory(), nullptr, 0);
}

void sort_passages(PassageCall* call, Tuplesortstate* sort, TupleTableSlot* slot) {
  for_each_batch<CommonPassage>(call, [&](const CommonPassage* batch, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      ExecClearTuple(slot);
      slot->tts_values[kDocuments - 1] = Int64GetDatum(batch[i].documents);
      slot->tts_values[kOccurrences - 1] = Int64GetDatum(batch[i].occurrences);
      slot->tts_values[kByte - 1] = Int64GetDatum(static_cast<int64>(batch[i].byte));
      slot->tts_values[kBytes - 1] = Int64GetDatum(static_cast<int64>(batch[i].bytes));
      memset(slot->tts_isnull, false, kPassageColumns * sizeof(bool));
      ExecStoreVirtualTuple(slot);
      tuplesort_puttupleslot(sort, slot);
    }
  });
  tuplesort_performsort(sort);
}

int64 sorted_number(TupleTableSlot* slot, SortedPassage column) {
  bool is_null;
  return DatumGetInt64(slot_getattr(slot, column, &is_null));
}

// limit: rows at most; negative: all.
void put_passages(ReturnSetInfo* rows, PassageCall* call, int64 limit) {
  enum Column { kPassage, kInDocuments, kTimes, kColumns };
  TupleDesc desc;
  Tuplesortstate* sort = begin_passage_sort(&desc);
  sort_passages(call, sort, MakeSingleTupleTableSlot(desc, &TTSOpsVirtual));
  TupleTableSlot* in = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "neardup passage", ALLOCSET_DEFAULT_SIZES);
  for (int64 n = 0; n != limit && tuplesort_gettupleslot(sort, true, true, in, nullptr); ++n) {
    CHECK_FOR_INTERRUPTS();
    MemoryContext old = MemoryContextSwitchTo(context);
    const auto size = static_cast<size_t>(sorted_number(in, kBytes));
    auto* passage = static_cast<char*>(MemoryContextAllocHuge(context, size));
    const auto byte = static_cast<uint64>(sorted_number(in, kByte));
    call_core([&] { call->engine->object->read_text(byte, passage, size); });
    ResultRow<Column> row;
    row.set(kPassage, text_datum_of_utf8(passage, size));
    row.set(kInDocuments, Int64GetDatum(sorted_number(in, kDocuments)));
    row.set(kTimes, Int64GetDatum(sorted_number(in, kOccurrences)));
    row.put(rows);
    MemoryContextSwitchTo(old);
    MemoryContextReset(context);
    report_pairs(static_cast<uint64>(n) + 1);
  }
  ExecDropSingleTupleTableSlot(in);
  tuplesort_end(sort);
}

}  // namespace

// repeated_passages(query text, min_units int, unit text, keep text, at_least int)
SQL_FUNCTION(neardup_repeated_passages) {
  return repeated_passages(fcinfo, read_call(fcinfo, Searching::repeated_passages, 1, 3, 4), INT8OID);
}

// repeated_passages(query text, id anyelement, min_units int, unit text, keep text, at_least int)
SQL_FUNCTION(neardup_repeated_passages_of_ids) {
  const Oid id_type = get_fn_expr_argtype(fcinfo->flinfo, 1);
  if (!PG_ARGISNULL(1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("id names the type of the ids and must be NULL"),
                    errhint("Write id => NULL::text, or min_units => for a number.")));
  if (!OidIsValid(id_type)) elog(ERROR, "could not determine the type of the ids");
  return repeated_passages(fcinfo, read_call(fcinfo, Searching::repeated_passages, 2, 4, 5), id_type);
}

// passage_counts(query text, min_units int, unit text, at_least int, most int)
SQL_FUNCTION(neardup_passage_counts) {
  PassageCall call = read_call(fcinfo, Searching::passage_counts, 1, -1, 3);
  text* query = DatumGetTextPP(argument(fcinfo, 0, "query"));
  const int64 limit = PG_ARGISNULL(4) ? -1 : PG_GETARG_INT32(4);
  if (!PG_ARGISNULL(4) && limit < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("most must be at least 1: " INT64_FORMAT, limit),
                    errhint("NULL returns all passages.")));
  ReturnSetInfo* rows = begin_rows(fcinfo);
  SPI_connect();
  search_passages(&call, query, InvalidOid);
  put_passages(rows, &call, limit);
  end_passages(&call, "passages returned");
  SPI_finish();
  return static_cast<Datum>(0);
}
