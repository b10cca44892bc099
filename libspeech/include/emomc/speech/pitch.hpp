// Determines the fundamental frequency, the harmonicity and the single periods of a voice.
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
  int num_candidates = 15;  ///< number of candidates of each frame, including the unvoiced one
};

/// The pitch of each frame.
struct PitchTrack {
  std::vector<double> f0_hz;     ///< [num_frames] 0 if the frame is unvoiced
  std::vector<double> strength;  ///< [num_frames] autocorrelation at the period of f0_hz; 0 if f0_hz is 0
  /// [num_frames] The largest autocorrelation at the period of any candidate, voiced or not, from 0 to 1.
  std::vector<double> periodicity;
};

/// Tracks pitch. The candidates are the maxima of each frame's autocorrelation divided by the autocorrelation
/// of the window. A Viterbi path through the candidates of all frames weighs their strengths against the
/// costs of jumps. Several threads may use an object at once.
class PitchTracker {
 public:
  /// Throws InputError if the rate or a setting is out of range.
  PitchTracker(double sample_rate, const PitchSettings& settings = {});
  ~PitchTracker();
  PitchTracker(PitchTracker&&) noexcept;
  PitchTracker& operator=(PitchTracker&&) noexcept;

  /// The pitch in windows that are centred on the samples `centres`; beyond the recording, samples count as
  /// 0.
  PitchTrack track(std::span<const double> samples, std::span<const std::size_t> centres) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One period of the voice. `begin` and `period` are in samples.
struct Cycle {
  double begin = 0, period = 0;  ///< in samples
  double amplitude = 0;          ///< largest minus smallest sample of the period
  bool begins_stretch = false;   ///< whether this is the first period of its voiced stretch
};

/// Divides the voiced stretches of a track into periods. Starting at the beginning of a stretch, the next
/// period is the lag, from 0.8 to 1.25 of the track's period, at which the samples of one period correlate
/// best with those that follow (Milenkovic 1987, "Least mean square measures of voice perturbation"). A
/// parabola through the correlations at three lags refines the lag. `hop` is the distance of the track's
/// centres in samples.
std::vector<Cycle> voice_cycles(std::span<const double> samples, double sample_rate, const PitchTrack& track,
                                std::span<const std::size_t> centres, std::size_t hop);

}  // namespace emomc
