// neardup_frequent_windows(): the windows that stand in many documents of a query, as numbers that a job keeps.
#include "core/passages/stored_windows.h"
#include "pg/passages/passage_rows.h"
#include "pg/base/result_row.h"
#include "pg/query/id_store.h"
#include "pg/values/arrays.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// Numbers of a row: so many bytes stay within the row, and are not compressed.
constexpr size_t kNumbersPerRow = 240;
constexpr size_t kWindowBatch = 1024;

Tuplesortstate* begin_number_sort(TupleDesc* columns) {
  *columns = CreateTemplateTupleDesc(1);
  TupleDescInitEntry(*columns, 1, "number", INT8OID, -1, 0);
  finish_tuple_desc(*columns);
  AttrNumber key = 1;
  Oid less = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR)->lt_opr;
  Oid collation = InvalidOid;
  bool nulls_first = false;
  return tuplesort_begin_heap(*columns, 1, &key, &less, &collation, &nulls_first, sort_memory(), nullptr, 0);
}

void sort_numbers(Owned<FrequentWindows>* windows, Tuplesortstate* sort, TupleTableSlot* slot) {
  auto* batch = static_cast<uint64_t*>(palloc(kWindowBatch * sizeof(uint64_t)));
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    size_t n = 0;
    call_core([&] { n = windows->object->next(batch, kWindowBatch); });
    if (n == 0) break;
    for (size_t i = 0; i < n; ++i) {
      ExecClearTuple(slot);
      slot->tts_values[0] = Int64GetDatum(static_cast<int64>(batch[i]));
      slot->tts_isnull[0] = false;
      ExecStoreVirtualTuple(slot);
      tuplesort_puttupleslot(sort, slot);
    }
  }
  tuplesort_performsort(sort);
  pfree(batch);
}

void put_block(ReturnSetInfo* rows, int32 number, const int64_t* numbers, size_t n) {
  enum Column { kNumber, kWindows, kColumns };
  ResultRow<Column> row;
  row.set(kNumber, Int32GetDatum(number));
  const Datum array = bigint_array_datum(numbers, n);
  row.set(kWindows, array);
  row.put(rows);
  pfree(DatumGetPointer(array));
}

// In ascending order, each once: two windows may have one number.
void put_blocks(ReturnSetInfo* rows, Tuplesortstate* sort, TupleDesc desc) {
  TupleTableSlot* in = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
  auto* block = static_cast<int64_t*>(palloc(kNumbersPerRow * sizeof(int64_t)));
  size_t n = 0;
  int32 blocks = 0;
  while (tuplesort_gettupleslot(sort, true, false, in, nullptr)) {
    bool is_null;
    const int64 number = DatumGetInt64(slot_getattr(in, 1, &is_null));
    if (n > 0 && block[n - 1] == number) continue;
    if (n == kNumbersPerRow) {
      CHECK_FOR_INTERRUPTS();
      put_block(rows, ++blocks, block, n);
      n = 0;
    }
    block[n++] = number;
  }
  if (n > 0) put_block(rows, ++blocks, block, n);
  ExecDropSingleTupleTableSlot(in);
}

}  // namespace

// neardup_frequent_windows(query text, min_units int, unit text, documents int, key bigint)
//   -> setof (number int, windows bigint[])
SQL_FUNCTION(neardup_frequent_windows) {
  text* query = PG_GETARG_TEXT_PP(0);
  PassageCall call = {};
  call.function = Searching::frequent_windows;
  call.min_units = PG_GETARG_INT32(1);
  call.unit = unit_arg(fcinfo, 2);
  // A window that stands in so many documents occurs at least as often.
  call.at_least = PG_GETARG_INT32(3);
  call.numbers_groups = true;
  const auto key = static_cast<uint64>(PG_GETARG_INT64(4));
  ReturnSetInfo* rows = begin_rows(fcinfo);
  SPI_connect();
  search_passages(&call, query, InvalidOid, false);
  Owned<FrequentWindows>* windows = make_owned<FrequentWindows>(call.source.context, [&](PgStop* stop, PgTempFiles*) {
    const StoredShape shape{call.unit, static_cast<uint32_t>(call.min_units), key};
    return new FrequentWindows(call.engine->object, shape, static_cast<uint64_t>(call.at_least), call.groups,
                               call.group_numbers, stop);
  });
  TupleDesc desc;
  Tuplesortstate* sort = begin_number_sort(&desc);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
  sort_numbers(windows, sort, slot);
  put_blocks(rows, sort, desc);
  ExecDropSingleTupleTableSlot(slot);
  tuplesort_end(sort);
  destroy_owned(windows);
  end_passages(&call, "windows returned");
  SPI_finish();
  return static_cast<Datum>(0);
}
