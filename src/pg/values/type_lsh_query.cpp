// The type lsh_query: its forms. What is made of it and asked by it: measure_functions.cpp.
#include "pg/values/lsh_query_value.h"

namespace neardup {

LshQueryView lsh_query_view(struct varlena* value) {
  const char* data = aligned_bytes(value);
  const size_t size = VARSIZE_ANY_EXHDR(value);
  LshQueryView v{};
  call_core([&] { v = view_lsh_query(data, size); });
  return v;
}

Datum lsh_query_datum(const LshQueryView& query) {
  const size_t size = VARHDRSZ + lsh_query_size(query);
  auto* value = static_cast<struct varlena*>(palloc(size));
  SET_VARSIZE(value, size);
  write_lsh_query(query, VARDATA(value));
  return PointerGetDatum(value);
}

}  // namespace neardup

using namespace neardup;

SQL_FUNCTION(lsh_query_in) {
  const char* text = PG_GETARG_CSTRING(0);
  return datum_from([&] { return lsh_query_from_text(text); });
}

SQL_FUNCTION(lsh_query_out) {
  const LshQueryView v = lsh_query_view(PG_GETARG_VARLENA_P(0));
  // An element of a set takes 8 bytes, and at most 21 as text; a bit of a code is a character.
  const size_t room = 192 + lsh_query_size(v) * (measure_kind(v.measure) == Kind::bits ? 8 : 3);
  PG_RETURN_CSTRING(cstring_from(room, "an lsh_query", [&] { return lsh_query_to_text(v); }));
}

SQL_FUNCTION(lsh_query_recv) {
  const Bytes message = message_arg(fcinfo);
  return datum_from([&] { return lsh_query_from_wire(message.data, message.size); });
}

SQL_FUNCTION(lsh_query_send) {
  const LshQueryView v = lsh_query_view(PG_GETARG_VARLENA_P(0));
  return datum_from([&] { return lsh_query_to_wire(v); });
}
