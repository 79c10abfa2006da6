// The slow, obvious version of shingling, written from the specification: units, their hashes, their windows.
// Shared by unit tests and fuzzers; never shipped. The same in Python: oracle.py.
#pragma once

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>
#include <xxhash.h>

#include "reference/minhash_reference.h"

namespace neardup::reference {

// ---- Unicode 15.0 ----

struct CodePointRange {
  uint32_t first, last;
  char kind;  // w word character, s letter that is a word of its own, m mark, - none of them
  int32_t fold;
};

inline constexpr CodePointRange kUnicode[] = {
#include "reference/unicode_15_0.inc"
};

struct Folded {
  char kind;
  uint32_t code_point;
};

inline Folded classify(uint32_t c) {
  const auto* row = std::upper_bound(std::begin(kUnicode), std::end(kUnicode), c,
                                     [](uint32_t value, const CodePointRange& r) { return value < r.first; });
  if (row == std::begin(kUnicode) || c > (--row)->last) return {'-', c};
  return {row->kind, static_cast<uint32_t>(static_cast<int64_t>(c) + row->fold)};
}

// text must be valid UTF-8.
inline std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? lead : lead & (0x7fu >> n);
    for (size_t j = 1; j < n; ++j) c = c << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3f);
    out.push_back(c);
    i += n;
  }
  return out;
}

inline void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

// ---- units ----

// The folded words of valid UTF-8.
inline std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  bool open = false;  // the last word touches the next code point
  bool solo = false;  // ... and started with a letter that is a word of its own
  for (const uint32_t c : code_points(text)) {
    const Folded f = classify(c);
    if (f.kind == '-') {
      open = false;
      continue;
    }
    const bool extends = open && (f.kind == 'm' || (f.kind == 'w' && !solo));
    if (!extends) {
      out.emplace_back();
      open = true;
      solo = f.kind == 's';
    }
    append_utf8(out.back(), f.code_point);
  }
  return out;
}

inline uint64_t mum(uint64_t a, uint64_t b) {
  __extension__ using u128 = unsigned __int128;
  const u128 p = static_cast<u128>(a) * b;
  return static_cast<uint64_t>(p >> 64) ^ static_cast<uint64_t>(p);
}

inline constexpr uint64_t kSeed1 = 0x8bb84b93962eacc9u;
inline constexpr uint64_t kLengthFactor = 0x9e3779b97f4a7c15u;
inline constexpr uint64_t kShingleBase = 0xd1342543de82ef95u;

inline uint64_t little_endian(std::string_view bytes) {
  uint64_t v = 0;
  for (size_t i = 0; i < bytes.size(); ++i) v |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return v;
}

inline uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

inline uint64_t word_hash(std::string_view w) {
  const uint64_t n = w.size();
  if (n <= 8) return mum(little_endian(w) ^ kSeed0, n ^ kSeed1);
  if (n <= 16) {
    return mum(little_endian(w.substr(0, 8)) ^ kSeed0 ^ n * kLengthFactor, little_endian(w.substr(n - 8)) ^ kSeed1);
  }
  return xxh3(w);
}

inline uint64_t byte_hash(uint32_t c) { return mix64(kSeed0 + (uint64_t{c} + 1) * kLengthFactor); }

inline uint64_t code_point_hash(uint32_t c) { return c < 256 ? byte_hash(c) : mum(c ^ kSeed0, kSeed1); }

// ---- shingles ----

// x of every window of k unit hashes in order; one over all of them when there are fewer than k; none of none.
inline std::vector<uint64_t> combine(const std::vector<uint64_t>& units, size_t k) {
  std::vector<uint64_t> out;
  if (units.empty()) return out;
  const size_t width = std::min(k, units.size());
  for (size_t i = 0; i + width <= units.size(); ++i) {
    uint64_t h = 0;
    for (size_t j = 0; j < width; ++j) h = h * kShingleBase + units[i + j];
    out.push_back(h ^ k);
  }
  return out;
}

inline std::vector<uint64_t> word_shingle_hashes(std::string_view text, size_t k) {
  std::vector<uint64_t> h;
  for (const std::string& w : words(text)) h.push_back(word_hash(w));
  return combine(h, k);
}

inline std::vector<uint64_t> char_shingle_hashes(std::string_view text, size_t k) {
  std::vector<uint64_t> h;
  for (const uint32_t c : code_points(text)) h.push_back(code_point_hash(c));
  return combine(h, k);
}

inline std::vector<uint64_t> byte_shingle_hashes(std::string_view bytes, size_t k) {
  std::vector<uint64_t> h;
  for (const char c : bytes) h.push_back(byte_hash(static_cast<unsigned char>(c)));
  return combine(h, k);
}

// The printed form of word shingles: folded words with one space between them.
inline std::vector<std::string> word_shingles(std::string_view text, size_t k) {
  const std::vector<std::string> w = words(text);
  std::vector<std::string> out;
  if (w.empty()) return out;
  const size_t width = std::min(k, w.size());
  for (size_t i = 0; i + width <= w.size(); ++i) {
    std::string s = w[i];
    for (size_t j = 1; j < width; ++j) s += " " + w[i + j];
    out.push_back(s);
  }
  return out;
}

}  // namespace neardup::reference
