// Characters of a text, counted and cut. In a SQL_ASCII database PostgreSQL's functions count bytes, and cut characters
// in two; its texts are taken for UTF-8 here, as everywhere.
#include "pg/base/pg.h"

namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Bytes of the first `most` characters, or of all.
int bytes_of(const char* data, int size, int most) {
  if (GetDatabaseEncoding() != PG_SQL_ASCII) return pg_mbcharcliplen(data, size, most);
  int seen = 0;
  for (int i = 0; i < size; ++i)
    if (begins_character(data[i]) && ++seen > most) return i;
  return size;
}

}  // namespace

extern "C" {

PG_FUNCTION_INFO_V1(neardup_characters);
Datum neardup_characters(PG_FUNCTION_ARGS) {
  const text* body = PG_GETARG_TEXT_PP(0);
  const char* data = VARDATA_ANY(body);
  const int size = static_cast<int>(VARSIZE_ANY_EXHDR(body));
  if (GetDatabaseEncoding() != PG_SQL_ASCII) PG_RETURN_INT32(pg_mbstrlen_with_len(data, size));
  int n = 0;
  for (int i = 0; i < size; ++i) n += begins_character(data[i]);
  PG_RETURN_INT32(n);
}

PG_FUNCTION_INFO_V1(neardup_first_characters);
Datum neardup_first_characters(PG_FUNCTION_ARGS) {
  const text* body = PG_GETARG_TEXT_PP(0);
  const int32 most = PG_GETARG_INT32(1);
  if (most < 0) ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("most must be at least 0: %d", most)));
  const char* data = VARDATA_ANY(body);
  PG_RETURN_TEXT_P(cstring_to_text_with_len(data, bytes_of(data, static_cast<int>(VARSIZE_ANY_EXHDR(body)), most)));
}

}  // extern "C"
