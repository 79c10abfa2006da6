// Any bytes as documents: counts, vocabulary and rows against the obvious version, under little memory and much.
#include <cstring>
#include <string>
#include <vector>

#include "core/word_model/word_counts.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/stdio_temp_file.h"
#include "test/reference/word_reference.h"

using namespace neardup;

// Bytes 0 to 4: the window and what kind, the vocabulary, the features, memory, how often the documents are repeated
// with other words before each. The rest: documents, between bytes 0x1e; after 0x1f arrays, their words between 0x1f.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input in(data, size);
  const uint8_t kind = in.read<uint8_t>();
  const size_t vocabulary = in.read<uint8_t>();
  const uint32_t features = in.read<uint8_t>();
  const uint8_t memory = in.read<uint8_t>();
  const unsigned repeats = static_cast<unsigned>(std::min<size_t>(in.read<uint8_t>() % 40, 1500 / (in.size() + 1))) + 1;
  if (in.size() > 600) return 0;
  const std::string all(reinterpret_cast<const char*>(in.data()), in.size());

  reference::StdioTempFiles files;
  WordCountOptions options;
  options.window = 1 + (kind & 15);
  options.by_position = (kind & 16) != 0;
  options.sentences = (kind & 32) != 0;
  options.discount = (kind & 64) != 0 ? 500 : 0;
  options.files = memory % 4 == 0 ? nullptr : &files;
  options.memory_limit = memory % 4 < 3 ? 0 : size_t{memory} << 12;
  WordCounts counts(options);
  std::vector<reference::Document> documents;
  for (unsigned r = 0; r < repeats; ++r) {
    for (size_t at = 0; at <= all.size();) {
      const size_t end = std::min(all.find('\x1e', at), all.size());
      std::string one = all.substr(at, end - at);
      at = end + 1;
      if (one.empty() || one[0] != '\x1f') {
        for (unsigned i = 0; i < r; ++i)
          one = std::string(1 + i % 7, static_cast<char>('a' + (r * 5 + i) % 26)) + " " + one;
        const fuzz::Exact exact(one);
        counts.add_document(exact.p.get(), exact.size);
        documents.push_back(reference::place_words(one));
        continue;
      }
      std::vector<std::string> words;
      for (size_t w = 1; w <= one.size();) {
        const size_t to = std::min(one.find('\x1f', w), one.size());
        words.push_back(one.substr(w, to - w));
        w = to + 1;
      }
      counts.begin_words();
      for (const std::string& word : words) counts.add_word(word);
      documents.push_back(reference::place_words(words));
    }
  }
  reference::WordModel want = reference::count_model(documents, {}, vocabulary, features, options.window,
                                                     options.by_position, options.sentences);
  want.discount = options.discount;
  const size_t n = counts.choose(vocabulary);
  DEMAND(n == want.words.size());
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < n; ++i) {
    DEMAND(counts.word(i) == want.words[i].first && counts.frequency(i) == want.words[i].second);
    ids.push_back(i);
  }
  counts.count(ids.data(), n, features);
  DEMAND(counts.pairs() == want.pairs && counts.documents() == documents.size());
  const std::vector<reference::FixedRow> rows = reference::fixed_rows(want);
  size_t i = 0;
  for (WordRow row; counts.next_row(&row); ++i) {
    DEMAND(i < n && row.size == rows[i].size());
    size_t at = 0;
    for (const auto& [feature, value] : rows[i]) {
      DEMAND(row.features[at] == feature && row.values[at] == value);
      ++at;
    }
  }
  DEMAND(i == n);
  return 0;
}
