// Compares draws with a distribution that is known in closed form.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "emomc/sampler/diagnostics.hpp"

namespace emomc::testing {

/// The bound in Monte Carlo standard errors, which a normal error exceeds with probability 8.1e-11.
inline constexpr double kBound = 6.5;
inline constexpr double kProbabilities[] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

struct Expected {
  std::string name;
  std::function<double(const double* theta)> value;
  double mean, sd;
  std::vector<double> quantiles;  ///< at kProbabilities
};

template <class Distribution>
std::vector<double> quantiles_of(const Distribution& d) {
  std::vector<double> quantiles;
  for (double p : kProbabilities) quantiles.push_back(quantile(d, p));
  return quantiles;
}

/// Compares mean, sd and the probabilities below the quantiles: 13 comparisons, each within kBound.
inline void compare_with_closed_form(const Expected& e, const DrawsView& view) {
  EXPECT_LT(std::abs(draws_mean(view) - e.mean), kBound * mcse_mean(view))
      << draws_mean(view) << " for " << e.mean;
  EXPECT_LT(std::abs(draws_sd(view) - e.sd), kBound * mcse_sd(view)) << draws_sd(view) << " for " << e.sd;
  EXPECT_LT(mcse_mean(view), 0.1 * e.sd);  // else the comparisons would be too weak
  for (std::size_t q = 0; q < e.quantiles.size(); ++q) {
    const double p = kProbabilities[q], point = e.quantiles[q];
    std::vector<double> below;
    for (std::size_t i = 0; i < view.num_draws; ++i)
      for (std::size_t c = 0; c < view.num_chains; ++c) below.push_back(view(i, c) <= point ? 1.0 : 0.0);
    DrawsView indicator = view;
    indicator.data = below.data();
    indicator.draw_stride = static_cast<std::ptrdiff_t>(view.num_chains);
    indicator.chain_stride = 1;
    EXPECT_LT(std::abs(draws_mean(indicator) - p), kBound * std::sqrt(p * (1 - p) / ess_mean(indicator)))
        << "below the " << p;
  }
}

}  // namespace emomc::testing
