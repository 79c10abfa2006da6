// Folded words as text of the server's encoding, which may lack a letter that one of its own folds to: LATIN1 has the
// micro sign, U+00B5, and not the mu that it folds to, U+03BC.
#pragma once

#include "pg/values/values.h"

namespace neardup {

// The text in the server's encoding, palloced. A letter that the encoding lacks is written as the first one of the
// encoding that folds to it, so that equal words are written alike, and read again give the same word. Null where that
// is not enough.
char* server_text_of_folded(const char* data, size_t size, size_t* out_size);

// The text for people: characters that do not fit are written as \uXXXX.
Datum text_datum_of_folded(const char* data, size_t size);

// UTF-8 of a word that was written so, folded.
Utf8 folded_of_server(const text* word);

}  // namespace neardup
