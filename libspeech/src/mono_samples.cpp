#include "mono_samples.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/speech/audio.hpp"

namespace emomc {
namespace {

// This is far above any audio sample, and a sum of squares of such values does not overflow.
constexpr double kLargestSample = 1e100;
// Floating-point recordings may exceed full scale, which is 1, a few times.
constexpr double kLargestFloat = 100;

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(name + ": " + why);
}

}  // namespace

MonoSamples::MonoSamples(std::string name, std::size_t num_channels)
    : name_(std::move(name)), num_channels_(num_channels) {}

void MonoSamples::append(std::span<const double> interleaved) {
  for (std::size_t frame = 0; frame < interleaved.size() / num_channels_; ++frame) {
    double sum = 0;
    for (std::size_t channel = 0; channel < num_channels_; ++channel) {
      const double sample = interleaved[frame * num_channels_ + channel];
      if (!(std::abs(sample) <= kLargestSample))
        refuse(name_, "sample " + std::to_string(mono_.size() + 1) + " of channel " +
                          std::to_string(channel + 1) + " is " +
                          (std::isfinite(sample) ? "beyond 1e100" : std::to_string(sample)) +
                          "; allowed: finite numbers");
      sum += sample;
      power_of_channels_ += sample * sample;
    }
    mono_.push_back(sum / static_cast<double>(num_channels_));
    power_of_mean_ += mono_.back() * mono_.back();
  }
}

// The mean of uncorrelated channels of equal power has 1 / channels of the power of one channel, and the mean
// of positively correlated channels has more. Less than a ten-thousandth remains only if the channels cancel,
// for example if one is the negative of the other.
std::vector<double> MonoSamples::finish() {
  const auto channels = static_cast<double>(num_channels_);
  if (num_channels_ > 1 && power_of_channels_ > 0 && power_of_mean_ < 1e-4 * power_of_channels_ / channels)
    refuse(name_,
           "its channels are in opposite phase and cancel in their mean; write one of them to a file of its "
           "own");
  return std::move(mono_);
}

// Samples beyond 100 times full scale, which is 1, are integers that were converted to float without scaling.
void require_sound(const std::string& name, std::span<const double> samples, bool is_floating) {
  if (samples.empty()) refuse(name, "it has no samples");
  double peak = 0;
  for (const double x : samples) peak = std::max(peak, std::abs(x));
  if (is_floating && peak > kLargestFloat)
    refuse(name, "its floating-point samples reach " + std::to_string(peak) +
                     ", where full scale is 1; samples of 16 bits must be divided by 32768 first");
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  if (*low == *high)
    refuse(name,
           "it is silent: all " + std::to_string(samples.size()) + " samples are " + std::to_string(*low));
}

Recording recording_of(const std::string& name, std::span<const double> interleaved, std::size_t num_channels,
                       double sample_rate) {
  if (!(sample_rate > 0) || !std::isfinite(sample_rate))
    refuse(name, "a sample rate of " + std::to_string(sample_rate) + " Hz; allowed: above 0");
  if (num_channels == 0 || interleaved.size() % num_channels != 0)
    refuse(name, std::to_string(num_channels) + " channels of " + std::to_string(interleaved.size()) +
                     " samples in all");
  MonoSamples mono(name, num_channels);
  mono.append(interleaved);
  Recording recording{sample_rate, mono.finish()};
  require_sound(name, recording.samples, true);
  return recording;
}

}  // namespace emomc
