// Documents to k-shingles: as a stream of 64-bit hashes (what signatures are made of) or as text (what people read).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/document/code.h"
#include "core/document/lines.h"

namespace neardup {

enum class Unit : uint8_t {
  word = 1,       // folded words of UTF-8 text (utf8.h)
  character = 2,  // code points of UTF-8 text as they stand
  byte = 3,       // bytes
  line = 8,       // lines of UTF-8 text, white space normalised (lines.h)
  paragraph = 9,  // paragraphs of it: lines in a row with no blank one between them
  code = 10,      // tokens of a program's text, names and literals folded (code.h)
};

// Whether units are made of whole lines.
inline constexpr bool is_of_lines(Unit unit) noexcept { return unit == Unit::line || unit == Unit::paragraph; }

inline constexpr int kMinK = 1;
inline constexpr int kMaxK = 64;

// "word", "char", "line", "paragraph" or "code". Error{invalid_argument} otherwise; "byte" gets the hint to use bytea.
Unit parse_text_unit(std::string_view name);
const char* unit_name(Unit unit) noexcept;
// "words", "characters" .. for messages.
const char* units_in_words(Unit unit) noexcept;

// Error{invalid_argument} unless 1 <= k <= 64.
void check_k(int64_t k);

// The hashes of all k-shingles of a document, in order and with repeats, in batches. A document of 1..k-1 units has
// one shingle, all of it; an empty one has none. Constant memory whatever the document's size.
//   unit hash h: word: of its folded UTF-8 bytes; character: code_point_hash; byte: byte_hash (hash.h); line,
//   paragraph and code: element_hash of the normalised text or token
//   shingle hash x = (sum h_i * kShingleBase^(k-1-i) mod 2^64) ^ k, ordered; finalised only by the sketch.
class ShingleStream {
 public:
  static constexpr size_t kInputBlock = 4096;               // bytes of input looked at in one step
  static constexpr size_t kMaxBatch = kInputBlock + kMaxK;  // hashes that one next() may give

  // text must stay valid. k 1..64, else Error{invalid_argument}. Ill-formed UTF-8 reads as U+FFFD.
  // stop (may be null) is polled every 64 KB of text.
  ShingleStream(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop = nullptr);
  ~ShingleStream();
  ShingleStream(const ShingleStream&) = delete;
  ShingleStream& operator=(const ShingleStream&) = delete;

  // Writes the next 1..kMaxBatch hashes to out and returns how many; 0 at the end.
  size_t next(uint64_t* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Hash of one element of a caller's text set: XXH3 (64 bits, seed 0) of its bytes.
uint64_t element_hash(const void* bytes, size_t size) noexcept;

// The same shingles as text: words folded and joined by one space, tokens of code likewise; characters as they stand;
// lines and paragraphs normalised and joined by a line feed.
class ShingleText {
 public:
  // unit not byte; text must stay valid; stop (may be null) is polled every 16 K code points.
  ShingleText(Unit unit, int k, const uint8_t* text, size_t size, StopCheck* stop = nullptr);

  // False at the end.
  bool next(std::string* shingle);

 private:
  bool next_unit(std::string* unit);
  bool next_word_or_character(std::string* unit);

  Unit unit_;
  size_t k_;
  const uint8_t* p_;
  const uint8_t* end_;
  StopCheck* stop_;
  uint32_t steps_ = 0;
  LineReader lines_;
  CodeReader code_;
  std::deque<std::string> window_;
  bool emitted_ = false;
};

}  // namespace neardup
