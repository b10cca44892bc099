// Discrete Fourier transforms of real series.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>

namespace emomc {

/// Transforms of one size by KISS FFT, the implementation in Eigen's module FFT. Results depend on the size
/// and the input alone, not on the processor. An object may be used by one thread at a time.
class RealFft {
 public:
  /// `size`: 1 to 2^30.
  explicit RealFft(std::size_t size);
  ~RealFft();
  RealFft(RealFft&&) noexcept;
  RealFft& operator=(RealFft&&) noexcept;

  /// The smallest number from `least` (at most 2^30) upwards that is a multiple of 4 and a product of 2, 3
  /// and 5; transforms of such a size are fast.
  static std::size_t fast_size(std::size_t least);

  std::size_t size() const;
  std::size_t num_bins() const { return size() / 2 + 1; }
  /// Computes X_k = sum_n x_n exp(-2 pi i k n / size) for k < num_bins(); x: [size()], spectrum:
  /// [num_bins()].
  void forward(const double* x, std::complex<double>* spectrum);
  /// Computes size() times the series whose transform is `spectrum` [num_bins()]; x: [size()].
  void inverse(const std::complex<double>* spectrum, double* x);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace emomc
