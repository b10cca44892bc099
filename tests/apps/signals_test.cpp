#include "signals.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace emomc::app {
namespace {

// An evaluation handles signals from its preparation on, and its sampling calls stop_on_signals() once more.
// Each case runs in a process of its own, since the state of signals belongs to the process.
TEST(SignalsDeathTest, ASignalDuringPreparationStillStopsTheSampling) {
  EXPECT_EXIT(
      {
        stop_on_signals();
        std::raise(SIGINT);
        stop_on_signals();
        std::_Exit(stop_requested() ? signal_exit_code() : 0);
      },
      ::testing::ExitedWithCode(128 + SIGINT), "");
}

// The next seed of an evaluation begins after leave_on_signals() of the previous one.
TEST(SignalsDeathTest, SignalsAreHandledAgainAfterTheEndOfARun) {
  EXPECT_EXIT(
      {
        stop_on_signals();
        leave_on_signals();
        stop_on_signals();
        if (stop_requested()) std::_Exit(1);
        std::raise(SIGTERM);
        std::_Exit(stop_requested() ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace emomc::app
