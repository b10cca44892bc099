#include <algorithm>
#include <array>
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

Autocovariances::Autocovariances(const DrawMatrix& draws)
    : draws_(draws),
      stride_(draws.num_draws + kDirectLags + kBlock),
      deviations_(draws.num_chains * stride_) {
  for (std::size_t c = 0; c < draws.num_chains; ++c) {
    const double* x = draws.chain(c);
    const double mean = std::accumulate(x, x + draws.num_draws, 0.0) / static_cast<double>(draws.num_draws);
    std::transform(x, x + draws.num_draws, deviations_.begin() + static_cast<std::ptrdiff_t>(c * stride_),
                   [mean](double value) { return value - mean; });
  }
}

double Autocovariances::at(std::size_t lag) {
  while (lag >= known_.size() && known_.size() < kDirectLags) add_block();
  if (lag >= known_.size()) known_ = mean_autocovariance(draws_);
  return known_[lag];
}

// Adds the next kBlock lags. Lags from the number of draws on have only products with the zeros.
void Autocovariances::add_block() {
  constexpr std::size_t kSums =
      4;  // independent sums of each lag, so that additions need not wait for each other
  const std::size_t first = known_.size();
  std::array<double, kBlock> total{};
  for (std::size_t c = 0; c < draws_.num_chains; ++c) {
    const double* x = deviations_.data() + c * stride_;
    std::array<std::array<double, kBlock>, kSums> sums{};
    std::size_t i = 0;
    for (; i + kSums <= draws_.num_draws; i += kSums)
      for (std::size_t s = 0; s < kSums; ++s)
        for (std::size_t k = 0; k < kBlock; ++k) sums[s][k] += x[i + s] * x[i + s + first + k];
    for (; i < draws_.num_draws; ++i)
      for (std::size_t k = 0; k < kBlock; ++k) sums[0][k] += x[i] * x[i + first + k];
    for (std::size_t k = 0; k < kBlock; ++k)
      total[k] += (sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]);
  }
  for (const double sum : total)
    known_.push_back(sum / (static_cast<double>(draws_.num_draws) * static_cast<double>(draws_.num_chains)));
}

}  // namespace emomc
