// Calls that start threads which are not ours.
#pragma once

#include <signal.h>

namespace neardup {

// The driver starts threads, and a thread keeps the signal mask of the one that started it. With all signals
// blocked here, PostgreSQL's go on being delivered to the backend's own thread and to no other.
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
