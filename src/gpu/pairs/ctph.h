// Kernels for parts of ctph digests: symbols in common, longest common subsequence, Levenshtein distance.
//
// A part of at most 64 characters is a pattern in one word. A thread owns a pattern; all threads of a block read the
// same text, so that one row of the block's table, a word for each thread, serves a character without bank conflicts.
// Filters are exact: of two parts with l1, l2 characters at distance d at least max(l1, l2) - d characters are in
// common in whatever order, and as many as a subsequence. What passes is compared by Myers' algorithm at once, with the
// table that is there.
//   Hyyro, "Bit-parallel LCS-length computation revisited", AWOCA 2004
//   Myers, "A fast bit-vector algorithm for approximate string matching", JACM 46 (1999), in Hyyro's form
#pragma once

#include "gpu/base/portable.h"

namespace neardup::gpu {

constexpr uint32_t kWordLength = 64;
constexpr uint32_t kSymbols = 64;
constexpr uint32_t kMaxSums = 2 * 1024 + 1;

// Parts in device memory, `stride` bytes of symbols 0..63 each, a multiple of 16, zeros behind a part.
struct Parts {
  uint8_t* symbols;
  uint16_t* length;
  uint32_t* row;
  uint64_t* levels;  // of entry i: bit s of levels[3 * i + k] is set when symbol s occurs more than k times
  uint16_t* rest;    // characters that the levels leave out
  uint32_t stride;
};
constexpr uint32_t kLevels = 3;

// The multiset of symbols of a part.
struct Bag {
  uint64_t level[kLevels];
  uint32_t rest;
  uint32_t length;
};

// At most so many characters are in common.
NEARDUP_HD inline uint32_t common_symbols(const Bag& a, const Bag& b) noexcept {
  return popcount(a.level[0] & b.level[0]) + popcount(a.level[1] & b.level[1]) + popcount(a.level[2] & b.level[2]) +
         least(a.rest, b.rest);
}

NEARDUP_HD inline Bag load_bag(const Parts& parts, uint32_t i) noexcept {
  const uint64_t* levels = parts.levels + size_t{kLevels} * i;
  return {{levels[0], levels[1], levels[2]}, parts.rest[i], parts.length[i]};
}

// A pattern's rows in which the longest common subsequence has not grown, after one more character of text.
NEARDUP_HD inline uint64_t lcs_step(uint64_t open, uint64_t match) noexcept {
  return (open + (open & match)) | (open & ~match);
}

// One column of Myers' table: where the value grows, and falls, from a row to the next.
struct Column {
  uint64_t up;
  uint64_t down;
};
NEARDUP_HD inline void myers_step(Column& c, uint64_t match) noexcept {
  const uint64_t diagonal = (((match & c.up) + c.up) ^ c.up) | match | c.down;
  const uint64_t right = (c.down | ~(diagonal | c.up)) << 1 | 1;
  const uint64_t left = (diagonal & c.up) << 1;
  c.up = left | ~(diagonal | right);
  c.down = right & diagonal;
}

// As above, for a word of a longer pattern; the differences of the row above go in, those of its last row come out.
NEARDUP_HD inline void myers_step(Column& c, uint64_t match, uint64_t& right_in, uint64_t& left_in) noexcept {
  const uint64_t eq = match | left_in;
  const uint64_t diagonal = (((eq & c.up) + c.up) ^ c.up) | eq | c.down;
  const uint64_t right = c.down | ~(diagonal | c.up);
  const uint64_t left = diagonal & c.up;
  const uint64_t right_below = right << 1 | right_in;
  c.up = (left << 1 | left_in) | ~(diagonal | right_below);
  c.down = right_below & diagonal;
  right_in = right >> 63;
  left_in = left >> 63;
}

// Grid: any x, block 256, no shared memory. Fills levels and rest of entries first .. first + n - 1.
struct MakeBags {
  static constexpr uint32_t kThreads = 256;
  Parts parts;
  uint32_t first;
  uint32_t n;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    block.each([&](uint32_t thread) {
      const uint32_t i = block.x() * kThreads + thread;
      if (i >= n) return;
      const uint32_t entry = first + i;
      const uint8_t* text = parts.symbols + size_t{entry} * parts.stride;
      uint64_t level[kLevels] = {};
      uint32_t rest = 0;
      for (uint32_t k = 0; k < parts.length[entry]; ++k) {
        uint64_t bit = uint64_t{1} << text[k];
        for (uint64_t& word : level) {
          const uint64_t full = word & bit;
          word |= bit;
          bit = full;
        }
        rest += bit != 0;
      }
      for (uint32_t k = 0; k < kLevels; ++k) parts.levels[size_t{kLevels} * entry + k] = level[k];
      parts.rest[entry] = static_cast<uint16_t>(rest);
    });
  }
};

