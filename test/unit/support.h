// The base of unit tests: every form of the kernels, random texts, and shingles and sketches in one call.
#pragma once

#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/shingle.h"
#include "core/kernels/kernels.h"
#include "core/signature/minhash.h"
#include "core/unicode/utf8.h"

namespace neardup::test {

using Random = std::mt19937_64;

// Calls f once for every form of the kernels that this machine can run, and goes back to the best. The others are
// counted as skipped, once each, by Kernels.Avx2IsTested and its like.
template <class F>
void for_each_kernels(F f) {
  for (const char* name : kKernelForms) {
    if (!force_kernels(name)) continue;
    SCOPED_TRACE(name);
    f();
  }
  force_kernels("auto");
}

// The bytes alone in memory of their own, so that the sanitizer sees a read outside.
class Exact {
 public:
  explicit Exact(std::string_view bytes) : bytes_(new uint8_t[bytes.size()]), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
  }
  const uint8_t* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_;
};

inline void append_utf8(std::string* out, uint32_t c) {
  uint8_t bytes[4];
  out->append(reinterpret_cast<const char*>(bytes), encode_utf8(c, bytes));
}

// The text as the stream reads it: U+FFFD for each byte that starts no sequence.
inline std::string well_formed(std::string_view text) {
  const Exact exact(text);
  const uint8_t* p = exact.data();
  const uint8_t* const end = p + exact.size();
  std::string out;
  while (p < end) {
    unsigned length;
    append_utf8(&out, decode_utf8(p, end, &length));
    p += length;
  }
  return out;
}

inline std::vector<uint64_t> shingle_hashes(Unit unit, int k, std::string_view text) {
  const Exact exact(text);
  ShingleStream stream(unit, k, exact.data(), exact.size());
  const auto batch = std::make_unique<uint64_t[]>(ShingleStream::kMaxBatch);
  std::vector<uint64_t> out;
  while (const size_t n = stream.next(batch.get())) {
    EXPECT_LE(n, ShingleStream::kMaxBatch);
    out.insert(out.end(), batch.get(), batch.get() + n);
  }
  EXPECT_EQ(stream.next(batch.get()), 0u);
  return out;
}

inline std::vector<std::string> shingle_texts(Unit unit, int k, std::string_view text) {
  const Exact exact(text);
  ShingleText shingles(unit, k, exact.data(), exact.size());
  std::vector<std::string> out;
  std::string s;
  while (shingles.next(&s)) out.push_back(s);
  return out;
}

// A document's sketch, its shingles fed in batches of the given size (0: all at once).
inline std::vector<uint32_t> document_sketch(const std::vector<uint64_t>& x, uint32_t num_perm, uint64_t seed,
                                             size_t batch = 0) {
  DocumentSketch s(num_perm, seed);
  for (size_t i = 0; i < x.size(); i += batch) {
    if (batch == 0) batch = x.size();
    s.add(x.data() + i, std::min(batch, x.size() - i));
  }
  std::vector<uint32_t> components(num_perm);
  EXPECT_EQ(s.finish(components.data()), !x.empty());
  return components;
}

inline std::vector<uint32_t> incremental_sketch(const std::vector<uint64_t>& x, uint32_t num_perm, uint64_t seed) {
  std::vector<uint32_t> out(num_perm, kEmptyComponent32);
  IncrementalSketch s(num_perm, seed, out.data());
  for (const uint64_t e : x) s.add(e);
  return out;
}

// Words of several scripts with letters that are words of their own, marks, case pairs of other lengths, digits and
// separators of 1 to 4 bytes; about `bytes` long.
inline std::string mixed_text(Random& random, size_t bytes) {
  static constexpr uint32_t kSample[] = {
      'a',    'B',    'z',     'Q',     '0',     '9',     '_',     ' ',     ' ',      ' ',    '-',    '.',
      '\n',   '\t',   0,       0xb5,    0xc4,    0xdf,    0x130,   0x131,   0x17f,    0x1c5,  0x23a,  0x250,
      0x300,  0x301,  0x345,   0x390,   0x3a3,   0x3c2,   0x434,   0x416,   0x4c0,    0x531,  0x5d0,  0x5bc,
      0x627,  0x64b,  0x660,   0x905,   0x93e,   0xe01,   0xe31,   0xe81,   0x1000,   0x103a, 0x10a0, 0x13a0,
      0x1780, 0x17b6, 0x1c80,  0x1e9e,  0x1fb3,  0x2002,  0x200d,  0x2014,  0x2126,   0x212a, 0x2160, 0x24b6,
      0x2c62, 0x3000, 0x3001,  0x3042,  0x3099,  0x30a2,  0x4e2d,  0x6587,  0xa640,   0xac00, 0xfb00, 0xff21,
      0xff0c, 0xfffd, 0x10400, 0x1d400, 0x1e900, 0x1f600, 0x20000, 0xe0100, 0x10ffff,
  };
  std::string out;
  const auto pick = [&random](uint64_t n) { return random() % n; };
  while (out.size() < bytes) {
    switch (pick(8)) {
      case 0:
      case 1:
      case 2: {  // an ASCII stretch
        for (uint64_t n = 1 + pick(100); n > 0; --n) out += "etaoinshrdluETA019_ ,.  "[pick(24)];
        break;
      }
      case 3: {  // one word, now and then longer than any buffer
        const uint64_t n = pick(40) == 0 ? 1000 + pick(4200) : 1 + pick(40);
        for (uint64_t i = 0; i < n; ++i) out += static_cast<char>((pick(2) ? 'a' : 'A') + pick(26));
        break;
      }
      case 4: {  // one script
        const uint32_t base = (const uint32_t[]){0x410, 0x4e00, 0x3042, 0x391, 0xe01, 0x620, 0x1e00}[pick(7)];
        for (uint64_t n = 1 + pick(60); n > 0; --n) append_utf8(&out, base + static_cast<uint32_t>(pick(60)));
        break;
      }
      default:
        for (uint64_t n = 1 + pick(12); n > 0; --n) append_utf8(&out, kSample[pick(std::size(kSample))]);
    }
  }
  return out;
}

// The lines of a tab-separated file of test/data without its comments.
inline std::vector<std::vector<std::string>> golden_lines(const std::string& name) {
  std::ifstream file(std::string(NEARDUP_TEST_DATA) + "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    out.push_back(fields);
  }
  return out;
}

// "1a,2b" -> {0x1a, 0x2b}
// Two digits a byte.
inline std::string bytes_of_hex(const std::string& digits) {
  std::string out;
  for (size_t i = 0; i < digits.size(); i += 2) out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return out;
}

inline std::vector<uint64_t> hex_list(const std::string& text) {
  std::vector<uint64_t> out;
  for (size_t at = 0; at < text.size();) {
    size_t length;
    out.push_back(std::stoull(text.substr(at, 17), &length, 16));
    at += length + 1;
  }
  return out;
}

}  // namespace neardup::test
