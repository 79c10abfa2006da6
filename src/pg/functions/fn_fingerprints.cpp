// karp_rabin() and its kin, winnow_fingerprints() and winnow_hashes(): fingerprints of documents, of their windows, and
// few of their shingles.
#include "core/document/fingerprint.h"
#include "core/document/winnow.h"
#include "pg/base/result_row.h"
#include "pg/base/context.h"
#include "pg/values/arrays.h"
#include "pg/values/old_sql.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

Datum fingerprint_datum(const Bytes& doc) {
  uint64_t f = 0;
  call_core([&] {
    PgStop stop;
    f = fingerprint(doc.data, doc.size, &stop);
  });
  PG_RETURN_INT64(static_cast<int64>(f));
}

// A stream of rows (position, fingerprint) and what it has given so far.
struct WindowRows {
  WindowRows(Unit unit, int64_t window, const uint8_t* text, size_t size, StopCheck* stop)
      : rolling(unit, window, text, size, stop) {}
  bool next(int32_t* position, uint64_t* value) {
    if (at == n) {
      n = rolling.next(batch, sizeof batch / sizeof *batch);
      at = 0;
      if (n == 0) return false;
    }
    *position = ++count;
    *value = batch[at++];
    return true;
  }
  RollingFingerprints rolling;
  uint64_t batch[1024];
  size_t n = 0;
  size_t at = 0;
  int32_t count = 0;
};

struct WinnowRows {
  WinnowRows(Unit unit, int64_t k, int64_t window, const uint8_t* text, size_t size, const int64_t* ignored,
             size_t ignored_size, StopCheck* stop)
      : stream(unit, k, window, text, size, stop), ignore(ignored, ignored_size, stop) {}
  bool next(int32_t* position, uint64_t* value) {
    WinnowFingerprint f;
    do {
      if (!stream.next(&f)) return false;
    } while (ignore.contains(f.hash));
    *position = static_cast<int32_t>(f.position) + 1;
    *value = f.hash;
    return true;
  }
  WinnowStream stream;
  IgnoredHashes ignore;
};

struct Hashes {
  const int64_t* values;
  size_t size;
};

// The argument `ignore`, palloced.
Hashes ignored_arg(FunctionCallInfo fcinfo, int n) {
  demand_arguments(fcinfo, n + 1);
  const Elements elements = array_elements(PG_GETARG_ARRAYTYPE_P(n));
  int64_t* const values = static_cast<int64_t*>(palloc(sizeof(int64_t) * (static_cast<size_t>(elements.count) + 1)));
  for (int i = 0; i < elements.count; ++i) {
    if (elements.nulls[i])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("fingerprint %d to ignore is NULL", i + 1),
                      errhint("Leave NULLs out, as in array_remove(fingerprints, NULL).")));
    values[i] = DatumGetInt64(elements.values[i]);
  }
  return {values, static_cast<size_t>(elements.count)};
}

// First call of a set-returning function: make(copy, size, stop) returns the rows over a copy of the document that
// lives as long as the scan.
template <typename Rows, typename Make>
void start(FunctionCallInfo fcinfo, const Bytes& doc, Make make) {
  FuncCallContext* context = SRF_FIRSTCALL_INIT();
  MemoryContext old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
  TupleDesc desc;
  if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE) elog(ERROR, "return type must be a row type");
  context->tuple_desc = BlessTupleDesc(desc);
  MemoryContextSwitchTo(old);
  const Bytes copy = copy_bytes(doc, context->multi_call_memory_ctx);
  context->user_fctx = make_owned<Rows>(context->multi_call_memory_ctx,
                                        [=](PgStop* stop, PgTempFiles*) { return make(copy.data, copy.size, stop); });
}

template <typename Rows>
Datum next_row(FunctionCallInfo fcinfo) {
  FuncCallContext* context = SRF_PERCALL_SETUP();
  auto* rows = static_cast<Owned<Rows>*>(context->user_fctx);
  int32_t position = 0;
  uint64_t value = 0;
  bool any = false;
  call_core([&] { any = rows->object->next(&position, &value); });
  if (!any) {
    destroy_owned(rows);
    SRF_RETURN_DONE(context);
  }
  enum Column { kPosition, kFingerprint, kColumns };
  ResultRow<Column> row;
  row.set(kPosition, Int32GetDatum(position));
  row.set(kFingerprint, Int64GetDatum(static_cast<int64>(value)));
  SRF_RETURN_NEXT(context, HeapTupleGetDatum(row.tuple(context->tuple_desc)));
}

