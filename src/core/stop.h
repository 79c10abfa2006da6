// "Has someone asked us to stop?" for loops that may run longer than 10 ms.
#pragma once

#include "core/error.h"

namespace neardup {

// should_stop() is noexcept, cheap (a flag) and is called from the thread that entered the core
// every few thousand steps at most 10 ms apart. An implementation may serve its host's other interrupts in it.
class StopCheck {
 public:
  virtual bool should_stop() noexcept { return false; }

  // Throws Error{cancelled} when it is time to stop.
  void poll() {
    if (should_stop()) throw Error(Errc::cancelled, "cancelled");
  }

 protected:
  ~StopCheck() = default;
};

}  // namespace neardup
