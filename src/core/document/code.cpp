// See code.h.
#include "core/document/code.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

constexpr uint32_t kZeroWidthNoBreak = 0xfeff;
constexpr size_t kMaxRawDelimiter = 16;  // of C++

constexpr std::string_view kNameKey = "id";
constexpr std::string_view kLiteralKey = "lit";

// Sorted by bytes.
// clang-format off
constexpr std::string_view kKeywords[] = {
    "False", "None", "True", "_Alignas", "_Alignof", "_Atomic", "_BitInt", "_Bool", "_Complex", "_Generic",
    "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local", "abstract", "alignas", "alignof", "and", "and_eq",
    "as", "asm", "assert", "async", "auto", "await", "bitand", "bitor", "bool", "boolean", "break", "byte", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "debugger", "decltype",
    "def", "default", "del", "delete", "do", "double", "dynamic_cast", "elif", "else", "enum", "except", "explicit",
    "export", "extends", "extern", "false", "final", "finally", "float", "for", "friend", "from", "function",
    "global", "goto", "if", "implements", "import", "in", "inline", "instanceof", "int", "interface", "is",
    "lambda", "let", "long", "mutable", "namespace", "native", "new", "noexcept", "nonlocal", "not", "not_eq",
    "null", "nullptr", "operator", "or", "or_eq", "package", "pass", "private", "protected", "public", "raise",
    "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "strictfp", "struct", "super", "switch", "synchronized", "template", "this",
    "thread_local", "throw", "throws", "transient", "true", "try", "typedef", "typeid", "typename", "typeof",
    "typeof_unqual", "union", "unsigned", "using", "var", "virtual", "void", "volatile", "wchar_t", "while", "with",
    "xor", "xor_eq", "yield"};
// clang-format on
static_assert(std::is_sorted(std::begin(kKeywords), std::end(kKeywords)));

constexpr std::string_view kDirectives[] = {"define", "elif",  "elifdef", "elifndef", "else",   "embed",
                                            "endif",  "error", "if",      "ifdef",    "ifndef", "include",
                                            "import", "line",  "pragma",  "undef",    "warning"};
constexpr std::ptrdiff_t kMaxDirective = 8;

