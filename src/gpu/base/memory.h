// What searches may take of a device's memory, and what they say when it does not suffice.
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

// What of so many free bytes a search leaves to others.
constexpr uint64_t memory_reserve(uint64_t free) noexcept {
  return std::min(free, std::max<uint64_t>(uint64_t{256} << 20, free / 20));
}

}  // namespace neardup::gpu
