// The type ctph: text and binary forms, constructors. Order and hash are those of bytes: type_minhash.cpp.
#include <algorithm>

#include "pg/values/ctph_value.h"

namespace {

using namespace neardup;

std::vector<uint8_t> stored(const CtphDigest& digest) {
  std::vector<uint8_t> bytes(ctph_size(digest_view(digest)));
  write_ctph(digest_view(digest), bytes.data());
  return bytes;
}

// is_long: of at most `length` characters; else ssdeep's.
Datum digest_datum(const Bytes& doc, bool is_long, int64 length) {
  return datum_from([&] {
    PgStop stop;
    return stored(is_long ? ctph_long(doc.data, doc.size, length, &stop) : ctph(doc.data, doc.size, &stop));
  });
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(ctph_in);
Datum ctph_in(PG_FUNCTION_ARGS) {
  const char* text = PG_GETARG_CSTRING(0);
  return datum_from([&] { return stored(ctph_from_text(text)); });
}

PG_FUNCTION_INFO_V1(ctph_out);
Datum ctph_out(PG_FUNCTION_ARGS) {
  const CtphView v = ctph_arg(fcinfo, 0);
  const size_t room = v.part1.size() + v.part2.size() + 64;
  PG_RETURN_CSTRING(cstring_from(room, "a digest", [&] { return ctph_to_text(v); }));
}

PG_FUNCTION_INFO_V1(ctph_recv);
Datum ctph_recv(PG_FUNCTION_ARGS) {
  const Bytes message = message_arg(fcinfo);
  return datum_from([&] {
    view_ctph(message.data, message.size);
    return std::vector<uint8_t>(message.data, message.data + message.size);
  });
}

PG_FUNCTION_INFO_V1(ctph_send);
Datum ctph_send(PG_FUNCTION_ARGS) {
  const struct varlena* value = PG_GETARG_VARLENA_PP(0);
  ctph_view(value);
  return varlena_datum(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

PG_FUNCTION_INFO_V1(ctph_from_document);
Datum ctph_from_document(PG_FUNCTION_ARGS) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const Utf8 doc = to_utf8(PG_GETARG_TEXT_PP(0));
  const Datum result = digest_datum(doc, PG_NARGS() > 1, PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0);
  cache_result(fcinfo, result);
  return result;
}

PG_FUNCTION_INFO_V1(ctph_from_bytes);
Datum ctph_from_bytes(PG_FUNCTION_ARGS) {
  bool found;
  const Datum cached = cached_result(fcinfo, &found);
  if (found) return cached;
  const Bytes doc = bytes_arg(fcinfo, 0);
  const Datum result = digest_datum(doc, PG_NARGS() > 1, PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0);
  cache_result(fcinfo, result);
  return result;
}

}  // extern "C"
