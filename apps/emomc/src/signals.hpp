// SIGINT and SIGTERM: the first asks for a stop, the second ends the process.
#pragma once

#include <stdexcept>

namespace emomc::app {

/// From here on a first signal only sets stop_requested, so that the work can end in order; a second one ends
/// the process at once.
void stop_on_signals();
/// From here on a signal ends the process at once: nothing is left to be saved.
void leave_on_signals();

bool stop_requested();
/// 128 + the signal's number.
int signal_exit_code();

/// Thrown where a signal stops work that has nothing to save; the message says so.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace emomc::app
