#include <complex>
#include <map>
#include <numeric>

#include "draw_matrix.hpp"
#include "emomc/core/real_fft.hpp"

namespace emomc {

std::vector<double> mean_autocovariance(const DrawMatrix& draws) {
  const std::size_t n = draws.num_draws;
  // Padding to twice the length makes the circular correlation equal to the linear one.
  const std::size_t size = RealFft::fast_size(2 * n);
  thread_local std::map<std::size_t, RealFft> known;
  RealFft& fft = known.try_emplace(size, size).first->second;
  std::vector<double> real(size), power(fft.num_bins());
  std::vector<std::complex<double>> spectrum(fft.num_bins());
  // Power spectra are summed, so that one inverse transform serves all chains.
  for (std::size_t c = 0; c < draws.num_chains; ++c) {
    const double* x = draws.chain(c);
    const double mean = std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) real[i] = x[i] - mean;
    std::fill(real.begin() + static_cast<std::ptrdiff_t>(n), real.end(), 0.0);
    fft.forward(real.data(), spectrum.data());
    for (std::size_t k = 0; k < power.size(); ++k) power[k] += std::norm(spectrum[k]);
  }
  std::copy(power.begin(), power.end(), spectrum.begin());
  fft.inverse(spectrum.data(), real.data());
  std::vector<double> covariance(real.begin(), real.begin() + static_cast<std::ptrdiff_t>(n));
  for (double& x : covariance)
    x /= static_cast<double>(size) * static_cast<double>(n) * static_cast<double>(draws.num_chains);
  return covariance;
}

}  // namespace emomc
