// shingles() and shingle_hashes(): what a signature is made of, row by row.
#include <string>

#include "core/document/shingle.h"
#include "pg/base/context.h"
#include "pg/values/folded_text.h"
#include "pg/values/values.h"

namespace {

using namespace neardup;

// The stream and its current batch.
struct HashRows {
  HashRows(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop) : stream(unit, k, text, size, stop) {}
  ShingleStream stream;
  uint64_t batch[ShingleStream::kMaxBatch];
  size_t n = 0;
  size_t at = 0;
};

struct TextRows {
  TextRows(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop) : shingles(unit, k, text, size, stop) {}
  ShingleText shingles;
  std::string current;
};

// First call of a set-returning function: the rows over a copy of the document that lives as long as the scan.
template <typename Rows>
void start(FunctionCallInfo fcinfo, Unit unit, const Bytes& doc) {
  FuncCallContext* context = SRF_FIRSTCALL_INIT();
  const int k = PG_GETARG_INT32(1);
  const Bytes copy = copy_bytes(doc, context->multi_call_memory_ctx);
  context->user_fctx = make_owned<Rows>(context->multi_call_memory_ctx, [=](PgStop* stop, PgTempFiles*) {
    return new Rows(unit, k, copy.data, copy.size, stop);
  });
}

Datum next_hash(FunctionCallInfo fcinfo) {
  FuncCallContext* context = SRF_PERCALL_SETUP();
  auto* rows = static_cast<Owned<HashRows>*>(context->user_fctx);
  HashRows* r = rows->object;
  if (r->at == r->n) {
    call_core([&] { r->n = r->stream.next(r->batch); });
    r->at = 0;
  }
  if (r->n == 0) {
    destroy_owned(rows);
    SRF_RETURN_DONE(context);
  }
  SRF_RETURN_NEXT(context, Int64GetDatum(static_cast<int64>(r->batch[r->at++])));
}

}  // namespace

SQL_FUNCTION(neardup_shingles) {
  if (SRF_IS_FIRSTCALL()) {
    const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
    start<TextRows>(fcinfo, unit_arg(fcinfo, 2), doc);
  }
  FuncCallContext* context = SRF_PERCALL_SETUP();
  auto* rows = static_cast<Owned<TextRows>*>(context->user_fctx);
  bool any = false;
  call_core([&] { any = rows->object->shingles.next(&rows->object->current); });
  if (!any) {
    destroy_owned(rows);
    SRF_RETURN_DONE(context);
  }
  SRF_RETURN_NEXT(context, text_datum_of_folded(rows->object->current.data(), rows->object->current.size()));
}

SQL_FUNCTION(neardup_shingle_hashes) {
  if (SRF_IS_FIRSTCALL()) {
    const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
    start<HashRows>(fcinfo, unit_arg(fcinfo, 2), doc);
  }
  return next_hash(fcinfo);
}

SQL_FUNCTION(neardup_shingle_hashes_bytes) {
  if (SRF_IS_FIRSTCALL()) start<HashRows>(fcinfo, Unit::byte, bytes_arg(fcinfo, 0));
  return next_hash(fcinfo);
}
