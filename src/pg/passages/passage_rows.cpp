#include "pg/passages/passage_rows.h"

#include "pg/base/guc.h"
#include "pg/query/id_store.h"
#include "pg/values/values.h"

namespace neardup {
namespace {

constexpr uint64 kRowsChecked = 4096;

// The values of the column within, put in order with the numbers of their rows.
enum GroupColumn : AttrNumber { kSortedWithin = 1, kSortedRow, kSortedColumns = kSortedRow };

struct Groups {
  const SourceColumns* columns;
  MemoryContext context;
  TupleTableSlot* slot;
  Tuplesortstate* sort;
  uint64 rows;
};

void begin_groups(Groups* groups, const RowSource& source) {
  const SourceColumns& c = source.columns;
  groups->columns = &c;
  groups->context = source.context;
  groups->rows = 0;
  groups->sort = nullptr;
  if (c.within == kColumnAbsent) return;
  TupleDesc desc = CreateTemplateTupleDesc(kSortedColumns);
  TupleDescInitEntry(desc, kSortedWithin, "within", c.within_type, -1, 0);
  TupleDescInitEntryCollation(desc, kSortedWithin, c.within_collation);
  TupleDescInitEntry(desc, kSortedRow, "row", INT8OID, -1, 0);
  finish_tuple_desc(desc);
  AttrNumber key = kSortedWithin;
  Oid less = lookup_type_cache(c.within_type, TYPECACHE_LT_OPR)->lt_opr;
  Oid collation = c.within_collation;
  bool nulls_first = false;
  groups->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
  groups->sort = tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first, sort_memory(), nullptr, 0);
}

// The value of the next row; without one it takes no part.
void add_to_groups(Groups* groups, const KeyRow& row) {
  const uint64 number = groups->rows++;
  if (groups->sort == nullptr || row.nulls[groups->columns->within]) return;
  TupleTableSlot* slot = groups->slot;
  ExecClearTuple(slot);
  slot->tts_values[kSortedWithin - 1] = row.columns[groups->columns->within];
  slot->tts_values[kSortedRow - 1] = Int64GetDatum(static_cast<int64>(number));
  slot->tts_isnull[kSortedWithin - 1] = slot->tts_isnull[kSortedRow - 1] = false;
  ExecStoreVirtualTuple(slot);
  tuplesort_puttupleslot(groups->sort, slot);
}

// Numbers the groups; null where all rows are of one. values: what the column within, a bigint, says of each group; or
// null.
uint32* end_groups(Groups* groups, uint64* values) {
  if (groups->sort == nullptr) return nullptr;
  auto* out = static_cast<uint32*>(
      MemoryContextAllocHuge(groups->context, Max(groups->rows, static_cast<uint64>(1)) * sizeof(uint32)));
  for (uint64 row = 0; row < groups->rows; ++row) out[row] = kNoGroup;
  const TypeCacheEntry* type = lookup_type_cache(groups->columns->within_type, TYPECACHE_CMP_PROC_FINFO);
  FmgrInfo compare;
  fmgr_info_copy(&compare, const_cast<FmgrInfo*>(&type->cmp_proc_finfo), CurrentMemoryContext);
  const int16 length = type->typlen;
  const bool by_value = type->typbyval;
  MemoryContext copies = AllocSetContextCreate(CurrentMemoryContext, "neardup last within", ALLOCSET_SMALL_SIZES);
  tuplesort_performsort(groups->sort);
  TupleTableSlot* in = MakeSingleTupleTableSlot(groups->slot->tts_tupleDescriptor, &TTSOpsMinimalTuple);
  Datum before = 0;
  uint32 group = 0;
  for (uint64 n = 0; tuplesort_gettupleslot(groups->sort, true, true, in, nullptr); ++n) {
    bool is_null;
    const Datum within = slot_getattr(in, kSortedWithin, &is_null);
    const Datum row = slot_getattr(in, kSortedRow, &is_null);
    if (n % kRowsChecked == 0) CHECK_FOR_INTERRUPTS();
    if (n == 0 || DatumGetInt32(FunctionCall2Coll(&compare, groups->columns->within_collation, before, within)) != 0) {
      if (n > 0) ++group;
      MemoryContextReset(copies);
      MemoryContext old = MemoryContextSwitchTo(copies);
      before = datumCopy(within, by_value, length);
      MemoryContextSwitchTo(old);
      if (values != nullptr) values[group] = static_cast<uint64>(DatumGetInt64(within));
    }
    out[DatumGetInt64(row)] = group;
  }
  ExecDropSingleTupleTableSlot(in);
  ExecDropSingleTupleTableSlot(groups->slot);
  tuplesort_end(groups->sort);
  MemoryContextDelete(copies);
  return out;
}

// A column within that numbers the groups: a Datum of another type may be an address, and no number.
void demand_group_numbers(const SourceColumns& c) {
  if (c.within == kColumnAbsent || c.within_type == INT8OID) return;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("query returns a column \"within\" of type %s, not bigint", format_type_be(c.within_type))));
}

