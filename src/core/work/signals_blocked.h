// Blocks signals while threads are started.
#pragma once

#include <csignal>

namespace neardup {

// Threads keep the signal mask of the one that starts them: with all signals blocked while they start, the host's go on
// being delivered to its own thread and to no other.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace neardup
