// Slots of work on a Gpu: each has a stream, memory through which rows go to the device, and pairs come back.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "gpu/base/portable.h"
#include "gpu/neardup_gpu.h"

namespace neardup::gpu {

inline double milliseconds() noexcept {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// The size of the work that is done at once, neither too short nor too long: the caller looks for a cancel in between.
struct WorkSize {
  uint64_t size;
  uint64_t least;
  uint64_t most;
  double short_ms;
  double long_ms;

  void took(double ms) noexcept {
    if (ms < short_ms) size = std::min(most, size * 2);
    if (ms > long_ms) size = std::max(least, size / 2);
  }
};

// The slots of a search derive from this; they have a device, and a state that can be idle or running.
template <class Gpu>
struct SlotMemory {
  std::unique_ptr<typename Gpu::Stream> stream;
  std::unique_ptr<typename Gpu::Event> event;
  typename Gpu::template Buffer<Pair> found;
  typename Gpu::template Pinned<NeardupGpuPair> out;
  typename Gpu::template Pinned<uint8_t> staging[2];
  std::unique_ptr<typename Gpu::Event> staged[2];
  uint32_t next_staging = 0;
  double launched = 0;

  // room: pairs that a piece of work may find.
  void allocate(Gpu& gpu, uint32_t room, uint64_t staging_bytes) {
    stream = std::make_unique<typename Gpu::Stream>(gpu);
    event = std::make_unique<typename Gpu::Event>(gpu);
    found = typename Gpu::template Buffer<Pair>(gpu, room);
    out = typename Gpu::template Pinned<NeardupGpuPair>(gpu, room);
    for (int k = 0; k < 2; ++k) {
      staging[k] = typename Gpu::template Pinned<uint8_t>(gpu, staging_bytes);
      staged[k] = std::make_unique<typename Gpu::Event>(gpu);
    }
  }
  // Copies the bytes that fill(to) writes to the device; false: earlier copies are under way.
  template <class Fill>
  bool copy_in(Gpu& gpu, uint8_t* to, size_t bytes, Fill fill) {
    const uint32_t which = next_staging;
    if (!gpu.done(*staged[which])) return false;
    fill(staging[which].data());
    gpu.copy_in(*stream, to, staging[which].data(), bytes);
    gpu.record(*staged[which], *stream);
    next_staging = 1 - which;
    return true;
  }
};

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

// Pairs that slots have found, on their way to the caller.
class FoundPairs {
 public:
  void clear() noexcept {
    pairs_.clear();
    given_ = 0;
  }

  // One step of a search: moves slots until there are pairs, until nothing moves, or for kStepMs; then gives at most
  // `max` pairs. advance(slot): one move; false when the slot must wait, or has nothing to do. *busy: true if there are
  // more pairs, or slots at work.
  template <class Slots, class Advance>
  uint32_t step(Slots& slots, NeardupGpuPair* pairs, uint32_t max, bool* busy, Advance advance) {
    const double began = milliseconds();
    for (;;) {
      bool moved = false;
      *busy = false;
      for (auto& slot : slots) {
        using State = decltype(slot->state);
        // Work goes on while what is ready is given away; what comes of it waits.
        if (slot->state != State::running || waiting() < max) {
          slot->device->gpu->use();
          moved |= advance(*slot);
        }
        *busy |= slot->state != State::idle;
      }
      if (waiting() != 0 || (!*busy && !moved) || milliseconds() - began > kStepMs) break;
      if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    const size_t n = std::min<size_t>(max, waiting());
    std::copy_n(pairs_.begin() + given_, n, pairs);
    given_ += static_cast<std::ptrdiff_t>(n);
    // Given pairs go before they are most of the memory.
    if (2 * static_cast<size_t>(given_) >= pairs_.size()) {
      pairs_.erase(pairs_.begin(), pairs_.begin() + given_);
      given_ = 0;
    }
    *busy |= waiting() != 0;
    return static_cast<uint32_t>(n);
  }

  // The n pairs that a piece of the slot's work has found.
  template <class Slot>
  void fetch(Slot& slot, uint32_t n) {
    if (n == 0) return;
    auto& gpu = *slot.device->gpu;
    gpu.copy_out(*slot.stream, slot.out.data(), slot.found.data(), n * sizeof(Pair));
    gpu.wait(*slot.stream);
    pairs_.insert(pairs_.end(), slot.out.data(), slot.out.data() + n);
  }

 private:
  static constexpr double kStepMs = 20;

  size_t waiting() const noexcept { return pairs_.size() - static_cast<size_t>(given_); }

  std::vector<NeardupGpuPair> pairs_;
  std::ptrdiff_t given_ = 0;
};

}  // namespace neardup::gpu
