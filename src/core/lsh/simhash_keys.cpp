// See simhash_keys.h.
#include "core/lsh/simhash_keys.h"

#include <algorithm>

namespace neardup {

bool plan_blocks(uint32_t blocks, uint32_t distance, BlockPlan* plan) noexcept {
  // C(width, radius + 1) more values come in when a radius grows by one: from the smallest number on.
  uint64_t next[kMaxSimhashBlocks];
  for (uint32_t i = 0; i < blocks; ++i) {
    plan->radius[i] = -1;
    next[i] = 1;
  }
  uint64_t probes = 0;
  for (uint32_t left = distance + 1; left > 0; --left) {
    // The first of equal ones is the widest.
    const uint32_t i = static_cast<uint32_t>(std::min_element(next, next + blocks) - next);
    probes += next[i];
    if (probes > kMaxBlockProbes) return false;
    const uint32_t width = block_width(blocks, i);
    const uint32_t radius = static_cast<uint32_t>(++plan->radius[i]);
    next[i] = next[i] * (width - radius) / (radius + 1);
  }
  plan->probes = static_cast<uint32_t>(probes);
  return true;
}

uint32_t most_distance(uint32_t blocks) noexcept {
  BlockPlan plan;
  uint32_t distance = 0;
  while (distance < 63 && plan_blocks(blocks, distance + 1, &plan)) ++distance;
  return distance;
}

bool next_reach(uint32_t blocks, double beyond, uint32_t* distance) noexcept {
  BlockPlan plan;
  uint32_t reach = blocks - 1;
  while (reach <= beyond) reach += blocks;
  if (reach > 63 || !plan_blocks(blocks, reach, &plan) || plan.probes > kMaxReachProbes) return false;
  *distance = reach;
  return true;
}

uint32_t least_distance(uint32_t blocks, const BlockPlan& plan, uint32_t hits) noexcept {
  // A block without a hit differs in radius + 1 bits at least; which ones those are is not known.
  uint32_t misses[kMaxSimhashBlocks];  // ascending
  uint32_t n = 0;
  for (uint32_t i = 0; i < blocks; ++i) {
    if (plan.radius[i] < 0) continue;
    const uint32_t missed = static_cast<uint32_t>(plan.radius[i]) + 1;
    uint32_t at = n++;
    for (; at > 0 && misses[at - 1] > missed; --at) misses[at] = misses[at - 1];
    misses[at] = missed;
  }
  uint32_t least = 0;
  for (uint32_t i = 0; i + hits < n; ++i) least += misses[i];
  return least;
}

}  // namespace neardup
