// Computes mel-frequency cepstral coefficients (Davis and Mermelstein 1980), with the conventions of several
// programs.
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
/// Where the corners of the triangular filters are: at their exact frequencies f, or rounded down to the FFT
/// bin floor((fft_size + 1) f / sample_rate).
enum class FilterCorners { frequencies, fft_bins };
/// Height of a filter: 1, or 2 / (the filter's width in Hz), which gives every filter the same area.
enum class FilterHeight { one, area };
/// The function of the frame's Fourier transform X: |X|^2, |X|^2 / fft_size, or |X|.
enum class PowerKind { power, power_over_fft_size, magnitude };
/// Logarithm of the filter outputs: natural, or 10 log10.
enum class LogKind { natural, decibel };
/// The filter outputs that are replaced by log_floor: those that are exactly 0, or all that are smaller.
enum class FloorKind { zeros, smaller };
/// The content of the first column: the cepstral coefficient c0, or the log of the sum of the frame's power
/// over the bins from 0 to half the sample rate.
enum class FirstCoefficient { cepstrum, log_energy };
/// Frames begin at multiples of the hop, and an incomplete last frame is filled with zeros or left out; or
/// frames are centred on multiples of the hop, with the signal extended by zeros.
enum class Framing { pad_last, drop_last, centred };

/// All settings of the MFCC computation. The defaults are those of emomc; mfcc_preset() has those of other
/// programs. docs/features.md has the formulas.
struct MfccSettings {
  double window_ms = 25, hop_ms = 10;       ///< rounded to whole samples, halves up
  int window_samples = 0, hop_samples = 0;  ///< 0: computed from the milliseconds above
  double preemphasis = 0.97;                ///< a in y[n] = x[n] - a x[n-1], with x[-1] = 0; 0: none
  Window window = Window::hamming;
  bool periodic_window = false;  ///< the period is the window's length, not length - 1
  int fft_size = 0;              ///< 0: the smallest power of two that is at least the window's length
  Framing framing = Framing::drop_last;
  PowerKind power = PowerKind::power_over_fft_size;
  int num_filters = 26;
  double low_hz = 0, high_hz = 0;  ///< outer corners; high_hz 0: half the sample rate
  MelScale mel = MelScale::htk;
  FilterCorners corners = FilterCorners::frequencies;
  FilterHeight height = FilterHeight::one;
  LogKind log = LogKind::natural;
  FloorKind floor = FloorKind::smaller;
  double log_floor = 2.220446049250313e-16;
  /// Only with LogKind::decibel: levels more than top_db below the recording's highest are raised; 0: none.
  double top_db = 0;
  /// Number of coefficients of the orthonormal DCT-II of the log filter outputs, from c0.
  int num_coefficients = 13;
  double lifter = 22;  ///< coefficient n is scaled by 1 + L/2 sin(pi n / L); 0: none
  FirstCoefficient first = FirstCoefficient::cepstrum;
  bool operator==(const MfccSettings&) const = default;
};

/// The names that mfcc_preset() accepts: "emomc", "python_speech_features", "librosa", "thesis".
std::vector<std::string> mfcc_presets();
/// The settings of a preset. Throws InputError for an unknown name.
MfccSettings mfcc_preset(const std::string& name);

/// Rows of coefficients, one for each frame.
struct Frames {
  int dim = 0;
  std::vector<double> values;  ///< num_frames x dim, row-major
  std::size_t num_frames() const { return dim > 0 ? values.size() / static_cast<std::size_t>(dim) : 0; }
};

/// The energy gate: frames whose energy is more than threshold_db below the recording's loudest frame are
/// dropped.
struct VoiceActivity {
  double threshold_db = 0;  ///< 0: every frame is kept
};

/// Computes MFCCs of recordings with one sample rate. The constructor plans the FFT once; several threads may
/// then call extract() at once.
class MfccExtractor {
 public:
  /// Throws InputError, which names the setting, its value and the allowed values.
  MfccExtractor(const MfccSettings& settings, double sample_rate);
  ~MfccExtractor();
  MfccExtractor(MfccExtractor&&) noexcept;
  MfccExtractor& operator=(MfccExtractor&&) noexcept;

  int dim() const;
  double sample_rate() const;
  /// All frames of a recording of finite samples with full scale 1. A recording shorter than a window has no
  /// frame with Framing::drop_last and one with Framing::pad_last. `energy_db`, if given, receives for each
  /// frame 10 log10 of the variance of the window's samples before preemphasis: -infinity if all samples are
  /// equal.
  Frames extract(std::span<const double> samples, std::vector<double>* energy_db = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The numbers of frames that drop_frames has removed.
struct Dropped {
  std::size_t silent = 0, unvoiced = 0;
};

/// Removes rows that equal the row before them and the rows of silent frames, whose energy is -infinity; then
/// the rows below the gate. Frames of digital silence (all samples equal) give the same row many times, on
/// which a mixture component would collapse. `energy_db` comes from MfccExtractor::extract, one value for
/// each frame. Throws InputError for a threshold below 0.
Dropped drop_frames(Frames& frames, std::span<const double> energy_db, const VoiceActivity& gate);

/// Appends derivatives over time of order 1 or 2: regression slopes over 2 * reach + 1 frames (Young et al.,
/// The HTK Book, 5.9), with the first and last frames repeated at the ends. Rows become [c, d c] or [c, d c,
/// d d c]. Order 0 does nothing. Throws InputError for other orders and for a reach outside 1 to 100.
void append_deltas(Frames& frames, int order, int reach = 2);

}  // namespace emomc
