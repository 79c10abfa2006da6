// See weighted_minhash.h.
#include "core/signature/weighted_minhash.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "core/base/hash.h"
#include "core/signature/minhash.h"

namespace neardup {
namespace {

__extension__ using u128 = unsigned __int128;

// Frozen: what a component is made of.
constexpr uint64_t kStratumSeed = 0x6c62272e07bb0142ULL;
constexpr uint64_t kEventSeed = 0x9216d5d98979fb1bULL;
constexpr int kTimeBits = 44;                       // after the point, of the time of a stratum of rate 1
constexpr uint64_t kLn2 = 12193974156573ULL;        // round(2^44 ln 2)
constexpr uint64_t kThird = 0x5555555555555555ULL;  // 2^64 / 3, rounded down
constexpr uint32_t kStrata = 129;                   // [0, 1), [1, 2), [2, 4) .. [2^127, 2^128) units
constexpr int kExponentBias = 128;
constexpr unsigned kFractionBits = 24;

// Events before this many times num_perm / (total weight) are looked at first: one set in 20 needs more.
constexpr double kSurplus = 3;
constexpr uint64_t kWorkPerPoll = 1 << 16;  // hashes
constexpr size_t kLongestProbe = 32;

constexpr uint64_t high_product(uint64_t a, uint64_t b) noexcept {
  return static_cast<uint64_t>(static_cast<u128>(a) * b >> 64);
}

constexpr uint32_t reciprocal(uint32_t j) noexcept { return (1u << 24) / (129 + j); }

// round(2^44 ln(reciprocal(j) / 2^16)) by ln c = 2 (z + z^3/3 + ..), z = (c - 1) / (c + 1) <= 1/3, in multiples of
// 2^-62. Its error, below 2^-56, rounds none of the 128 values otherwise: test/unit/weighted_minhash_test.cpp.
constexpr uint64_t log_of_reciprocal(uint32_t j) noexcept {
  const u128 c = reciprocal(j);
  const uint64_t z = static_cast<uint64_t>(((c - 65536) << 62) / (c + 65536));
  const uint64_t z2 = static_cast<uint64_t>(static_cast<u128>(z) * z >> 62);
  uint64_t sum = 0;
  uint64_t power = z;
  for (uint32_t i = 1; power != 0; i += 2) {
    sum += power / i;
    power = static_cast<uint64_t>(static_cast<u128>(power) * z2 >> 62);
  }
  return ((sum >> 16) + 1) >> 1;  // twice the sum, from 62 to 44 bits, rounded
}

constexpr auto kReciprocalLog = [] {
  std::array<uint64_t, 128> t{};
  for (uint32_t j = 0; j < t.size(); ++j) t[j] = log_of_reciprocal(j);
  return t;
}();

constexpr auto kStratumMix = [] {
  std::array<uint64_t, kStrata> t{};
  for (uint32_t k = 0; k < t.size(); ++k) t[k] = mix64(kStratumSeed + k);
  return t;
}();

inline uint64_t exponential_draw(uint64_t hash) noexcept {
  const uint64_t x = ~hash | 1;
  const int shift = __builtin_clzll(x);
  const uint64_t m = x << shift;
  const uint32_t j = static_cast<uint32_t>(m >> 56) & 127;
  // m / 2^64 times the reciprocal c_j is 1 - d with 0 < d < 2^-6; -ln(1 - d) = d + d^2/2 + d^3/3 + d^4/4 + ..
  const uint64_t d = 0 - static_cast<uint64_t>(static_cast<u128>(m) * reciprocal(j) >> 16);
  const uint64_t tail = (1ULL << 63) + high_product(d, kThird + (d >> 2));
  const uint64_t e = d + high_product(d, high_product(d, tail));
  const uint64_t time = static_cast<uint64_t>(shift) * kLn2 + kReciprocalLog[j] + (e >> (64 - kTimeBits));
  return std::max<uint64_t>(time, 1);
}

// Strata 0 and 1 are 1 unit wide, stratum k 2^(k-1).
constexpr int rate_exponent(uint32_t k) noexcept { return k == 0 ? 0 : static_cast<int>(k) - 1; }

// A time of a stratum of rate 2^rate units as a component: the time of a process of rate 1 for a weight of 1.
inline uint32_t time_component(uint64_t time, int rate) noexcept {
  const int top = 63 - __builtin_clzll(time);
  const int exponent = top - kTimeBits + kWeightBits - rate;  // -111..79
  const uint64_t fraction = (time << (63 - top) << 1) >> (64 - kFractionBits);
  return static_cast<uint32_t>(exponent + kExponentBias) << kFractionBits | static_cast<uint32_t>(fraction);
}

double component_time(uint32_t v) noexcept {
  const uint32_t fraction = v & ((1u << kFractionBits) - 1);
  return std::ldexp((1u << kFractionBits) + fraction + 0.5,
                    static_cast<int>(v >> kFractionBits) - kExponentBias - static_cast<int>(kFractionBits));
}

int top_bit(WeightUnits units) noexcept {
  const uint64_t high = static_cast<uint64_t>(units >> 64);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<uint64_t>(units));
}

// Adds up equal hashes and drops zeros; the order is that of first occurrence, or ascending: no matter for the
// components.
WeightUnits combine(std::vector<WeightedElement>* elements, StopCheck* stop) {
  WeightUnits total = 0;
  size_t n = 0;
  for (const WeightedElement& e : *elements) {
    if (e.units == 0) continue;
    add_units(&total, e.units);
    (*elements)[n++] = e;
  }
  elements->resize(n);
  if (n < 2) return total;

  int bits = 2;
  while (size_t{1} << bits < 2 * n) ++bits;
  std::vector<uint32_t> slots(size_t{1} << bits, 0);  // index + 1
  const size_t mask = slots.size() - 1;
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i % 65536 == 0 && stop != nullptr) stop->poll();
    const WeightedElement e = (*elements)[i];
    size_t at = mix64(e.hash) >> (64 - bits);
    size_t probes = 0;
    while (slots[at] != 0 && (*elements)[slots[at] - 1].hash != e.hash && ++probes < kLongestProbe)
      at = (at + 1) & mask;
    if (probes == kLongestProbe) {
      // Chance, or features chosen to meet: sorting takes the same time for any.
      elements->erase(elements->begin() + static_cast<ptrdiff_t>(kept), elements->begin() + static_cast<ptrdiff_t>(i));
      uint32_t steps = 0;
      std::sort(elements->begin(), elements->end(), [&](const WeightedElement& a, const WeightedElement& b) {
        if ((++steps & 0xfffff) == 0 && stop != nullptr) stop->poll();
        return a.hash < b.hash;
      });
      kept = 0;
      for (const WeightedElement& s : *elements) {
        if (kept > 0 && (*elements)[kept - 1].hash == s.hash)
          (*elements)[kept - 1].units += s.units;
        else
          (*elements)[kept++] = s;
      }
      break;
    }
    if (slots[at] != 0) {
      (*elements)[slots[at] - 1].units += e.units;  // not above total
    } else {
      (*elements)[kept] = e;
      slots[at] = static_cast<uint32_t>(++kept);
    }
  }
  elements->resize(kept);
  return total;
}