// The arguments of the kernels that compare parts.
struct PartPairs {
  Parts x;
  Parts y;
  Tile tile;
  const uint16_t* most;
  List<Pair> found;
  uint64_t* compared;
  bool two_sets;
  bool x_of_b;

  // Leaves a pair, rows by number, or with two sets the one of set A first.
  NEARDUP_HD void report(uint32_t i, uint32_t j, uint32_t distance, uint32_t sum) const noexcept {
    const uint32_t row_x = x.row[i];
    const uint32_t row_y = y.row[j];
    const bool turn = two_sets ? x_of_b : row_y < row_x;
    append(found, turn ? Pair{row_y, row_x, distance << 16 | sum} : Pair{row_x, row_y, distance << 16 | sum});
  }
};

// Parts of at most 64 characters. Grid: tile's x in blocks of kThreads, tile's y in chunks of kTextsOfBlock; block
// kThreads; kShared bytes of shared memory. Bags: rule out by symbols before the longest common subsequence.
template <uint32_t kThreadsOfBlock, bool kBags>
struct CompareWords {
  static constexpr uint32_t kThreads = kThreadsOfBlock;
  static constexpr uint32_t kTextsOfBlock = 512;
  static constexpr uint32_t kTexts = 16;           // staged at a time
  static constexpr uint32_t kNoSymbol = kSymbols;  // matches nothing
  static constexpr uint32_t kPatternTableBytes = (kSymbols + 1) * kThreads * 8;
  static constexpr uint32_t kTextBytes = kTexts * kWordLength * 4;
  static constexpr uint32_t kBagBytes = kTexts * sizeof(Bag);
  static constexpr uint32_t kShared = kPatternTableBytes + kTextBytes + kBagBytes + (2 * kWordLength + 2) * 2;

  PartPairs pairs;

  // Long: the phases of a kernel between its barriers, which share what lies in shared memory.
  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    unsigned char* const table = block.shared();
    Four* const texts = reinterpret_cast<Four*>(table + kPatternTableBytes);
    Bag* const bags = reinterpret_cast<Bag*>(table + kPatternTableBytes + kTextBytes);
    uint16_t* const most_of = reinterpret_cast<uint16_t*>(table + kPatternTableBytes + kTextBytes + kBagBytes);
    const uint32_t x_first = pairs.tile.x_first + block.x() * kThreads;
    const uint32_t x_end = pairs.tile.x_first + pairs.tile.x_count;
    uint32_t y_first = pairs.tile.y_first + block.y() * kTextsOfBlock;
    const uint32_t y_end = least(pairs.tile.y_first + pairs.tile.y_count, y_first + kTextsOfBlock);
    if (pairs.tile.self && y_end <= x_first + 1) return;

    block.each([&](uint32_t thread) {
      uint64_t* const column = reinterpret_cast<uint64_t*>(table) + thread;
      for (uint32_t s = 0; s <= kSymbols; ++s) column[s * kThreads] = 0;
      if (x_first + thread < x_end) {
        const uint8_t* pattern = pairs.x.symbols + size_t{x_first + thread} * pairs.x.stride;
        const uint32_t n = pairs.x.length[x_first + thread];
        for (uint32_t k = 0; k < n; ++k) column[pattern[k] * kThreads] |= uint64_t{1} << k;
      }
      for (uint32_t s = thread; s <= 2 * kWordLength; s += kThreads) most_of[s] = pairs.most[s];
    });

    typename Block::template PerThread<Bag> mine;
    typename Block::template PerThread<uint32_t> comparisons;
    block.each([&](uint32_t thread) {
      comparisons(thread) = 0;
      if (x_first + thread < x_end) mine(thread) = load_bag(pairs.x, x_first + thread);
    });

