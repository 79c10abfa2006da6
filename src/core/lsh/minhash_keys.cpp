// See minhash_keys.h.
#include "core/lsh/minhash_keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/base/message_text.h"
#include "core/signature/minhash.h"

namespace neardup {
namespace {

// The cost of a layout, in bands: the bands themselves, and for each of them the rows that agree with a query by chance
// in an index of a million rows whose unrelated documents share a tenth of their shingles. A band takes 4 microseconds
// of a query (a look-up in nine runs) and is charged 4 more for being stored; a candidate takes 1.5 to fetch and
// compare.
constexpr double kChanceCost = 1e6 * 1.5 / 8;
constexpr double kChanceSimilarity = 0.1;

double layout_cost(double bands, uint32_t rows) {
  return bands * (1 + kChanceCost * std::pow(kChanceSimilarity, rows));
}

double layout_cost(const BandLayout& layout) {
  double cost = 0;
  for (uint32_t j = 0; j < layout.bands; ++j) cost += layout_cost(1, layout.begin(j + 1) - layout.begin(j));
  return cost;
}

// The probability that no band is whole, when `mismatches` of num_perm components differ and all places are equally
// likely: the coefficient of x^mismatches in (product over bands of ((1+x)^rows - 1)) * (1+x)^(components in no band),
// over C(num_perm, mismatches). With x = q / (1-q) and everything divided by (1-q)^-num_perm the factors are
// probabilities of binomial variables, none is negative and nothing cancels; q = mismatches / num_perm puts the wanted
// coefficient in the middle of its distribution, so that nothing underflows that counts.
class MissProbability {
 public:
  // mismatches 1..num_perm - 1
  MissProbability(uint32_t num_perm, uint32_t mismatches)
      : num_perm_(num_perm),
        mismatches_(mismatches),
        q_(static_cast<double>(mismatches) / num_perm),
        weight_(mismatches + 1),
        next_(mismatches + 1),
        log_factorial_(num_perm + 1) {
    for (uint32_t n = 2; n <= num_perm; ++n)
      log_factorial_[n] = log_factorial_[n - 1] + std::log(static_cast<double>(n));
    weight_[0] = 1;
  }

  void add_band(uint32_t rows) {
    if (rows != kernel_rows_) {
      kernel_rows_ = rows;
      kernel_.clear();
      for (uint32_t i = 0; i <= std::min(rows, mismatches_); ++i) kernel_.push_back(i == 0 ? 0 : binomial(rows, i));
    }
    std::fill(next_.begin(), next_.end(), 0.0);
    // Each band before has taken one mismatch at least.
    for (uint32_t i = 1; i < kernel_.size(); ++i) {
      const double w = kernel_[i];
      for (uint32_t s = bands_; s + i <= mismatches_; ++s) next_[s + i] += w * weight_[s];
    }
    weight_.swap(next_);
    used_ += rows;
    ++bands_;
  }

  // The value of the bands added so far.
  double value() const {
    const uint32_t rest = num_perm_ - used_;
    const uint32_t from = std::max(bands_, mismatches_ > rest ? mismatches_ - rest : 0);
    double sum = 0;
    for (uint32_t s = from; s <= mismatches_; ++s) {
      if (weight_[s] != 0) sum += weight_[s] * binomial(rest, mismatches_ - s);
    }
    return std::min(1.0, sum / binomial(num_perm_, mismatches_));
  }

 private:
  // P(Binomial(n, q) = k)
  double binomial(uint32_t n, uint32_t k) const {
    return std::exp(log_factorial_[n] - log_factorial_[k] - log_factorial_[n - k] + k * std::log(q_) +
                    (n - k) * std::log1p(-q_));
  }

