// Sets of integers: what they have in common, counted, and measured by their sizes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/kinds/kinds_impl.h"
#include "core/kinds/query_bytes.h"

namespace neardup {
namespace {

constexpr size_t kElementBytes = sizeof(int64_t);

struct Set : UsualKind {
  static void check_size(size_t size) {
    if (size % kElementBytes != 0)
      refuse_bytes("a set has 8 bytes an element, not " + std::to_string(size) + " in all");
  }

  static AnyValue view(const uint8_t* bytes, size_t size) {
    check_size(size);
    const SetView set{bytes, size / kElementBytes};
    for (size_t i = 1; i < set.n; ++i)
      if (set[i - 1] >= set[i]) refuse_bytes("the elements of a set do not ascend");
    return set;
  }

  static size_t stored_size(const AnyValue& v) noexcept { return v.set.n * kElementBytes; }

  static void store(const AnyValue& v, uint8_t* out) noexcept {
    if (v.set.n != 0) std::memcpy(out, v.set.bytes, stored_size(v));
  }

  static std::vector<uint8_t> stored(const std::vector<int64_t>& elements) {
    return stored_form<Set>(set_view(elements.data(), elements.size()));
  }

  static std::string to_text(const AnyValue& v) {
    std::string out = "{";
    for (size_t i = 0; i < v.set.n; ++i) {
      if (i != 0) out += ',';
      out += std::to_string(v.set[i]);
    }
    return out + '}';
  }

  static std::vector<uint8_t> from_text(std::string_view text, const char** why) {
    std::vector<int64_t> elements;
    *why = "A set reads {1,2,3}.";
    if (text.size() < 2 || text.front() != '{' || text.back() != '}') return {};
    const char* p = text.data() + 1;
    const char* end = text.data() + text.size() - 1;
    while (p != end) {
      int64_t element = 0;
      const auto r = std::from_chars(p, end, element);
      if (r.ec != std::errc() || (r.ptr != end && (*r.ptr != ',' || r.ptr + 1 == end))) return {};
      elements.push_back(element);
      p = r.ptr == end ? end : r.ptr + 1;
    }
    *why = nullptr;
    elements.resize(make_set(elements.data(), elements.size()));
    return stored(elements);
  }

  static std::vector<uint8_t> to_wire(const AnyValue& v) {
    std::vector<uint8_t> out(stored_size(v));
    for (size_t i = 0; i < v.set.n; ++i) store_big_endian(static_cast<uint64_t>(v.set[i]), &out[i * kElementBytes]);
    return out;
  }

  static std::vector<uint8_t> from_wire(const uint8_t* bytes, size_t size) {
    check_size(size);
    std::vector<int64_t> elements(size / kElementBytes);
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<int64_t>(load_big_endian<uint64_t>(bytes + i * kElementBytes));
    std::vector<uint8_t> out = stored(elements);
    view(out.data(), out.size());
    return out;
  }

