// The tokens of a program's text one by one, with their places: names and literals folded, comments left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/stop.h"
#include "core/document/lines.h"

namespace neardup {

// Version of the rules below. Hashes of tokens reach disk: a change of any rule or keyword needs a new version.
inline constexpr uint8_t kCodeVersion = 1;

// Tokens of C, C++, Java, JavaScript, Python and languages that look alike. No language is guessed: what a token is
// depends on its own characters and on those up to its end, so that a text may be read from the start of any token on.
//   space        characters up to U+0020, white space of Unicode (lines.h), U+FEFF, a backslash before a line end
//   comment      /* .. */, // and # up to the line end. A # that stands directly before a directive's name is a token
//                with it: #define, #include, #if ..
//   literal      numbers; strings in ", ' and `, with prefixes and escapes, of one line unless in """, ''' or `; raw
//                strings R"x(..)x" of C++
//   keyword      reserved words of C23, C++20, Java 21, ECMAScript 2023 and Python 3.12
//   name         other runs of letters, digits, _, $ and characters above U+007F
//   operator     the longest of a list, else a single character; no two > are one token, for lists of types nest
// A comment or literal without an end goes to the end of the text, a string of one line to the end of its line.
class CodeReader : public TextReader {
 public:
  CodeReader(const uint8_t* text, size_t size, StopCheck* stop) : TextReader(text, size, stop) {}

  // False at the end. *key is what makes two tokens equal: "id" for a name, "lit" for a literal, else the token as it
  // stands. It points to a constant or into the text.
  bool next(TextUnit* unit, std::string_view* key);

 private:
  uint8_t at(size_t i) const noexcept { return i < static_cast<size_t>(end_ - p_) ? p_[i] : uint8_t{0}; }
  bool at_line_end() const noexcept { return *p_ == '\n' || *p_ == '\r'; }
  void step();
  void step_ascii(size_t n);
  void skip_line();
  void skip_block_comment();
  bool skip_space();
  size_t directive() const noexcept;
  size_t raw_delimiter() const noexcept;
  void read_number();
  void read_name();
  void read_string();
  void read_triple(uint8_t quote);
  void read_raw(size_t delimiter);
  bool read_after_prefix(std::string_view name);
  void step_escaped();
};

}  // namespace neardup
