// See word_counts.h. One pass over the documents: each place becomes a number, the words' in a lexicon that may end an
// epoch and number anew. With the vocabulary chosen, the numbers are read once more, epoch by epoch, as its ids.
#include "core/word_model/word_counts.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace neardup {
namespace {

// Instead of a place: numbers are those of the next epoch from here on.
constexpr uint32_t kNextEpoch = 0x7ffffffe;
static_assert(kNextEpoch >= WordLexicon::kMaxNumbers);

}  // namespace

WordCounts::WordCounts(const WordCountOptions& options)
    : options_(options), ws_(options.memory_limit, options.files, options.stop), lexicon_(ws_), stream_(ws_) {
  if (options.window < 1 || options.window > kMaxWordWindow)
    throw Error(Errc::invalid_argument, "window must be between 1 and 16: " + std::to_string(options.window));
  if (options.discount >= kDiscountUnits)
    throw Error(Errc::invalid_argument, "discount must be below 1000 thousandths: " + std::to_string(options.discount));
}

void WordCounts::add_document(const uint8_t* text, size_t size) {
  begin_words();
  WordPlaces places(text, size, options_.stop);
  for (WordPlace place; places.next(&place);) {
    if (place.begins && options_.sentences) begins_ = true;
    put(reinterpret_cast<const uint8_t*>(place.word.data()), place.word.size());
  }
}

void WordCounts::begin_words() {
  ++documents_;
  begins_ = true;
}

void WordCounts::add_word(std::string_view word) {
  ws_.poller.spend(50);
  size_t n = 0;
  if (word.size() <= kMaxWordBytes) {
    n = word.size();
    std::copy(word.begin(), word.end(), word_);
    std::memset(word_ + n, 0, 8);
  }
  put(word_, n);
}

size_t WordCounts::choose(size_t most) {
  flush();
  return lexicon_.choose(most);
}

void WordCounts::count(const uint32_t* words, size_t n, uint32_t features) {
  flush();
  if (n > kMaxWords)
    throw Error(Errc::invalid_argument, "a word model has at most 1000000 words: " + std::to_string(n));
  WordPairOptions o;
  o.words = static_cast<uint32_t>(n);
  o.contexts = features;
  o.window = options_.window;
  o.by_position = options_.by_position;
  o.discount = options_.discount;
  // A place adds 1 to a count, or without positions as many as there are places in its window.
  o.wide = stream_.size() > UINT32_MAX / (o.by_position ? 1 : 2 * static_cast<uint64_t>(o.window));
  lexicon_.begin_maps(words, n);
  const uint64_t most = WordPairs::expected(stream_.size(), windows_, options_.window);
  const size_t held = lexicon_.held_bytes() + memory_share(ws_, kEighth);
  pairs_.emplace(o, most, held + stream_.held_bytes(), ws_);
  if (pairs_->chunk_places() < most && ws_.limit != SIZE_MAX && !stream_.in_file()) {
    // In a file the numbers leave more room for chunks, and what is counted in one is not written.
    pairs_.reset();
    stream_.spill();
    pairs_.emplace(o, most, held + stream_.held_bytes(), ws_);
  }
  const uint32_t* map = lexicon_.next_map();
  const uint32_t* numbers;
  while (const size_t size = stream_.read(&numbers)) {
    for (size_t from = 0; from < size;) {
      const uint32_t* const at = std::find(numbers + from, numbers + size, kNextEpoch);
      const size_t to = static_cast<size_t>(at - numbers);
      pairs_->add(numbers + from, to - from, map);
      if (to < size) map = lexicon_.next_map();
      from = to + 1;
    }
  }
  pairs_->finish();
}

// The next place: a word with 8 zeros behind it, or none.
void WordCounts::put(const uint8_t* word, size_t n) {
  ++places_;
  Waiting& w = waiting_[waiting_count_++];
  w.length = static_cast<uint16_t>(n);
  w.begins = std::exchange(begins_, false);
  if (n > 0) {
    uint8_t* const copy = waiting_bytes_ + waiting_used_;
    const size_t size = (n + 7) & ~size_t{7};
    std::memcpy(copy, word, size);
    w.tag = WordLexicon::word_tag(copy, n);
    w.at = static_cast<uint16_t>(waiting_used_);
    waiting_used_ += size;
    lexicon_.prefetch_slot(w.tag);
  }
  if (waiting_count_ == kWaitingWords || waiting_used_ > kWaitingBytes - kMaxWordBytes) flush();
}

void WordCounts::flush() {
  for (size_t i = 0; i < waiting_count_; ++i)
    if (waiting_[i].length > 0) lexicon_.prefetch_word(waiting_[i].tag);
  for (size_t i = 0; i < waiting_count_; ++i) {
    const Waiting& w = waiting_[i];
    starts_ |= w.begins;
    uint32_t number = kNoWord;
    if (w.length == 0) {
      // Before the first word of a window, and beyond its width, such places change nothing.
      if (starts_ || gap_ == options_.window) continue;
      ++gap_;
    } else {
      gap_ = 0;
      if (lexicon_.full()) {
        lexicon_.end_epoch();
        stream_.push(kNextEpoch);
      }
      number = lexicon_.add(waiting_bytes_ + w.at, w.length, w.tag);
    }
    windows_ += starts_;
    stream_.push(number | (starts_ ? kBeginsWindow : 0));
    starts_ = false;
  }
  waiting_count_ = 0;
  waiting_used_ = 0;
}

}  // namespace neardup
