// See ctph_compare.h.
#include "core/signature/ctph_compare.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/base/bits.h"
#include "core/kernels/myers.h"

namespace neardup {
namespace {

constexpr size_t kGram = 7;  // common characters without which the score is 0

uint32_t uncapped_score(size_t size_a, size_t size_b, size_t lcs) noexcept {
  const size_t sum = size_a + size_b;
  return static_cast<uint32_t>(100 - 100 * ((sum - 2 * lcs) * 64 / sum) / 64);
}

uint32_t capped_score(size_t size_a, size_t size_b, size_t lcs, uint32_t exponent) noexcept {
  const uint32_t score = uncapped_score(size_a, size_b, lcs);
  if (exponent > 3) return score;
  return static_cast<uint32_t>(std::min<size_t>(score, (size_t{1} << exponent) * std::min(size_a, size_b)));
}

void build_match(const uint8_t* part, size_t n, uint64_t* match) noexcept {
  std::memset(match, 0, 64 * sizeof *match);
  for (size_t i = 0; i < n; ++i) match[part[i]] |= uint64_t{1} << i;
}

// True if 7 characters in a row are common. Bit i of runN after character j: the N characters up to i and to j agree.
bool share_gram(const uint64_t* match, const uint8_t* y, size_t n) noexcept {
  uint64_t run1 = 0, run2_1 = 0, run2_2 = 0, run4_1 = 0, run4_2 = 0, run4_3 = 0;
  uint64_t any = 0;
  for (size_t j = 0; j < n; ++j) {
    const uint64_t now1 = match[y[j]];
    const uint64_t now2 = now1 & run1 << 1;
    const uint64_t now4 = now2 & run2_2 << 2;
    any |= now4 & run4_3 << 3;
    run1 = now1;
    run2_2 = run2_1;
    run2_1 = now2;
    run4_3 = run4_2;
    run4_2 = run4_1;
    run4_1 = now4;
  }
  return any != 0;
}

// Length of the longest common subsequence; Hyyro, "Bit-parallel LCS-length computation revisited", AWOCA 2004.
size_t lcs_length(const uint64_t* match, size_t size, const uint8_t* y, size_t n) noexcept {
  uint64_t open = ~uint64_t{0};
  for (size_t j = 0; j < n; ++j) {
    const uint64_t hit = open & match[y[j]];
    open = (open + hit) | (open - hit);
  }
  return static_cast<size_t>(std::popcount(~open & low_bits(static_cast<unsigned>(size))));
}

uint32_t score_parts(const uint64_t* match, size_t size, const uint8_t* y, size_t n, uint32_t exponent) noexcept {
  if (size < kGram || n < kGram || !share_gram(match, y, n)) return 0;
  return capped_score(size, n, lcs_length(match, size, y, n), exponent);
}

int score_pair(const CtphView& a, const CtphView& b) noexcept {
  struct Cut {
    // NOLINTNEXTLINE(google-explicit-constructor): parts are handed to score() as they are
    Cut(std::string_view part) : n(cut_runs(part, values, kCtphLength)) {}
    bool operator==(const Cut& o) const { return n == o.n && std::memcmp(values, o.values, n) == 0; }
    uint8_t values[kCtphLength];
    size_t n;
  };
  const auto score = [](const Cut& x, const Cut& y, uint32_t exponent) -> uint32_t {
    if (x.n < kGram || y.n < kGram) return 0;
    uint64_t match[64];
    build_match(x.values, x.n, match);
    return score_parts(match, x.n, y.values, y.n, exponent);
  };
  if (a.exponent > b.exponent) return static_cast<int>(score(a.part1, b.part2, a.exponent));
  if (b.exponent > a.exponent) return static_cast<int>(score(a.part2, b.part1, b.exponent));
  const Cut a1(a.part1), a2(a.part2), b1(b.part1), b2(b.part2);
  if (a1 == b1 && a2 == b2) return 100;
  return static_cast<int>(std::max(score(a1, b1, a.exponent), score(a2, b2, a.exponent + 1)));
}

// Parts of any length: the masks are rows of words.
struct Masks {
  Masks(const uint8_t* part, size_t n) : words((n + 63) / 64), bits(64 * words, 0) {
    for (size_t i = 0; i < n; ++i) bits[part[i] * words + i / 64] |= uint64_t{1} << i % 64;
  }
  const uint64_t* row(uint8_t value) const { return bits.data() + value * words; }

