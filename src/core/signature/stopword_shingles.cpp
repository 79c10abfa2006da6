// See stopword_shingles.h.
#include "core/signature/stopword_shingles.h"

#include <algorithm>

#include "core/base/message_text.h"
#include "core/document/shingle.h"
#include "core/signature/minhash.h"

namespace neardup {

void check_following(int64_t following) {
  if (following < 1 || following > kMaxFollowing)
    throw Error(Errc::invalid_argument, "following must be between 1 and 16: " + std::to_string(following), {},
                "following is the number of words after the stop word in a shingle.");
}

size_t StopWords::Hash::operator()(std::string_view s) const noexcept { return element_hash(s.data(), s.size()); }

void StopWords::add(std::string_view word, std::string_view shown) {
  std::string folded = single_word(word);
  if (folded.empty())
    throw Error(
        Errc::invalid_argument, "stop word \"" + excerpt(shown) + "\" is not one word", {},
        "SELECT shingles(doc, 1) shows what is a word: letters, digits and marks; an apostrophe separates words.");
  words_.insert(std::move(folded));
}

StopwordShingles::StopwordShingles(const StopWords& stop_words, int following, const uint8_t* text, size_t size,
                                   StopCheck* stop)
    : stop_words_(stop_words), words_(text, size, stop) {
  check_following(following);
  ring_.resize(static_cast<size_t>(following) + 1);
}

bool StopwordShingles::next(std::string* shingle) {
  const size_t n = ring_.size();
  for (std::string_view word; words_.next(&word);) {
    Held& last = ring_[read_ % n];
    last.word = word;
    last.starts = stop_words_.contains(word);
    ++read_;
    if (read_ < n || !ring_[read_ % n].starts) continue;
    shingle->clear();
    for (size_t i = 0; i < n; ++i) {
      if (i > 0) *shingle += ' ';
      *shingle += ring_[(read_ + i) % n].word;
    }
    return true;
  }
  return false;
}

bool sign_stopword_shingles(const MinhashParams& params, const StopWords& stop_words, int following,
                            const uint8_t* text, size_t size, StopCheck* stop, uint32_t* components) {
  StopwordShingles shingles(stop_words, following, text, size, stop);
  DocumentSketch sketch(params.num_perm, static_cast<uint64_t>(params.seed));
  constexpr size_t kHashesAtOnce = 256;
  uint64_t batch[kHashesAtOnce];
  size_t n = 0;
  for (std::string shingle; shingles.next(&shingle);) {
    batch[n++] = element_hash(shingle.data(), shingle.size());
    if (n < kHashesAtOnce) continue;
    sketch.add(batch, n);
    n = 0;
  }
  sketch.add(batch, n);
  return sketch.finish(components);
}

std::vector<std::string> distinct_words(const uint8_t* text, size_t size, StopCheck* stop) {
  StopWords::WordSet seen;
  std::vector<std::string> out;
  Words words(text, size, stop);
  for (std::string_view word; words.next(&word);) {
    if (seen.find(word) != seen.end()) continue;
    out.emplace_back(word);
    seen.insert(out.back());
  }
  return out;
}

}  // namespace neardup
