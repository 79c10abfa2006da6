// Lists of stop words by language, for stopword_shingles.h.
#pragma once

#include <string_view>
#include <vector>

namespace neardup {

// The list of a language by its English name or its ISO 639 code of two or three letters, in any case: folded words in
// order, each once. Error{invalid_argument} that lists the known languages. The views live for ever.
std::vector<std::string_view> list_stopwords(std::string_view language);

// "english (en, eng), french (fr, fra, fre), ...".
const char* stopword_languages() noexcept;

}  // namespace neardup
