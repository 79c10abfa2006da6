// SIGINT and SIGTERM: remembered, and passed on to the server as a cancel request.
#include "cli/interrupt.h"

#include <csignal>
#include <unistd.h>

namespace neardup::cli {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
PGcancel* volatile cancel_request = nullptr;

// PQcancel is documented as safe to call from a signal handler.
extern "C" void on_signal(int signal) {
  if (caught_signal != 0) _exit(128 + signal);
  caught_signal = signal;
  if (PGcancel* request = cancel_request) {
    char error[256];
    PQcancel(request, error, sizeof error);
  }
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void set_interrupt_connection(PGconn* conn) {
  PGcancel* old = cancel_request;
  cancel_request = conn != nullptr ? PQgetCancel(conn) : nullptr;
  if (old != nullptr) PQfreeCancel(old);
}

int interrupt_signal() noexcept { return caught_signal; }

void check_interrupt() {
  if (caught_signal != 0) throw Interrupted{caught_signal};
}

}  // namespace neardup::cli
