// The words in which two texts differ.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace neardup {

// Bytes begin .. end of a text: a word, one Chinese character, kana or Hangul syllable, or one sign. Spaces lie
// between.
struct WordToken {
  std::uint32_t begin, end;
};

// Tokens a_begin .. a_end of the one text beside b_begin .. b_end of the other. A differing run may be empty on a side.
struct DiffRun {
  std::uint32_t a_begin, a_end, b_begin, b_end;
  bool same;
};

struct WordDiff {
  std::vector<WordToken> a, b;
  std::vector<DiffRun> runs;  // in order, without gaps, same and different in turn
  bool complete = true;       // false: too different, all between the common start and the common end is one run
};

// The fewest words to take away and to put in (E. Myers, An O(ND) Difference Algorithm and Its Variations, 1986). Texts
// are UTF-8 below 4 GB. With at most most_edits of them: time O((n + m) most_edits), memory O(most_edits^2).
WordDiff diff_words(std::string_view a, std::string_view b, std::uint32_t most_edits = 1500);

}  // namespace neardup
