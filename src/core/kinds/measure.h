// The measures by which values of a kind are compared: similarities and distances. One table says what each of them is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/named_values.h"
#include "core/kinds/kind.h"

namespace neardup {

// The numbers reach disk: docs/format.md.
enum class Measure : uint8_t {
  jaccard = 1,         // of minhashes: similarity
  hamming = 2,         // of simhashes: distance
  ctph_score = 3,      // of ctph digests: similarity
  ctph_edit_rate = 4,  // of ctph digests: distance
  set_jaccard = 5,     // of sets x and y: the share of their elements that both have
  set_in_query = 6,    // the share of x that is in y, containment
  query_in_set = 7,    // the share of y that is in x
  set_overlap = 8,     // how many elements both have
  bit_hamming = 9,     // of bit codes: distance
  set_dice = 10,       // twice what both have over what they have together
  set_cosine = 11,     // what both have over the geometric mean of their sizes
  // The greater one of set_in_query and query_in_set: the share of the smaller set that is in the larger one
  // (Szymkiewicz and Simpson). No lsh_query has it; kNewestStoredMeasure refuses it, so the next stored measure needs
  // a check of its own.
  overlap_coefficient = 12,
};
inline constexpr size_t kMeasures = static_cast<size_t>(Measure::overlap_coefficient);
inline constexpr auto kNewestStoredMeasure = static_cast<uint8_t>(Measure::set_cosine);

// The bounds that a named predicate takes, as jaccard_at_least().
struct BoundRange {
  const char* name;
  const char* text;
  double least;
  double most;
  bool is_above;  // the least itself is none
};

// A measure of sets of x and y elements, both above 0.
struct SetRule {
  // The measure where they have so many in common. Grows with `common`; of the sizes it falls or stays. Of a set and a
  // part of it, it grows with the part or stays.
  double (*value)(double x, double y, double common) noexcept;
  // The least number of elements that sets within the bound, which is above 0, have in common; above the smaller size:
  // such sets are not within it. For pairs of given sizes; an index asks least_part_of_second().
  uint32_t (*least_common)(double bound, uint32_t x, uint32_t y) noexcept;
  bool is_by_first;  // least_common depends on x alone
};

struct MeasureInfo {
  Measure measure;
  Kind kind;
  std::string_view name;  // in the text form of an lsh_query
  const char* function;   // of SQL; null: there is none
  bool is_similarity;     // near means much of it
  Measure mirrored;       // the measure of (y, x) that is this one of (x, y)
  BoundRange range;
  // The strictness of a bound, on a scale that all measures share: 1 is the strictest that any pair reaches, 0 admits
  // all, or so many that it does not matter. For estimates. Falls or grows with the bound, which is not NaN.
  double (*closeness)(double bound) noexcept;
  double usual_closeness;  // of a bound that is not known
  double (*value)(const AnyValue& x, const AnyValue& y);
  // The least similarity for a pair engine that finds all pairs within the bound; not above 0: all pairs are. bits: of
  // codes. Null: there is no engine.
  double (*engine_bound)(double bound, uint32_t bits) noexcept = nullptr;
  SetRule rule = {};  // of sets only
};

const MeasureInfo& info(Measure measure) noexcept;

inline Kind measure_kind(Measure measure) noexcept { return info(measure).kind; }
inline bool is_of_sets(Measure measure) noexcept { return measure_kind(measure) == Kind::set; }

// Compares as SQL does: NaN is above all others. value is none.
inline bool within(Measure measure, double value, double bound) noexcept {
  return info(measure).is_similarity ? value >= bound : !(value > bound);
}

// MeasureInfo::closeness, at least 0, also of NaN: as within() takes it.
double closeness(Measure measure, double bound) noexcept;

// True if no value reaches the bound.
inline bool beyond_reach(Measure measure, double bound) noexcept { return closeness(measure, bound) > 1; }

// True if the named predicates take the bound; comparisons take any.
bool is_valid_bound(Measure measure, double bound) noexcept;

// Measures of sets by the names that all_pairs(measure => ..) takes.
inline constexpr NamedValue<Measure> kSetMeasures[] = {{"jaccard", Measure::set_jaccard},
                                                       {"containment", Measure::set_in_query},
                                                       {"overlap", Measure::set_overlap},
                                                       {"dice", Measure::set_dice},
                                                       {"cosine", Measure::set_cosine}};

// The least number of elements that the first set, of x elements, shares with any set within the bound; and the second
// set, of y. A set shares the fewest with one that is a part of it.
uint32_t least_part_of_first(const SetRule& rule, double bound, uint32_t x) noexcept;
uint32_t least_part_of_second(const SetRule& rule, double bound, uint32_t y) noexcept;

// True if it matters which of two values is the first one.
inline bool is_directed(Measure measure) noexcept { return info(measure).mirrored != measure; }

// A measure of sets of these sizes that share so many elements: as SetRule::value; 0 where they share none.
inline double measure_sets(Measure measure, double x, double y, double common) noexcept {
  return common == 0 ? 0 : info(measure).rule.value(x, y, common);
}

}  // namespace neardup
