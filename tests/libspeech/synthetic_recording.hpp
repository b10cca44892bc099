// Makes the signal of data/make_mfcc.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "emomc/speech/audio.hpp"

namespace emomc::testing {

/// Returns one second of a chirp, a tone and noise in 16 bits, with digital silence between 0.4 and 0.65 s.
inline Recording synthetic_recording(int sample_rate) {
  Recording recording{static_cast<double>(sample_rate), {}};
  const double rate = sample_rate, slope = 0.45 * rate - 100;
  std::uint32_t state = 1;
  for (int n = 0; n < sample_rate; ++n) {
    state = state * 1664525u + 1013904223u;
    const double t = n / rate, noise = state / 4294967296.0 - 0.5;
    const double x = 0.4 * std::sin(2 * std::numbers::pi * (100 * t + slope * t * t / 2)) +
                     0.1 * std::sin(2 * std::numbers::pi * 220 * t) + 0.02 * noise;
    recording.samples.push_back(t >= 0.4 && t < 0.65 ? 0 : std::floor(x * 32767 + 0.5) / 32768);
  }
  return recording;
}

}  // namespace emomc::testing
