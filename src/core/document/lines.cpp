// See lines.h.
#include "core/document/lines.h"

#include <algorithm>

#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

constexpr uint32_t kNextLine = 0x85;
constexpr uint32_t kLineSeparator = 0x2028;
constexpr uint32_t kParagraphSeparator = 0x2029;

// White space that ends no line, above ASCII.
constexpr uint32_t kBlanks[] = {0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
                                0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x202f, 0x205f, 0x3000};

bool is_blank(uint32_t code_point) noexcept {
  return std::find(std::begin(kBlanks), std::end(kBlanks), code_point) != std::end(kBlanks);
}

}  // namespace

bool is_white_space(uint32_t c) noexcept {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == kNextLine || c == kLineSeparator || c == kParagraphSeparator || is_blank(c);
}

LineReader::Space LineReader::look(unsigned* length, uint32_t* code_point) const noexcept {
  const uint8_t c = *p_;
  if (c < 0x80) {
    *length = 1;
    *code_point = c;
    return c > ' '                  ? Space::none
           : c == ' ' || c == '\t'  ? Space::blank
           : c >= '\n' && c <= '\r' ? Space::line_end
                                    : Space::none;
  }
  *code_point = detail::decode_utf8(p_, end_, length);
  if (*code_point == kParagraphSeparator) return Space::paragraph_end;
  if (*code_point == kNextLine || *code_point == kLineSeparator) return Space::line_end;
  return is_blank(*code_point) ? Space::blank : Space::none;
}

// True if the unit ends at the white space at hand. *broken: its last line has ended before.
bool LineReader::ends_here(Space space, bool* broken) {
  if (space == Space::blank) return false;
  if (!paragraphs_ || space == Space::paragraph_end) return true;
  if (*broken) return true;
  *broken = true;
  if (*p_ == '\r' && end_ - p_ > 1 && p_[1] == '\n') step(1);  // CR LF ends one line, not two
  return false;
}

bool LineReader::next(TextUnit* unit, std::string* key) {
  unsigned length;
  uint32_t code_point;
  for (;; step(length)) {
    if (p_ == end_) return false;
    if (look(&length, &code_point) == Space::none) break;
  }
  unit->begin = static_cast<size_t>(p_ - text_);
  unit->position = position_;
  if (key != nullptr) key->clear();
  bool gap = false;
  bool broken = false;
  while (p_ != end_) {
    const Space space = look(&length, &code_point);
    if (space == Space::none) {
      if (key != nullptr) {
        if (gap) key->push_back(' ');
        uint8_t bytes[4];
        key->append(reinterpret_cast<const char*>(bytes), detail::encode_utf8(code_point, bytes));
      }
      gap = broken = false;
    } else {
      if (ends_here(space, &broken)) break;
      gap = true;
    }
    step(length);
    if (space == Space::none) unit->end = static_cast<size_t>(p_ - text_);
  }
  return true;
}

}  // namespace neardup
