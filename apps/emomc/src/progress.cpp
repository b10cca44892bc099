#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace emomc::app {

ProgressLine::ProgressLine(Verbosity verbosity)
    : verbosity_(verbosity), terminal_(::isatty(STDERR_FILENO) != 0) {}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::lround(seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 5) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
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
  std::string text = fmt::format("{:3.0f} %  {}  step {} of {}, acceptance {:.3f}, {} left", 100 * share,
                                 phase, p.step, p.num_steps, p.mean_acceptance, duration_text(left));
  if (at_most_)
    text = fmt::format("{}  step {} of {}{}, acceptance {:.3f}, {} so far", phase, p.step,
                       p.step <= p.warmup ? "" : "at most ", p.step <= p.warmup ? p.warmup : p.num_steps,
                       p.mean_acceptance, duration_text(p.seconds));
  if (terminal_ && at_most_) {
    std::fputs(fmt::format("\r{}\033[K", text).c_str(), stderr);
    drawn_ = true;
  } else if (terminal_) {
    constexpr int width = 20;
    const int full = static_cast<int>(share * width);
    const std::string bar = std::string(static_cast<std::size_t>(full), '#') +
                            std::string(static_cast<std::size_t>(width - full), '.');
    std::fputs(fmt::format("\r[{}] {}\033[K", bar, text).c_str(), stderr);
    drawn_ = true;
  } else {
    std::fputs((text + "\n").c_str(), stderr);
  }
  std::fflush(stderr);
}

void ProgressLine::end() {
  if (drawn_) std::fputs("\n", stderr);
  drawn_ = false;
}

}  // namespace emomc::app
