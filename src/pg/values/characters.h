// Characters of a text. In a SQL_ASCII database PostgreSQL's functions count bytes, and cut characters in two; its
// texts are taken for UTF-8 here, as everywhere.
#pragma once

namespace neardup {

int count_characters(const char* data, int size);

// Bytes of the first `most` characters, or of all.
int bytes_of_characters(const char* data, int size, int most);

}  // namespace neardup
