// See bit_plan.h.
#include "core/pairs/bits/bit_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/bits.h"
#include "core/base/near_values.h"
#include "core/kernels/kernels.h"

namespace neardup {
namespace {

// Estimated nanoseconds: of going to a bucket, of a code in a sort, of a key's bit.
constexpr double kBucketCost = 4;
constexpr double kSortKeyCost = 30;
constexpr double kKeyBitCost = 1.5;
constexpr int kMostRadius = 4;
constexpr unsigned kMostKeyBits = 22;
// A bit that fewer than one in 16 codes have, or lack, says too little to sort by. Of so many others the best are used.
constexpr size_t kPoorPart = 16;
constexpr size_t kMostBits = 768;
// Codes that are looked at to see what bits say.
constexpr size_t kSampledCodes = 2048;
// Nanoseconds: what takes less is done by comparing all, and without a sample of pairs.
constexpr double kLeastSearched = 1e6;
constexpr double kLeastPairsSampled = 100e6;
// Blocks in which pairs of the sample are counted, and by how many bits keys become shorter from one plan that is tried
// to the next.
constexpr unsigned kSampledBlocks = 3;
constexpr unsigned kShorter = 2;
constexpr unsigned kKeyLengthsTried = 4;

// Some of the codes, and what each good bit of them says.
class Sample {
 public:
  Sample(const BitEntries& e, Poller& poller);

  size_t good_bits() const noexcept { return bits_.size(); }
  const std::vector<const uint64_t*>& codes() const noexcept { return codes_; }
  // Deals the bits out: to each block in turn the one that depends least on those that it has.
  void place(BitPlan* plan, Poller& poller) const;

 private:
  size_t words() const noexcept { return (codes_.size() + 63) / 64; }
  const uint64_t* column(size_t bit) const noexcept { return columns_.data() + bit * words(); }
  size_t set(size_t bit) const noexcept { return counts_[bit]; }
  uint32_t dependence(size_t a, size_t b) const noexcept { return dependence_[a * bits_.size() + b]; }

  std::vector<const uint64_t*> codes_;
  std::vector<uint16_t> bits_;  // the good ones, the best first
  std::vector<size_t> counts_;  // codes that have the bit
  std::vector<uint64_t> columns_;
  std::vector<uint32_t> dependence_;  // squared
};

Sample::Sample(const BitEntries& e, Poller& poller) {
  const size_t step = (e.n + kSampledCodes - 1) / kSampledCodes;
  for (size_t i = 0; i < e.n; i += step) codes_.push_back(e.code(i));
  const size_t n = codes_.size();
  std::vector<size_t> counts(e.bits, 0);
  for (const uint64_t* code : codes_) {
    for (uint32_t bit = 0; bit < e.bits; ++bit) counts[bit] += code[bit / 64] >> bit % 64 & 1;
    poller.spend(e.bits);
  }
  const auto rare = [&](uint32_t bit) { return std::min(counts[bit], n - counts[bit]); };
  for (uint32_t bit = 0; bit < e.bits; ++bit)
    if (rare(bit) * kPoorPart >= n) bits_.push_back(static_cast<uint16_t>(bit));
  std::stable_sort(bits_.begin(), bits_.end(), [&](uint16_t a, uint16_t b) { return rare(a) > rare(b); });
  bits_.resize(std::min(bits_.size(), kMostBits));
  columns_.assign(bits_.size() * words(), 0);
  for (size_t b = 0; b < bits_.size(); ++b) {
    counts_.push_back(counts[bits_[b]]);
    for (size_t i = 0; i < n; ++i)
      columns_[b * words() + i / 64] |= (codes_[i][bits_[b] / 64] >> bits_[b] % 64 & 1) << i % 64;
    poller.spend(2 * n);
  }
  dependence_.resize(bits_.size() * bits_.size());
  for (size_t a = 0; a < bits_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const auto differing = static_cast<double>(kernels().count_differing(reinterpret_cast<const uint8_t*>(column(a)),
                                                                           reinterpret_cast<const uint8_t*>(column(b)),
                                                                           words() * sizeof(uint64_t)));
      const auto of_a = static_cast<double>(set(a));
      const auto of_b = static_cast<double>(set(b));
      const double unlike = of_a + of_b - 2 * of_a * of_b / static_cast<double>(n);
      dependence_[a * bits_.size() + b] = dependence_[b * bits_.size() + a] =
          static_cast<uint32_t>((differing - unlike) * (differing - unlike));
    }
    poller.spend(a * words());
  }
}

void Sample::place(BitPlan* plan, Poller& poller) const {
  const size_t used = size_t{plan->blocks} * plan->key_bits;
  const size_t all = bits_.size();
  plan->placed.assign(used, 0);
  std::vector<bool> taken(all, false);
  // The dependence of each other bit on the bits of a block.
  std::vector<uint64_t> known(size_t{plan->blocks} * all, 0);
  for (unsigned i = 0; i < plan->key_bits; ++i) {
    for (unsigned block = 0; block < plan->blocks; ++block) {
      uint64_t* of_block = known.data() + size_t{block} * all;
      size_t best = all;
      for (size_t bit = 0; bit < all; ++bit)
        if (!taken[bit] && (best == all || of_block[bit] < of_block[best])) best = bit;
      taken[best] = true;
      plan->placed[size_t{block} * plan->key_bits + i] = bits_[best];
      for (size_t bit = 0; bit < all; ++bit) of_block[bit] += dependence(best, bit);
      poller.spend(3 * all);
    }
  }
}

// The share of pairs that a block of the plan compares, of unrelated codes and even bits.
double even_share(const BitPlan& plan) noexcept {
  const double values = plan.wider * values_within(plan.key_bits, plan.radius) +
                        (plan.blocks - plan.wider) * values_within(plan.key_bits, plan.radius - 1);
  return values / plan.blocks / std::exp2(plan.key_bits);
}

// The same as the sample has it.
double sampled_share(const BitPlan& plan, const Sample& sample, Poller& poller) {
  const size_t n = sample.codes().size();
  const unsigned blocks = std::min(kSampledBlocks, plan.blocks);
  std::vector<uint32_t> keys(n);
  size_t near = 0;
  for (unsigned k = 0; k < blocks; ++k) {
    const unsigned block = k * plan.blocks / blocks;
    for (size_t i = 0; i < n; ++i) keys[i] = plan.key(sample.codes()[i], block);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) near += static_cast<int>(count_bits(keys[i] ^ keys[j])) <= plan.radius_in(block);
      poller.spend(2 * i);
    }
  }
  return static_cast<double>(near) / (static_cast<double>(n) * static_cast<double>(n - 1) / 2 * blocks);
}