class WeightedSketch {
 public:
  WeightedSketch(uint32_t num_perm, uint64_t seed, uint32_t* components)
      : num_perm_(num_perm), seed_mix_(sketch_seed(seed)), components_(components) {}

  // Looks at no event after this time of a process of rate 1 for a weight of 1, or a little later. It decides how much
  // work is done, and whether a component stays empty, but never the value of one: so it may be computed in doubles.
  void set_bound(double time) noexcept {
    int exponent;
    const double half = std::frexp(time, &exponent);
    exponent = std::clamp(exponent - 1, -kExponentBias, 126);
    bound_ = static_cast<uint32_t>(exponent + kExponentBias) << kFractionBits |
             static_cast<uint32_t>((2 * half - 1) * (1 << kFractionBits));
    const double least = std::ldexp(1.0, -kTimeBits);
    first_ = kStrata;
    for (uint32_t k = kStrata; k-- > 0;) {
      const double here = std::ldexp(time, rate_exponent(k) - kWeightBits) * 1.00001;
      if (here >= least) first_ = k;  // no event comes earlier than `least`
      // The limit does not reach 1: the sum would be above 2^64.
      limit_[k] = here >= 0x1.fffffp-1 ? ~uint64_t{0} : static_cast<uint64_t>(std::ldexp(here, 64)) + (1 << 20);
    }
  }

