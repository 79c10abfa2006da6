// The mutual information of a word and a feature, in fixed point, from counts.
//
// Source: D. Lin, "Automatic Retrieval and Clustering of Similar Words", COLING-ACL 1998, section 2: of a triple (w, r,
// w') the logarithm of |w,r,w'| * |*,r,*| / (|w,r,*| * |*,r,w'|), where that is above 0. A discount is taken off
// |w,r,w'| first, as in P. Kolb, "DISCO", KONVENS 2008 (0.95 there, 0 by default here): it costs counts of chance most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/word_model/word_row.h"

namespace neardup {

// A count, above 0, and its natural logarithm.
struct LoggedCount {
  LoggedCount() = default;
  explicit LoggedCount(uint64_t c) : count(c), log(std::log(static_cast<double>(c))) {}
  LoggedCount(uint64_t c, double ln) : count(c), log(ln) {}
  uint64_t count = 1;
  double log = 0;
};

// A discount of |w,r,w'| is counted in thousandths, below 1.
inline constexpr uint32_t kDiscountUnits = 1000;

// The natural logarithm of a count, above 0, with the discount taken off; with one the count is below 2^54.
inline double discounted_log(uint64_t count, uint32_t discount) noexcept {
  if (discount == 0) return std::log(static_cast<double>(count));
  return std::log(static_cast<double>(count * kDiscountUnits - discount) / kDiscountUnits);
}

// True if (count - discount) * total > of_word * of_context, exactly. With a discount counts are below 2^54.
inline bool informative(uint64_t count, uint32_t discount, uint64_t total, uint64_t of_word,
                        uint64_t of_context) noexcept {
  __extension__ using u128 = unsigned __int128;
  if (discount == 0) return static_cast<u128>(count) * total > static_cast<u128>(of_word) * of_context;
  return static_cast<u128>(count * kDiscountUnits - discount) * total >
         static_cast<u128>(of_word) * of_context * kDiscountUnits;
}

// 1 .. kMaxInformation, or 0 where there is none. count: |w,r,w'|, with its discounted logarithm; total: |*,r,*|;
// of_word: |w,r,*|; of_context: |*,r,w'|; none is 0. The order of the operations is part of the stored values' meaning.
inline uint16_t word_information(const LoggedCount& count, const LoggedCount& total, const LoggedCount& of_word,
                                 const LoggedCount& of_context, uint32_t discount = 0) noexcept {
  const double nats = ((count.log + total.log) - of_word.log) - of_context.log;
  // Logarithms of 64-bit counts are below 45 and their errors far below this bound: only near 0 integers must decide.
  constexpr double kSure = 1e-6;
  if (nats < -kSure) return 0;
  if (nats < kSure && !informative(count.count, discount, total.count, of_word.count, of_context.count)) return 0;
  // The conversion is floor(): the argument is not below 0.
  const auto value = static_cast<int32_t>(kInformationUnits * nats + 0.5);
  return static_cast<uint16_t>(std::clamp<int32_t>(value, 1, kMaxInformation));
}

}  // namespace neardup
