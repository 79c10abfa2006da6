// The tables of kinds and measures by number. See kind.h and measure.h.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/kinds/kinds_impl.h"

namespace neardup {
namespace {

constexpr const KindInfo* kKindTable[] = {&kMinhashKind, &kSimhashKind, &kCtphKind, &kBitsKind, &kSetKind};

// The measures by number, from 1 on.
constexpr const MeasureInfo* kMeasureTable[] = {&kJaccard,    &kHamming,    &kCtphScore,  &kCtphEditRate,
                                                &kSetJaccard, &kSetInQuery, &kQueryInSet, &kSetOverlap,
                                                &kBitHamming, &kSetDice,    &kSetCosine,  &kOverlapCoefficient};

static_assert(std::size(kKindTable) == kKinds && std::size(kMeasureTable) == kMeasures);

}  // namespace

const KindInfo& info(Kind kind) noexcept { return *kKindTable[static_cast<size_t>(kind)]; }

const MeasureInfo& info(Measure measure) noexcept { return *kMeasureTable[static_cast<size_t>(measure) - 1]; }

double closeness(Measure measure, double bound) noexcept {
  const MeasureInfo& m = info(measure);
  if (std::isnan(bound)) return m.is_similarity ? kBeyondReach : 0;
  return std::max(m.closeness(bound), 0.0);
}

bool is_valid_bound(Measure measure, double bound) noexcept {
  const BoundRange& range = info(measure).range;
  return (range.is_above ? bound > range.least : bound >= range.least) && bound <= range.most;
}

}  // namespace neardup
