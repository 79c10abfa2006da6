// SIGINT and SIGTERM: remembered, and passed on to who waits for something.
#pragma once

namespace neardup::cli {

// Thrown by check_interrupt(); main() turns it into exit code 128 + signal.
struct Interrupted {
  int signal;
};

// Catch SIGINT and SIGTERM from here on. A second signal ends the process at once.
void install_interrupt_handlers();

// What a signal calls besides, within its handler; null for nothing.
void set_interrupt_action(void (*action)()) noexcept;

// The signal that came, or 0.
int interrupt_signal() noexcept;

// Throws Interrupted when a signal came.
void check_interrupt();

}  // namespace neardup::cli
