// The slow, obvious version of text_score(): every way to pair tokens, the textbook's table for every distance.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "core/unicode/utf8.h"

#include "test/reference/edit_reference.h"

namespace neardup::reference {

// Tokens are defined in text_score.h; the limit on characters is the caller's.
inline std::vector<Symbols> score_tokens(std::string_view text) {
  std::vector<Symbols> out;
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  const auto* const end = p + text.size();
  bool inside = false;
  while (p < end) {
    unsigned length;
    const CodePoint c = neardup::classify(decode_utf8(p, end, &length));
    p += length;
    const bool letter = (c.cls == WordClass::word && c.folded != '_') || c.cls == WordClass::solo;
    const bool mark = c.cls == WordClass::mark && inside;
    if (letter && !inside) out.emplace_back();
    if (letter || mark) out.back().push_back(c.folded);
    inside = letter || mark;
  }
  return out;
}

inline Symbols joined(const std::vector<Symbols>& tokens) {
  Symbols out;
  for (const Symbols& t : tokens) out.insert(out.end(), t.begin(), t.end());
  return out;
}

inline uint64_t token_cost(const Symbols& s, const Symbols& t) {
  const auto initial = [](const Symbols& x, const Symbols& y) {
    return x.size() == 1 && y.size() > 1 && x[0] == y[0] && (x[0] < '0' || x[0] > '9');
  };
  return initial(s, t) || initial(t, s) ? 1 : edit_distance(s, t);
}

// Every way to pair some tokens of a from number `at` on with some of b. Few tokens only.
inline uint64_t least_cost(const std::vector<Symbols>& a, size_t at, std::vector<Symbols> b) {
  if (at == a.size()) return joined(b).size();
  uint64_t least = a[at].size() + least_cost(a, at + 1, b);
  for (size_t j = 0; j < b.size(); ++j) {
    std::vector<Symbols> rest = b;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
    least = std::min(least, token_cost(a[at], b[j]) + least_cost(a, at + 1, rest));
  }
  return least;
}

inline std::optional<int> text_score(std::string_view text_a, std::string_view text_b, size_t aligned_tokens) {
  std::vector<Symbols> a = score_tokens(text_a), b = score_tokens(text_b);
  if (a.empty() || b.empty()) return std::nullopt;
  const uint64_t most = std::max(joined(a).size(), joined(b).size());
  const uint64_t in_order = edit_distance(joined(a), joined(b));
  for (size_t i = 0; i < a.size();) {
    const auto same = std::find(b.begin(), b.end(), a[i]);
    if (same == b.end()) {
      ++i;
      continue;
    }
    b.erase(same);
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const uint64_t aligned = a.size() > aligned_tokens || b.size() > aligned_tokens
                               ? std::max(joined(a).size(), joined(b).size())
                               : least_cost(a, 0, b);
  return static_cast<int>(100 * (most - std::min({aligned, in_order, most})) / most);
}

}  // namespace neardup::reference
