// Makes problems of random shapes with all properties that make log densities difficult: wide and narrow
// components together, rows far from all components, components without weight, and segments without rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "random_mixture.hpp"

namespace emomc::testing {

struct RandomShape {
  ModelSpec model;
  std::vector<double> theta;
  DataSet data;
  std::string description;
};

/// Returns problem number `index` of an endless sequence, in which numbers of rows (0, 1, 31, 33, some
/// thousand, 100,000), covariances and difficulties alternate.
inline RandomShape random_shape(std::uint32_t index) {
  const device::RandomSource random{4711, index, 0};
  std::uint32_t next = 0;
  const auto uniform = [&] { return random.uniform(device::Purpose::simulation, next++); };
  // Returns a number that is log-uniform from `low` to `high`.
  const auto size = [&](double low, double high) { return low * std::pow(high / low, uniform()); };
  constexpr std::size_t kRows[] = {0, 1, 31, 33, 3000, 100000};
  constexpr const char* kModels[] = {"diagonal", "spherical", "tied", "full", "two_gaussian"};
  const std::size_t rows = kRows[index % std::size(kRows)];
  const std::string covariance = kModels[index % std::size(kModels)];
  const bool extreme_scales = index % 7 % 2 == 1, outliers = index % 3 != 0, tiny_weights = index % 4 >= 2;

  RandomShape shape;
  const bool two = covariance == "two_gaussian";
  int K = two ? 2 : static_cast<int>(size(1, 64.99)), d = two ? 1 : static_cast<int>(size(1, 64.99));
  // The size is limited so that a test takes only seconds.
  const bool matrices = covariance == "full" || covariance == "tied";
  const auto work = [&] { return static_cast<double>(rows) * K * d * (matrices ? d : 1); };
  constexpr double kMostWork = 2e7;
  while (work() > kMostWork && (K > 1 || d > 1)) (K > d ? K : d) = (std::max(K, d) + 1) / 2;
  shape.model = two ? ModelSpec{"two_gaussian", 2} : ModelSpec{"gaussian_mixture", K, covariance};
  shape.description = "K = " + std::to_string(K) + ", d = " + std::to_string(d) +
                      ", N = " + std::to_string(rows) + ", " + covariance +
                      (extreme_scales ? ", extreme scales" : "") + (outliers ? ", outliers" : "") +
                      (tiny_weights ? ", tiny weights" : "");

  std::vector<double> weights;
  double total = 0;
  for (int k = 0; k < K; ++k) {
    const double choice = uniform();
    const bool tiny = tiny_weights && k > 0 && choice < 0.4;
    weights.push_back(tiny ? choice < 0.1 ? 0 : choice < 0.25 ? 1e-300 : 1e-12 : 0.2 + uniform());
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  const auto scale = [&] { return extreme_scales ? size(1e-6, 1e6) : 0.3 + uniform(); };
  auto& theta = shape.theta;
  if (two) {
    theta = {weights[0], 2 * uniform() - 1, scale(), scale()};
  } else {
    theta = weights;
    for (int i = 0; i < K * d; ++i) theta.push_back(2.5 * (2 * uniform() - 1));
    if (!matrices)
      for (int i = 0; i < (covariance == "spherical" ? K : K * d); ++i) theta.push_back(scale());
    for (int k = 0; matrices && k < (covariance == "full" ? K : 1); ++k)
      for (int i = 0; i < d; ++i) {
        const double sd = scale();
        for (int j = 0; j < i; ++j) theta.push_back(sd * (uniform() - 0.5) / std::sqrt(i));
        theta.push_back(0.8 * sd);
      }
  }
  auto values = simulate_rows(shape.model, d, theta, rows, 4712 + index);
  if (outliers)
    for (std::size_t row = 0; row < rows; row += 1 + rows / 20)
      for (int j = 0; j < d; ++j)
        values[row * static_cast<std::size_t>(d) + static_cast<std::size_t>(j)] *= size(1e3, 1e6);
  shape.data = DataSet::single_segment(d, std::move(values));
  // There are up to six segments, some of them empty.
  std::vector<std::size_t> cuts{0, rows};
  for (std::uint32_t cut = 0; cut < index % 6; ++cut)
    cuts.push_back(cut == 1 ? cuts.back() : static_cast<std::size_t>(uniform() * static_cast<double>(rows)));
  std::sort(cuts.begin(), cuts.end());
  shape.data.segments.clear();
  for (std::size_t s = 0; s + 1 < cuts.size(); ++s)
    shape.data.segments.push_back({cuts[s], cuts[s + 1] - cuts[s]});
  return shape;
}

}  // namespace emomc::testing
