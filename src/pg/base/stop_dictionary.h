// Text search dictionaries asked for stop words.
#pragma once

#include "pg/base/pg.h"

struct TSDictionaryCacheEntry;

namespace neardup {

struct StopDictionary {
  ::TSDictionaryCacheEntry* entry;
};

// Raises an error where there is none.
StopDictionary stop_dictionary(Oid dictionary);

// word: in the server's encoding; may be written into. Leaves garbage in the current memory context.
bool is_stop_word(const StopDictionary& dictionary, char* word);

}  // namespace neardup
