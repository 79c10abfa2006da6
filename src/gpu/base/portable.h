// The language of kernels: code that nvcc compiles for the device, and any C++17 compiler for tests on the host.
//
// A kernel is a plain struct with its arguments and a template operator()(Block&). It reaches its threads through
// Block::each(f), which calls f(thread) for every thread of the block and ends in a barrier; what a thread must
// remember from one each() to the next lies in Block::PerThread. On the device each() calls f once, for the own thread;
// on the host a loop calls it for all, one after the other, or for races to be seen several do (test/gpu/host_gpu.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/hash.h"

// Stands before a loop of a constant number of rounds.
#ifdef __CUDA_ARCH__
#define NEARDUP_UNROLL _Pragma("unroll")
#else
#define NEARDUP_UNROLL
#endif

namespace neardup::gpu {

NEARDUP_HD inline uint32_t popcount(uint64_t v) noexcept {
#ifdef __CUDA_ARCH__
  return static_cast<uint32_t>(__popcll(v));
#else
  return static_cast<uint32_t>(__builtin_popcountll(v));
#endif
}

NEARDUP_HD inline uint32_t least(uint32_t a, uint32_t b) noexcept { return a < b ? a : b; }
NEARDUP_HD inline uint32_t greatest(uint32_t a, uint32_t b) noexcept { return a < b ? b : a; }

// n >= 1 low bits, at most 64.
NEARDUP_HD inline uint64_t low_bits(uint32_t n) noexcept { return ~uint64_t{0} >> (64 - n); }

// Adds to a counter that all threads share; returns what it was.
NEARDUP_HD inline uint32_t add_to(uint32_t* counter, uint32_t n) noexcept {
#ifdef __CUDA_ARCH__
  return atomicAdd(counter, n);
#else
  return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
#endif
}
NEARDUP_HD inline void add_to(uint64_t* counter, uint64_t n) noexcept {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), n);
#else
  __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
#endif
}

// Takes 1 from a counter that all threads share; returns what is left.
NEARDUP_HD inline uint64_t decrement(uint64_t* counter) noexcept {
#ifdef __CUDA_ARCH__
  return atomicAdd(reinterpret_cast<unsigned long long*>(counter), ~0ull) - 1;
#else
  return __atomic_sub_fetch(counter, uint64_t{1}, __ATOMIC_RELAXED);
#endif
}

NEARDUP_HD inline uint32_t float_bits(float v) noexcept {
#ifdef __CUDA_ARCH__
  return __float_as_uint(v);
#else
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
#endif
}
NEARDUP_HD inline float float_from_bits(uint32_t bits) noexcept {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
#endif
}

// Where threads leave what they find. *count goes on beyond room: then some is missing, and known to be.
template <class T>
struct List {
  T* items;
  uint32_t* count;
  uint32_t room;
};

// The threads of a warp that come here together take their places by one atomic operation.
template <class T>
NEARDUP_HD void append(const List<T>& list, const T& item) noexcept {
#ifdef __CUDA_ARCH__
  const unsigned together = __activemask();
  const int first = __ffs(static_cast<int>(together)) - 1;
  const unsigned lane = threadIdx.x % 32;
  uint32_t at = 0;
  if (static_cast<int>(lane) == first) at = atomicAdd(list.count, static_cast<uint32_t>(__popc(together)));
  at = __shfl_sync(together, at, first) + static_cast<uint32_t>(__popc(together & ((1u << lane) - 1)));
#else
  const uint32_t at = add_to(list.count, 1);
#endif
  if (at < list.room) list.items[at] = item;
}

// A pair as it leaves the device: the same as NeardupGpuPair.
struct Pair {
  uint32_t a;
  uint32_t b;
  uint32_t value;
};

// Rows of a slab against rows of the same or another one, by positions in them.
struct Tile {
  uint32_t x_first, x_count;
  uint32_t y_first, y_count;
  bool self;  // both are of one list and one slab: only pairs with y behind x
};

// 16 bytes that are loaded at once.
struct alignas(16) Four {
  uint32_t v[4];
};

}  // namespace neardup::gpu
