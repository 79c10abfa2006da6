// See snippet.h.
#include "cli/report/snippet.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/diff/word_diff.h"
#include "cli/base/utf8.h"

namespace neardup::cli {
namespace {

constexpr std::size_t kTitleCharacters = 80, kPartBytes = 200;
constexpr std::uint32_t kSnippetWords = 6, kWordsChanged = 16;
constexpr std::uint32_t kEditsLookedFor = 300;  // beyond them the first word that differs is still found
constexpr std::string_view kAsciiSpaces = " \t\r\n\f\v";

std::string_view first_characters(std::string_view text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t size = 0; most > 0 && end < text.size(); --most, end += size) decode_utf8(text, end, size);
  return text.substr(0, end);
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kAsciiSpaces);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kAsciiSpaces) + 1 - begin);
}

// The tokens first .. last of a text, of which there is at least one.
std::string_view slice(std::string_view text, const std::vector<WordToken>& tokens, std::uint32_t first,
                       std::uint32_t last) {
  return text.substr(tokens[first].begin, tokens[last - 1].end - tokens[first].begin);
}

std::string cut_end(std::string_view text, bool more) {
  const std::string_view part = first_bytes(text, kPartBytes);
  return std::string(part) + (more || part.size() < text.size() ? " …" : "");
}

// The words first .. last, the first of them when they are many.
std::string changed_words(std::string_view text, const std::vector<WordToken>& tokens, std::uint32_t first,
                          std::uint32_t last) {
  if (first == last) return {};
  const std::uint32_t end = std::min(last, first + kWordsChanged);
  return cut_end(slice(text, tokens, first, end), end < last);
}

}  // namespace

std::string document_title(std::string_view text) {
  text = without_spaces(text);
  const std::string_view line = without_spaces(text.substr(0, text.find_first_of("\r\n")));
  std::string_view part = first_characters(line, kTitleCharacters);
  if (part.size() == line.size()) return std::string(line);
  const std::size_t space = part.find_last_of(" \t");
  // a text with few spaces is cut between characters
  if (space != std::string_view::npos && space >= part.size() / 2) part = without_spaces(part.substr(0, space));
  return std::string(part) + "…";
}

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

Snippet first_change(std::string_view a, std::string_view b) {
  Snippet snippet;
  if (a == b) return snippet;
  const WordDiff diff = diff_words(a, b, kEditsLookedFor);
  const auto run = std::find_if(diff.runs.begin(), diff.runs.end(), [](const DiffRun& r) { return !r.same; });
  if (run == diff.runs.end()) {
    snippet.kind = Snippet::Kind::spaces;
    return snippet;
  }
  snippet.kind = Snippet::Kind::words;
  snippet.removed = changed_words(a, diff.a, run->a_begin, run->a_end);
  snippet.added = changed_words(b, diff.b, run->b_begin, run->b_end);
  if (run->b_begin > 0) {
    const std::uint32_t first = run->b_begin - std::min(run->b_begin, kSnippetWords);
    const std::string_view words = slice(b, diff.b, first, run->b_begin), part = last_bytes(words, kPartBytes);
    snippet.before = (first > 0 || part.size() < words.size() ? "… " : "") + std::string(part);
  }
  const auto words = static_cast<std::uint32_t>(diff.b.size());
  if (run->b_end < words) {
    const std::uint32_t last = std::min(words, run->b_end + kSnippetWords);
    snippet.after = cut_end(slice(b, diff.b, run->b_end, last), last < words);
  }
  return snippet;
}

}  // namespace neardup::cli