  // Returns about how many hashes it took.
  uint64_t add(const WeightedElement& e) noexcept {
    const uint64_t base = mix64(e.hash ^ seed_mix_);
    const int top = top_bit(e.units);
    const uint32_t full = static_cast<uint32_t>(top) + 1;  // strata below this one count whole
    uint64_t work = full;
    for (uint32_t k = first_; k < full; ++k) {
      const uint64_t hash = mix64(base ^ kStratumMix[k]);
      if (hash <= limit_[k]) work += events<false>(hash, rate_exponent(k), 0);
    }
    const WeightUnits rest = e.units - (WeightUnits{1} << top);
    if (rest == 0 || full < first_) return work;
    const uint64_t share = static_cast<uint64_t>(top <= 64 ? rest << (64 - top) : rest >> (top - 64));
    const uint64_t hash = mix64(base ^ kStratumMix[full]);
    if (hash <= limit_[full]) work += events<true>(hash, rate_exponent(full), share);
    return work;
  }

 private:
  // The events of one stratum, the first from its hash on; of a part of it: those at weights in the lower share / 2^64.
  template <bool kPart>
  uint64_t events(uint64_t hash, int rate, uint64_t share) noexcept {
    uint64_t time = 0;
    uint64_t work = 0;
    for (;; hash = mix64(hash + kLengthFactor)) {
      time += exponential_draw(hash);
      work += 4;
      const uint32_t v = time_component(time, rate);
      if (v > bound_ || time >> 62 != 0) return work;
      const uint64_t event = mix64(hash ^ kEventSeed);
      if (kPart && mix64(event + kLengthFactor) >= share) continue;
      uint32_t& c = components_[static_cast<uint64_t>(static_cast<uint32_t>(event)) * num_perm_ >> 32];
      c = std::min(c, v);
    }
  }

  uint32_t num_perm_;
  uint64_t seed_mix_;
  uint32_t* components_;
  uint32_t bound_ = 0;
  uint32_t first_ = 0;            // strata below have no event before the bound
  uint64_t limit_[kStrata] = {};  // the first event of a stratum comes after the bound where its hash is above
};

}  // namespace

bool sign_weighted(uint32_t num_perm, uint64_t seed, std::vector<WeightedElement>* elements, StopCheck* stop,
                   uint32_t* components) {
  check_num_perm(num_perm);
  const WeightUnits total = combine(elements, stop);
  if (total == 0) return false;
  WeightedSketch sketch(num_perm, seed, components);
  const double mean = num_perm / std::ldexp(static_cast<double>(total), -kWeightBits);
  double bound = mean * (std::log(num_perm) + kSurplus);
  do {
    std::fill_n(components, num_perm, kEmptyComponent32);
    sketch.set_bound(bound);
    uint64_t work = 0;
    for (const WeightedElement& e : *elements) {
      work += sketch.add(e);
      if (work >= kWorkPerPoll && stop != nullptr) {
        stop->poll();
        work = 0;
      }
    }
    bound *= 2;
  } while (std::find(components, components + num_perm, kEmptyComponent32) != components + num_perm);
  return true;
}

double estimate_total_weight(const void* components, uint32_t num_perm, uint32_t bits) noexcept {
  double sum = 0;
  for (uint32_t i = 0; i < num_perm; ++i) {
    // A 16-bit form stands for the middle of the values that share it.
    sum +=
        component_time(bits == 32 ? static_cast<const uint32_t*>(components)[i]
                                  : static_cast<uint32_t>(static_cast<const uint16_t*>(components)[i]) << 16 | 0x8000);
  }
  return num_perm * (num_perm - 1.0) / sum;
}

namespace weighted_detail {

uint64_t exponential(uint64_t hash) noexcept { return exponential_draw(hash); }
uint64_t reciprocal_log(uint32_t j) noexcept { return kReciprocalLog[j]; }

}  // namespace weighted_detail

}  // namespace neardup
