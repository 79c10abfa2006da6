// A GPU module's searches without a GPU: every pair is compared, as defined; words in fake_words.h. Ways to fail can be
// asked for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "gpu/neardup_gpu.h"

#include "test/reference/edit_reference.h"
#include "test/reference/pairs_reference.h"

namespace neardup::fake {

enum class Behaviour {
  works,
  create_fails,  // no usable device
  lost,          // in the middle: the device is gone when some pairs have been given
  memory_once,   // out of memory in the first search of the process
  never_ends,    // gives nothing, and is never done
};

inline Behaviour behaviour = Behaviour::works;
// Searches made, and of these still there.
inline int searches = 0;
inline int open = 0;

struct Search {
  std::vector<NeardupGpuPair> pairs;
  NeardupGpuStats stats = {};
  size_t given = 0;
  unsigned steps = 0;
};

inline void say(char* error, uint32_t size, const char* text) {
  if (error != nullptr && size > 0) std::snprintf(error, size, "%s", text);
}

// 0xffffffff: not near.
inline uint32_t pair_value(const NeardupGpuJob& job, uint32_t i, uint32_t j) {
  constexpr uint32_t kNone = UINT32_MAX;
  if (job.kind == NEARDUP_GPU_MINHASH) {
    const auto* a = static_cast<const unsigned char*>(job.rows[i]);
    const auto* b = static_cast<const unsigned char*>(job.rows[j]);
    const uint32_t m = job.bits == 8    ? reference::count_equal<uint8_t>(a, b, job.num_perm)
                       : job.bits == 16 ? reference::count_equal<uint16_t>(a, b, job.num_perm)
                                        : reference::count_equal<uint32_t>(a, b, job.num_perm);
    return m >= job.need ? m : kNone;
  }
  if (job.kind == NEARDUP_GPU_SIMHASH) {
    const auto d = static_cast<uint32_t>(std::popcount(job.values[i] ^ job.values[j]));
    return d <= job.most ? d : kNone;
  }
  const NeardupGpuPart& a = job.parts[i];
  const NeardupGpuPart& b = job.parts[j];
  if (a.list / 4 != b.list / 4 || (a.list % 4 >= 2 && b.list % 4 >= 2)) return kNone;
  const uint32_t sum = uint32_t{a.length} + b.length;
  const auto d = static_cast<uint32_t>(reference::edit_distance(reference::byte_symbols({a.text, a.length}),
                                                                reference::byte_symbols({b.text, b.length})));
  return d <= job.most_by_sum[sum] ? d << 16 | sum : kNone;
}

// The first simhash from j on that is near to i, else the end: tests search more than 10^9 pairs, and few are near.
inline uint32_t next_near(const NeardupGpuJob& job, uint32_t i, uint32_t j) {
  const uint64_t* const values = job.values;
  const uint64_t value = values[i];
  const auto most = static_cast<int>(job.most);
  constexpr uint32_t kLot = 64;
  for (; j + kLot <= job.count; j += kLot) {
    bool any = false;
    for (uint32_t k = 0; k < kLot; ++k) any |= std::popcount(value ^ values[j + k]) <= most;
    if (any) break;
  }
  while (j < job.count && std::popcount(value ^ values[j]) > most) ++j;
  return j;
}

inline NeardupGpuStatus search_create(const NeardupGpuOptions*, NeardupGpuSearch** search, char* error, uint32_t size) {
  *search = nullptr;
  ++searches;
  say(error, size, "");
  if (behaviour == Behaviour::create_fails) {
    say(error, size, "no GPU is usable: self_check failed");
    return NEARDUP_GPU_NO_DEVICE;
  }
  ++open;
  *search = reinterpret_cast<NeardupGpuSearch*>(new Search);
  return NEARDUP_GPU_OK;
}

inline NeardupGpuStatus search_start(NeardupGpuSearch* handle, const NeardupGpuJob* job, char* error, uint32_t size) {
  auto* search = reinterpret_cast<Search*>(handle);
  say(error, size, "");
  if (behaviour == Behaviour::memory_once && searches == 1) {
    say(error, size, "cudaMalloc failed: out of memory (cudaErrorMemoryAllocation, search.cu:1)");
    return NEARDUP_GPU_OUT_OF_MEMORY;
  }
  if (behaviour == Behaviour::never_ends) return NEARDUP_GPU_OK;
  const bool ctph = job->kind == NEARDUP_GPU_CTPH;
  const bool simhash = job->kind == NEARDUP_GPU_SIMHASH;
  for (uint32_t i = 0; i < job->count; ++i) {
    for (uint32_t j = i + 1; j < job->count; ++j) {
      if (simhash) j = next_near(*job, i, j);
      if (j == job->count) break;
      uint32_t a = i, b = j;
      bool across = i < job->count_a && j >= job->count_a;
      if (ctph) {
        across = (job->parts[i].list ^ job->parts[j].list) & 1;
        a = job->parts[i].row;
        b = job->parts[j].row;
        if (a > b) std::swap(a, b);
      }
      if (job->two_sets != 0 && !across) continue;
      const uint32_t value = pair_value(*job, i, j);
      if (value != UINT32_MAX) search->pairs.push_back({a, b, value});
    }
  }
  // In no order that anyone may count on.
  std::reverse(search->pairs.begin(), search->pairs.end());
  search->stats.found = search->pairs.size();
  search->stats.devices = 1;
  return NEARDUP_GPU_OK;
}

inline NeardupGpuStatus search_step(NeardupGpuSearch* handle, NeardupGpuPair* pairs, uint32_t max, uint32_t* count,
                                    double* done, char* error, uint32_t size) {
  auto* search = reinterpret_cast<Search*>(handle);
  say(error, size, "");
  *count = 0;
  *done = 0;
  if (behaviour == Behaviour::never_ends) return NEARDUP_GPU_OK;
  if (behaviour == Behaviour::lost && ++search->steps == 3) {
    say(error, size, "cudaStreamSynchronize failed: GPU is lost \xe2\x80\x94 (search.cu:2)");
    return NEARDUP_GPU_DEVICE_ERROR;
  }
  // A few at a time, so that there are several steps.
  const size_t left = search->pairs.size() - search->given;
  const auto n = static_cast<uint32_t>(std::min<size_t>({left, max, 1 + search->pairs.size() / 5}));
  std::copy_n(search->pairs.data() + search->given, n, pairs);
  search->given += n;
  *count = n;
  *done = left > n || behaviour == Behaviour::lost ? 0.5 : 1;
  return NEARDUP_GPU_OK;
}

inline void search_stats(const NeardupGpuSearch* handle, NeardupGpuStats* stats) {
  *stats = reinterpret_cast<const Search*>(handle)->stats;
}

inline void search_destroy(NeardupGpuSearch* handle) {
  if (handle == nullptr) return;
  --open;
  delete reinterpret_cast<Search*>(handle);
}

}  // namespace neardup::fake