void start_windows(FunctionCallInfo fcinfo, Unit unit, const Bytes& doc) {
  const int64_t window = PG_GETARG_INT32(1);
  start<WindowRows>(fcinfo, doc, [=](const uint8_t* text, size_t size, StopCheck* stop) {
    return new WindowRows(unit, window, text, size, stop);
  });
}

void start_winnow(FunctionCallInfo fcinfo, Unit unit, const Bytes& doc, const Hashes& ignore) {
  const int64_t k = PG_GETARG_INT32(1);
  const int64_t window = PG_GETARG_INT32(2);
  start<WinnowRows>(fcinfo, doc, [=](const uint8_t* text, size_t size, StopCheck* stop) {
    return new WinnowRows(unit, k, window, text, size, ignore.values, ignore.size, stop);
  });
}

Datum hashes_datum(FunctionCallInfo fcinfo, Unit unit, const Bytes& doc, const Hashes& ignore) {
  const int64_t k = PG_GETARG_INT32(1);
  const int64_t window = PG_GETARG_INT32(2);
  using Chosen = std::vector<int64_t>;
  Owned<Chosen>* hashes = make_owned<Chosen>(CurrentMemoryContext, [&](PgStop* stop, PgTempFiles*) {
    const IgnoredHashes ignored(ignore.values, ignore.size, stop);
    return new Chosen(winnow_hashes(unit, k, window, doc.data, doc.size, ignored, stop));
  });
  const Datum array = bigint_array_datum(hashes->object->data(), hashes->object->size());
  destroy_owned(hashes);
  return array;
}

}  // namespace

SQL_FUNCTION(neardup_karp_rabin) { return fingerprint_datum(to_utf8(PG_GETARG_TEXT_PP(0))); }

SQL_FUNCTION(neardup_karp_rabin_bytes) { return fingerprint_datum(bytes_arg(fcinfo, 0)); }

SQL_FUNCTION(neardup_karp_rabin_concat) {
  const int64 a = PG_GETARG_INT64(0), b = PG_GETARG_INT64(1), length = PG_GETARG_INT64(2);
  uint64_t f = 0;
  call_core([&] { f = fingerprint_concat(a, b, length); });
  PG_RETURN_INT64(static_cast<int64>(f));
}

SQL_FUNCTION(neardup_rolling_fingerprints) {
  if (SRF_IS_FIRSTCALL()) start_windows(fcinfo, Unit::character, to_utf8(PG_GETARG_TEXT_PP(0)));
  return next_row<WindowRows>(fcinfo);
}

SQL_FUNCTION(neardup_rolling_fingerprints_bytes) {
  if (SRF_IS_FIRSTCALL()) start_windows(fcinfo, Unit::byte, bytes_arg(fcinfo, 0));
  return next_row<WindowRows>(fcinfo);
}

SQL_FUNCTION(neardup_winnow_fingerprints) {
  if (SRF_IS_FIRSTCALL())
    start_winnow(fcinfo, unit_arg(fcinfo, 3), to_utf8(PG_GETARG_TEXT_PP(0)), ignored_arg(fcinfo, 4));
  return next_row<WinnowRows>(fcinfo);
}

SQL_FUNCTION(neardup_winnow_fingerprints_bytes) {
  if (SRF_IS_FIRSTCALL()) start_winnow(fcinfo, Unit::byte, bytes_arg(fcinfo, 0), ignored_arg(fcinfo, 3));
  return next_row<WinnowRows>(fcinfo);
}

SQL_FUNCTION(neardup_winnow_hashes) {
  return hashes_datum(fcinfo, unit_arg(fcinfo, 3), to_utf8(PG_GETARG_TEXT_PP(0)), ignored_arg(fcinfo, 4));
}

SQL_FUNCTION(neardup_winnow_hashes_bytes) {
  return hashes_datum(fcinfo, Unit::byte, bytes_arg(fcinfo, 0), ignored_arg(fcinfo, 3));
}
