// The tables of the kinds, a file each, and what these files share.
#pragma once

#include <string>

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

struct UsualKind {
  static bool comparable(const AnyValue&, const AnyValue&) noexcept { return true; }
  static constexpr std::string (*describe)(const AnyValue&) = nullptr;
  static bool is_empty(const AnyValue&) noexcept { return false; }
};

// The row of a kind whose functions are those of a struct.
template <class Of>
constexpr KindInfo kind_info(const char* name) {
  return {.name = name,
          .forms = {.view = Of::view,
                    .stored_size = Of::stored_size,
                    .store = Of::store,
                    .to_text = Of::to_text,
                    .from_text = Of::from_text,
                    .to_wire = Of::to_wire,
                    .from_wire = Of::from_wire},
          .comparable = Of::comparable,
          .describe = Of::describe,
          .is_empty = Of::is_empty};
}

// The stored form, as a struct of functions writes it.
template <class Of>
std::vector<uint8_t> stored_form(const AnyValue& v) {
  std::vector<uint8_t> out(Of::stored_size(v));
  Of::store(v, out.data());
  return out;
}

// Closeness beyond what any value reaches.
inline constexpr double kBeyondReach = 2;
// The closeness that most bounds in use have: a distance of 3 bits, a score of 70, an edit rate of 0.15.
inline constexpr double kUsualCloseness = 0.85;

inline constexpr BoundRange kShareRange = {"threshold", "above 0 and at most 1", 0, 1, true};

// The closeness of a similarity from 0 to 1, and its bound for an engine.
inline double same_bound(double bound) noexcept { return bound; }
inline double same_engine_bound(double bound, uint32_t) noexcept { return bound; }

}  // namespace neardup
