// SIGINT and SIGTERM: remembered, and passed on to a function that the program sets.
#pragma once

#include <functional>

namespace neardup::cli {

// Thrown by check_interrupt(); main() turns it into exit code 128 + signal.
struct Interrupted {
  int signal;
};

// Catch SIGINT and SIGTERM from here on. A second signal ends the process at once.
void install_interrupt_handlers();

// Sets the function that the signal handler calls, which must be safe to call there; null: none.
void set_interrupt_action(void (*action)()) noexcept;

// The signal that came, or 0.
int interrupt_signal() noexcept;

// Throws Interrupted when a signal came.
void check_interrupt();

// Runs work() and returns its exit code. Where a signal stops it, says so and what is left: "; nothing was written".
int run_until_signal(const char* subcommand, const char* left, const std::function<int()>& work);

}  // namespace neardup::cli
