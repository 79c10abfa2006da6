// Repeated passages of a collection, written from their definition: every window of every document in one map. Shared
// by unit tests and fuzzers; never shipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "reference/passages_reference.h"

namespace neardup::reference {

// Positions and lengths are code points.
struct Range {
  size_t row, start, length;
  uint64_t occurrences;
  size_t first_row, first_start;
  bool operator==(const Range&) const = default;
};

struct Common {
  size_t row, start, length;
  uint64_t documents, occurrences;
  bool operator==(const Common&) const = default;
};

class Repeated {
 public:
  // group: of each document, -1 for one that takes no part.
  Repeated(Unit unit, const std::vector<std::string>& documents, const std::vector<int>& group, size_t units,
           uint64_t at_least)
      : units_(units), at_least_(at_least) {
    for (size_t row = 0; row < documents.size(); ++row) {
      texts_.push_back(documents[row]);
      documents_.push_back(placed_units(unit, documents[row]));
      const auto& d = documents_.back();
      windows_.emplace_back();
      for (size_t i = 0; i + units <= d.size(); ++i) {
        std::vector<std::string> key{std::to_string(group[row])};
        for (size_t j = 0; j < units; ++j) key.push_back(d[i + j].key);
        windows_.back().push_back(key);
        if (group[row] >= 0) places_[key].emplace_back(row, i);
      }
    }
  }

  std::vector<Range> ranges(bool keep_first) const {
    std::vector<Range> out;
    for (size_t row = 0; row < documents_.size(); ++row) add_ranges(row, keep_first, &out);
    return out;
  }

  // A document without its windows that stand in so many documents: code point by code point.
  std::string cut(size_t row, uint64_t documents) const {
    const std::vector<uint32_t> text = code_points(texts_[row]);
    std::vector<bool> is_cut(text.size());
    for (size_t i = 0; i < windows_[row].size(); ++i) {
      if (numbers(row, i).first < documents) continue;
      const auto [start, length] = place(row, i, i + units_);
      for (size_t c = start; c < start + length; ++c) is_cut[c] = true;
    }
    std::string out;
    for (size_t c = 0; c < text.size(); ++c)
      if (!is_cut[c]) append_utf8(out, text[c]);
    return out;
  }

  // Windows that stand in so many documents, each once.
  size_t frequent_windows(uint64_t documents) const {
    return static_cast<size_t>(std::count_if(places_.begin(), places_.end(), [&](const auto& window) {
      std::set<size_t> rows;
      for (const auto& place : window.second) rows.insert(place.first);
      return rows.size() >= documents;
    }));
  }

  // Runs of windows that occur here first and are equally frequent.
  std::vector<Common> passages() const {
    std::vector<Common> out;
    for (size_t row = 0; row < documents_.size(); ++row) {
      for (size_t i = 0; i < windows_[row].size(); ++i) {
        if (!counts(row, i) || first(row, i) != std::pair(row, i)) continue;
        size_t last = i;
        while (last + 1 < windows_[row].size() && counts(row, last + 1) &&
               first(row, last + 1) == std::pair(row, last + 1) && numbers(row, last + 1) == numbers(row, i))
          ++last;
        const auto [start, length] = place(row, i, last + units_);
        out.push_back({row, start, length, numbers(row, i).first, numbers(row, i).second});
        i = last;
      }
    }
    return out;
  }

 private:
  struct Piece {
    size_t begin, end, run;
    Range range;
  };

  const std::vector<std::pair<size_t, size_t>>& at(size_t row, size_t window) const {
    static const std::vector<std::pair<size_t, size_t>> none;
    const auto found = places_.find(windows_[row][window]);
    return found == places_.end() ? none : found->second;
  }
  bool counts(size_t row, size_t window) const { return at(row, window).size() >= at_least_; }
  std::pair<size_t, size_t> first(size_t row, size_t window) const { return at(row, window)[0]; }
  // Documents, occurrences.
  std::pair<uint64_t, uint64_t> numbers(size_t row, size_t window) const {
    std::set<size_t> rows;
    for (const auto& place : at(row, window)) rows.insert(place.first);
    return {rows.size(), at(row, window).size()};
  }
  // Units begin .. end - 1 as start and length.
  std::pair<size_t, size_t> place(size_t row, size_t begin, size_t end) const {
    const auto& d = documents_[row];
    return {d[begin].position, d[end - 1].position + d[end - 1].length - d[begin].position};
  }

  void add_ranges(size_t row, bool keep_first, std::vector<Range>* out) const {
    const size_t windows = windows_[row].size();
    std::set<size_t> kept;
    for (size_t i = 0; keep_first && i < windows; ++i)
      if (counts(row, i) && first(row, i) == std::pair(row, i))
        for (size_t u = i; u < i + units_; ++u) kept.insert(u);
    std::vector<Piece> pieces;
    for (size_t i = 0; i < windows; ++i) {
      if (!counts(row, i)) continue;
      size_t last = i;
      while (last + 1 < windows && counts(row, last + 1)) ++last;
      for (size_t u = i; u < last + units_; ++u) {
        if (kept.count(u)) continue;
        size_t end = u + 1;
        while (end < last + units_ && !kept.count(end)) ++end;
        pieces.push_back(piece(row, u, end, i, last));
        u = end;
      }
      i = last;
    }
    std::vector<Piece> left;
    for (const Piece& p : pieces)
      if (std::none_of(pieces.begin(), pieces.end(), [&](const Piece& q) {
            const bool within = q.begin <= p.begin && p.end <= q.end;
            return within && (q.end - q.begin > p.end - p.begin || q.run > p.run);
          }))
        left.push_back(p);
    std::sort(left.begin(), left.end(),
              [](const Piece& a, const Piece& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    for (const Piece& p : left) out->push_back(p.range);
  }

  // Units begin .. end - 1 of the run of windows first_window .. last_window.
  Piece piece(size_t row, size_t begin, size_t end, size_t first_window, size_t last_window) const {
    const auto [start, length] = place(row, begin, end);
    Piece out{begin, end, first_window, {row, start, length, UINT64_MAX, 0, 0}};
    bool any = false;
    for (size_t w = first_window; w <= last_window; ++w) {
      if (w + units_ <= begin || w >= end) continue;
      out.range.occurrences = std::min<uint64_t>(out.range.occurrences, at(row, w).size());
      if (any) continue;
      any = true;
      const auto [first_row, unit] = first(row, w);
      out.range.first_row = first_row;
      out.range.first_start = documents_[first_row][unit].position;
    }
    return out;
  }

  const size_t units_;
  const uint64_t at_least_;
  std::vector<std::string> texts_;
  std::vector<std::vector<PlacedUnit>> documents_;
  std::vector<std::vector<std::vector<std::string>>> windows_;
  std::map<std::vector<std::string>, std::vector<std::pair<size_t, size_t>>> places_;
};

}  // namespace neardup::reference
