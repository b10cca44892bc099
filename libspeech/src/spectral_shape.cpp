#include "spectral_shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace emomc {

SpectralShapes::SpectralShapes(double bin_hz, std::size_t num_bins) : bin_hz_(bin_hz), num_bins_(num_bins) {}

SpectralShapes::Bins SpectralShapes::bins(double low_hz, double high_hz, bool open) const {
  // The assignment of edges that are multiples of the bin's width must not depend on rounding.
  constexpr double kRounding = 1e-9;
  const auto begin = static_cast<std::size_t>(std::ceil(low_hz / bin_hz_ - kRounding));
  const double last = high_hz / bin_hz_;
  const auto end =
      static_cast<std::size_t>(open ? std::ceil(last - kRounding) : std::floor(last + kRounding) + 1);
  return {begin, std::min(end, num_bins_)};
}

// The regression slope of levels over frequencies.
double SpectralShapes::slope(std::span<const double> level_db, double low_hz, double high_hz) const {
  const Bins range = bins(low_hz, high_hz, false);
  const double middle = bin_hz_ * static_cast<double>(range.begin + range.end - 1) / 2;
  double products = 0, squares = 0;
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const double f = bin_hz_ * static_cast<double>(k) - middle;
    products += f * level_db[k];
    squares += f * f;
  }
  return 1000 * products / squares;
}

SpectralShape SpectralShapes::of(std::span<const double> power) const {
  SpectralShape shape;
  const double total = std::accumulate(power.begin(), power.end(), 0.0) + kLeastPower;
  std::vector<double> share(num_bins_), level_db(num_bins_);
  double log_sum = 0;
  for (std::size_t k = 0; k < num_bins_; ++k) {
    share[k] = power[k] / total;
    level_db[k] = 10 * std::log10(power[k] + kLeastPower);
    log_sum += std::log(power[k] + kLeastPower);
    shape.centroid_hz += share[k] * bin_hz_ * static_cast<double>(k);
    if (share[k] > 0) shape.entropy_bits -= share[k] * std::log2(share[k]);
  }
  double variance = 0;
  for (std::size_t k = 0; k < num_bins_; ++k)
    variance += share[k] * std::pow(bin_hz_ * static_cast<double>(k) - shape.centroid_hz, 2);
  shape.spread_hz = std::sqrt(variance);
  const double sum = std::accumulate(power.begin(), power.end(), 0.0);
  const auto rolloff = [&](double part) {
    double below = 0;
    for (std::size_t k = 0; k < num_bins_; ++k) {
      below += power[k];
      if (below >= part * sum) return bin_hz_ * static_cast<double>(k);
    }
    return bin_hz_ * static_cast<double>(num_bins_ - 1);
  };
  shape.rolloff_25_hz = rolloff(0.25);
  shape.rolloff_75_hz = rolloff(0.75);
  shape.rolloff_90_hz = rolloff(0.9);
  shape.slope_0_500 = slope(level_db, 0, 500);
  shape.slope_500_1500 = slope(level_db, 500, 1500);
  shape.slope_0_5000 = slope(level_db, 0, 5000);
  const auto sum_of = [&](double low, double high) {
    const Bins range = bins(low, high, true);
    return std::accumulate(power.begin() + range.begin, power.begin() + range.end, kLeastPower);
  };
  shape.alpha_ratio_db = 10 * std::log10(sum_of(50, 1000) / sum_of(1000, 5000));
  const auto highest = [&](double low, double high) {
    const Bins range = bins(low, high, true);
    return *std::max_element(level_db.begin() + range.begin, level_db.begin() + range.end);
  };
  shape.hammarberg_db = highest(0, 2000) - highest(2000, 5000);
  const auto n = static_cast<double>(num_bins_);
  shape.flatness = log_sum / n - std::log(sum / n + kLeastPower);
  return shape;
}

}  // namespace emomc