// Operators of several characters, longer ones first.
constexpr std::string_view kOperators[] = {
    "...", "<<=", "<=>", "===", "!==", "**=", "->", "++", "--", "<<", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@=", "**", "::", ":=", "=>", "??", "?."};

// Prefixes of strings, in small letters.
constexpr std::string_view kPrefixes[] = {"l", "u", "u8", "r", "lr", "ur", "u8r", "b", "f", "br", "rb", "fr", "rf"};
constexpr size_t kMaxPrefix = 3;

// Prefixes of raw strings, which C++ spells so.
constexpr std::string_view kRawPrefixes[] = {"R", "LR", "uR", "UR", "u8R"};

constexpr bool is_digit(uint8_t c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(uint8_t c) noexcept { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
constexpr bool is_quote(uint8_t c) noexcept { return c == '"' || c == '\'' || c == '`'; }

template <size_t N>
bool contains(const std::string_view (&table)[N], std::string_view text) noexcept {
  return std::find(std::begin(table), std::end(table), text) != std::end(table);
}

bool is_prefix(std::string_view name) noexcept {
  if (name.size() > kMaxPrefix) return false;
  char small[kMaxPrefix];
  for (size_t i = 0; i < name.size(); ++i)
    small[i] = is_letter(static_cast<uint8_t>(name[i])) ? static_cast<char>(name[i] | 0x20) : name[i];
  return contains(kPrefixes, {small, name.size()});
}

// Bytes of the character at p, 0 where it belongs to no name.
unsigned name_character(const uint8_t* p, const uint8_t* end) noexcept {
  if (p == end) return 0;
  const uint8_t c = *p;
  if (c < 0x80) return is_letter(c) || is_digit(c) || c == '_' || c == '$' ? 1 : 0;
  unsigned length;
  const uint32_t code_point = detail::decode_utf8(p, end, &length);
  return is_white_space(code_point) || code_point == kZeroWidthNoBreak ? 0 : length;
}

}  // namespace

void CodeReader::step() {
  unsigned length = 1;
  if (*p_ >= 0x80) detail::decode_utf8(p_, end_, &length);
  TextReader::step(length);
}

void CodeReader::step_ascii(size_t n) {
  for (; n > 0; --n) step();
}

void CodeReader::skip_line() {
  while (p_ != end_ && !at_line_end()) step();
}

void CodeReader::skip_block_comment() {
  step_ascii(2);
  while (p_ != end_ && !(*p_ == '*' && at(1) == '/')) step();
  if (p_ != end_) step_ascii(2);
}

// The length of the # and the name of a directive at hand; 0 where none is.
size_t CodeReader::directive() const noexcept {
  const uint8_t* const name = p_ + 1;
  const uint8_t* q = name;
  while (q != end_ && is_letter(*q) && q - name <= kMaxDirective) ++q;
  const bool known = contains(kDirectives, {reinterpret_cast<const char*>(name), static_cast<size_t>(q - name)}) &&
                     name_character(q, end_) == 0;
  return known ? static_cast<size_t>(q - p_) : 0;
}

// False at the end.
bool CodeReader::skip_space() {
  while (p_ != end_) {
    const uint8_t c = *p_;
    const bool joins_lines = c == '\\' && (at(1) == '\n' || at(1) == '\r');
    if (c <= ' ' || joins_lines || (c >= 0x80 && name_character(p_, end_) == 0)) {
      step();
    } else if (c == '/' && at(1) == '*') {
      skip_block_comment();
    } else if ((c == '/' && at(1) == '/') || (c == '#' && directive() == 0)) {
      skip_line();
    } else {
      return true;
    }
  }
  return false;
}

void CodeReader::read_name() {
  while (name_character(p_, end_) != 0) step();
}

// As the preprocessor of C reads numbers, with the ' of C++ between digits.
void CodeReader::read_number() {
  const bool hexadecimal = *p_ == '0' && (at(1) | 0x20) == 'x';
  const uint8_t exponent = hexadecimal ? 'p' : 'e';
  while (p_ != end_) {
    const uint8_t c = *p_;
    const bool separator = c == '\'' && (is_digit(at(1)) || is_letter(at(1)));
    if (c != '.' && !separator && name_character(p_, end_) == 0) return;
    step();
    if ((c | 0x20) == exponent && (at(0) == '+' || at(0) == '-')) step();
  }
}

// Skips a backslash and what it escapes: a character or a line end.
void CodeReader::step_escaped() {
  step();
  if (p_ == end_) return;
  const bool two = *p_ == '\r' && at(1) == '\n';
  step();
  if (two) step();
}

void CodeReader::read_triple(uint8_t quote) {
  step_ascii(3);
  while (p_ != end_) {
    if (*p_ == '\\') {
      step_escaped();
    } else if (*p_ == quote && at(1) == quote && at(2) == quote) {
      step_ascii(3);
      return;
    } else {
      step();
    }
  }
}

void CodeReader::read_string() {
  const uint8_t quote = *p_;
  if (quote != '`' && at(1) == quote && at(2) == quote) {
    read_triple(quote);
    return;
  }
  step();
  while (p_ != end_) {
    if (*p_ == '\\') {
      step_escaped();
    } else if (*p_ == quote) {
      step();
      return;
    } else if (quote != '`' && at_line_end()) {
      return;
    } else {
      step();
    }
  }
}

// Length of the delimiter of a raw string whose " is at hand; SIZE_MAX where there is no ( behind one.
size_t CodeReader::raw_delimiter() const noexcept {
  for (size_t n = 0; n <= kMaxRawDelimiter; ++n) {
    const uint8_t c = at(1 + n);
    if (c == '(') return n;
    if (c <= ' ' || c == ')' || c == '\\' || is_quote(c)) break;
  }
  return SIZE_MAX;
}

void CodeReader::read_raw(size_t delimiter) {
  const uint8_t* const name = p_ + 1;
  const uint8_t* const content = name + delimiter + 1;
  while (p_ != content) step();
  while (p_ != end_) {
    const bool ends = *p_ == ')' && static_cast<size_t>(end_ - p_) >= delimiter + 2 && p_[delimiter + 1] == '"' &&
                      std::memcmp(p_ + 1, name, delimiter) == 0;
    if (!ends) {
      step();
      continue;
    }
    const uint8_t* const behind = p_ + delimiter + 2;
    while (p_ != behind) step();
    return;
  }
}

// Reads on where the name is the prefix of a string; false where it is none.
bool CodeReader::read_after_prefix(std::string_view name) {
  if ((at(0) != '"' && at(0) != '\'') || !is_prefix(name)) return false;
  const size_t delimiter = at(0) == '"' && contains(kRawPrefixes, name) ? raw_delimiter() : SIZE_MAX;
  if (delimiter != SIZE_MAX)
    read_raw(delimiter);
  else
    read_string();
  return true;
}

bool CodeReader::next(TextUnit* unit, std::string_view* key) {
  if (!skip_space()) return false;
  const uint8_t* const begin = p_;
  const auto token = [&] {
    return std::string_view(reinterpret_cast<const char*>(begin), static_cast<size_t>(p_ - begin));
  };
  unit->begin = static_cast<size_t>(p_ - text_);
  unit->position = position_;
  if (is_digit(*p_) || (*p_ == '.' && is_digit(at(1)))) {
    read_number();
    *key = kLiteralKey;
  } else if (is_quote(*p_)) {
    read_string();
    *key = kLiteralKey;
  } else if (name_character(p_, end_) != 0) {
    read_name();
    const bool keyword = std::binary_search(std::begin(kKeywords), std::end(kKeywords), token());
    *key = keyword ? token() : read_after_prefix(token()) ? kLiteralKey : kNameKey;
  } else if (*p_ == '#') {
    step_ascii(directive());
    *key = token();
  } else {
    const std::string_view rest(reinterpret_cast<const char*>(p_), static_cast<size_t>(end_ - p_));
    const auto longest = std::find_if(std::begin(kOperators), std::end(kOperators),
                                      [&](std::string_view each) { return rest.substr(0, each.size()) == each; });
    step_ascii(longest == std::end(kOperators) ? 1 : longest->size());
    *key = token();
  }
  unit->end = static_cast<size_t>(p_ - text_);
  return true;
}

}  // namespace neardup
