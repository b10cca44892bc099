// Makes voices with known properties. synthetic_voice is the signal of data/make_functionals.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include "emomc/speech/audio.hpp"

namespace emomc::testing {

/// A generator of numbers from -0.5 to 0.5.
class Noise {
 public:
  double next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ / 4294967296.0 - 0.5;
  }

 private:
  std::uint32_t state_ = 1;
};

/// Returns one second in 16 bits: ten harmonics of a tone that glides from 120 to 180 Hz, with pauses, and
/// noise.
inline Recording synthetic_voice(int sample_rate) {
  Recording recording{static_cast<double>(sample_rate), {}};
  Noise noise;
  for (int n = 0; n < sample_rate; ++n) {
    const double t = n / recording.sample_rate, grain = noise.next();
    const double phase = 2 * std::numbers::pi * (120 * t + 30 * t * t);
    double voice = 0;
    for (int h = 1; h <= 10; ++h) voice += std::sin(h * phase) / h;
    const bool on = (t >= 0.1 && t < 0.45) || (t >= 0.6 && t < 0.9);
    const double x =
        0.2 * voice * (on ? 1 : 0) * (1 + 0.3 * std::sin(2 * std::numbers::pi * 5 * t)) + 0.004 * grain;
    recording.samples.push_back(t >= 0.95 ? 0 : std::floor(x * 32767 + 0.5) / 32768);
  }
  return recording;
}

/// Returns pulses through a resonance of 1 kHz, at 16 kHz. There is one pulse for each of `periods` (in
/// samples), whose height is in `heights` at the same index.
inline std::vector<double> pulse_train(const std::vector<int>& periods, const std::vector<double>& heights) {
  std::vector<double> x(static_cast<std::size_t>(std::accumulate(periods.begin(), periods.end(), 0)), 0.0);
  std::size_t at = 0;
  for (std::size_t pulse = 0; pulse < periods.size(); ++pulse) {
    for (std::size_t i = 0; i < 80 && at + i < x.size(); ++i)
      x[at + i] += 0.5 * heights[pulse] * std::exp(-static_cast<double>(i) / 12) *
                   std::sin(2 * std::numbers::pi * 1000 * static_cast<double>(i) / 16000);
    at += static_cast<std::size_t>(periods[pulse]);
  }
  return x;
}

}  // namespace emomc::testing
