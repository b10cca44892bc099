// Mel-frequency cepstral coefficients (Davis and Mermelstein 1980), with the conventions of other programs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/audio.hpp"

namespace emomc {

enum class Window { rectangular, hamming, hann };
enum class MelScale { htk, slaney };
/// Where the corners of the triangular filters lie.
enum class FilterCorners { frequencies, fft_bins };
/// Height of a filter: 1, or 2 / its width in Hz.
enum class FilterHeight { one, area };
enum class PowerKind { power, power_over_fft_size, magnitude };
enum class LogKind { natural, decibel };
/// What stands in the first column.
enum class FirstCoefficient { cepstrum, log_energy };
/// Frames begin at multiples of the hop, the last one filled with zeros or left out; or are centred on them,
/// the signal continued by zeros.
enum class Framing { pad_last, drop_last, centred };

/// Every choice by name. The defaults are this program's own; presets() has those of other programs.
struct MfccSettings {
  double window_ms = 25, hop_ms = 10;
  double preemphasis = 0.97;  ///< x[n] - a x[n-1] over the recording; 0: none
  Window window = Window::hamming;
  bool periodic_window = false;  ///< of period the window's length, not length - 1
  int fft_size = 0;              ///< 0: the next power of two
  Framing framing = Framing::drop_last;
  PowerKind power = PowerKind::power_over_fft_size;
  int num_filters = 26;
  double low_hz = 0, high_hz = 0;  ///< high 0: half the sample rate
  MelScale mel = MelScale::htk;
  FilterCorners corners = FilterCorners::frequencies;
  FilterHeight height = FilterHeight::one;
  LogKind log = LogKind::natural;
  double log_floor = 2.220446049250313e-16;  ///< energies are at least this
  double top_db = 0;  ///< LogKind::decibel: levels this far below the highest are raised; 0: none
  int num_coefficients = 13;
  double lifter = 22;  ///< 1 + L/2 sin(pi n / L); 0: none
  FirstCoefficient first = FirstCoefficient::cepstrum;
  bool operator==(const MfccSettings&) const = default;
};

/// "emomc", "python_speech_features", "librosa", "thesis".
std::vector<std::string> mfcc_presets();
/// Throws InputError for an unknown name.
MfccSettings mfcc_preset(const std::string& name);

/// Rows of coefficients, one for each frame.
struct Frames {
  int dim = 0;
  std::vector<double> values;  ///< num_frames x dim, row-major
  std::size_t num_frames() const { return dim > 0 ? values.size() / static_cast<std::size_t>(dim) : 0; }
};

/// The energy-based gate: frames whose energy lies this far below the recording's loudest frame are dropped.
struct VoiceActivity {
  double threshold_db = 0;  ///< 0: every frame is kept
};

/// Plans the transforms of one sample rate once; then any number of recordings, from one thread.
class MfccExtractor {
 public:
  /// Throws InputError, naming the setting, its value and what is allowed.
  MfccExtractor(const MfccSettings& settings, double sample_rate);
  ~MfccExtractor();
  MfccExtractor(MfccExtractor&&) noexcept;
  MfccExtractor& operator=(MfccExtractor&&) noexcept;

  int dim() const;
  double sample_rate() const;
  /// All frames of a recording in [samples], full scale 1. A recording shorter than a window has none, or one
  /// with Framing::pad_last. `energy_db` (optional): 10 log10 of each frame's energy, -infinity for silence.
  Frames extract(std::span<const double> samples, std::vector<double>* energy_db = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Frames that are digital silence (all samples equal) give one row over and over, on which a mixture
/// collapses. Removes rows equal to their predecessor and rows of silent frames; then those below the gate.
struct Dropped {
  std::size_t silent = 0, unvoiced = 0;
};
Dropped drop_frames(Frames& frames, std::span<const double> energy_db, const VoiceActivity& gate);

/// Appends derivatives over time, order 1 or 2, by regression over 2 * reach + 1 frames (Young et al., The
/// HTK Book, 5.9), the first and last frame repeated at the ends. Order 0 does nothing.
void append_deltas(Frames& frames, int order, int reach = 2);

}  // namespace emomc
