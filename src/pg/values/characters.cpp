#include "pg/values/characters.h"

#include "pg/base/pg.h"

namespace neardup {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

int count_characters(const char* data, int size) {
  if (GetDatabaseEncoding() != PG_SQL_ASCII) return pg_mbstrlen_with_len(data, size);
  int n = 0;
  for (int i = 0; i < size; ++i) n += begins_character(data[i]);
  return n;
}

int bytes_of_characters(const char* data, int size, int most) {
  if (GetDatabaseEncoding() != PG_SQL_ASCII) return pg_mbcharcliplen(data, size, most);
  int seen = 0;
  for (int i = 0; i < size; ++i)
    if (begins_character(data[i]) && ++seen > most) return i;
  return size;
}

}  // namespace neardup
