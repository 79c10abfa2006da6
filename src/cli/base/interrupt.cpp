// SIGINT and SIGTERM: remembered, and passed on to a function that the program sets.
#include "cli/base/interrupt.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace neardup::cli {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
void (*volatile interrupt_action)() = nullptr;

extern "C" void on_signal(int signal) {
  if (caught_signal != 0) _exit(128 + signal);
  caught_signal = signal;
  if (void (*const action)() = interrupt_action) action();
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void set_interrupt_action(void (*action)()) noexcept { interrupt_action = action; }

int interrupt_signal() noexcept { return caught_signal; }

void check_interrupt() {
  if (caught_signal != 0) throw Interrupted{caught_signal};
}

int run_until_signal(const char* subcommand, const char* left, const std::function<int()>& work) {
  try {
    return work();
  } catch (const Interrupted& interrupted) {
    std::fprintf(stderr, "neardup %s: stopped%s\n", subcommand, left);
    return 128 + interrupted.signal;
  }
}

}  // namespace neardup::cli
