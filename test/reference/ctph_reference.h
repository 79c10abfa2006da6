// The slow, obvious version of ctph digests, scores and edit rates: one pass over the input for each block size, and
// textbook dynamic programming. Shared by unit tests and fuzzers; never shipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neardup::reference {

struct Ctph {
  uint64_t block_size = 3;
  std::string part1;
  std::string part2;
};

inline std::string ctph_text(const Ctph& d) { return std::to_string(d.block_size) + ":" + d.part1 + ":" + d.part2; }

// Kornblum's rolling hash.
class RollingHash {
 public:
  uint32_t next(uint8_t c) {
    h2_ -= h1_;
    h2_ += 7u * c;
    h1_ += c;
    h1_ -= window_[n_ % 7];
    window_[n_++ % 7] = c;
    h3_ = (h3_ << 5) ^ c;
    return sum();
  }
  uint32_t sum() const { return h1_ + h2_ + h3_; }

 private:
  uint32_t window_[7] = {};
  uint64_t n_ = 0;
  uint32_t h1_ = 0, h2_ = 0, h3_ = 0;
};

// The signature at one block size: pieces of their own for the first `most` - 1 triggers, and one for the rest.
// *triggers: how many pieces have ended, `most` - 1 at most.
inline std::string ctph_signature(std::string_view data, uint64_t block_size, size_t most, size_t* triggers = nullptr) {
  static const char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string done;
  char full = 0;  // of the last place, by the latest trigger
  RollingHash rolling;
  uint32_t piece = 0x28021967;
  for (const char b : data) {
    const uint8_t c = static_cast<uint8_t>(b);
    const uint64_t h = rolling.next(c);
    piece = piece * 0x01000193 ^ c;
    if (h % block_size != block_size - 1) continue;
    if (done.size() < most - 1) {
      done += kBase64[piece % 64];
      piece = 0x28021967;
    } else {
      full = kBase64[piece % 64];
    }
  }
  if (triggers != nullptr) *triggers = done.size();
  if (rolling.sum() != 0)
    done += kBase64[piece % 64];
  else if (full != 0)
    done += full;
  return done;
}

inline Ctph ctph(std::string_view data) {
  Ctph out;
  while (out.block_size * 64 < data.size() && out.block_size < uint64_t{3} << 30) out.block_size *= 2;
  for (;;) {
    size_t triggers = 0;
    out.part1 = ctph_signature(data, out.block_size, 64, &triggers);
    if (triggers >= 32 || out.block_size == 3) break;
    out.block_size /= 2;
  }
  out.part2 = ctph_signature(data, out.block_size * 2, 32);
  return out;
}

// The least block size whose signature fits.
inline Ctph ctph_long(std::string_view data, size_t length) {
  Ctph out;
  for (;; out.block_size *= 2) {
    out.part1 = ctph_signature(data, out.block_size, data.size() + 2);
    if (out.part1.size() <= length) break;
    if (out.block_size == uint64_t{3} << 30) {
      out.part1 = ctph_signature(data, out.block_size, length);
      break;
    }
  }
  out.part2 = ctph_signature(data, out.block_size * 2, data.size() + 2);
  return out;
}

inline std::string cut_runs(std::string_view part) {
  std::string out;
  for (const char c : part) {
    const size_t n = out.size();
    if (n >= 3 && out[n - 1] == c && out[n - 2] == c && out[n - 3] == c) continue;
    out += c;
  }
  return out;
}

// Wagner and Fischer, with the given cost of a replacement.
inline size_t edit_distance(std::string_view a, std::string_view b, size_t replace) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : replace)});
    }
  }
  return d[a.size()][b.size()];
}

// Score of two parts of one block size, runs already cut.
inline int part_score(std::string_view a, std::string_view b, uint64_t block_size) {
  bool common = false;
  for (size_t i = 0; i + 7 <= a.size(); ++i) common |= b.find(a.substr(i, 7)) != std::string_view::npos;
  if (!common) return 0;
  const size_t scaled = edit_distance(a, b, 2) * 64 / (a.size() + b.size());
  const size_t score = 100 - 100 * scaled / 64;
  const size_t most = block_size / 3 * std::min(a.size(), b.size());
  return static_cast<int>(block_size < 45 ? std::min(score, most) : score);
}

inline int ctph_score(const Ctph& a, const Ctph& b) {
  const std::string a1 = cut_runs(a.part1), a2 = cut_runs(a.part2), b1 = cut_runs(b.part1), b2 = cut_runs(b.part2);
  if (a.block_size == b.block_size) {
    if (a1 == b1 && a2 == b2) return 100;
    return std::max(part_score(a1, b1, a.block_size), part_score(a2, b2, 2 * a.block_size));
  }
  if (a.block_size == 2 * b.block_size) return part_score(a1, b2, a.block_size);
  if (b.block_size == 2 * a.block_size) return part_score(a2, b1, b.block_size);
  return 0;
}

inline double ctph_edit_rate(const Ctph& a, const Ctph& b) {
  std::string_view x, y;
  if (a.block_size == b.block_size)
    x = a.part1, y = b.part1;
  else if (a.block_size == 2 * b.block_size)
    x = a.part1, y = b.part2;
  else if (b.block_size == 2 * a.block_size)
    x = a.part2, y = b.part1;
  if (x.empty() && y.empty()) return 1;
  return static_cast<double>(edit_distance(x, y, 1)) / static_cast<double>(x.size() + y.size());
}

}  // namespace neardup::reference
