// The slow, obvious versions of winnowing, shared passages and copied shares, written from their definitions; a table
// of all places where two documents agree. Shared by unit tests and fuzzers; never shipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/document/shingle.h"

#include "reference/code_reference.h"
#include "reference/shingle_reference.h"

namespace neardup::reference {

// In the place of an ignored unit's key, which no text has.
inline const std::string kIgnored = "\xff ignored";

// A unit with its place: code points before it and in it.
struct PlacedUnit {
  std::string key;
  size_t position;
  size_t length;
};

inline std::vector<PlacedUnit> placed_words(std::string_view text) {
  std::vector<PlacedUnit> out;
  bool open = false, solo = false;
  size_t position = 0;
  for (const uint32_t c : code_points(text)) {
    const Folded f = classify(c);
    if (f.kind == '-') {
      open = false;
    } else {
      if (!open || f.kind == 's' || (f.kind == 'w' && solo)) {
        out.push_back({{}, position, 0});
        open = true;
        solo = f.kind == 's';
      }
      append_utf8(out.back().key, f.code_point);
      out.back().length = position + 1 - out.back().position;
    }
    ++position;
  }
  return out;
}

inline std::vector<PlacedUnit> placed_characters(std::string_view text) {
  std::vector<PlacedUnit> out;
  for (const uint32_t c : code_points(text)) {
    out.push_back({{}, out.size(), 1});
    append_utf8(out.back().key, c);
  }
  return out;
}

inline bool is_line_end(uint32_t c) { return (c >= 0x0a && c <= 0x0d) || c == 0x85 || c == 0x2028 || c == 0x2029; }

inline bool is_white_space(uint32_t c) {
  return is_line_end(c) || c == 0x09 || c == 0x20 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

// Code points first .. end - 1 as a line or a paragraph, trimmed; nothing where all are white space.
inline void add_normalised(const std::vector<uint32_t>& text, size_t first, size_t end, std::vector<PlacedUnit>* out) {
  while (first < end && is_white_space(text[first])) ++first;
  while (first < end && is_white_space(text[end - 1])) --end;
  if (first == end) return;
  out->push_back({{}, first, end - first});
  for (size_t i = first; i < end; ++i) {
    if (!is_white_space(text[i])) {
      append_utf8(out->back().key, text[i]);
    } else if (!is_white_space(text[i + 1])) {
      out->back().key += ' ';
    }
  }
}

// The lines as first .. end without what ends them.
inline std::vector<std::pair<size_t, size_t>> filled_lines(const std::vector<uint32_t>& text) {
  std::vector<std::pair<size_t, size_t>> out;
  size_t first = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_line_end(text[i])) continue;
    out.emplace_back(first, i);
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
    first = i + 1;
  }
  out.emplace_back(first, text.size());
  return out;
}

inline std::vector<PlacedUnit> placed_lines(std::string_view bytes) {
  const std::vector<uint32_t> text = code_points(bytes);
  std::vector<PlacedUnit> out;
  for (const auto& [first, end] : filled_lines(text)) add_normalised(text, first, end, &out);
  return out;
}

inline std::vector<PlacedUnit> placed_paragraphs(std::string_view bytes) {
  const std::vector<uint32_t> text = code_points(bytes);
  std::vector<PlacedUnit> out;
  size_t first = 0;
  for (const auto& [line, end] : filled_lines(text)) {
    const bool blank = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(line),
                                   text.begin() + static_cast<std::ptrdiff_t>(end), is_white_space);
    const bool separated = end < text.size() && text[end] == 0x2029;
    if (blank) add_normalised(text, first, line, &out);
    if (!blank && separated) add_normalised(text, first, end, &out);
    if (blank || separated) first = end;
  }
  add_normalised(text, first, text.size(), &out);
  return out;
}

inline std::vector<PlacedUnit> placed_bytes(std::string_view text) {
  std::vector<PlacedUnit> out;
  for (const char c : text) out.push_back({std::string(1, c), out.size(), 1});
  return out;
}

inline std::vector<PlacedUnit> placed_tokens(std::string_view text) {
  std::vector<PlacedUnit> out;
  for (const CodeTokens::Token& t : CodeTokens(text).all()) out.push_back({t.key, t.first, t.end - t.first});
  return out;
}

inline std::vector<PlacedUnit> placed_units(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::word:
      return placed_words(text);
    case Unit::character:
      return placed_characters(text);
    case Unit::line:
      return placed_lines(text);
    case Unit::paragraph:
      return placed_paragraphs(text);
    case Unit::code:
      return placed_tokens(text);
    default:
      return placed_bytes(text);
  }
}

