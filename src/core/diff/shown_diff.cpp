// See shown_diff.h.
#include "core/diff/shown_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/diff/word_diff.h"

namespace neardup {
namespace {

constexpr std::uint32_t kUnchangedWords = 4;
constexpr std::uint32_t kWordsChanged = 10;
constexpr std::size_t kMostLineBytes = 400;  // then nothing more is begun
constexpr std::size_t kMostWordBytes = 60;   // of a text without spaces
constexpr std::uint32_t kMostShownEdits = 500;
constexpr std::string_view kMore = "…";

std::string_view cut(std::string_view word) {
  if (word.size() <= kMostWordBytes) return word;
  std::size_t end = kMostWordBytes;
  while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80) --end;
  return word.substr(0, end);
}

// Words first .. last of a text; white space between two is one space.
std::string words(std::string_view text, const std::vector<WordToken>& tokens, std::uint32_t first,
                  std::uint32_t last) {
  std::string line;
  for (std::uint32_t i = first; i < last; ++i) {
    if (i > first && tokens[i].begin > tokens[i - 1].end) line += ' ';
    const std::string_view word = text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
    line += cut(word);
    if (cut(word).size() < word.size()) line += kMore;
  }
  return line;
}

std::string changed(std::string_view text, const std::vector<WordToken>& tokens, std::uint32_t first,
                    std::uint32_t last) {
  const std::uint32_t end = std::min(last, first + kWordsChanged);
  return words(text, tokens, first, end) + (end < last ? " …" : "");
}

void append(std::string* line, const std::string& part) {
  if (!line->empty() && !part.empty()) *line += ' ';
  *line += part;
}

// Appends words that are the same, before, between or after changes.
void append_same(std::string* line, std::string_view text, const std::vector<WordToken>& tokens, const DiffRun& run,
                 bool is_first, bool is_last) {
  const std::uint32_t before = is_first ? 0 : kUnchangedWords;
  const std::uint32_t after = is_last ? 0 : kUnchangedWords;
  if (run.b_end - run.b_begin <= before + after) {
    append(line, words(text, tokens, run.b_begin, run.b_end));
    return;
  }
  append(line, words(text, tokens, run.b_begin, run.b_begin + before));
  append(line, std::string(kMore));
  append(line, words(text, tokens, run.b_end - after, run.b_end));
}

}  // namespace

std::string shown_difference(std::string_view a, std::string_view b) {
  if (a == b) return {};
  const WordDiff diff = diff_words(a, b, kMostShownEdits);
  if (std::ranges::all_of(diff.runs, &DiffRun::same)) return "white space only";
  std::string line;
  for (const DiffRun& run : diff.runs) {
    if (run.same) {
      append_same(&line, b, diff.b, run, &run == &diff.runs.front(), &run == &diff.runs.back());
      continue;
    }
    if (line.size() > kMostLineBytes) break;
    if (run.a_begin < run.a_end) append(&line, "[-" + changed(a, diff.a, run.a_begin, run.a_end) + "-]");
    if (run.b_begin < run.b_end) append(&line, "{+" + changed(b, diff.b, run.b_begin, run.b_end) + "+}");
  }
  return line;
}

}  // namespace neardup
