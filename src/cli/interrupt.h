// SIGINT and SIGTERM: remembered, and passed on to the server as a cancel request.
#pragma once

#include <libpq-fe.h>

namespace neardup::cli {

// Thrown by check_interrupt(); main() turns it into exit code 128 + signal.
struct Interrupted {
  int signal;
};

// Catch SIGINT and SIGTERM from here on. A second signal ends the process at once.
void install_interrupt_handlers();

// The connection whose running statement a signal cancels; null to forget it. Call it before the connection closes.
void set_interrupt_connection(PGconn* conn);

// The signal that came, or 0.
int interrupt_signal() noexcept;

// Throws Interrupted when a signal came.
void check_interrupt();

}  // namespace neardup::cli
