// The units of a document and where they stand in it: what ShingleStream hashes without saying where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

// True if units are made of whole lines.
inline constexpr bool is_of_lines(Unit unit) noexcept { return unit == Unit::line || unit == Unit::paragraph; }

// "word", "char", "line", "paragraph" or "code". Error{invalid_argument} otherwise; "byte" gets the hint to use bytea.
Unit parse_text_unit(std::string_view name);
const char* unit_name(Unit unit) noexcept;
// "words", "characters" .. for messages.
const char* units_in_words(Unit unit) noexcept;

// One unit after another, the same ones, in the same order, as ShingleStream and ShingleText read. Constant memory but
// for the word at hand.
class UnitScanner : private TextReader {
 public:
  UnitScanner(Unit unit, const uint8_t* text, size_t size, StopCheck* stop = nullptr)
      : TextReader(text, size, stop),
        unit_(unit),
        lines_(unit == Unit::paragraph, text, size, stop),
        code_(text, size, stop) {}

  // False at the end.
  bool next(TextUnit* unit);

  // Sets *key, too, to what makes two units equal: the folded word, the code point in UTF-8, the byte, the
  // normalised line or paragraph, the token (code.h). It lives until the next call.
  bool next(TextUnit* unit, std::string_view* key);

  // See TextReader.
  size_t consumed() const noexcept {
    return is_of_lines(unit_) ? lines_.consumed() : unit_ == Unit::code ? code_.consumed() : TextReader::consumed();
  }

 private:
  template <bool kKeys>
  bool next_word(TextUnit* unit);
  // Goes to `to`, over bytes that are code points.
  void step_ascii(const uint8_t* to) {
    const size_t before = position_;
    position_ += static_cast<size_t>(to - p_);
    p_ = to;
    if (before / kPolledCodePoints != position_ / kPolledCodePoints && stop_ != nullptr) stop_->poll();
  }

  const Unit unit_;
  LineReader lines_;
  CodeReader code_;
  std::string key_;
};

}  // namespace neardup
