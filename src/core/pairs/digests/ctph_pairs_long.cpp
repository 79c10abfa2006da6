// Parts of CtphPairs of more than 64 characters, one by one.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/bits.h"
#include "core/kernels/kernels.h"
#include "core/kernels/myers.h"
#include "core/pairs/digests/ctph_pairs_impl.h"

namespace neardup {
namespace {

// A part of more than 64 characters against others: blocks of 64 rows (core/kernels/myers.h), of them only those
// that a path of few enough edits can touch (Ukkonen, "Algorithms for approximate string matching", 1985). Beyond them
// every step costs one, which is what a path could pay, so values are never too small.
class LongPattern {
 public:
  LongPattern(const uint8_t* pattern, size_t n) noexcept : size_(static_cast<int32_t>(n)) {
    std::memset(match_, 0, sizeof match_);
    for (size_t i = 0; i < n; ++i) match_[pattern[i]][i / kCtphWord] |= uint64_t{1} << i % kCtphWord;
  }

  // The distance, or any greater number than `most` where it is above that. The lengths differ by at most `most`.
  uint32_t distance(const uint8_t* text, size_t text_size, uint32_t most) const noexcept {
    const int32_t n = static_cast<int32_t>(text_size);
    const int32_t bound = static_cast<int32_t>(most);
    const int32_t words = (size_ + 63) / 64;
    const int32_t below = (bound + size_ - n) / 2;  // rows that a path may be below, or above, the column's own
    const int32_t above = (bound - size_ + n) / 2;
    uint64_t vp[kPartWords];  // with columns in one array this takes 3 % longer
    uint64_t vn[kPartWords];
    int32_t bottom[kPartWords];  // value of the last row
    int32_t first = 0;
    int32_t last = -1;
    int32_t top = 0;  // value of the row above the first block
    for (int32_t j = 1; j <= n; ++j) {
      for (const int32_t to = (std::min(size_, j + below) - 1) / 64; last < to;) {
        ++last;
        vp[last] = kMyersStart.vp;
        vn[last] = kMyersStart.vn;
        bottom[last] = (last == 0 ? j - 1 : bottom[last - 1]) + 64;
      }
      for (; first < words - 1 && 64 * (first + 1) < j - above; ++first) top = bottom[first];
      ++top;
      const uint64_t* match = match_[text[j - 1]];
      MyersCarry carry;
      for (int32_t w = first; w <= last; ++w) {
        MyersColumn column{vp[w], vn[w]};
        myers_step(match[w], column, carry);
        vp[w] = column.vp;
        vn[w] = column.vn;
        bottom[w] += static_cast<int32_t>(carry.hp) - static_cast<int32_t>(carry.hn);
      }
      if (j % 16 == 0 && none_within(bottom, first, last, top, bound)) return most + 1;
    }
    const uint64_t beyond = size_ % 64 == 0 ? 0 : ~low_bits(static_cast<unsigned>(size_ % 64));
    return static_cast<uint32_t>(bottom[words - 1] - MyersColumn{vp[words - 1], vn[words - 1]}.sum(beyond));
  }

 private:
  static constexpr size_t kPartWords = kCtphMaxPart / kCtphWord;

  // True if all cells of the column are above the bound: a block's are at least the mean of its ends, less 32.
  static bool none_within(const int32_t* bottom, int32_t first, int32_t last, int32_t top, int32_t bound) noexcept {
    for (int32_t w = first; w <= last; top = bottom[w++])
      if (top + bottom[w] - 64 <= 2 * bound) return false;
    return true;
  }

  uint64_t match_[64][kPartWords];
  int32_t size_;
};

// True if entries of more than 64 characters can be `most` edits apart. An edit breaks at most two of a part's bigrams,
// and the others are the other part's too.
bool share_bigrams(const CtphEntries& x, uint32_t i, const CtphEntries& y, uint32_t j, uint32_t most) noexcept {
  const uint32_t more = std::max(x.num_bigrams[i - x.words], y.num_bigrams[j - y.words]);
  return more <= 2 * most ||
         kernels().ctph->common_bits(x.bigrams.data() + kBitSetWords * (i - x.words),
                                     y.bigrams.data() + kBitSetWords * (j - y.words)) >= more - 2 * most;
}

}  // namespace

SearchCounts join_ctph_long(const CtphBound& bound, const CtphEntries& x, uint32_t i, const CtphEntries& y, bool self,
                            HitSink& hits) {
  const CtphKernels& kernel = *kernels().ctph;
  const CtphEntries::Run& of = x.run_with(i);
  const uint32_t length = of.length;
  const LongPattern pattern(x.part(of, i), length);
  const SymbolBag bag = x.bag(i);
  const SymbolBags others = y.bags();
  uint32_t passed[kCtphPiece];
  SearchCounts counts;
  for (const CtphEntries::Run& run : y.runs) {
    const uint32_t end = run.first + run.count;
    if ((self && end <= i + 1) || !bound.may_match(length, run.length)) continue;
    const uint32_t sum = length + run.length;
    const uint32_t edits = bound.edits(sum);
    const uint32_t need = bound.common_symbols(length, run.length);
    for (uint32_t from = self ? std::max(run.first, i + 1) : run.first; from < end; from += kCtphPiece) {
      const uint32_t to = std::min(end, from + kCtphPiece);
      const size_t n = kernel.bag_candidates(&bag, &others, from, to, need, passed);
      counts.looked += to - from;
      hits.spend(to - from + 10);
      for (size_t k = 0; k < n; ++k) {
        if (run.length > kCtphWord && !share_bigrams(x, i, y, passed[k], edits)) {
          hits.spend(50);
          continue;
        }
        ++counts.compared;
        const uint32_t distance = pattern.distance(y.part(run, passed[k]), run.length, edits);
        if (distance <= edits) hits.add(x.rows[i], y.rows[passed[k]], ctph_pair_value(distance, sum));
        hits.spend(size_t{length} * run.length / 16 + 100);
      }
    }
  }
  return counts;
}

}  // namespace neardup
