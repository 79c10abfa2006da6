// A GPU module's comparisons of words without a GPU: every pair is compared, and told is what must be told and nothing
// else. Fails in the ways of fake_search.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/neardup_gpu.h"

#include "test/gpu/fake_search.h"

namespace neardup::fake {

struct Words {
  NeardupGpuWordBlock block = {};
  std::vector<NeardupGpuPair> pairs;
  size_t given = 0;
  unsigned steps = 0;  // of the probe
  NeardupGpuWordStats stats = {};
};

// Probes so far in the process, and the latest options.
inline int probes = 0;
inline NeardupGpuOptions word_options = {};

// The sum over common features of both values, by going through both rows.
inline uint32_t sum_common_values(const NeardupGpuWordRows& a, uint32_t i, const NeardupGpuWordRows& b, uint32_t j) {
  uint32_t sum = 0;
  uint64_t x = a.begin[i], y = b.begin[j];
  while (x < a.begin[i + 1] && y < b.begin[j + 1]) {
    if (a.features[x] == b.features[y]) sum += uint32_t{a.values[x]} + b.values[y];
    const bool next_x = a.features[x] <= b.features[y];
    const bool next_y = b.features[y] <= a.features[x];
    x += next_x;
    y += next_y;
  }
  return sum;
}

inline double pair_similarity(const NeardupGpuPair& p, const uint32_t* weights) {
  return double(p.value) / (double(weights[p.a]) + weights[p.b]);
}

// All pairs above 0 of the rows and the block, b behind a.
inline std::vector<NeardupGpuPair> word_pairs(const NeardupGpuWordRows& rows, const NeardupGpuWordRows& block) {
  std::vector<NeardupGpuPair> out;
  for (uint32_t i = 0; i < rows.rows; ++i) {
    for (uint32_t j = 0; j < block.rows; ++j) {
      if (block.first + j <= rows.first + i) continue;
      const uint32_t value = sum_common_values(rows, i, block, j);
      if (value != 0) out.push_back({rows.first + i, block.first + j, value});
    }
  }
  return out;
}

// The pairs among these that a probe must report.
inline std::vector<NeardupGpuPair> wanted_pairs(const std::vector<NeardupGpuPair>& all, const uint32_t* weights,
                                                uint32_t words, uint32_t k, const float* least) {
  std::vector<std::vector<double>> first_lists(words), second_lists(words);
  for (const NeardupGpuPair& p : all) {
    first_lists[p.a].push_back(pair_similarity(p, weights));
    second_lists[p.b].push_back(pair_similarity(p, weights));
  }
  // The similarity of the k-th.
  for (auto* lists : {&first_lists, &second_lists}) {
    for (std::vector<double>& list : *lists) {
      std::sort(list.begin(), list.end(), std::greater<>());
      list.resize(k < list.size() ? k : list.size());
      if (list.size() < k) list.push_back(0);
    }
  }
  std::vector<NeardupGpuPair> out;
  for (const NeardupGpuPair& p : all) {
    const double s = pair_similarity(p, weights);
    if ((s >= first_lists[p.a].back() && s >= double(least[p.a])) ||
        (s >= second_lists[p.b].back() && s >= double(least[p.b])))
      out.push_back(p);
  }
  return out;
}

inline NeardupGpuStatus words_create(const NeardupGpuOptions* options, NeardupGpuWords** words, char* error,
                                     uint32_t size) {
  *words = nullptr;
  ++searches;
  word_options = *options;
  say(error, size, "");
  if (behaviour == Behaviour::create_fails) {
    say(error, size, "no GPU is usable: self_check failed");
    return NEARDUP_GPU_NO_DEVICE;
  }
  ++open;
  *words = reinterpret_cast<NeardupGpuWords*>(new Words);
  return NEARDUP_GPU_OK;
}

inline NeardupGpuStatus words_begin(NeardupGpuWords* handle, const NeardupGpuWordBlock* block, char* error,
                                    uint32_t size) {
  say(error, size, "");
  if (behaviour == Behaviour::memory_once && searches == 1) {
    say(error, size, "cudaMalloc failed: out of memory (cudaErrorMemoryAllocation, words.cu:1)");
    return NEARDUP_GPU_OUT_OF_MEMORY;
  }
  reinterpret_cast<Words*>(handle)->block = *block;
  return NEARDUP_GPU_OK;
}

inline NeardupGpuStatus words_probe(NeardupGpuWords* handle, const NeardupGpuWordRows* rows, const float* least,
                                    char* error, uint32_t size) {
  auto* words = reinterpret_cast<Words*>(handle);
  say(error, size, "");
  ++probes;
  if (behaviour == Behaviour::never_ends) return NEARDUP_GPU_OK;
  const NeardupGpuWordBlock& b = words->block;
  words->pairs = wanted_pairs(word_pairs(*rows, b.rows), b.weights, b.words, b.k, least);
  words->given = words->steps = 0;
  words->stats.told += words->pairs.size();
  words->stats.devices = 1;
  // In no order that anyone may count on.
  std::reverse(words->pairs.begin(), words->pairs.end());
  return NEARDUP_GPU_OK;
}

inline NeardupGpuStatus words_step(NeardupGpuWords* handle, NeardupGpuPair* pairs, uint32_t max, uint32_t* count,
                                   double* done, char* error, uint32_t size) {
  auto* words = reinterpret_cast<Words*>(handle);
  say(error, size, "");
  *count = 0;
  *done = 0;
  if (behaviour == Behaviour::never_ends) return NEARDUP_GPU_OK;
  const size_t left = words->pairs.size() - words->given;
  // In the second probe, when some pairs have been given, if there are any.
  if (behaviour == Behaviour::lost && probes > 1 && ++words->steps == 2) {
    say(error, size, "cudaStreamSynchronize failed: GPU is lost \xe2\x80\x94 (words.cu:2)");
    return NEARDUP_GPU_DEVICE_ERROR;
  }
  // A few at a time, so that there are several steps.
  const auto n = static_cast<uint32_t>(std::min<size_t>({left, max, 1 + words->pairs.size() / 3}));
  std::copy_n(words->pairs.data() + words->given, n, pairs);
  words->given += n;
  *count = n;
  *done = left > n || (behaviour == Behaviour::lost && probes > 1) ? 0.5 : 1;
  return NEARDUP_GPU_OK;
}

inline void words_stats(const NeardupGpuWords* handle, NeardupGpuWordStats* stats) {
  *stats = reinterpret_cast<const Words*>(handle)->stats;
}

inline void words_destroy(NeardupGpuWords* handle) {
  if (handle == nullptr) return;
  --open;
  delete reinterpret_cast<Words*>(handle);
}

}  // namespace neardup::fake
