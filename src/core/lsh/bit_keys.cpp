// See bit_keys.h.
#include "core/lsh/bit_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace neardup {
namespace {

// Nanoseconds: of a look-up, of an entry that is counted, of one in a table, of a row that is looked at.
constexpr double kKeyProbeCost = 1000;
constexpr double kKeyEntryCost = 3;
constexpr double kTableEntryCost = 12;
constexpr double kCandidateCost = 300;
// The cost of each further key of a row outside a query: in the file, and when rows are inserted and removed.
constexpr double kBlockCopyCost = 4000;

// Codes of real things are less even than random ones, and their blocks depend on each other: lists are about twice as
// long, and of the rows with h hits one in four has one more, however few of unrelated rows would (bench/results.md).
constexpr double kUnevenness = 2;
constexpr double kOneMore = 0.25;

constexpr int kMostRadius = 4;
constexpr uint32_t kMostScale = 40;
constexpr double kFewestRows = 1e6;  // tables grow
// Numbers of wider blocks that are tried, about.
constexpr uint32_t kDistributionSteps = 32;
// Groups, and entries, up to which the scan counts fast (src/pg/lsh/README, "Scan").
constexpr uint32_t kMostFastGroups = 127;
constexpr double kMostFastEntries = 1 << 20;

// The chance that of `bits` random bits at most `most` are set.
double chance_of_at_most(uint32_t bits, uint32_t most) noexcept {
  if (most >= bits) return 1;
  double term = std::exp2(-static_cast<double>(bits));
  double sum = 0;
  for (uint32_t i = 0; i <= most; ++i) {
    sum += term;
    term *= static_cast<double>(bits - i) / (i + 1);
  }
  return sum;
}

// The share of rows with at least n hits, where `mean` are expected: of unrelated rows, somewhat more than there are,
// or of those that depend on each other.
double share_with_hits(uint32_t n, double mean) noexcept {
  constexpr double kNegligible = 1e-15;
  double unrelated = 1;
  for (uint32_t i = 1; i <= n && unrelated > kNegligible; ++i) unrelated *= mean / i;
  return std::min(1.0, std::max(unrelated, mean * std::pow(kOneMore, n - 1.0)));
}

uint32_t number_bits(const BitLayout& layout) noexcept { return static_cast<uint32_t>(std::bit_width(layout.blocks)); }

// Chance that the bits behind a block's, in a key that is full, do not tell apart codes at a distance.
double chance_of_passing(const BitLayout& layout, uint32_t distance) noexcept {
  const uint32_t further = kKeyBits - number_bits(layout) - code_block_width(layout, 0);
  return chance_of_at_most(further, distance);
}

// Further bits pay where they refuse half of the unrelated codes.
bool wants_further_bits(const BitLayout& layout) noexcept { return chance_of_passing(layout, layout.most) <= 0.5; }

// Groups that may be missed within a distance.
uint32_t most_missed(const CodePlan& plan, uint32_t distance) noexcept {
  const uint32_t plain = plan.groups - plan.wider;
  const uint32_t cost = static_cast<uint32_t>(plan.radius + 1);
  const uint32_t missed = plain == 0 ? 0 : std::min(plain, distance / cost);
  const uint32_t left = distance - missed * cost;
  return missed < plain ? missed : missed + std::min(plan.wider, left / (cost + 1));
}

// Fills in the rest of a plan whose radii are chosen. passing: the share of hits that count. Its cost; infinite where
// it is none.
double complete_plan(const BitLayout& layout, uint32_t distance, double passing, CodePlan* plan) noexcept {
  constexpr double kNoPlanCost = HUGE_VAL;
  plan->groups = plan->radius < 0 ? plan->wider : layout.blocks;
  plan->slack = most_missed(*plan, distance);
  if (plan->slack >= plan->groups) return kNoPlanCost;
  double probes = 0;
  plan->entries = 0;
  // Blocks are of two widths.
  for (uint32_t first = 0; first < plan->groups;) {
    uint32_t end = first < plan->wider ? plan->wider : plan->groups;
    const uint32_t width = code_block_width(layout, first);
    const uint32_t last_wide = layout.bits % layout.blocks;
    if (first < last_wide && last_wide < end) end = last_wide;
    const double values = values_within(width, plan->radius_in(first));
    probes += values * (end - first);
    plan->entries += std::exp2(-static_cast<double>(width)) * values * (end - first);
    first = end;
  }
  if (probes > kMostCodeProbes) return kNoPlanCost;
  plan->probes = static_cast<uint32_t>(std::lround(probes));
  plan->entries *= kUnevenness;
  plan->candidates = share_with_hits(plan->groups - plan->slack, plan->entries * passing);
  const double rows = std::exp2(static_cast<double>(layout.scale));
  const double entries = plan->entries * rows;
  const bool fast = plan->groups <= kMostFastGroups && entries <= kMostFastEntries;
  return plan->probes * kKeyProbeCost + entries * (fast ? kKeyEntryCost : kTableEntryCost) +
         plan->candidates * rows * kCandidateCost;
}

double best_plan(const BitLayout& layout, uint32_t distance, CodePlan* best) noexcept {
  const double passing = wants_further_bits(layout) ? chance_of_passing(layout, distance) : 1;
  double least = HUGE_VAL;
  const uint32_t step = std::max(1u, layout.blocks / kDistributionSteps);
  for (int radius = -1; radius <= kMostRadius; ++radius) {
    for (uint32_t left_out = 0; left_out < layout.blocks; left_out += step) {
      CodePlan plan{};
      plan.radius = radius;
      plan.wider = layout.blocks - left_out;
      const double cost = complete_plan(layout, distance, passing, &plan);
      if (cost >= least) continue;
      least = cost;
      *best = plan;
    }
  }
  return least;
}

}  // namespace

