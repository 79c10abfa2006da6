// The memory of a device that searches may take, and what they do where it does not suffice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace neardup::gpu {

// Device memory does not suffice, not even for the smallest pieces.
class NoMemory : public Error {
 public:
  explicit NoMemory(const std::string& message) : Error(Errc::device, message) {}
};

// Pairs that a piece of work may find.
constexpr uint32_t kMaxRoom = 1 << 20;
constexpr uint32_t kLeastRoom = 1 << 10;

// The room for pairs of so many bytes that fits in `limit`; no more than the most pairs that there can be need.
constexpr uint32_t fitting_room(uint64_t most_pairs, uint64_t pair_bytes, uint64_t limit) noexcept {
  uint32_t room = kMaxRoom;
  while (room > kLeastRoom && (room / 2 >= most_pairs || pair_bytes * room > limit)) room /= 2;
  return room;
}

// allocate(limit, &planned): takes device memory within ever less; drop() frees what it has taken when it fails. Memory
// that is free may be in pieces, or gone meanwhile. planned: the bytes that were to be taken.
template <class Gpu, class Allocate, class Drop>
void allocate_within(uint64_t limit, uint64_t least, Allocate allocate, Drop drop) {
  for (;;) {
    uint64_t planned = limit;
    try {
      return allocate(limit, &planned);
    } catch (const Error& e) {
      if (!Gpu::out_of_memory(e)) throw;
      drop();
      limit = std::min(planned, limit) / 2;
      if (limit < least) throw NoMemory(e.what());
    }
  }
}

// The share of so many free bytes that a search leaves to others.
constexpr uint64_t memory_reserve(uint64_t free) noexcept {
  return std::min(free, std::max<uint64_t>(uint64_t{256} << 20, free / 20));
}

}  // namespace neardup::gpu
