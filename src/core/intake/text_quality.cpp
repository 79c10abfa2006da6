// See text_quality.h.
#include "core/intake/text_quality.h"

#include <algorithm>
#include <vector>

#include "core/unicode/word_machine.h"

namespace neardup {
namespace {

bool is_white(uint32_t c) noexcept {
  return c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

// A set of 64-bit hashes of a known greatest size: open addressing, at most half full.
class HashSet {
 public:
  explicit HashSet(size_t most) {
    size_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    slots_.assign(slots, 0);
  }
  // False when it was there.
  bool insert(uint64_t h) {
    if (h == 0) h = 1;
    size_t i = (h * 0x9e3779b97f4a7c15ULL) >> 20 & (slots_.size() - 1);
    for (; slots_[i] != 0; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i] == h) return false;
    slots_[i] = h;
    return true;
  }

 private:
  std::vector<uint64_t> slots_;
};

constexpr uint64_t kHashFactor = 0x9ddfea08eb382d69ULL;

uint64_t mixed(uint64_t h, uint64_t c) noexcept {
  h = (h ^ c) * kHashFactor;
  return h ^ (h >> 29);
}

// A word or a line: the hash of its folded characters, without white space, and how many they are.
struct Piece {
  uint64_t hash;
  uint32_t characters;
};

double share(uint64_t part, uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// The words and lines of a sample, read in one pass.
class Pieces {
 public:
  Pieces(const uint8_t* text, size_t n, StopCheck* stop) {
    for (size_t i = 0, steps = 0; i < n; ++steps) {
      if (stop != nullptr && steps % 65536 == 0) stop->poll();
      unsigned length;
      add(detail::decode_utf8(text + i, text + n, &length));
      i += length;
    }
    end_word();
    end_line();
  }

  const std::vector<Piece>& words() const noexcept { return words_; }
  const std::vector<Piece>& lines() const noexcept { return lines_; }
  // True if more than half of the words are characters that are words by themselves.
  bool mostly_solos() const noexcept { return 2 * solos_ > words_.size(); }

 private:
  void add(uint32_t c) {
    if (c == '\n') end_line();
    const CodePoint cp = detail::classify(c);
    if (!is_white(c)) {
      line_.hash = mixed(line_.hash, cp.folded);
      ++line_.characters;
    }
    const WordStep step = machine_.step(cp.cls);
    if (step != WordStep::continues) end_word();
    if (step == WordStep::separates) return;
    if (cp.cls == WordClass::solo) ++solos_;
    word_.hash = mixed(word_.hash, cp.folded);
    ++word_.characters;
  }
  void end_word() {
    if (word_.characters > 0) words_.push_back(word_);
    word_ = {0, 0};
  }
  void end_line() {
    if (line_.characters > 0) lines_.push_back(line_);
    line_ = {0, 0};
  }

  std::vector<Piece> words_;
  std::vector<Piece> lines_;
  size_t solos_ = 0;
  WordMachine machine_;
  Piece word_{0, 0};  // that has begun
  Piece line_{0, 0};
};

// The share of characters in lines that were there before.
double repeated_lines(const std::vector<Piece>& lines) {
  uint64_t all = 0;
  uint64_t repeated = 0;
  HashSet seen(lines.size());
  for (const Piece& l : lines) {
    all += l.characters;
    if (!seen.insert(l.hash)) repeated += l.characters;
  }
  return share(repeated, all);
}

// The share of characters in runs of `gram` words that were there before.
double repeated_grams(const std::vector<Piece>& words, size_t gram, StopCheck* stop) {
  uint64_t all = 0;
  uint64_t repeated = 0;
  for (const Piece& w : words) all += w.characters;
  if (words.size() < gram) return 0;
  HashSet seen(words.size());
  size_t counted = 0;  // words before this one are counted already
  for (size_t i = 0; i + gram <= words.size(); ++i) {
    if (stop != nullptr && i % 16384 == 0) stop->poll();
    uint64_t h = 0;
    for (size_t j = i; j < i + gram; ++j) h = mixed(h, words[j].hash);
    if (seen.insert(h)) continue;
    for (size_t j = std::max(i, counted); j < i + gram; ++j) repeated += words[j].characters;
    counted = i + gram;
  }
  return share(repeated, all);
}

double measure_repetition(const uint8_t* text, size_t n, StopCheck* stop) {
  const Pieces pieces(text, n, stop);
  const size_t gram = pieces.mostly_solos() ? 10 : 5;
  return std::max(repeated_lines(pieces.lines()), repeated_grams(pieces.words(), gram, stop));
}

}  // namespace

TextQuality measure_quality(const uint8_t* text, size_t n, StopCheck* stop) {
  TextQuality out;
  uint64_t dark = 0;
  uint64_t letters = 0;
  for (size_t i = 0; i < n;) {
    if (stop != nullptr && out.length % 65536 == 0) stop->poll();
    unsigned length;
    const uint32_t c = detail::decode_utf8(text + i, text + n, &length);
    i += length;
    ++out.length;
    if (is_white(c)) continue;
    ++dark;
    letters += detail::classify(c).cls != WordClass::none;
  }
  out.letters = share(letters, dark);
  size_t sample = std::min(n, kQualitySample);
  while (sample < n && sample > 0 && (text[sample] & 0xc0) == 0x80) --sample;
  out.repetition = measure_repetition(text, sample, stop);
  return out;
}

double quality_score(const TextQuality& quality, double kept) noexcept {
  const double length = static_cast<double>(quality.length);
  return kept * quality.letters * (1 - quality.repetition) * length / (length + 100);
}

}  // namespace neardup
