// neardup_characters() and neardup_first_characters(): characters of a text counted and cut.
#include "pg/base/pg.h"
#include "pg/values/characters.h"

using namespace neardup;

SQL_FUNCTION(neardup_characters) {
  const text* body = PG_GETARG_TEXT_PP(0);
  PG_RETURN_INT32(count_characters(VARDATA_ANY(body), static_cast<int>(VARSIZE_ANY_EXHDR(body))));
}

SQL_FUNCTION(neardup_first_characters) {
  const text* body = PG_GETARG_TEXT_PP(0);
  const int32 most = PG_GETARG_INT32(1);
  if (most < 0) ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("most must be at least 0: %d", most)));
  const char* data = VARDATA_ANY(body);
  const int size = bytes_of_characters(data, static_cast<int>(VARSIZE_ANY_EXHDR(body)), most);
  PG_RETURN_TEXT_P(cstring_to_text_with_len(data, size));
}