double plan_cost(const BitPlan& plan, double share, const BitEntries& e, bool cross, double pair_cost) noexcept {
  const double n = static_cast<double>(e.n);
  const double buckets = std::exp2(plan.key_bits);
  const double going = std::min(n, buckets) * even_share(plan) * buckets * (cross ? 1 : 0.5) * kBucketCost;
  const double sorting = n * (kSortKeyCost + kKeyBitCost * plan.key_bits) + buckets;
  return plan.blocks * (pair_count(e.n_a, e.n, cross) * std::min(1.0, share) * pair_cost + going + sorting);
}

// Makes the plan of a distance and a radius, with keys of `shorter` bits less than there could be. False: there is
// none.
bool make_plan(uint32_t most, size_t good_bits, int radius, unsigned shorter, BitPlan* plan) {
  const unsigned each = static_cast<unsigned>(radius) + 1;
  plan->radius = radius;
  plan->blocks = (most + each) / each;
  plan->wider = plan->blocks - (plan->blocks * each - (most + 1));
  const unsigned longest = std::min(kMostKeyBits, static_cast<unsigned>(good_bits / plan->blocks));
  if (longest <= shorter) return false;
  plan->key_bits = longest - shorter;
  return true;
}

}  // namespace

BitPlan choose_bit_plan(const BitEntries& e, bool cross, uint32_t most, double pair_cost, Poller& poller) {
  BitPlan best;
  double least = pair_count(e.n_a, e.n, cross) * pair_cost;
  if (least < kLeastSearched) return best;
  const Sample sample(e, poller);
  // The first try assumes even bits; a long search is planned again, by the sample.
  for (const bool sampled : {false, true}) {
    if (sampled && least < kLeastPairsSampled) break;
    if (sampled) {
      best = BitPlan{};
      least = pair_count(e.n_a, e.n, cross) * pair_cost;
    }
    for (int radius = 0; radius <= kMostRadius; ++radius) {
      for (unsigned shorter = 0; shorter < (sampled ? kKeyLengthsTried : kMostKeyBits); ++shorter) {
        BitPlan plan;
        if (!make_plan(most, sample.good_bits(), radius, sampled ? shorter * kShorter : shorter, &plan)) break;
        if (plan_cost(plan, 0, e, cross, pair_cost) >= least) continue;
        if (sampled) sample.place(&plan, poller);
        const double share = sampled ? sampled_share(plan, sample, poller) : even_share(plan);
        const double cost = plan_cost(plan, share, e, cross, pair_cost);
        if (cost >= least) continue;
        least = cost;
        best = plan;
      }
    }
  }
  if (best.key_bits != 0 && best.placed.empty()) sample.place(&best, poller);
  return best;
}

}  // namespace neardup
