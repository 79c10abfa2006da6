// Any bytes: the places of a text and its sentences against the obvious version.
#include <cstring>
#include <memory>

#include "core/word_model/word_places.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/word_reference.h"

using namespace neardup;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4000) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const fuzz::Exact exact(text);
  const reference::Document want = reference::place_words(text);
  WordPlaces places(exact.p.get(), size);
  size_t n = 0;
  for (WordPlace place; places.next(&place); ++n) {
    DEMAND(n < want.size() && place.begins == want[n].begins && place.word == want[n].word);
    for (size_t i = 0; i < 8; ++i) DEMAND(place.word.data()[place.word.size() + i] == 0);
  }
  DEMAND(n == want.size());
  return 0;
}
