// Digests out of few bytes of input, many of them near each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/pairs/digests/ctph_pairs.h"
#include "core/signature/ctph.h"
#include "core/signature/ctph_compare.h"

#include "test/fuzz/fuzz.h"
#include "test/reference/ctph_reference.h"
#include "test/reference/hash_sets.h"

namespace neardup::fuzz {

// True if a digest of this length may have the part: view_ctph() says so.
inline bool is_part(const std::string& part, uint32_t length) {
  if (length != kCtphLength) return part.size() <= length;
  return part.size() <= kCtphMaxPart && reference::cut_runs(part).size() <= kCtphLength;
}

// Runs of 1..16 rows, at most `rows` in all and with at most `symbols` characters: fresh ones of any symbols or of a
// few; equal ones; and ones made of an earlier row by edits, by long runs of one symbol, by moving a part to the block
// size beside it, or by losing a part. A run is 8 bytes of input. length: 64, or that of long digests.
inline reference::Digests read_digests(Input& in, uint32_t length, size_t rows, size_t symbols) {
  reference::Digests out;
  while (!in.empty() && out.size() < rows) {
    const uint8_t how = in.read<uint8_t>();
    const uint8_t count = in.read<uint8_t>();
    const uint8_t part = in.read<uint8_t>();
    const uint8_t few = in.read<uint8_t>();
    reference::Random random(in.read<uint32_t>());
    const auto edited = [&](const std::string& from) {
      return reference::edited(random, from, random() % (1 + part % 24), length);
    };
    CtphDigest base;
    if (out.empty() || how % 8 < 2) {
      const uint32_t of = few < 128 ? 64 : 1 + few % 8;
      const size_t most = length == kCtphLength || part % 4 == 0 ? length : part % (length + 1);
      base = {how / 8 % kCtphExponents, length, {}, {}};
      base.part1 = reference::random_part(random, part % 64 == 63 ? most : random() % (most + 1), of);
      base.part2 = reference::random_part(random, random() % (most / 2 + 1), of);
    } else {
      base = out[random() % out.size()];
    }
    for (size_t i = 0; i < size_t{1} + count % 16 && out.size() < rows; ++i) {
      CtphDigest d = base;
      switch (how % 8) {
        case 0:
        case 7:
          break;
        case 1:  // the same, of new symbols
          d.part1 = reference::random_part(random, base.part1.size());
          d.part2 = reference::random_part(random, base.part2.size());
          break;
        case 2:
          if (d.exponent == 0) break;
          --d.exponent;
          d.part2 = edited(base.part1);
          break;
        case 3:
          if (d.exponent + 1 == kCtphExponents) break;
          ++d.exponent;
          d.part1 = edited(base.part2);
          break;
        case 4:
          (random() % 2 == 0 ? d.part1 : d.part2).clear();
          break;
        case 5:
          if (!d.part1.empty()) {
            const size_t at = random() % d.part1.size();
            d.part1.insert(at, few, d.part1[at]);
          }
          break;
        default:
          d.part1 = edited(base.part1);
          d.part2 = edited(base.part2);
      }
      for (std::string* p : {&d.part1, &d.part2})
        if (!is_part(*p, length)) p->resize(length);
      const size_t size = d.part1.size() + d.part2.size();
      if (size > symbols) return out;
      symbols -= size;
      out.push_back(d);
    }
  }
  return out;
}

// Cells of the reference's tables that an input may cost; then levenshtein() is asked, which ctph_fuzz compares with
// the reference.
inline constexpr size_t kMaxCells = 50'000;

// Values of all pairs as CtphPairs has them: 0 where nothing is compared.
class DigestValues {
 public:
  explicit DigestValues(const reference::Digests& all) : all_(all), values_(all.size() * all.size()) {
    size_t cells = 0;
    for (uint32_t i = 0; i < all.size(); ++i) {
      for (uint32_t j = 0; j <= i; ++j) {
        std::string_view x, y;
        if (!common_parts(all[i], all[j], &x, &y)) continue;
        const size_t table = (x.size() + 1) * (y.size() + 1);
        const size_t d = cells + table > kMaxCells ? levenshtein(x, y) : reference::edit_distance(x, y, 1);
        if (cells + table <= kMaxCells) cells += table;
        at(i, j) = at(j, i) = static_cast<uint32_t>(d << 16 | (x.size() + y.size()));
      }
    }
  }

  uint32_t operator()(uint32_t i, uint32_t j) const { return values_[i * all_.size() + j]; }

 private:
  uint32_t& at(uint32_t i, uint32_t j) { return values_[i * all_.size() + j]; }

  static bool common_parts(const CtphDigest& a, const CtphDigest& b, std::string_view* x, std::string_view* y) {
    *x = a.exponent < b.exponent ? a.part2 : a.part1;
    *y = b.exponent < a.exponent ? b.part2 : b.part1;
    return a.exponent <= b.exponent + 1 && b.exponent <= a.exponent + 1;
  }

  const reference::Digests& all_;
  std::vector<uint32_t> values_;
};

inline bool is_near(uint32_t value, double threshold) {
  const double sum = value & 0xffff;
  return sum != 0 && 1 - (value >> 16) / sum >= threshold;
}

// A threshold by two bytes of input: any, or one that two of n rows reach exactly.
inline double reached_threshold(uint16_t choice, const DigestValues& values, uint32_t n) {
  if (choice % 4 == 0) return (1 + choice / 256) / 256.0;
  const double least = 0.25 * (choice % 4);
  std::vector<uint32_t> reached;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      if (is_near(values(i, j), least)) reached.push_back(values(i, j));
    }
  }
  return reached.empty() ? least : ctph_similarity(reached[choice / 4 % reached.size()]);
}

}  // namespace neardup::fuzz
