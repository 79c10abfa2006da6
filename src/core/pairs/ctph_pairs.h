// All pairs of ctph digests by edit rate: exact, within a memory limit.
#pragma once

#include <cstdint>
#include <memory>

#include "core/signature/ctph.h"
#include "core/pairs/pair_search.h"

namespace neardup {

// The similarity that a value of CtphPairs stands for: 1 - d / s; 0 where s is 0.
inline double ctph_similarity(uint32_t value) noexcept {
  const uint32_t sum = value & 0xffff;
  return sum == 0 ? 0 : 1 - static_cast<double>(value >> 16) / static_cast<double>(sum);
}

// Digests are near when their similarity, 1 - ctph_edit_rate() as that is computed, is at least a threshold. The value
// of a pair is d << 16 | s: Levenshtein distance and sum of the lengths of the parts that are compared
// (common_parts()). Equal digests whose part 1 is empty are not near each other.
//
// Every pair of parts of one block size is looked at, some nanoseconds each: lengths and symbols rule nearly all out.
class CtphPairs final : public PairSearch {
 public:
  // threshold above 0, at most 1; else Error{invalid_argument}.
  CtphPairs(double threshold, const EngineOptions& options);
  ~CtphPairs() override;
  CtphPairs(const CtphPairs&) = delete;
  CtphPairs& operator=(const CtphPairs&) = delete;

  // Appends the next row, copied. Error{incomparable} unless it is of the kind of the rows before, of either set. At
  // most 2^31 rows, else Error{too_large}.
  void add(const CtphView& digest);

  void start_set_b() override;
  void run(const uint32_t* rank_a = nullptr, const uint32_t* rank_b = nullptr) override;
  size_t next(RowPair* out, size_t max) override;
  // Rows with equal digests are reported as a star.
  void run_components(UnionFind& sets) override;
  // Also of rows that are not near; 0 where no block size is common or both parts are empty.
  void values_with(const uint32_t* of, uint32_t* values) override;
  const SearchStats& stats() noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neardup
