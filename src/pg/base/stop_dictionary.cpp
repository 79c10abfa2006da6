#include "pg/base/stop_dictionary.h"

extern "C" {
#include "tsearch/ts_cache.h"
#include "tsearch/ts_public.h"
#include "utils/syscache.h"
}

namespace neardup {

StopDictionary stop_dictionary(Oid dictionary) {
  if (!SearchSysCacheExists1(TSDICTOID, ObjectIdGetDatum(dictionary)))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("text search dictionary with OID %u does not exist", dictionary)));
  return {lookup_ts_dictionary_cache(dictionary)};
}

// A stop word is what the dictionary knows and gives no lexeme for.
bool is_stop_word(const StopDictionary& asked, char* word) {
  TSDictionaryCacheEntry* dictionary = asked.entry;
  const int length = static_cast<int>(strlen(word));
  DictSubState state = {false, false, nullptr};
  auto* lexemes = reinterpret_cast<TSLexeme*>(
      DatumGetPointer(FunctionCall4(&dictionary->lexize, PointerGetDatum(dictionary->dictData), PointerGetDatum(word),
                                    Int32GetDatum(length), PointerGetDatum(&state))));
  if (state.getnext) {
    state.isend = true;
    auto* more = reinterpret_cast<TSLexeme*>(
        DatumGetPointer(FunctionCall4(&dictionary->lexize, PointerGetDatum(dictionary->dictData), PointerGetDatum(word),
                                      Int32GetDatum(length), PointerGetDatum(&state))));
    if (more != nullptr) lexemes = more;
  }
  return lexemes != nullptr && lexemes->lexeme == nullptr;
}

}  // namespace neardup