  uint32_t num_perm_;
  uint32_t mismatches_;
  double q_;
  uint32_t bands_ = 0;
  uint32_t used_ = 0;
  uint32_t kernel_rows_ = 0;
  std::vector<double> kernel_;
  std::vector<double> weight_;  // by mismatches in the bands so far, each of which has one
  std::vector<double> next_;
  std::vector<double> log_factorial_;
};

void check_share(const char* name, double v) {
  if (!(v > 0 && v <= 1))
    throw Error(Errc::invalid_argument, std::string(name) + " must be above 0 and at most 1: " + number_text(v));
}

// The least number of bands of `rows` components that misses with probability `most_missed` at most; 0: even
// `most_bands` do not.
uint32_t fewest_bands(uint32_t num_perm, uint32_t mismatches, uint32_t rows, double most_missed, uint32_t most_bands) {
  MissProbability miss(num_perm, mismatches);
  double whole = 1;  // probability that one band is whole
  for (uint32_t i = 0; i < rows; ++i) {
    whole *= static_cast<double>(num_perm - mismatches - std::min(i, num_perm - mismatches)) / (num_perm - i);
  }
  for (uint32_t b = 1; b <= most_bands; ++b) {
    miss.add_band(rows);
    // b bands hit with probability b * whole at most: no need to look before that is enough.
    if (b * whole < (1 - most_missed) * 0.999) continue;
    if (miss.value() <= most_missed) return b;
  }
  return 0;
}

// The bytes [from, to) of a signature, of 8 at most, as a little-endian number. A signature has 16 bytes at least.
inline uint64_t load_tail(const unsigned char* p, uint32_t from, uint32_t to) noexcept {
  const unsigned unused = 8 * (8 - (to - from));
  return to >= 8 ? load_le64(p + to - 8) >> unused : load_le64(p + from) << unused >> unused;
}

uint64_t band_key(uint32_t band, const unsigned char* p, uint32_t from, uint32_t to) noexcept {
  uint64_t h = kSeed0 + (band + 1) * kLengthFactor;
  for (; to - from > 8; from += 8) h = mum(h ^ load_le64(p + from), kSeed1);
  return mum(h ^ load_tail(p, from, to), kSeed1);
}

}  // namespace

BandLayout choose_bands(uint32_t num_perm, uint32_t bits, double threshold, double recall) {
  check_share("threshold", threshold);
  check_share("recall", recall);
  // It is at least 1: an estimate of 0 is below any threshold.
  const uint32_t need = min_matches(threshold, false, num_perm, bits);
  const uint32_t mismatches = num_perm - need;
  const BandLayout exact{num_perm, bits, mismatches + 1, 0, need};
  const bool fits = exact.bands <= kMaxIndexBands;
  if (recall == 1 || mismatches == 0) {
    if (fits) return exact;
    throw Error(Errc::too_large,
                "threshold " + number_text(threshold) + " needs " + std::to_string(exact.bands) + " bands of " +
                    std::to_string(num_perm) + " components, and " + std::to_string(kMaxIndexBands) + " are possible",
                {}, "Take a higher threshold or fewer components; an index can also have recall below 1.");
  }

  // With more components in a band its chance hits fall and the bands increase, since a whole band of r + 1 components
  // holds a whole one of r. So once the bands alone cost more than the best layout, none after it is better.
  const uint32_t most_bands = std::min(exact.bands, kMaxIndexBands);
  BandLayout best = exact;
  double least = fits ? layout_cost(exact) : HUGE_VAL;
  for (uint32_t rows = 1; rows <= need; ++rows) {
    const uint32_t bands = fewest_bands(num_perm, mismatches, rows, 1 - recall, std::min(most_bands, num_perm / rows));
    if (bands == 0 || bands > least) break;
    const double cost = layout_cost(bands, rows);
    if (cost < least || (cost == least && !best.exact())) {
      least = cost;
      best = {num_perm, bits, bands, rows, need};
    }
  }
  if (best.exact() && !fits)
    throw Error(Errc::too_large,
                "threshold " + number_text(threshold) + " with recall " + number_text(recall) + " needs more than " +
                    std::to_string(kMaxIndexBands) + " bands of " + std::to_string(num_perm) + " components",
                {}, "Take a higher threshold, a lower recall or fewer components.");
  return best;
}

bool valid_layout(const BandLayout& layout) noexcept {
  if (layout.num_perm < kMinNumPerm || layout.num_perm > kMaxNumPerm) return false;
  if (layout.bits != 8 && layout.bits != 16 && layout.bits != 32) return false;
  if (layout.need < 1 || layout.need > layout.num_perm) return false;
  if (layout.bands < 1 || layout.bands > kMaxIndexBands) return false;
  return layout.rows == 0 ? layout.bands == layout.num_perm - layout.need + 1
                          : layout.rows <= layout.num_perm / layout.bands;
}

void band_keys(const BandLayout& layout, const void* components, uint64_t* out) noexcept {
  const auto* p = static_cast<const unsigned char*>(components);
  const uint32_t width = layout.bits / 8;
  // begin(j) without its division: the whole part of the quotient for each band, and one more when the rests make one.
  const uint32_t size = layout.rows == 0 ? layout.num_perm / layout.bands : layout.rows;
  const uint32_t rest = layout.rows == 0 ? layout.num_perm % layout.bands : 0;
  uint32_t rests = 0;
  uint32_t from = 0;
  for (uint32_t j = 0; j < layout.bands; ++j) {
    uint32_t to = from + size * width;
    rests += rest;
    if (rests >= layout.bands) {
      rests -= layout.bands;
      to += width;
    }
    out[j] = band_key(j, p, from, to);
    from = to;
  }
}

double hit_probability(const BandLayout& layout, uint32_t matches) {
  const uint32_t mismatches = layout.num_perm - std::min(matches, layout.num_perm);
  if (mismatches < layout.bands) return 1;
  if (mismatches == layout.num_perm) return 0;
  MissProbability miss(layout.num_perm, mismatches);
  for (uint32_t j = 0; j < layout.bands; ++j) miss.add_band(layout.begin(j + 1) - layout.begin(j));
  return 1 - miss.value();
}

void check_bands(int64_t bands, int64_t rows) {
  if (bands < 1) throw Error(Errc::invalid_argument, "bands must be at least 1: " + std::to_string(bands));
  if (rows < 1) throw Error(Errc::invalid_argument, "rows must be at least 1: " + std::to_string(rows));
}

double lsh_probability(double similarity, uint32_t bands, uint32_t rows) noexcept {
  // The form 1 - (1 - x)^n would lose all its digits for small probabilities.
  return -std::expm1(bands * std::log1p(-std::pow(similarity, rows)));
}

}  // namespace neardup
