// Checks jobs at the boundary.
#pragma once

#include <string>

#include "core/base/error.h"
#include "gpu/neardup_gpu.h"
#include "gpu/pairs/ctph.h"

namespace neardup::gpu {

// Throws Error{invalid_argument} for a job that no search can be made for.
inline void check_job(const NeardupGpuJob& job) {
  const auto refuse = [](const std::string& what) { throw Error(Errc::invalid_argument, what); };
  if (job.kind > NEARDUP_GPU_CTPH) refuse("no such kind of search: " + std::to_string(job.kind));
  if (job.two_sets > 1) refuse("two_sets must be 0 or 1");
  if (job.count > uint32_t{1} << 31) refuse("too many rows: " + std::to_string(job.count));
  if (job.kind != NEARDUP_GPU_CTPH && job.two_sets != 0 && job.count_a > job.count) refuse("count_a is above count");
  const bool any = job.count != 0;
  if (job.kind == NEARDUP_GPU_MINHASH) {
    if (job.num_perm < 16 || job.num_perm > 4096 || (job.bits != 8 && job.bits != 16 && job.bits != 32) ||
        job.need < 1 || job.need > job.num_perm)
      refuse("no such signatures: num_perm " + std::to_string(job.num_perm) + ", bits " + std::to_string(job.bits) +
             ", need " + std::to_string(job.need));
    if (any && job.rows == nullptr) refuse("rows must not be null");
  } else if (job.kind == NEARDUP_GPU_SIMHASH) {
    if (job.most > 64) refuse("most must be at most 64: " + std::to_string(job.most));
    if (any && job.values == nullptr) refuse("values must not be null");
  } else {
    if (job.most_by_sum == nullptr || (any && job.parts == nullptr)) refuse("parts and most_by_sum must not be null");
    for (uint32_t s = 0; s < kMaxSums; ++s) {
      const uint32_t before = s == 0 ? 0 : job.most_by_sum[s - 1];
      if (job.most_by_sum[s] > s || job.most_by_sum[s] < before || job.most_by_sum[s] > before + 1)
        refuse("most_by_sum is wrong at " + std::to_string(s));
    }
    for (uint32_t i = 0; i < job.count; ++i) {
      const NeardupGpuPart& p = job.parts[i];
      const bool sorted = i == 0 || job.parts[i - 1].list < p.list ||
                          (job.parts[i - 1].list == p.list && job.parts[i - 1].length <= p.length);
      if (p.length < 1 || p.length > 1024 || p.list > 255 || !sorted) refuse("part " + std::to_string(i) + " is wrong");
    }
  }
}

}  // namespace neardup::gpu
