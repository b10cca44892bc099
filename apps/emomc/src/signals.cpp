#include "signals.hpp"

#include <csignal>
#include <cstdlib>

namespace emomc::app {
namespace {

volatile std::sig_atomic_t g_signal = 0, g_leave = 0;

void on_signal(int signal) {
  if (g_signal != 0 || g_leave != 0) std::_Exit(128 + signal);
  g_signal = signal;
}

}  // namespace

void stop_on_signals() {
  g_leave = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void leave_on_signals() { g_leave = 1; }
bool stop_requested() { return g_signal != 0; }
int signal_exit_code() { return 128 + (g_signal != 0 ? static_cast<int>(g_signal) : SIGTERM); }

}  // namespace emomc::app
