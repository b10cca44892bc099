#include "frame_plan.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include "setting_error.hpp"

namespace emomc {
namespace {

constexpr int kMostSamples = 1 << 20;
constexpr std::size_t kMostCosines = std::size_t{1} << 24;  // num_filters x num_coefficients
constexpr double kHighestRate = 1e7;

template <class T>
void require(bool allowed, const char* name, const T& value, const std::string& what) {
  if (!allowed) throw setting_error(name, value, what);
}

std::string text(double value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

// A length in samples: given directly, or computed from milliseconds and rounded, halves up.
std::size_t length(const char* name, double ms, const char* samples_name, int samples, double sample_rate,
                   int least) {
  const std::string allowed = std::to_string(least) + " to " + std::to_string(kMostSamples) + " samples";
  if (samples != 0) {
    require(samples >= least && samples <= kMostSamples, samples_name, samples, allowed + ", or 0");
    return static_cast<std::size_t>(samples);
  }
  const double rounded = std::floor(ms * sample_rate / 1000 + 0.5);
  require(rounded >= least && rounded <= kMostSamples, name, ms,
          allowed + " of the " + text(sample_rate) + " a second");
  return static_cast<std::size_t>(rounded);
}

void check_filters(const MfccSettings& s, double sample_rate, std::size_t fft_size) {
  const auto most_filters = static_cast<int>(fft_size / 2);
  require(s.num_filters >= 1 && s.num_filters <= most_filters, "num_filters", s.num_filters,
          "1 to " + std::to_string(most_filters) + ", half the fft_size");
  require(s.high_hz >= 0 && s.high_hz <= sample_rate / 2, "high_hz", s.high_hz,
          "up to half the sample rate, " + text(sample_rate / 2) + ", or 0 for that");
  const double high_hz = s.high_hz > 0 ? s.high_hz : sample_rate / 2;
  require(s.low_hz >= 0 && s.low_hz < high_hz, "low_hz", s.low_hz, "from 0, below high_hz, " + text(high_hz));
}

void check_cepstrum(const MfccSettings& s) {
  require(s.log_floor > 0 && std::isfinite(s.log_floor), "log_floor", s.log_floor, "above 0");
  require(s.top_db >= 0 && std::isfinite(s.top_db), "top_db", s.top_db, "0 (none) or above");
  require(s.top_db == 0 || s.log == LogKind::decibel, "top_db", s.top_db, "0 where log is not decibel");
  require(s.num_coefficients >= 1 && s.num_coefficients <= s.num_filters, "num_coefficients",
          s.num_coefficients, "1 to num_filters, " + std::to_string(s.num_filters));
  const auto most_coefficients = static_cast<int>(kMostCosines / static_cast<std::size_t>(s.num_filters));
  require(s.num_coefficients <= most_coefficients, "num_coefficients", s.num_coefficients,
          "up to " + std::to_string(most_coefficients) + " of so many filters");
  require(s.lifter >= 0 && std::isfinite(s.lifter), "lifter", s.lifter, "0 (none) or above");
  for (int n = 1; n < s.num_coefficients && s.lifter > 0; ++n)
    require(std::abs(1 + s.lifter / 2 * std::sin(std::numbers::pi * n / s.lifter)) > 1e-9, "lifter", s.lifter,
            "one that leaves coefficient " + std::to_string(n) + " different from 0");
}

}  // namespace

std::size_t FramePlan::num_frames(std::size_t num_samples) const {
  if (num_samples == 0) return 0;
  if (framing == Framing::centred) return 1 + num_samples / hop;
  if (num_samples < window) return framing == Framing::pad_last ? 1 : 0;
  const std::size_t rest = num_samples - window;
  return 1 + (framing == Framing::pad_last ? (rest + hop - 1) / hop : rest / hop);
}

std::ptrdiff_t FramePlan::start(std::size_t frame) const {
  const auto at = static_cast<std::ptrdiff_t>(frame * hop);
  return framing == Framing::centred ? at - static_cast<std::ptrdiff_t>((window + 1) / 2) : at;
}

FramePlan plan_frames(const MfccSettings& settings, double sample_rate) {
  require(sample_rate > 0 && sample_rate <= kHighestRate, "sample_rate", sample_rate,
          "above 0, up to " + text(kHighestRate) + " Hz");
  FramePlan plan{settings.framing, 0, 0, 0};
  plan.window =
      length("window_ms", settings.window_ms, "window_samples", settings.window_samples, sample_rate, 2);
  plan.hop = length("hop_ms", settings.hop_ms, "hop_samples", settings.hop_samples, sample_rate, 1);
  require(settings.preemphasis >= 0 && settings.preemphasis <= 1, "preemphasis", settings.preemphasis,
          "0 to 1");
  const int fft_size = settings.fft_size;
  require(fft_size == 0 || (fft_size >= static_cast<int>(plan.window) && fft_size <= kMostSamples),
          "fft_size", fft_size,
          "the window's " + std::to_string(plan.window) + " samples to " + std::to_string(kMostSamples) +
              ", or 0 for the next power of two");
  plan.fft_size = fft_size > 0 ? static_cast<std::size_t>(fft_size) : std::bit_ceil(plan.window);
  check_filters(settings, sample_rate, plan.fft_size);
  check_cepstrum(settings);
  return plan;
}

}  // namespace emomc