bool valid_layout(const BitLayout& layout) noexcept {
  return valid_code_bits(layout.bits) && layout.blocks >= 1 && layout.blocks <= kMostCodeBlocks &&
         layout.blocks <= layout.bits && layout.most <= layout.bits / kMostDistancePart && layout.scale <= kMostScale;
}

BitLayout choose_bit_layout(uint32_t bits, uint32_t most, double rows) noexcept {
  BitLayout layout{bits, 1, most, 0};
  layout.scale = std::min(kMostScale, static_cast<uint32_t>(std::lround(std::log2(std::max(rows, kFewestRows)))));
  // A block of fewer bits holds too many rows.
  constexpr uint32_t kLeastWidth = 6;
  double least = HUGE_VAL;
  BitLayout best = layout;
  for (uint32_t blocks = 1; blocks <= std::min(kMostCodeBlocks, bits / kLeastWidth); ++blocks) {
    layout.blocks = blocks;
    CodePlan plan;
    const double cost = best_plan(layout, most, &plan) + blocks * kBlockCopyCost;
    if (cost >= least) continue;
    least = cost;
    best = layout;
  }
  return best;
}

CodeKeys::CodeKeys(const BitLayout& layout) noexcept
    : layout_(layout),
      field_bits_(wants_further_bits(layout) ? kKeyBits - number_bits(layout) : code_block_width(layout, 0)) {}

uint64_t CodeKeys::key(uint32_t block, const BitCode& code) const noexcept {
  uint64_t value = 0;
  uint32_t room = field_bits_;
  for (uint32_t b = block;; b = b + 1 == layout_.blocks ? 0 : b + 1) {
    const uint32_t width = std::min(room, code_block_width(layout_, b));
    uint64_t bits = 0;
    for (uint32_t j = 0, at = b; j < width; ++j, at += layout_.blocks)
      bits |= static_cast<uint64_t>(code.bytes[at / 8] >> (7 - at % 8) & 1) << j;
    value = value << width | bits;
    room -= width;
    // Without further bits a narrower block is a whole key, too.
    if (room == 0 || !has_further_bits() || layout_.blocks == 1) break;
  }
  return uint64_t{block + 1} << field_bits_ | value << (has_further_bits() ? room : 0);
}

uint8_t CodeKeys::prefix_bits(uint32_t block) const noexcept {
  if (!has_further_bits()) return kKeyBits;
  return static_cast<uint8_t>(kKeyBits - field_bits_ + code_block_width(layout_, block));
}

bool plan_codes(const BitLayout& layout, uint32_t distance, CodePlan* plan) noexcept {
  return best_plan(layout, distance, plan) < HUGE_VAL;
}

bool next_code_reach(const BitLayout& layout, double beyond, uint32_t* distance) noexcept {
  for (const uint32_t part : {4u, 2u, 1u}) {
    *distance = layout.most / part;
    if (*distance > beyond) return true;
  }
  return false;
}

uint32_t least_code_distance(const CodePlan& plan, uint32_t hits) noexcept {
  const uint32_t missed = plan.groups - hits;
  const uint32_t plain = std::min(missed, plan.groups - plan.wider);
  const uint32_t cost = static_cast<uint32_t>(plan.radius + 1);
  return plain * cost + (missed - plain) * (cost + 1);
}

}  // namespace neardup