void make_engine(PassageCall* call) {
  uint64 key;
  if (!pg_strong_random(&key, sizeof key)) elog(ERROR, "could not generate random bytes");
  const size_t sorted = call->source.columns.within == kColumnAbsent ? 0 : static_cast<size_t>(sort_memory()) * 1024;
  call->engine = make_owned<PassageSearch>(call->source.context, [&](PgStop* stop, PgTempFiles* files) {
    PassageOptions options;
    options.unit = call->unit;
    options.min_units = call->min_units;
    options.at_least = call->at_least;
    options.keep_first = call->keep_first;
    options.memory_limit = engine_memory() - sorted;
    options.files = files;
    options.stop = stop;
    options.threads = search_threads();
    options.key = key;
    return new PassageSearch(options);
  });
}

void read_documents(PassageCall* call) {
  Groups groups;
  begin_groups(&groups, call->source);
  PassageSearch* const engine = call->engine->object;
  read_key_rows(&call->source, [&](const KeyRow& row) {
    if (groups.rows % kRowsBetweenReports == 0) report_rows_read(groups.rows);
    add_to_groups(&groups, row);
    Utf8 document = {nullptr, 0};
    if (!row.nulls[kDocumentColumn]) document = to_utf8(DatumGetTextPP(row.columns[kDocumentColumn]));
    call_core([&] { engine->add(document.data, document.size); });
    return true;
  });
  report_rows_read(groups.rows);
  report_phase(Phase::sorting);
  if (call->numbers_groups && groups.sort != nullptr)
    call->group_numbers = static_cast<uint64*>(
        MemoryContextAllocHuge(call->source.context, Max(groups.rows, static_cast<uint64>(1)) * sizeof(uint64)));
  call->groups = end_groups(&groups, call->group_numbers);
  if (call->source.ids != nullptr) check_unique(&call->source);
}

}  // namespace

void search_passages(PassageCall* call, text* query, Oid id_type, bool ordered) {
  // Before the query is run: its numbers may be wrong.
  call_core([&] {
    PassageOptions options;
    options.unit = call->unit;
    options.min_units = call->min_units;
    options.at_least = call->at_least;
    check_passage_options(options);
  });
  begin_stages(&call->stages);
  begin_progress(call->function);
  SourceWants wants = {};
  wants.document = true;
  wants.ordered = ordered;
  open_source(&call->source, "query", query, id_type, SignatureTypes{}, wants);
  if (call->numbers_groups) demand_group_numbers(call->source.columns);
  make_engine(call);
  read_documents(call);
  end_stage(&call->stages, "rows read");
  report_phase(Phase::searching);
  call_core([&] { call->engine->object->run(call->groups); });
  end_stage(&call->stages, "passages found");
  report_phase(Phase::returning);
}

void end_passages(PassageCall* call, const char* what) {
  PassageSearchStats s;
  call_core([&] { s = call->engine->object->stats(); });
  end_stage(&call->stages, what,
            psprintf(UINT64_FORMAT " rows of " UINT64_FORMAT " MB, " UINT64_FORMAT " windows hashed of " UINT64_FORMAT
                                   " seeds, " UINT64_FORMAT " repeated, %zu MB in memory, " UINT64_FORMAT " MB on disk",
                     s.rows, s.bytes >> 20, s.windows, s.seeds, s.repeated, s.peak_bytes >> 20, s.spilled_bytes >> 20));
  end_progress();
  destroy_owned(call->engine);
}

}  // namespace neardup
