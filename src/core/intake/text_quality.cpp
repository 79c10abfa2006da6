// See text_quality.h.
#include "core/intake/text_quality.h"

#include <algorithm>
#include <vector>

#include "core/base/hash.h"
#include "core/unicode/utf8_inline.h"

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

constexpr uint64_t kStep = 0x9ddfea08eb382d69ULL;

uint64_t mixed(uint64_t h, uint64_t c) noexcept {
  h = (h ^ c) * kStep;
  return h ^ (h >> 29);
}

struct Word {
  uint64_t hash;
  uint32_t characters;
};

double share(uint64_t part, uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// Words and lines of the sample in one pass.
double repetition_of(const uint8_t* text, size_t n, StopCheck* stop) {
  std::vector<Word> words;
  size_t solos = 0;
  struct Line {
    uint64_t hash;
    uint32_t characters;
  };
  std::vector<Line> lines;
  Word word{0, 0};
  bool solo = false;
  Line line{0, 0};
  const auto end_word = [&] {
    if (word.characters > 0) words.push_back(word);
    word = {0, 0};
    solo = false;
  };
  for (size_t i = 0, steps = 0; i < n; ++steps) {
    if (stop != nullptr && steps % 65536 == 0) stop->poll();
    unsigned length;
    const uint32_t c = detail::decode_utf8(text + i, text + n, &length);
    i += length;
    if (c == '\n') {
      end_word();
      if (line.characters > 0) lines.push_back(line);
      line = {0, 0};
      continue;
    }
    const CodePoint cp = detail::classify(c);
    if (!is_white(c)) {
      line.hash = mixed(line.hash, cp.folded);
      ++line.characters;
    }
    if (cp.cls == WordClass::none) {
      end_word();
      continue;
    }
    if (cp.cls == WordClass::solo || (cp.cls == WordClass::word && solo)) end_word();
    if (cp.cls == WordClass::solo) {
      solo = true;
      ++solos;
    }
    word.hash = mixed(word.hash, cp.folded);
    ++word.characters;
  }
  end_word();
  if (line.characters > 0) lines.push_back(line);

  uint64_t all = 0;
  uint64_t repeated = 0;
  {
    HashSet seen(lines.size());
    for (const Line& l : lines) {
      all += l.characters;
      if (!seen.insert(l.hash)) repeated += l.characters;
    }
  }
  const double by_lines = share(repeated, all);

  const size_t gram = 2 * solos > words.size() ? 10 : 5;
  all = repeated = 0;
  for (const Word& w : words) all += w.characters;
  if (words.size() >= gram) {
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
  }
  return std::max(by_lines, share(repeated, all));
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
  out.repetition = repetition_of(text, sample, stop);
  return out;
}

double quality_score(const TextQuality& quality, double kept) noexcept {
  const double length = static_cast<double>(quality.length);
  return kept * quality.letters * (1 - quality.repetition) * length / (length + 100);
}

}  // namespace neardup
