// "Has someone asked us to stop?" for loops that may run longer than 10 ms, and "how far are you?" for those who wait.
#pragma once

#include <cstdint>

#include "core/base/error.h"

namespace neardup {

// should_stop() is noexcept, cheap (a flag) and is called from the thread that entered the core
// every few thousand steps at most 10 ms apart. An implementation may serve its host's other interrupts in it.
class StopCheck {
 public:
  virtual bool should_stop() noexcept { return false; }

  // Report progress: steps() the finished steps of all, parts() the parts of the current step. Called from the thread
  // that entered the core, at most some thousand times a second.
  virtual void steps(uint64_t /* done */, uint64_t /* total */) noexcept {}
  virtual void parts(uint64_t /* done */, uint64_t /* total */) noexcept {}

  // Throws Error{cancelled} when it is time to stop.
  void poll() {
    if (should_stop()) throw Error(Errc::cancelled, "cancelled");
  }

 protected:
  ~StopCheck() = default;
};

}  // namespace neardup
