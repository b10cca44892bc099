#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "emomc/posterior/text_table.hpp"

namespace emomc::app {

ProgressLine::ProgressLine(Verbosity verbosity)
    : verbosity_(verbosity), terminal_(::isatty(STDERR_FILENO) != 0) {}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::lround(seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

void ProgressLine::show(const Progress& p) {
  if (verbosity_ == Verbosity::quiet) return;
  const auto now = Clock::now();
  const double pause = terminal_ ? 0.1 : 5.0;
  const bool last = p.step == p.num_steps;
  if (!last && std::chrono::duration<double>(now - last_).count() < pause) return;
  if (!terminal_ && last_ == Clock::time_point{} && !last) {  // the first line appears after a pause
    last_ = now;
    return;
  }
  last_ = now;
  const double share = p.num_steps > 0 ? static_cast<double>(p.step) / static_cast<double>(p.num_steps) : 1.0;
  const double left = share > 0 ? p.seconds * (1 - share) / share : 0;
  const std::string phase = p.step <= p.warmup ? "warm-up " : "sampling";
  // The last column stays free, because some terminals break a line that reaches it.
  const std::size_t width = terminal_width(STDERR_FILENO), room = width == kUnlimited ? width : width - 1;
  const std::string step =
      at_most_ ? fmt::format("{}  step {} of {}{}", phase, p.step, p.step <= p.warmup ? "" : "at most ",
                             p.step <= p.warmup ? p.warmup : p.num_steps)
               : fmt::format("{:3.0f} %  {}  step {} of {}", 100 * share, phase, p.step, p.num_steps);
  const std::string time = at_most_ ? duration_text(p.seconds) + " so far" : duration_text(left) + " left";
  const std::string brief =
      at_most_ ? fmt::format("{}  step {}", phase, p.step) : fmt::format("{:3.0f} %  {}", 100 * share, phase);
  const std::string text = fmt::format("{}, acceptance {:.3f}, {}", step, p.mean_acceptance, time);
  if (!terminal_) {
    std::fputs((text + "\n").c_str(), stderr);
  } else {
    constexpr int kBar = 20;
    const int full = static_cast<int>(share * kBar);
    const std::string bar = "[" + std::string(static_cast<std::size_t>(full), '#') +
                            std::string(static_cast<std::size_t>(kBar - full), '.') + "] ";
    // The longest candidate that fits is shown.
    std::string line;
    for (const std::string& candidate :
         {(at_most_ ? "" : bar) + text, text, step + ", " + time, step, brief}) {
      line = candidate;
      if (width_of(line) <= room) break;
    }
    std::fputs(("\r" + cut_to(line, room) + "\033[K").c_str(), stderr);
    drawn_ = true;
  }
  std::fflush(stderr);
}

void ProgressLine::end() {
  if (drawn_) std::fputs("\n", stderr);
  drawn_ = false;
}

CountLine::CountLine(std::string what, std::size_t all, Verbosity verbosity)
    : what_(std::move(what)),
      all_(all),
      shown_(verbosity != Verbosity::quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      last_(Clock::now()) {}

void CountLine::add(std::size_t count) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  const double pause = terminal_ ? 0.1 : 5.0;
  if (!shown_ || std::chrono::duration<double>(Clock::now() - last_).count() < pause) return;
  last_ = Clock::now();
  const std::string text = fmt::format("{}: {} of {}", what_, done_, all_);
  std::fputs(
      (terminal_ ? "\r" + cut_to(text, terminal_width(STDERR_FILENO) - 1) + "\033[K" : text + "\n").c_str(),
      stderr);
  drawn_ = terminal_;
}

void CountLine::end() {
  if (drawn_) std::fputs("\n", stderr);
  drawn_ = false;
}

std::function<void(std::size_t, std::size_t)> show_recordings(Verbosity verbosity) {
  return [verbosity, line = std::shared_ptr<CountLine>()](std::size_t done, std::size_t all) mutable {
    if (done == 0) line = std::make_shared<CountLine>("features", all, verbosity);
    if (done > 0) line->add();
    if (done == all) line->end();
  };
}

}  // namespace emomc::app
