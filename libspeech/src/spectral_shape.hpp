// Computes numbers that describe the spectrum of one frame. docs/functionals.md has the formulas.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

/// The least power, which is added to every power before a logarithm or a division.
inline constexpr double kLeastPower = 1e-10;

struct SpectralShape {
  double centroid_hz = 0, spread_hz = 0, entropy_bits = 0;
  double rolloff_25_hz = 0, rolloff_75_hz = 0, rolloff_90_hz = 0;
  double slope_0_500 = 0, slope_500_1500 = 0, slope_0_5000 = 0;  ///< dB per kHz
  double alpha_ratio_db = 0, hammarberg_db = 0, flatness = 0;
};

/// Describes power spectra whose bins are equally spaced in frequency.
class SpectralShapes {
 public:
  /// Bin k has the frequency k * bin_hz.
  SpectralShapes(double bin_hz, std::size_t num_bins);
  /// The shape of one spectrum; `power` is [num_bins].
  SpectralShape of(std::span<const double> power) const;

 private:
  struct Bins {
    std::size_t begin, end;
  };
  /// The bins in [low, high] Hz, or in [low, high) Hz if `open`.
  Bins bins(double low_hz, double high_hz, bool open) const;
  double slope(std::span<const double> level_db, double low_hz, double high_hz) const;

  double bin_hz_;
  std::size_t num_bins_;
};

}  // namespace emomc
