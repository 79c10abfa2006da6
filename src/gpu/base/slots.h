// Slots of work: each has a stream, and pinned memory that copies on it come from and go to.
#pragma once

#include <chrono>

#include "core/base/error.h"

namespace neardup::gpu {

inline double milliseconds() noexcept {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// Waits for what is under way on all of them, before their memory goes: nothing says that freeing pinned memory waits
// for copies.
template <class Slots>
void finish_copies(Slots& slots) noexcept {
  for (auto& slot : slots) {
    try {
      slot->device->gpu->use();
      slot->device->gpu->wait(*slot->stream);
    } catch (const Error&) {
      // A lost device does nothing more.
    }
  }
}

}  // namespace neardup::gpu
