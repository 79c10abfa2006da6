// Makes the rows of a word model from documents: the most frequent words, how often they stand near each other, and the
// mutual information of that. Bounded memory: documents are kept as numbers in a temporary file, counts as sorted runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/stop.h"
#include "core/word_model/number_stream.h"
#include "core/word_model/word_lexicon.h"
#include "core/word_model/word_pairs.h"
#include "core/word_model/word_places.h"
#include "core/word_model/word_row.h"
#include "core/work/workspace.h"

namespace neardup {

struct WordCountOptions {
  int window = 3;  // 1 .. kMaxWordWindow
  bool by_position = true;
  uint32_t discount = 0;  // taken off |w,r,w'| before its logarithm: thousandths, below kDiscountUnits
  bool sentences = true;  // windows end with the sentence, else with the document
  // Bytes. Beside them, whatever they are: the chosen words; for each word of the vocabulary 16 * window bytes of
  // margins and 4, for each that makes features 8 * window of counters (without positions 8 and 4); the greatest row.
  size_t memory_limit = SIZE_MAX;
  TempFileFactory* files = nullptr;  // null: memory is not bounded
  StopCheck* stop = nullptr;
};

// Cost: documents are read once; counting takes time in proportion to the places in all windows. Errors: what the
// poller and the files throw; Error{invalid_argument} for a window, a discount or a vocabulary out of range;
// Error{too_large} where there are no files and more than 2^31 different words or places. After an error the object can
// only be destroyed.
//
// Use: add documents; choose() candidates, as often as wanted, and ask word(); count(); next_row() until false.
class WordCounts {
 public:
  explicit WordCounts(const WordCountOptions& options);

  // A document as words.h reads it.
  void add_document(const uint8_t* text, size_t size);
  // A document of given words: begin, then each of them. An empty word, or one above kMaxWordBytes, only keeps its
  // place.
  void begin_words();
  void add_word(std::string_view word);

  uint64_t documents() const noexcept { return documents_; }
  uint64_t places() const noexcept { return places_; }  // of words or not

  // The most frequent `most` words of all, by frequency, descending, then by bytes. Returns how many: fewer where there
  // are no more. Ends adding. Words of an earlier choice are forgotten; those of the last one stay.
  size_t choose(size_t most);
  std::string_view word(size_t candidate) const noexcept { return lexicon_.word(candidate); }
  uint64_t frequency(size_t candidate) const noexcept { return lexicon_.frequency(candidate); }

  // The vocabulary: word i of the model is candidate words[i], ascending. Counts. features: only the first so many
  // words make features; at most n. Once. n <= kMaxWords.
  void count(const uint32_t* words, size_t n, uint32_t features);

  // The row of the next word, from 0 on; its arrays stay until the next call. False after the last word. Words without
  // a feature have an empty row. Error{too_large} for a weight above kMaxFeatureWeight.
  bool next_row(WordRow* row) { return pairs_->next_row(row); }

  // All features of the rows are below.
  uint32_t features() const noexcept { return pairs_->features(); }
  uint64_t pairs() const noexcept { return pairs_->pairs(); }  // of places that were counted, each once
  uint64_t spilled_bytes() const noexcept { return ws_.spilled_bytes; }
  size_t peak_bytes() const noexcept { return ws_.ledger.peak(); }

 private:
  // Places wait here until there are some, so that words are fetched side by side from a lexicon larger than the
  // caches.
  static constexpr size_t kWaitingWords = 32;
  static constexpr size_t kWaitingBytes = 8192;
  struct Waiting {
    uint32_t tag;
    uint16_t length;  // 0: without a word
    uint16_t at;      // in waiting_bytes_
    bool begins;
  };

  void put(const uint8_t* word, size_t n);
  void flush();

  const WordCountOptions options_;
  Workspace ws_;
  WordLexicon lexicon_;
  NumberStream stream_;
  std::optional<WordPairs> pairs_;
  uint64_t documents_ = 0;
  uint64_t places_ = 0;

  bool begins_ = true;    // a window begins with the next place that is put,
  bool starts_ = true;    // and with the next one that is numbered
  int gap_ = 0;           // places without a word before it
  uint64_t windows_ = 0;  // how many began
  uint8_t word_[kMaxWordBytes + 8];
  Waiting waiting_[kWaitingWords];
  size_t waiting_count_ = 0;
  uint8_t waiting_bytes_[kWaitingBytes];
  size_t waiting_used_ = 0;
};

}  // namespace neardup
