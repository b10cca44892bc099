// Fundamental frequency, harmonicity and the single periods of a voice.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace emomc {

/// Settings of the pitch tracker, with the names and the defaults of Boersma 1993, "Accurate short-term
/// analysis of the fundamental frequency and the harmonics-to-noise ratio of a sampled sound".
struct PitchSettings {
  double floor_hz = 75, ceiling_hz = 600;  ///< the window has three periods of floor_hz
  double voicing_threshold = 0.45, silence_threshold = 0.03;
  double octave_cost = 0.01, octave_jump_cost = 0.35, voiced_unvoiced_cost = 0.14;
  int num_candidates = 15;  ///< of each frame, the unvoiced one included
};

/// The pitch of each frame.
struct PitchTrack {
  std::vector<double> f0_hz;     ///< [num_frames] 0 where the frame is unvoiced
  std::vector<double> strength;  ///< [num_frames] autocorrelation at the period of f0_hz, 0 where that is 0
  /// [num_frames] The largest autocorrelation at the period of any candidate, voiced or not, of 0 to 1.
  std::vector<double> periodicity;
};

/// Tracks pitch: maxima of each frame's autocorrelation, divided by that of its window, are candidates, and a
/// Viterbi path through the candidates of all frames weighs their strengths against the costs of jumps. An
/// object may be used by several threads at once.
class PitchTracker {
 public:
  /// Throws InputError if the rate or a setting is out of range.
  PitchTracker(double sample_rate, const PitchSettings& settings = {});
  ~PitchTracker();
  PitchTracker(PitchTracker&&) noexcept;
  PitchTracker& operator=(PitchTracker&&) noexcept;

  /// The pitch of windows that are centred on the samples `centres`; beyond the recording samples are 0.
  PitchTrack track(std::span<const double> samples, std::span<const std::size_t> centres) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One period of the voice.
struct Cycle {
  double begin = 0, period = 0;  ///< samples
  double amplitude = 0;          ///< the largest less the smallest sample of the period
  bool begins_stretch = false;   ///< no period of the same voiced stretch is before it
};

/// Divides the voiced stretches of a track into periods. From the beginning of a stretch on, the next period
/// is the lag of 0.8 to 1.25 of the track's period at which the samples of one period correlate best with
/// those that follow (Milenkovic 1987, "Least mean square measures of voice perturbation"), refined by a
/// parabola through the correlations of three lags. `hop` is the distance of the track's centres in samples.
std::vector<Cycle> voice_cycles(std::span<const double> samples, double sample_rate, const PitchTrack& track,
                                std::span<const std::size_t> centres, std::size_t hop);

}  // namespace emomc
