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

// With argument 1 the digest has at most so many characters; else it is ssdeep's.
Datum digest_datum(FunctionCallInfo fcinfo, const Bytes& doc) {
  const bool is_long = PG_NARGS() > 1;
  const int64 length = is_long ? PG_GETARG_INT32(1) : 0;
  return datum_from([&] {
    PgStop stop;
    return stored(is_long ? ctph_long(doc.data, doc.size, length, &stop) : ctph(doc.data, doc.size, &stop));
  });
}

}  // namespace

SQL_FUNCTION(ctph_in) {
  const char* text = PG_GETARG_CSTRING(0);
  return datum_from([&] { return stored(ctph_from_text(text)); });
}

SQL_FUNCTION(ctph_out) {
  const CtphView v = ctph_arg(fcinfo, 0);
  const size_t room = v.part1.size() + v.part2.size() + 64;
  PG_RETURN_CSTRING(cstring_from(room, "a digest", [&] { return ctph_to_text(v); }));
}

SQL_FUNCTION(ctph_recv) {
  const Bytes message = message_arg(fcinfo);
  return datum_from([&] {
    view_ctph(message.data, message.size);
    return std::vector<uint8_t>(message.data, message.data + message.size);
  });
}

SQL_FUNCTION(ctph_send) {
  const struct varlena* value = PG_GETARG_VARLENA_PP(0);
  ctph_view(value);
  return varlena_datum(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

SQL_FUNCTION(ctph_from_document) {
  return cached_result(fcinfo, [&] { return digest_datum(fcinfo, to_utf8(PG_GETARG_TEXT_PP(0))); });
}

SQL_FUNCTION(ctph_from_bytes) {
  return cached_result(fcinfo, [&] { return digest_datum(fcinfo, bytes_arg(fcinfo, 0)); });
}