    for (; y_first < y_end; y_first += kTexts) {
      const uint32_t n = least(kTexts, y_end - y_first);
      // Row offsets of the table, 4 to a load, in place of characters.
      block.each([&](uint32_t thread) {
        for (uint32_t i = thread; i < kTexts * kWordLength; i += kThreads) {
          const uint32_t text = i / kWordLength;
          const uint32_t k = i % kWordLength;
          uint32_t symbol = kNoSymbol;
          if (text < n && k < pairs.y.length[y_first + text])
            symbol = pairs.y.symbols[size_t{y_first + text} * pairs.y.stride + k];
          texts[i / 4].v[i % 4] = symbol * kThreads * 8;
        }
        if (thread < n) bags[thread] = load_bag(pairs.y, y_first + thread);
      });
      block.each([&](uint32_t thread) {
        const uint32_t x = x_first + thread;
        if (x >= x_end) return;
        const unsigned char* const column = table + 8 * thread;
        const Bag own = mine(thread);
        const uint64_t rows = low_bits(own.length);
        if constexpr (kBags) {
          for (uint32_t text = 0; text < n; ++text) {
            const uint32_t need = needed(own.length, bags[text].length, most_of);
            if (common_symbols(own, bags[text]) < need || !wanted(x, y_first + text)) continue;
            ++comparisons(thread);
            const Four* of = texts + text * (kWordLength / 4);
            if (lcs(column, of, bags[text].length, rows) >= need)
              verify(column, of, own, bags[text], x, y_first + text, most_of);
          }
        } else {
          // Two texts at once: steps of one wait for each other. Beyond a text nothing matches, which changes nothing.
          for (uint32_t text = 0; text < n; text += 2) {
            const Four* const of = texts + text * (kWordLength / 4);
            const uint32_t length2 = text + 1 < n ? bags[text + 1].length : 0;
            const uint32_t fours = (greatest(bags[text].length, length2) + 3) / 4;
            uint64_t open1 = ~uint64_t{0};
            uint64_t open2 = ~uint64_t{0};
            for (uint32_t k = 0; k < fours; ++k) {
              const Four offsets1 = of[k];
              const Four offsets2 = of[k + kWordLength / 4];
              NEARDUP_UNROLL
              for (uint32_t i = 0; i < 4; ++i) {
                open1 = lcs_step(open1, match(column, offsets1.v[i]));
                open2 = lcs_step(open2, match(column, offsets2.v[i]));
              }
            }
            const uint64_t opens[2] = {open1, open2};
            NEARDUP_UNROLL
            for (uint32_t i = 0; i < 2; ++i) {
              if (text + i >= n) break;
              const Bag& other = bags[text + i];
              if (popcount(~opens[i] & rows) < needed(own.length, other.length, most_of) ||
                  !wanted(x, y_first + text + i))
                continue;
              ++comparisons(thread);
              verify(column, of + i * (kWordLength / 4), own, other, x, y_first + text + i, most_of);
            }
          }
        }
      });
    }
    block.each([&](uint32_t thread) {
      if (comparisons(thread) != 0) add_to(pairs.compared, uint64_t{comparisons(thread)});
    });
  }

  NEARDUP_HD bool wanted(uint32_t x, uint32_t y) const noexcept { return !pairs.tile.self || y > x; }
  // Characters that must be in common.
  NEARDUP_HD static uint32_t needed(uint32_t a, uint32_t b, const uint16_t* most_of) noexcept {
    const uint32_t longer = greatest(a, b);
    return longer - least(longer, most_of[a + b]);
  }
  NEARDUP_HD static uint64_t match(const unsigned char* column, uint32_t offset) noexcept {
    return *reinterpret_cast<const uint64_t*>(column + offset);
  }
  NEARDUP_HD static uint32_t lcs(const unsigned char* column, const Four* of, uint32_t length, uint64_t rows) noexcept {
    uint64_t open = ~uint64_t{0};
    for (uint32_t k = 0; k < (length + 3) / 4; ++k) {
      const Four offsets = of[k];
      for (uint32_t i = 0; i < 4; ++i) open = lcs_step(open, match(column, offsets.v[i]));
    }
    return popcount(~open & rows);
  }
  NEARDUP_HD void verify(const unsigned char* column, const Four* of, const Bag& own, const Bag& other, uint32_t x,
                         uint32_t y, const uint16_t* most_of) const noexcept {
    Column c{~uint64_t{0}, 0};
    uint32_t k = 0;
    for (; k + 4 <= other.length; k += 4) {
      const Four offsets = of[k / 4];
      for (uint32_t i = 0; i < 4; ++i) myers_step(c, match(column, offsets.v[i]));
    }
    for (; k < other.length; ++k) myers_step(c, match(column, of[k / 4].v[k % 4]));
    const uint64_t rows = low_bits(own.length);
    const uint32_t distance = other.length + popcount(c.up & rows) - popcount(c.down & rows);
    const uint32_t sum = own.length + other.length;
    if (distance <= most_of[sum]) pairs.report(x, y, distance, sum);
  }
};

