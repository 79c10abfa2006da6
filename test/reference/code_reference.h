// Tokens of code, written from their definition (docs/format.md) on a list of code points: a rule for each kind, which
// says where a token that begins here ends. Shared by unit tests and fuzzers; never shipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/shingle_reference.h"

namespace neardup::reference {

class CodeTokens {
 public:
  struct Token {
    std::string key;
    size_t first, end;  // code points
  };

  explicit CodeTokens(std::string_view text) : t_(code_points(text)) {}

  std::vector<Token> all() const {
    std::vector<Token> out;
    for (size_t i = 0; i < t_.size();) {
      const size_t gap = behind_gap(i);
      const size_t literal = std::max(behind_number(i), behind_string(i));
      const size_t name = behind_name(i);
      if (gap != i) {
        i = gap;
      } else if (literal != i) {
        out.push_back({"lit", i, literal});
        i = literal;
      } else if (name != i) {
        out.push_back({keywords().count(text(i, name)) ? text(i, name) : "id", i, name});
        i = name;
      } else {
        const size_t end = t_[i] == '#' ? behind_name(i + 1) : behind_operator(i);
        out.push_back({text(i, end), i, end});
        i = end;
      }
    }
    return out;
  }

 private:
  static const std::set<std::string>& keywords() {
    static const std::set<std::string> all = words(
        // C, C++
        "alignas alignof auto bool break case char const constexpr continue default do double else enum extern false "
        "float "
        "for goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct "
        "switch "
        "thread_local true typedef typeof typeof_unqual union unsigned void volatile while _Alignas _Alignof _Atomic "
        "_BitInt "
        "_Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local and and_eq asm bitand bitor catch "
        "class "
        "char8_t char16_t char32_t compl concept consteval constinit const_cast co_await co_return co_yield decltype "
        "delete "
        "dynamic_cast explicit export friend mutable namespace new noexcept not not_eq operator or or_eq private "
        "protected "
        "public reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t "
        "xor "
        "xor_eq "
        // Java, JavaScript
        "abstract assert boolean byte extends final finally implements import instanceof interface native null package "
        "strictfp super synchronized throws transient await debugger function in let var with yield "
        // Python
        "False None True as async def del elif except from global is lambda nonlocal pass raise");
    return all;
  }

  static std::set<std::string> words(const std::string& text) {
    std::set<std::string> out;
    for (const std::string& w : word_list(text)) out.insert(w);
    return out;
  }
  static std::vector<std::string> word_list(const std::string& text) {
    std::vector<std::string> out(1);
    for (const char c : text) {
      if (c != ' ')
        out.back() += c;
      else
        out.emplace_back();
    }
    return out;
  }

  std::string text(size_t first, size_t end) const {
    std::string out;
    for (; first < end; ++first) append_utf8(out, t_[first]);
    return out;
  }
  uint32_t at(size_t i) const { return i < t_.size() ? t_[i] : 0; }
  bool stands(size_t i, std::string_view what) const {
    for (size_t n = 0; n < what.size(); ++n)
      if (i + n >= t_.size() || t_[i + n] != static_cast<uint8_t>(what[n])) return false;
    return true;
  }
  static bool is_space(uint32_t c) {
    static const std::set<uint32_t> high = {0x85,   0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
                                            0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
                                            0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff};
    return c <= 0x20 || high.count(c) > 0;
  }
  static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }
  static bool is_letter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  bool in_name(size_t i) const {
    if (i >= t_.size()) return false;
    const uint32_t c = t_[i];
    return is_digit(c) || is_letter(c) || c == '_' || c == '$' || (c > 0x7f && !is_space(c));
  }
  bool line_ends(size_t i) const { return i < t_.size() && (t_[i] == '\n' || t_[i] == '\r'); }

  size_t behind_name(size_t i) const {
    while (in_name(i)) ++i;
    return i;
  }

  // One character of space or one comment.
  size_t behind_gap(size_t i) const {
    static const std::set<std::string> directives = words(
        "define undef include embed if ifdef ifndef elif elifdef elifndef else endif line error warning pragma import");
    if (is_space(t_[i]) || (t_[i] == '\\' && line_ends(i + 1))) return i + 1;
    if (stands(i, "/*")) {
      for (size_t n = i + 2; n < t_.size(); ++n)
        if (stands(n, "*/")) return n + 2;
      return t_.size();
    }
    const bool directive = t_[i] == '#' && directives.count(text(i + 1, behind_name(i + 1))) > 0;
    if (!stands(i, "//") && (t_[i] != '#' || directive)) return i;
    while (i < t_.size() && !line_ends(i)) ++i;
    return i;
  }

  size_t behind_number(size_t i) const {
    if (!is_digit(t_[i]) && !(t_[i] == '.' && is_digit(at(i + 1)))) return i;
    const bool hexadecimal = stands(i, "0x") || stands(i, "0X");
    const std::string exponents = hexadecimal ? "pP" : "eE";
    for (const size_t first = i; i < t_.size(); ++i) {
      const uint32_t c = t_[i], before = i > first ? t_[i - 1] : 0;
      const bool sign = (c == '+' || c == '-') && before < 0x80 && before != 0 &&
                        exponents.find(static_cast<char>(before)) != std::string::npos;
      const bool separator = c == '\'' && (is_digit(at(i + 1)) || is_letter(at(i + 1)));
      if (!in_name(i) && c != '.' && !sign && !separator) break;
    }
    return i;
  }

  // Where a string ends whose contents begin at i and that `closing` ends.
  size_t behind_contents(size_t i, const std::string& closing, bool many_lines) const {
    while (i < t_.size()) {
      if (stands(i, closing)) return i + closing.size();
      if (!many_lines && line_ends(i)) return i;
      if (t_[i] == '\\') i += stands(i, "\\\r\n") ? 2 : 1;
      ++i;
    }
    return t_.size();
  }

  size_t behind_string(size_t i) const {
    static const std::set<std::string> prefixes = words("l u u8 r lr ur u8r b f br rb fr rf");
    static const std::set<std::string> raw_prefixes = words("R LR uR UR u8R");
    const size_t name = behind_name(i);
    std::string small = text(i, name);
    for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (name != i && (!prefixes.count(small) || at(name) == '`')) return i;
    const uint32_t quote = at(name);
    if (quote != '"' && quote != '\'' && quote != '`') return i;
    if (quote == '"' && raw_prefixes.count(text(i, name))) {
      size_t n = name + 1;
      while (at(n) > ' ' &&
             std::string("()\\\"'`").find(static_cast<char>(at(n) < 0x80 ? at(n) : 'x')) == std::string::npos)
        ++n;
      if (at(n) == '(' && text(name + 1, n).size() <= 16) {
        const std::string closing = ")" + text(name + 1, n) + "\"";
        for (const size_t length = code_points(closing).size(); n < t_.size(); ++n)
          if (n + length <= t_.size() && text(n, n + length) == closing) return n + length;
        return t_.size();
      }
    }
    const std::string once(1, static_cast<char>(quote)), thrice(3, static_cast<char>(quote));
    if (quote != '`' && stands(name, thrice)) return behind_contents(name + 3, thrice, true);
    return behind_contents(name + 1, once, quote == '`');
  }

  size_t behind_operator(size_t i) const {
    static const std::vector<std::string> all =
        word_list("... <<= <=> === !== **= -> ++ -- << <= >= == != && || += -= *= /= %= &= |= ^= @= ** :: := => ?? ?.");
    for (const std::string& each : all)
      if (stands(i, each)) return i + each.size();
    return i + 1;
  }

  const std::vector<uint32_t> t_;
};

}  // namespace neardup::reference
