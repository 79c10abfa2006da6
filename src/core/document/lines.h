// Lines and paragraphs of a text one by one, with their places and their white space normalised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/stop.h"

namespace neardup {

struct TextUnit {
  size_t begin;  // its bytes: begin .. end - 1
  size_t end;
  size_t position;  // code points before it; bytes for Unit::byte
};

// White_Space of Unicode 15; frozen, for hashes of lines and tokens reach disk.
bool is_white_space(uint32_t code_point) noexcept;

// A place in a text that moves on by code points.
class TextReader {
 public:
  // Bytes that were read. What follows does not change the units so far, if it is 4 bytes or more.
  size_t consumed() const noexcept { return static_cast<size_t>(p_ - text_); }

 protected:
  // text must stay valid. In ill-formed UTF-8 a byte that starts no sequence is one code point, U+FFFD. stop (may be
  // null) is polled every 16 K code points.
  TextReader(const uint8_t* text, size_t size, StopCheck* stop)
      : text_(text), p_(text), end_(text + size), stop_(stop) {}

  // Goes over a code point of so many bytes.
  void step(unsigned bytes) {
    p_ += bytes;
    if ((++position_ & (kPolledCodePoints - 1)) == 0 && stop_ != nullptr) stop_->poll();
  }

  static constexpr size_t kPolledCodePoints = 0x4000;
  const uint8_t* const text_;
  const uint8_t* p_;
  const uint8_t* const end_;
  StopCheck* const stop_;
  size_t position_ = 0;  // code points before p_
};

// A line ends at LF, VT, FF, CR, CR LF, U+0085, U+2028 or U+2029. Blank lines, of nothing but white space, are no
// units. A paragraph is as many lines in a row as no blank line and no U+2029 parts. Constant memory but
// for the unit at hand.
class LineReader : public TextReader {
 public:
  LineReader(bool paragraphs, const uint8_t* text, size_t size, StopCheck* stop)
      : TextReader(text, size, stop), paragraphs_(paragraphs) {}

  // False at the end. Neither begin nor end stands at white space. *key, unless null, is what makes two units equal:
  // the text of the unit, each run of white space and line ends within it as one space; letters keep their case.
  bool next(TextUnit* unit, std::string* key);

 private:
  enum class Space : uint8_t { none, blank, line_end, paragraph_end };

  Space look(unsigned* length, uint32_t* code_point) const noexcept;
  bool ends_here(Space space, bool* broken);

  const bool paragraphs_;
};

}  // namespace neardup