// Parts of any length as texts, patterns of at most 64 * kWords characters. A block owns a pattern, its threads have
// a text each. Grid: tile's x, tile's y in chunks of kTextsOfBlock; block 128; kShared bytes.
template <uint32_t kWords>
struct CompareLong {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kTextsOfBlock = 512;
  static constexpr uint32_t kShared = kSymbols * kWords * 8;

  PartPairs pairs;

  template <class Block>
  NEARDUP_HD void operator()(Block& block) const {
    uint64_t* const table = reinterpret_cast<uint64_t*>(block.shared());  // word w of symbol s: table[64 * w + s]
    const uint32_t x = pairs.tile.x_first + block.x();
    const uint32_t y_first = pairs.tile.y_first + block.y() * kTextsOfBlock;
    const uint32_t y_end = least(pairs.tile.y_first + pairs.tile.y_count, y_first + kTextsOfBlock);
    if (pairs.tile.self && y_end <= x + 1) return;
    // A thread fills the rows of one symbol, so that no two write to one word.
    block.each([&](uint32_t thread) {
      if (thread >= kSymbols) return;
      for (uint32_t w = 0; w < kWords; ++w) table[kSymbols * w + thread] = 0;
      const uint8_t* pattern = pairs.x.symbols + size_t{x} * pairs.x.stride;
      for (uint32_t k = 0; k < pairs.x.length[x]; ++k)
        if (pattern[k] == thread) table[kSymbols * (k / 64) + thread] |= uint64_t{1} << k % 64;
    });
    block.each([&](uint32_t thread) {
      const Bag own = load_bag(pairs.x, x);
      uint32_t comparisons = 0;
      for (uint32_t y = y_first + thread; y < y_end; y += kThreads) {
        if (pairs.tile.self && y <= x) continue;
        const Bag other = load_bag(pairs.y, y);
        const uint32_t sum = own.length + other.length;
        const uint32_t longer = greatest(own.length, other.length);
        const uint32_t edits = pairs.most[sum];
        if (common_symbols(own, other) < longer - least(longer, edits)) continue;
        ++comparisons;
        const uint32_t distance = compare(table, own.length, y, other.length);
        if (distance <= edits) pairs.report(x, y, distance, sum);
      }
      if (comparisons != 0) add_to(pairs.compared, uint64_t{comparisons});
    });
  }

  NEARDUP_HD uint32_t compare(const uint64_t* table, uint32_t size, uint32_t y, uint32_t length) const noexcept {
    Column columns[kWords];
    for (uint32_t w = 0; w < kWords; ++w) columns[w] = {~uint64_t{0}, 0};
    const uint32_t* text = reinterpret_cast<const uint32_t*>(pairs.y.symbols + size_t{y} * pairs.y.stride);
    for (uint32_t k = 0; k < length; k += 4) {
      uint32_t four = text[k / 4];
      for (uint32_t i = least(4, length - k); i > 0; --i, four >>= 8) {
        const uint64_t* match = table + (four & 0xff);
        uint64_t right_in = 1;
        uint64_t left_in = 0;
        NEARDUP_UNROLL
        for (uint32_t w = 0; w < kWords; ++w) myers_step(columns[w], match[kSymbols * w], right_in, left_in);
      }
    }
    uint32_t distance = length;
    NEARDUP_UNROLL
    for (uint32_t w = 0; w < kWords; ++w) {
      if (64 * w >= size) continue;
      const uint64_t rows = low_bits(least(64, size - 64 * w));
      distance += popcount(columns[w].up & rows) - popcount(columns[w].down & rows);
    }
    return distance;
  }
};

}  // namespace neardup::gpu
