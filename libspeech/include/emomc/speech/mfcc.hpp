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
/// Where the corners of the triangular filters lie: at their frequencies, or at the FFT bin
/// floor((fft_size + 1) f / sample_rate) below.
enum class FilterCorners { frequencies, fft_bins };
/// Height of a filter: 1, or 2 / its width in Hz.
enum class FilterHeight { one, area };
/// |X|^2, |X|^2 / fft_size or |X| of the frame's Fourier transform X.
enum class PowerKind { power, power_over_fft_size, magnitude };
/// ln, or 10 log10.
enum class LogKind { natural, decibel };
/// Which filter outputs log_floor replaces: those of exactly 0, or all that are smaller.
enum class FloorKind { zeros, smaller };
/// What stands in the first column: the cepstrum's c0, or the log of the sum of the frame's power over the
/// bins from 0 to half the sample rate.
enum class FirstCoefficient { cepstrum, log_energy };
/// Frames begin at multiples of the hop, the last one filled with zeros or left out; or are centred on them,
/// the signal continued by zeros.
enum class Framing { pad_last, drop_last, centred };

/// Every choice by name. The defaults are this program's own; mfcc_preset() has those of other programs.
/// docs/features.md has the formulas.
struct MfccSettings {
  double window_ms = 25, hop_ms = 10;       ///< rounded to whole samples, halves up
  int window_samples = 0, hop_samples = 0;  ///< 0: by the milliseconds above
  double preemphasis = 0.97;  ///< x[n] - a x[n-1] over the recording, its first sample kept; 0: none
  Window window = Window::hamming;
  bool periodic_window = false;  ///< of period the window's length, not length - 1
  int fft_size = 0;              ///< 0: the power of two at or above the window's length
  Framing framing = Framing::drop_last;
  PowerKind power = PowerKind::power_over_fft_size;
  int num_filters = 26;
  double low_hz = 0, high_hz = 0;  ///< high 0: half the sample rate
  MelScale mel = MelScale::htk;
  FilterCorners corners = FilterCorners::frequencies;
  FilterHeight height = FilterHeight::one;
  LogKind log = LogKind::natural;
  FloorKind floor = FloorKind::smaller;
  double log_floor = 2.220446049250313e-16;
  double top_db = 0;  ///< LogKind::decibel: levels this far below the recording's highest are raised; 0: none
  int num_coefficients = 13;  ///< of the orthonormal DCT-II of the log filter outputs, from c0
  double lifter = 22;         ///< coefficient n is scaled by 1 + L/2 sin(pi n / L); 0: none
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

/// Plans the transforms of one sample rate once; then any number of recordings, from any number of threads.
class MfccExtractor {
 public:
  /// Throws InputError, naming the setting, its value and what is allowed.
  MfccExtractor(const MfccSettings& settings, double sample_rate);
  ~MfccExtractor();
  MfccExtractor(MfccExtractor&&) noexcept;
  MfccExtractor& operator=(MfccExtractor&&) noexcept;

  int dim() const;
  double sample_rate() const;
  /// All frames of a recording of finite samples, full scale 1. A recording shorter than a window has none
  /// with Framing::drop_last, one with pad_last. `energy_db` (optional) becomes 10 log10 of each window's
  /// variance, before preemphasis: -infinity where all samples are equal.
  Frames extract(std::span<const double> samples, std::vector<double>* energy_db = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Frames that are digital silence (all samples equal) give one row over and over, on which a mixture
/// collapses. Removes rows equal to the row before them and rows of silent frames, whose energy is -infinity;
/// then those below the gate. `energy_db` is extract's. Throws InputError for a threshold below 0.
struct Dropped {
  std::size_t silent = 0, unvoiced = 0;
};
Dropped drop_frames(Frames& frames, std::span<const double> energy_db, const VoiceActivity& gate);

/// Appends derivatives over time, order 1 or 2, by regression over 2 * reach + 1 frames (Young et al., The
/// HTK Book, 5.9), the first and last frame repeated at the ends. Rows become [c, d c] or [c, d c, d d c].
/// Order 0 does nothing. Throws InputError for other orders and for a reach outside 1 to 100.
void append_deltas(Frames& frames, int order, int reach = 2);

}  // namespace emomc
