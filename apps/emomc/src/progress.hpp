// Progress on a terminal as one line that is redrawn, elsewhere as a line every few seconds.
#pragma once

#include <chrono>
#include <string>

#include "emomc/sampler/run_chains.hpp"

namespace emomc::app {

enum class Verbosity { quiet, normal, verbose };

class ProgressLine {
 public:
  explicit ProgressLine(Verbosity verbosity);
  /// Whether the run may end long before its last step: neither a share nor a time left is shown of sampling.
  void expect_at_most(bool at_most) { at_most_ = at_most; }
  void show(const Progress& progress);
  /// Leaves the terminal on a line of its own.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  Verbosity verbosity_;
  bool terminal_;
  bool drawn_ = false, at_most_ = false;
  Clock::time_point last_{};
};

/// "2026-01-31T23:59:59Z".
std::string utc_now();
/// "1.5 MB".
std::string bytes_text(double bytes);
/// "1 h 02 min", "3.4 s".
std::string duration_text(double seconds);

}  // namespace emomc::app
