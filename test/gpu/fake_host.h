// A host of the GPU module's doubles: counts how often it was opened, keeps the last reason for falling back, and sees
// whether signals are blocked.
#pragma once

#include <signal.h>
#include <string>

#include "gpu/neardup_gpu.h"

namespace neardup::fake {

inline int opened = 0;
inline std::string last_reason;

inline bool signals_blocked_now() {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGUSR1) == 1;
}

inline const NeardupGpuApi* open_nothing(const char** reason) {
  ++opened;
  *reason = "the GPU module is not installed";
  return nullptr;
}

inline void fell_back(const char* reason) { last_reason = reason; }

}  // namespace neardup::fake