  size_t words;
  std::vector<uint64_t> bits;
};

bool share_gram(const std::vector<uint8_t>& x, const std::vector<uint8_t>& y) {
  const std::vector<uint64_t> a = sorted_grams(x, kGram), b = sorted_grams(y, kGram);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size(); a[i] < b[j] ? ++i : ++j)
    if (a[i] == b[j]) return true;
  return false;
}

size_t lcs_length(const std::vector<uint8_t>& x, const std::vector<uint8_t>& y) {
  const Masks masks(x.data(), x.size());
  std::vector<uint64_t> open(masks.words, ~uint64_t{0});
  for (const uint8_t value : y) {
    const uint64_t* row = masks.row(value);
    uint64_t carry = 0;
    for (size_t w = 0; w < masks.words; ++w) {
      const uint64_t hit = open[w] & row[w];
      uint64_t sum = open[w] + hit;
      uint64_t out = sum < hit;
      sum += carry;
      out |= sum < carry;
      open[w] = sum | (open[w] & ~hit);
      carry = out;
    }
  }
  size_t lcs = 0;
  for (size_t i = 0; i < x.size(); ++i) lcs += ~open[i / 64] >> i % 64 & 1;
  return lcs;
}

uint32_t score_long(const std::vector<uint8_t>& x, const std::vector<uint8_t>& y, uint32_t exponent) {
  return share_gram(x, y) ? capped_score(x.size(), y.size(), lcs_length(x, y), exponent) : 0;
}

int score_long(const CtphView& a, const CtphView& b) {
  const std::vector<uint8_t> a1 = ctph_values(a.part1, true), a2 = ctph_values(a.part2, true);
  const std::vector<uint8_t> b1 = ctph_values(b.part1, true), b2 = ctph_values(b.part2, true);
  if (a.exponent == b.exponent) {
    if (a1 == b1 && a2 == b2) return 100;
    return static_cast<int>(std::max(score_long(a1, b1, a.exponent), score_long(a2, b2, a.exponent + 1)));
  }
  return static_cast<int>(a.exponent == b.exponent + 1   ? score_long(a1, b2, a.exponent)
                          : b.exponent == a.exponent + 1 ? score_long(a2, b1, b.exponent)
                                                         : 0);
}

// Levenshtein distance of a text to a pattern of `size` symbols, cut into words of 64 rows (core/kernels/myers.h).
uint32_t levenshtein_blocks(const Masks& masks, size_t size, const std::vector<uint8_t>& text) {
  std::vector<MyersColumn> column(masks.words, kMyersStart);
  for (const uint8_t value : text) {
    const uint64_t* match = masks.row(value);
    MyersCarry carry;
    for (size_t w = 0; w < masks.words; ++w) myers_step(match[w], column[w], carry);
  }
  int64_t distance = static_cast<int64_t>(text.size());
  for (size_t w = 0; w < masks.words; ++w)
    distance += column[w].sum(low_bits(static_cast<unsigned>(std::min<size_t>(size - 64 * w, 64))));
  return static_cast<uint32_t>(distance);
}

// The Levenshtein distance to a pattern of one word.
uint32_t levenshtein_word(std::string_view pattern, std::string_view text) noexcept {
  uint64_t match[64] = {};
  for (size_t i = 0; i < pattern.size(); ++i) match[ctph_value(pattern[i]) & 63] |= uint64_t{1} << i;
  MyersColumn column = kMyersStart;
  for (const char c : text) myers_step(match[ctph_value(c) & 63], column);
  return myers_distance(text.size(), column, low_bits(static_cast<unsigned>(pattern.size())));
}

}  // namespace

