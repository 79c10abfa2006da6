// See word_diff.h.
#include "core/diff/word_diff.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace neardup {
namespace {

bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// 2: of a word; 1: stands alone
int kind(unsigned char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return 2;
  if (c < 0x80) return 1;
  return c >= 0xe2 && c <= 0xed ? 1 : 2;  // U+2000 to U+DFFF: signs, and scripts without spaces
}

std::vector<WordToken> split_words(std::string_view text) {
  std::vector<WordToken> tokens;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(byte(i))) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    const bool word = kind(byte(i)) == 2;
    do {
      ++i;
      while (i < text.size() && (byte(i) & 0xc0) == 0x80) ++i;
    } while (word && i < text.size() && !is_space(byte(i)) && kind(byte(i)) == 2);
    tokens.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(i)});
  }
  return tokens;
}

// Pairs equal tokens of a and b by the fewest edits.
class Matcher {
 public:
  Matcher(const std::vector<int>& a, const std::vector<int>& b, std::uint32_t most_edits)
      : a_(a), b_(b), most_(static_cast<int>(std::min<std::size_t>(most_edits, a.size() + b.size()))) {}

  bool run(std::vector<std::pair<int, int>>& pairs) {
    const int n = static_cast<int>(a_.size()), m = static_cast<int>(b_.size());
    // furthest[k + offset]: the furthest x on diagonal k = x - y with d edits
    const int offset = most_ + 1;
    std::vector<int> furthest(static_cast<std::size_t>(2 * most_ + 3), 0);
    for (int d = 0; d <= most_; ++d) {
      history_.emplace_back();
      history_.back().reserve(static_cast<std::size_t>(d) + 1);
      for (int k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && furthest[k - 1 + offset] < furthest[k + 1 + offset]);
        int x = down ? furthest[k + 1 + offset] : furthest[k - 1 + offset] + 1;
        while (x < n && x - k < m && x - k >= 0 && a_[x] == b_[x - k]) ++x;
        furthest[k + offset] = x;
        history_.back().push_back(x);
        if (x >= n && x - k >= m) {
          trace(d, k, pairs);
          return true;
        }
      }
    }
    return false;
  }

 private:
  int at(int d, int k) const { return history_[static_cast<std::size_t>(d)][static_cast<std::size_t>((k + d) / 2)]; }

  void trace(int d, int k, std::vector<std::pair<int, int>>& pairs) const {
    int x = static_cast<int>(a_.size());
    for (; d > 0; --d) {
      const bool down = k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1));
      const int from = down ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      for (; x > from; --x) pairs.push_back({x - 1, x - 1 - k});
      k = down ? k + 1 : k - 1;
      x = at(d - 1, k);
    }
    for (; x > 0; --x) pairs.push_back({x - 1, x - 1});
    std::reverse(pairs.begin(), pairs.end());
  }

  const std::vector<int>&a_, &b_;
  int most_;
  std::vector<std::vector<int>> history_;
};

}  // namespace

WordDiff diff_words(std::string_view a, std::string_view b, std::uint32_t most_edits) {
  WordDiff diff;
  diff.a = split_words(a);
  diff.b = split_words(b);
  std::unordered_map<std::string_view, int> numbers;
  const auto numbered = [&](std::string_view text, const std::vector<WordToken>& tokens) {
    std::vector<int> out;
    out.reserve(tokens.size());
    for (const WordToken& t : tokens) {
      out.push_back(
          numbers.try_emplace(text.substr(t.begin, t.end - t.begin), static_cast<int>(numbers.size())).first->second);
    }
    return out;
  };
  std::vector<int> x = numbered(a, diff.a), y = numbered(b, diff.b);
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(x.size(), y.size());
  while (head < shorter && x[head] == y[head]) ++head;
  while (tail < shorter - head && x[x.size() - 1 - tail] == y[y.size() - 1 - tail]) ++tail;

  const auto add = [&](std::size_t a_begin, std::size_t a_end, std::size_t b_begin, std::size_t b_end, bool same) {
    if (a_begin == a_end && b_begin == b_end) return;
    if (!diff.runs.empty() && diff.runs.back().same == same) {
      diff.runs.back().a_end = static_cast<std::uint32_t>(a_end);
      diff.runs.back().b_end = static_cast<std::uint32_t>(b_end);
      return;
    }
    diff.runs.push_back({static_cast<std::uint32_t>(a_begin), static_cast<std::uint32_t>(a_end),
                         static_cast<std::uint32_t>(b_begin), static_cast<std::uint32_t>(b_end), same});
  };
  const std::size_t a_total = x.size(), b_total = y.size();
  x = std::vector<int>(x.begin() + static_cast<std::ptrdiff_t>(head), x.end() - static_cast<std::ptrdiff_t>(tail));
  y = std::vector<int>(y.begin() + static_cast<std::ptrdiff_t>(head), y.end() - static_cast<std::ptrdiff_t>(tail));
  std::vector<std::pair<int, int>> pairs;
  if (!x.empty() && !y.empty()) diff.complete = Matcher(x, y, most_edits).run(pairs);
  add(0, head, 0, head, true);
  std::size_t i = head, j = head;
  for (const auto& [p, q] : pairs) {
    const std::size_t at_a = head + static_cast<std::size_t>(p), at_b = head + static_cast<std::size_t>(q);
    add(i, at_a, j, at_b, false);
    add(at_a, at_a + 1, at_b, at_b + 1, true);
    i = at_a + 1;
    j = at_b + 1;
  }
  add(i, a_total - tail, j, b_total - tail, false);
  add(a_total - tail, a_total, b_total - tail, b_total, true);
  return diff;
}

}  // namespace neardup
