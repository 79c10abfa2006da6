// See title.h.
#include "core/intake/title.h"

#include <cstdint>

#include "core/unicode/utf8_inline.h"

namespace neardup {
namespace {

constexpr size_t kMaxBracket = 200;  // bytes between brackets that are still looked at

bool is_white(uint32_t c) noexcept {
  return c <= 0x20 || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool equals(std::string_view a, std::string_view lower_case) noexcept {
  if (a.size() != lower_case.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower_case[i]) return false;
  return true;
}

bool ends_with(std::string_view a, std::string_view lower_case) noexcept {
  return a.size() >= lower_case.size() && equals(a.substr(a.size() - lower_case.size()), lower_case);
}

uint32_t code_point(std::string_view s, size_t i, unsigned* length) noexcept {
  const auto* p = reinterpret_cast<const uint8_t*>(s.data());
  return detail::decode_utf8(p + i, p + s.size(), length);
}

bool has_white(std::string_view s) noexcept {
  for (size_t i = 0; i < s.size();) {
    unsigned length;
    if (is_white(code_point(s, i, &length))) return true;
    i += length;
  }
  return false;
}

// White space, and the marks that join words in file names, at both ends. Not '+', which belongs to its word there.
std::string_view trimmed(std::string_view s) noexcept {
  const auto skipped = [](uint32_t c) {
    return is_white(c) || c == '_' || c == '-' || c == '.' || c == ',' || c == 0x2013 || c == 0x2014;
  };
  size_t begin = 0;
  while (begin < s.size()) {
    unsigned length;
    if (!skipped(code_point(s, begin, &length))) break;
    begin += length;
  }
  size_t end = begin;
  for (size_t i = begin; i < s.size();) {
    unsigned length;
    const bool skip = skipped(code_point(s, i, &length));
    i += length;
    if (!skip) end = i;
  }
  return s.substr(begin, end - begin);
}

bool is_capital(std::string_view s, size_t i) noexcept { return i < s.size() && s[i] >= 'A' && s[i] <= 'Z'; }

// True if a point that stands before `rest`, and behind no word, is a part of it: ".NET".
bool point_belongs(std::string_view rest) noexcept { return is_capital(rest, 0) && is_capital(rest, 1); }

// Trims, too, but points stay that are part of the words beside them: ".NET", "...And Justice for All", "Some Inc."
std::string_view trimmed_title(std::string_view s) noexcept {
  const std::string_view core = trimmed(s);
  if (core.empty()) return core;
  const bool spaced = has_white(core);
  size_t begin = static_cast<size_t>(core.data() - s.data());
  size_t end = begin + core.size();
  size_t points = 0;
  while (points < begin && s[begin - 1 - points] == '.') ++points;
  if (points == 1 ? point_belongs(core) || (spaced && is_capital(core, 0)) : spaced) begin -= points;
  while (spaced && end < s.size() && s[end] == '.') ++end;
  return s.substr(begin, end - begin);
}

int hex_value(char c) noexcept {
  c = lower(c);
  if (is_digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Percent-decoding, of the whole name or not at all: a name with % that is no encoding stays as it is. Where '+' is
// encoded and the space is not, a bare '+' stands for a space.
std::string percent_decoded(std::string_view s) {
  const bool plus_is_joint =
      (s.find("%2B") != s.npos || s.find("%2b") != s.npos) && s.find("%20") == s.npos && s.find(' ') == s.npos;
  std::string out;
  bool any = false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '%' || s.size() - i < 3 || hex_value(s[i + 1]) < 0 || hex_value(s[i + 2]) < 0) {
      out += s[i] == '+' && plus_is_joint ? '_' : s[i];
      continue;
    }
    out += static_cast<char>(hex_value(s[i + 1]) * 16 + hex_value(s[i + 2]));
    i += 2;
    any = true;
  }
  if (!any || !valid_utf8_text(reinterpret_cast<const uint8_t*>(out.data()), out.size())) return std::string(s);
  return out;
}

constexpr std::string_view kExtensions[] = {
    "txt",  "text",  "md",   "markdown", "rst", "tex", "rtf",  "html",  "htm",  "xhtml",  "shtml", "xml",
    "json", "jsonl", "csv",  "tsv",      "log", "doc", "docx", "odt",   "pdf",  "epub",   "mobi",  "azw3",
    "azw",  "fb2",   "djvu", "umd",      "chm", "ppt", "pptx", "xls",   "xlsx", "php",    "asp",   "aspx",
    "jsp",  "eml",   "srt",  "gz",       "tgz", "bz2", "xz",   "zst",   "lz4",  "z",      "zip",   "rar",
    "7z",   "tar",   "bak",  "orig",     "tmp", "old", "utf8", "utf-8", "gbk",  "gb2312", "big5"};

std::string_view without_extensions(std::string_view s) noexcept {
  for (int i = 0; i < 8; ++i) {
    const size_t dot = s.rfind('.');
    if (dot == s.npos || dot == 0) return s;
    const std::string_view extension = s.substr(dot + 1);
    bool known = false;
    for (const std::string_view e : kExtensions) known = known || equals(extension, e);
    if (!known || trimmed(s.substr(0, dot)).empty()) return s;
    s = s.substr(0, dot);
  }
  return s;
}

// True for what says nothing of the text in round brackets: numbers of copies, versions, states.
bool is_remark(std::string_view inside) noexcept {
  inside = trimmed(inside);
  if (inside.empty()) return true;
  size_t digits = 0;
  while (digits < inside.size() && is_digit(inside[digits])) ++digits;
  if (digits == inside.size()) return digits <= 3;  // not a year
  if (lower(inside[0]) == 'v' && inside.size() > 1 && is_digit(inside[1])) {
    for (size_t i = 1; i < inside.size(); ++i)
      if (!is_digit(inside[i]) && inside[i] != '.') return false;
    return true;
  }
  static constexpr std::string_view kRemarks[] = {
      "copy",   "final",  "draft",  "complete", "completed", "full",   "ocr",     "scan",    "txt",  "epub",
      "utf8",   "utf-8",  "gbk",    "new",      "repost",    "ebook",  "revised", "updated", "副本", "完结",
      "完結",   "完",     "全",     "全本",     "全集",      "全文",   "完本",    "连载",    "連載", "连载中",
      "連載中", "校对版", "校對版", "精校版",   "修订版",    "修訂版", "修订",    "修訂",    "转载", "轉載",
      "已完结", "已完結", "未完",   "最终版",   "最終版",    "终稿",   "終稿",    "初稿",    "定稿"};
  for (const std::string_view r : kRemarks)
    if (equals(inside, r)) return true;
  return false;
}

struct Bracket {
  std::string_view open;
  std::string_view close;
  bool always;  // whatever stands inside
};
constexpr Bracket kBrackets[] = {{"[", "]", true},  {"【", "】", true},  {"〔", "〕", true}, {"［", "］", true},
                                 {"(", ")", false}, {"（", "）", false}, {"{", "}", false}};

// A word of letters of its own behind a name: " - Copy", "_副本", " copy 2".
std::string_view without_copy_mark(std::string_view s) noexcept {
  for (int i = 0; i < 4; ++i) {
    std::string_view t = trimmed(s);
    std::string_view number = t;
    while (!number.empty() && is_digit(number.back())) number.remove_suffix(1);
    // "copy 2", at most two digits
    std::string_view base = t.size() - number.size() <= 2 ? trimmed(number) : t;
    bool found = false;
    for (const std::string_view mark : {"copy", "kopie", "copie", "副本", "拷贝", "複本"}) {
      if (!ends_with(base, mark)) continue;
      std::string_view rest = base.substr(0, base.size() - mark.size());
      const bool letters = static_cast<uint8_t>(mark[0]) < 0x80;
      // Latin marks need a joint before them: a title may end in "Hard Copy", so that it must be - or _.
      const std::string_view before = trimmed(rest);
      bool joined = !letters;
      for (size_t j = before.size(); j < rest.size(); ++j) joined = joined || rest[j] == '-' || rest[j] == '_';
      if (!joined || before.empty()) continue;
      s = before;
      found = true;
      break;
    }
    if (!found) break;
  }
  return s;
}

// Without the marks at its end that join the next bracket to it; "C++" keeps its own.
void drop_joints(std::string* s) {
  while (!s->empty()) {
    const char c = s->back();
    const bool plus = c == '+' && (s->size() < 2 || (*s)[s->size() - 2] != '+');
    if (c != '_' && c != '-' && c != '.' && !plus) return;
    s->pop_back();
  }
}

std::string without_brackets(std::string_view s) {
  std::string out;
  bool behind_bracket = false;
  for (size_t i = 0; i < s.size();) {
    bool skipped = false;
    for (const Bracket& b : kBrackets) {
      if (s.substr(i, b.open.size()) != b.open) continue;
      const std::string_view rest = s.substr(i + b.open.size(), kMaxBracket);
      const size_t close = rest.find(b.close);
      if (close == rest.npos) break;
      if (!b.always && !is_remark(rest.substr(0, close))) break;
      drop_joints(&out);
      out += '_';
      i += b.open.size() + close + b.close.size();
      skipped = true;
      break;
    }
    if (skipped) {
      behind_bracket = true;
      continue;
    }
    const char c = s[i++];
    behind_bracket = behind_bracket && (c == '_' || c == '-' || c == '.' || c == '+');
    if (!behind_bracket) out += c;
  }
  return out;
}

// True if the '+' at i stands between two words, as for a space in an address: "a+b", but not "C++", "A+", "+1", "1+1".
bool plus_joins(std::string_view s, size_t i) noexcept {
  const auto inside_word = [&](size_t at) {
    return at < s.size() && s[at] != '_' && s[at] != '-' && s[at] != '.' && s[at] != '+';
  };
  return i > 0 && inside_word(i - 1) && inside_word(i + 1) && !(is_digit(s[i - 1]) && is_digit(s[i + 1]));
}

// Joints to spaces, white space collapsed. A point between digits stays. A name that has spaces keeps its points and
// '+', and its hyphens inside words.
std::string spaced(std::string_view s) {
  const bool has_space = has_white(s);
  std::string out;
  bool gap = false;
  for (size_t i = 0; i < s.size();) {
    unsigned length;
    const uint32_t c = code_point(s, i, &length);
    bool joint = is_white(c) || c == '_';
    if (c == '.') {
      const bool number = i > 0 && i + 1 < s.size() && is_digit(s[i - 1]) && is_digit(s[i + 1]);
      const bool first = (i == 0 || s[i - 1] == '_' || s[i - 1] == '-') && point_belongs(s.substr(i + 1));
      joint = !number && !first && !has_space;
    }
    if (c == '+') joint = !has_space && plus_joins(s, i);
    if (c == '-') {
      const auto open = [&](size_t at) { return at >= s.size() || s[at] == ' ' || s[at] == '_'; };
      joint = !has_space || i == 0 || open(i - 1) || open(i + 1);
    }
    if (joint) {
      gap = true;
    } else {
      if (gap && !out.empty()) out += ' ';
      gap = false;
      out.append(s.substr(i, length));
    }
    i += length;
  }
  return out;
}

}  // namespace

std::string make_title(std::string_view filename, bool percent_decoding) {
  if (filename.size() > kMaxFilename)
    throw Error(Errc::too_large, "filename is " + std::to_string(filename.size()) + " bytes long, more than " +
                                     std::to_string(kMaxFilename));
  const std::string decoded = percent_decoding ? percent_decoded(filename) : std::string(filename);
  std::string_view name = decoded;
  while (name.size() > 1 && (name.back() == '/' || name.back() == '\\')) name.remove_suffix(1);
  const size_t slash = name.find_last_of("/\\");
  if (slash != name.npos && slash + 1 < name.size()) name = name.substr(slash + 1);
  const std::string_view base = without_extensions(name);
  // Ever less is left out until something is left.
  std::string bare = without_brackets(without_copy_mark(without_extensions(without_brackets(base))));
  for (const std::string& candidate :
       {std::string(trimmed_title(without_copy_mark(bare))), std::string(trimmed_title(base)),
        std::string(trimmed_title(name)), std::string(name)}) {
    std::string title = spaced(candidate);
    if (!title.empty()) return title;
  }
  return std::string(filename);
}

}  // namespace neardup
