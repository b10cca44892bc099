// Shows the progress of work: on a terminal as one line that is redrawn, elsewhere as a line every few
// seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc::app {

enum class Verbosity { quiet, normal, verbose };

class ProgressLine {
 public:
  explicit ProgressLine(Verbosity verbosity);
  /// Sets whether the run may end long before its last step. The line then shows neither the finished share
  /// nor the remaining time.
  void expect_at_most(bool at_most) { at_most_ = at_most; }
  void show(const Progress& progress);
  /// Ends the redrawn line, so that later output begins on a new line.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  Verbosity verbosity_;
  bool terminal_;
  bool drawn_ = false, at_most_ = false;
  Clock::time_point last_{};
};

/// Shows how many items are done: on a terminal as one line that is redrawn, elsewhere as a line every few
/// seconds.
class CountLine {
 public:
  CountLine(std::string what, std::size_t all, Verbosity verbosity);
  /// Any thread may call this function.
  void add(std::size_t count = 1);
  /// Ends the redrawn line, so that later output begins on a new line.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::size_t all_, done_ = 0;
  bool shown_, terminal_, drawn_ = false;
  Clock::time_point last_;
  std::mutex mutex_;
};

/// Returns a function that shows the number of recordings whose features are computed, on a CountLine.
std::function<void(std::size_t done, std::size_t all)> show_recordings(Verbosity verbosity);

/// Returns a text such as "1 h 02 min" or "3.4 s".
std::string duration_text(double seconds);

}  // namespace emomc::app