void check_comparable(const CtphView& a, const CtphView& b) {
  if (comparable(a, b)) return;
  throw Error(Errc::incomparable, "cannot compare an ssdeep digest with a long one",
              "left: " + describe(a) + "; right: " + describe(b),
              "Digest both documents with to_ctph(...), or both with ctph_long(...).");
}

std::string describe(const CtphView& d) {
  return d.is_long() ? "long, " + std::to_string(d.length) + " characters" : "ssdeep's, 64 characters";
}

int ctph_score(const CtphView& a, const CtphView& b) {
  check_comparable(a, b);
  if (a.exponent + 1 < b.exponent || b.exponent + 1 < a.exponent) return 0;
  if (a.is_long()) return score_long(a, b);
  return score_pair(a, b);
}

CtphScore explain_ctph_score(const CtphView& a, const CtphView& b) {
  check_comparable(a, b);
  if (a.exponent + 1 < b.exponent || b.exponent + 1 < a.exponent) return {0, 0, CtphReason::no_common_block_size};
  const std::vector<uint8_t> a1 = ctph_values(a.part1, true), a2 = ctph_values(a.part2, true);
  const std::vector<uint8_t> b1 = ctph_values(b.part1, true), b2 = ctph_values(b.part2, true);
  if (a.exponent == b.exponent && a1 == b1 && a2 == b2) return {100, 100, CtphReason::equal};
  uint32_t score = 0;
  uint32_t uncapped = 0;
  bool long_enough = false;
  bool written_long = false;
  bool cut = false;
  const auto compare = [&](const std::vector<uint8_t>& x, const std::vector<uint8_t>& y, uint32_t exponent) {
    const std::string_view of_a = exponent == a.exponent ? a.part1 : a.part2;
    const std::string_view of_b = exponent == b.exponent ? b.part1 : b.part2;
    cut = cut || x.size() < of_a.size() || y.size() < of_b.size();
    written_long = written_long || (of_a.size() >= kGram && of_b.size() >= kGram);
    long_enough = long_enough || (x.size() >= kGram && y.size() >= kGram);
    if (!share_gram(x, y)) return;
    const size_t lcs = lcs_length(x, y);
    score = std::max(score, capped_score(x.size(), y.size(), lcs, exponent));
    uncapped = std::max(uncapped, uncapped_score(x.size(), y.size(), lcs));
  };
  if (a.exponent >= b.exponent) compare(a1, a.exponent == b.exponent ? b1 : b2, a.exponent);
  if (b.exponent >= a.exponent) compare(a2, a.exponent == b.exponent ? b2 : b1, a.exponent + 1);
  return {static_cast<int>(score), static_cast<int>(uncapped),
          !written_long      ? CtphReason::too_short
          : !long_enough     ? CtphReason::too_short_cut
          : uncapped == 0    ? cut ? CtphReason::nothing_shared_cut : CtphReason::nothing_shared
          : score < uncapped ? CtphReason::capped
                             : CtphReason::measured};
}

bool common_parts(const CtphView& a, const CtphView& b, std::string_view* of_a, std::string_view* of_b) noexcept {
  if (a.exponent + 1 < b.exponent || b.exponent + 1 < a.exponent) return false;
  *of_a = a.exponent < b.exponent ? a.part2 : a.part1;
  *of_b = b.exponent < a.exponent ? b.part2 : b.part1;
  return true;
}

uint32_t levenshtein(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() <= 64) return levenshtein_word(a, b);
  const std::vector<uint8_t> pattern = ctph_values(a, false);
  return levenshtein_blocks(Masks(pattern.data(), pattern.size()), pattern.size(), ctph_values(b, false));
}

double ctph_edit_rate(const CtphView& a, const CtphView& b) {
  check_comparable(a, b);
  std::string_view x;
  std::string_view y;
  if (!common_parts(a, b, &x, &y) || x.size() + y.size() == 0) return 1;
  return static_cast<double>(levenshtein(x, y)) / static_cast<double>(x.size() + y.size());
}

}  // namespace neardup
