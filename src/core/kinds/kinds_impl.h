// The tables of the kinds, a file each, and what these files share.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/kinds/measure.h"

namespace neardup {

extern const KindInfo kMinhashKind;
extern const KindInfo kSimhashKind;
extern const KindInfo kCtphKind;
extern const KindInfo kBitsKind;
extern const KindInfo kSetKind;

extern const MeasureInfo kJaccard;
extern const MeasureInfo kHamming;
extern const MeasureInfo kCtphScore;
extern const MeasureInfo kCtphEditRate;
extern const MeasureInfo kSetJaccard;
extern const MeasureInfo kSetInQuery;
extern const MeasureInfo kQueryInSet;
extern const MeasureInfo kSetOverlap;
extern const MeasureInfo kBitHamming;
extern const MeasureInfo kSetDice;
extern const MeasureInfo kSetCosine;
extern const MeasureInfo kOverlapCoefficient;

// Of kinds whose values are all near themselves.
inline bool is_never_empty(const AnyValue&) noexcept { return false; }

// Closeness beyond what any value reaches.
inline constexpr double kBeyondReach = 2;
// The closeness that most bounds in use have: a distance of 3 bits, a score of 70, an edit rate of 0.15.
inline constexpr double kUsualCloseness = 0.85;

inline constexpr BoundRange kShareRange = {"threshold", "above 0 and at most 1", 0, 1, true};

// The closeness of a similarity from 0 to 1, and its bound for an engine.
inline double same_bound(double bound) noexcept { return bound; }
inline double same_engine_bound(double bound, uint32_t) noexcept { return bound; }

[[noreturn]] inline void refuse_bytes(const std::string& what, std::string hint = {}) {
  throw Error(Errc::corrupt_data, "invalid lsh_query: " + what, {}, std::move(hint));
}

// Numbers in network order.
template <class T>
T load_big_endian(const uint8_t* p) noexcept {
  T v = 0;
  for (size_t i = 0; i < sizeof v; ++i) v = static_cast<T>(v << 8 | p[i]);
  return v;
}
template <class T>
void store_big_endian(T v, uint8_t* p) noexcept {
  for (size_t i = 0; i < sizeof v; ++i) p[i] = static_cast<uint8_t>(v >> 8 * (sizeof v - 1 - i));
}

}  // namespace neardup
