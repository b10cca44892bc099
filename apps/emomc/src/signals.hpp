// Handles SIGINT and SIGTERM: the first signal requests a stop, the second ends the process.
#pragma once

#include <stdexcept>

namespace emomc::app {

/// After this call, a first signal only makes stop_requested() true, so that work can end in order, and a
/// second one ends the process at once. An earlier signal, which came during preparation, still counts.
void stop_on_signals();
/// After this call, a signal ends the process at once, since nothing is left to be saved.
void leave_on_signals();

bool stop_requested();
/// Returns 128 plus the number of the signal, or plus that of SIGTERM if only another rank received a signal.
int signal_exit_code();

/// Thrown if a signal stops work that has nothing to save; the message says that.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace emomc::app