struct FoundPassage {
  size_t start_a, length_a, start_b, units;
  bool operator==(const FoundPassage&) const = default;
};

// Units of `a` that stand in a text to ignore, in a run of as many units as a passage has, or of the whole text where
// that is shorter: no unit of another document is equal to them, nor are they counted.
inline void leave_out(const std::vector<std::vector<PlacedUnit>>& texts, size_t least, std::vector<PlacedUnit>* a) {
  std::vector<bool> ignored(a->size());
  for (const auto& text : texts) {
    const size_t run = std::min(least, text.size());
    for (size_t i = 0; run > 0 && i + run <= a->size(); ++i) {
      for (size_t j = 0; j + run <= text.size(); ++j) {
        size_t n = 0;
        while (n < run && (*a)[i + n].key == text[j + n].key) ++n;
        for (size_t m = 0; n == run && m < run; ++m) ignored[i + m] = true;
      }
    }
  }
  for (size_t i = 0; i < a->size(); ++i)
    if (ignored[i]) (*a)[i].key = kIgnored;
}

// agree[i][j]: units that are equal from a[i] and b[j] on.
class AgreeTable {
 public:
  AgreeTable(const std::vector<PlacedUnit>& a, const std::vector<PlacedUnit>& b)
      : width_(b.size() + 1), cells_((a.size() + 1) * width_) {
    for (size_t i = a.size(); i-- > 0;) {
      for (size_t j = b.size(); j-- > 0;) {
        cells_[i * width_ + j] = a[i].key == b[j].key ? cells_[(i + 1) * width_ + j + 1] + 1 : 0;
      }
    }
  }
  size_t at(size_t i, size_t j) const { return cells_[i * width_ + j]; }

 private:
  size_t width_;
  std::vector<size_t> cells_;
};

inline std::vector<FoundPassage> shared_passages(const std::vector<PlacedUnit>& a, const std::vector<PlacedUnit>& b,
                                                 size_t least) {
  const AgreeTable agree(a, b);
  std::vector<size_t> longest(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) longest[i] = std::max(longest[i], agree.at(i, j));
  }
  std::vector<bool> taken(a.size());
  std::vector<FoundPassage> out;
  for (;;) {
    size_t best = 0, where = 0, free = 0;
    for (size_t i = a.size(); i-- > 0;) {
      free = taken[i] ? 0 : free + 1;
      const size_t run = std::min(longest[i], free);
      if (run >= best) {
        best = run;
        where = i;
      }
    }
    if (best < least) break;
    size_t first = 0;
    while (agree.at(where, first) < best) ++first;
    const PlacedUnit& last = a[where + best - 1];
    out.push_back({a[where].position, last.position + last.length - a[where].position, b[first].position, best});
    std::fill(taken.begin() + static_cast<long>(where), taken.begin() + static_cast<long>(where + best), true);
  }
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.start_a < y.start_a; });
  return out;
}

inline double copied_share(const std::vector<PlacedUnit>& a, const std::vector<PlacedUnit>& b, size_t least) {
  const auto ignored = std::count_if(a.begin(), a.end(), [](const PlacedUnit& u) { return u.key == kIgnored; });
  if (a.size() == static_cast<size_t>(ignored)) return 0;
  const AgreeTable agree(a, b);
  std::vector<bool> copied(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      if (agree.at(i, j) < least) continue;
      for (size_t n = 0; n < agree.at(i, j); ++n) copied[i + n] = true;
    }
  }
  return static_cast<double>(std::count(copied.begin(), copied.end(), true)) /
         static_cast<double>(static_cast<std::ptrdiff_t>(a.size()) - ignored);
}

struct Chosen {
  uint64_t hash;
  size_t position;
  bool operator==(const Chosen&) const = default;
};

// Robust winnowing, window by window. hashes[i] begins at units[i].
inline std::vector<Chosen> winnow(const std::vector<uint64_t>& hashes, const std::vector<PlacedUnit>& units,
                                  size_t window) {
  std::vector<Chosen> out;
  if (hashes.empty()) return out;
  size_t chosen = SIZE_MAX;
  for (size_t begin = 0; begin == 0 || begin + window <= hashes.size(); ++begin) {
    const size_t end = std::min(begin + window, hashes.size());
    uint64_t least = UINT64_MAX;
    size_t rightmost = begin;
    for (size_t i = begin; i < end; ++i) {
      if (hashes[i] <= least) {
        least = hashes[i];
        rightmost = i;
      }
    }
    if (chosen != SIZE_MAX && chosen >= begin && hashes[chosen] == least) continue;
    chosen = rightmost;
    out.push_back({hashes[chosen], units[chosen].position});
  }
  return out;
}

}  // namespace neardup::reference