  static bool is_empty(const AnyValue& v) noexcept { return v.set.n == 0; }
};

// ---- measures

// Each is a rule: its value for sets of x and y elements, and about how many they share that are within a bound.

struct Jaccard {
  static double value(double x, double y, double common) noexcept { return common / (x + y - common); }
  static double about(double bound, double x, double y) noexcept { return bound / (1 + bound) * (x + y); }
};

// Broder: On the resemblance and containment of documents, 1997.
struct FirstInSecond {
  static double value(double x, double, double common) noexcept { return common / x; }
  static double about(double bound, double x, double) noexcept { return bound * x; }
};
struct SecondInFirst {
  static double value(double, double y, double common) noexcept { return common / y; }
  static double about(double bound, double, double y) noexcept { return bound * y; }
};

struct Overlap {
  static double value(double, double, double common) noexcept { return common; }
  static double about(double bound, double, double) noexcept { return bound; }
};

// Dice: Measures of the amount of ecologic association between species, 1945.
struct Dice {
  static double value(double x, double y, double common) noexcept { return 2 * common / (x + y); }
  static double about(double bound, double x, double y) noexcept { return bound / 2 * (x + y); }
};

// The cosine of the sets as vectors of 0 and 1 (Salton, McGill: Introduction to modern information retrieval, 1983).
struct Cosine {
  static double value(double x, double y, double common) noexcept { return common / std::sqrt(x * y); }
  static double about(double bound, double x, double y) noexcept { return bound * std::sqrt(x * y); }
};

struct OverlapCoefficient {
  static double value(double x, double y, double common) noexcept { return common / std::min(x, y); }
  static double about(double bound, double x, double y) noexcept { return bound * std::min(x, y); }
};

// SetRule::least_common, decided by the value itself. about() is off by less than one.
template <class Rule>
uint32_t least_common(double bound, uint32_t x, uint32_t y) noexcept {
  const uint32_t most = std::min(x, y);
  const double about = std::ceil(Rule::about(bound, x, y)) - 1;
  uint32_t k = about < 1 ? 1 : about > most ? most : static_cast<uint32_t>(about);
  while (k <= most && Rule::value(x, y, k) < bound) ++k;
  return k;
}

template <class Rule>
double value(const AnyValue& x, const AnyValue& y) {
  const size_t common = common_elements(x.set, y.set);
  return common == 0
             ? 0
             : Rule::value(static_cast<double>(x.set.n), static_cast<double>(y.set.n), static_cast<double>(common));
}

// A measure from 0 to 1.
template <class Rule>
constexpr MeasureInfo share(std::string_view name, const char* function, Measure measure, Measure mirrored,
                            bool is_by_first = false) {
  return {.measure = measure,
          .kind = Kind::set,
          .name = name,
          .function = function,
          .is_similarity = true,
          .mirrored = mirrored,
          .range = kShareRange,
          .closeness = same_bound,
          .usual_closeness = kUsualCloseness,
          .value = value<Rule>,
          .engine_bound = same_engine_bound,
          .rule = {Rule::value, least_common<Rule>, is_by_first}};
}
template <class Rule>
constexpr MeasureInfo symmetric_share(std::string_view name, const char* function, Measure measure) {
  return share<Rule>(name, function, measure, measure);
}

double count_closeness(double bound) noexcept {  // how many are many depends on the sets
  return bound > std::numeric_limits<double>::max() ? kBeyondReach : 1 - 1 / (1 + std::max(bound, 0.0));
}

// The least k in 1..most that is_enough, which stays so for all above; else most + 1.
template <class IsEnough>
uint32_t least_number(uint32_t most, IsEnough is_enough) noexcept {
  uint32_t least = 1;
  for (uint32_t end = most + 1; least < end;) {
    const uint32_t middle = least + (end - least) / 2;
    is_enough(middle) ? end = middle : least = middle + 1;
  }
  return least;
}

}  // namespace

constinit const KindInfo kSetKind = kind_info<Set>("set");

constinit const MeasureInfo kSetJaccard =
    symmetric_share<Jaccard>("set_jaccard", "jaccard_exact", Measure::set_jaccard);
constinit const MeasureInfo kSetInQuery =
    share<FirstInSecond>("set_in_query", "containment_exact", Measure::set_in_query, Measure::query_in_set, true);
constinit const MeasureInfo kQueryInSet =
    share<SecondInFirst>("query_in_set", "containment_exact", Measure::query_in_set, Measure::set_in_query);
constinit const MeasureInfo kSetDice = symmetric_share<Dice>("set_dice", "dice_exact", Measure::set_dice);
constinit const MeasureInfo kSetCosine = symmetric_share<Cosine>("set_cosine", "set_cosine_exact", Measure::set_cosine);
constinit const MeasureInfo kOverlapCoefficient =
    symmetric_share<OverlapCoefficient>("overlap_coefficient", nullptr, Measure::overlap_coefficient);

constinit const MeasureInfo kSetOverlap = {
    .measure = Measure::set_overlap,
    .kind = Kind::set,
    .name = "set_overlap",
    .function = "overlap_exact",
    .is_similarity = true,
    .mirrored = Measure::set_overlap,
    .range = {"overlap", "at least 1", 1, std::numeric_limits<double>::max(), false},
    .closeness = count_closeness,
    .usual_closeness = kUsualCloseness,
    .value = value<Overlap>,
    .engine_bound = same_engine_bound,
    .rule = {Overlap::value, least_common<Overlap>, false}};

uint32_t least_part_of_first(const SetRule& rule, double bound, uint32_t x) noexcept {
  return least_number(x, [&](uint32_t k) { return rule.value(x, k, k) >= bound; });
}

uint32_t least_part_of_second(const SetRule& rule, double bound, uint32_t y) noexcept {
  return least_number(y, [&](uint32_t k) { return rule.value(k, y, k) >= bound; });
}

}  // namespace neardup
