// Any bytes: words one by one against the tokenizer of shingles, what counts as a folded word, shingles behind stop
// words and counts of words against the obvious versions.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/document/shingle.h"
#include "core/document/words.h"
#include "core/signature/i_match.h"
#include "core/signature/stopword_shingles.h"

#include "test/fuzz/fuzz.h"

using namespace neardup;

// Byte 0: following. Byte 1: which words are stop words. The rest: the document, cut in two for the counts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input in(data, size);
  const int following = 1 + in.read<uint8_t>() % kMaxFollowing;
  const uint8_t pick = in.read<uint8_t>();
  if (in.size() > 4000) return 0;
  // Memory of exactly this size.
  const size_t n = in.size();
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[n]);
  if (n > 0) std::memcpy(exact.get(), in.data(), n);
  const uint8_t* const p = exact.get();

  std::vector<std::string> words;
  Words reader(p, n);
  for (std::string_view word; reader.next(&word);) words.emplace_back(word);
  ShingleText tokens(Unit::word, 1, p, n);
  ShingleStream hashes(Unit::word, 1, p, n);
  std::vector<uint64_t> all;
  static uint64_t batch[ShingleStream::kMaxBatch];
  while (const size_t m = hashes.next(batch)) all.insert(all.end(), batch, batch + m);
  DEMAND(all.size() == words.size());
  std::string token;
  for (size_t i = 0; i < words.size(); ++i) {
    DEMAND(tokens.next(&token) && token == words[i]);
    DEMAND(is_folded_word(token) && word_shingle_hash(token) == all[i]);
  }
  DEMAND(!tokens.next(&token));
  const std::string text(reinterpret_cast<const char*>(p), n);
  // U+03B9 alone may come from a mark, in a word that would be two.
  if (is_folded_word(text) && text.find("\xce\xb9") == std::string::npos) DEMAND(words.size() == 1 && words[0] == text);

  StopWords stop_words;
  std::vector<std::string> chosen;
  for (const std::string& word : distinct_words(p, n, nullptr))
    if ((static_cast<uint8_t>(word[0]) ^ pick) % 3 == 0) {
      stop_words.add_folded(word);
      chosen.push_back(word);
    }
  StopwordShingles shingles(stop_words, following, p, n);
  const size_t f = static_cast<size_t>(following);
  std::string shingle;
  for (size_t i = 0; i + f < words.size(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), words[i]) == chosen.end()) continue;
    std::string want = words[i];
    for (size_t j = 1; j <= f; ++j) want += ' ' + words[i + j];
    DEMAND(shingles.next(&shingle) && shingle == want);
  }
  DEMAND(!shingles.next(&shingle));

  std::map<std::string, int64_t> want, got;
  TermCounts counts(0);
  for (const auto& [from, to] : {std::pair{size_t{0}, n / 2}, std::pair{n / 2, n}}) {
    std::set<std::string> in_document;
    ShingleText part(Unit::word, 1, p + from, to - from);
    while (part.next(&token)) in_document.insert(token);
    for (const std::string& word : in_document) ++want[word];
    counts.add_document(p + from, to - from, nullptr);
    for (size_t i = 0; i < counts.size(); ++i) got[std::string(counts.word(i))] += counts.count(i);
    counts.clear();
  }
  DEMAND(want == got);
  return 0;
}
