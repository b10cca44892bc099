// Makes independent draws from artificial posteriors of mixtures, and permutes their labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "emomc/device/random.hpp"
#include "emomc/sampler/mixture_labels.hpp"

namespace emomc::testing {

enum class Shape { diagonal, full, pair };

/// A posterior in which means and the logarithms of weights and scales are normal about the given values.
/// With Shape::pair the model is two Gaussians with a common mean, whose scales are exp(means).
struct MixturePosterior {
  Shape shape = Shape::diagonal;
  std::vector<double> weights;             // [K]
  std::vector<std::vector<double>> means;  // [K][d]
  double sd_of_means = 0.2, sd_of_logs = 0.1;

  std::size_t num_components() const { return weights.size(); }
  std::size_t num_columns() const { return means[0].size(); }
};

inline ParameterLayout layout_of(const MixturePosterior& posterior) {
  const int K = static_cast<int>(posterior.num_components()), d = static_cast<int>(posterior.num_columns());
  if (posterior.shape == Shape::pair)
    return {{{"fraction", {}, Support::unit_interval, DataUnit::none, Influence::weights, -1, -1},
             {"mean", {}, Support::real, DataUnit::location, Influence::everything, -1, -1},
             {"sigma", {2}, Support::positive, DataUnit::scale, Influence::component, 0, -1}}};
  ParameterLayout layout{{{"weights", {K}, Support::simplex, DataUnit::none, Influence::weights, 0, -1},
                          {"means", {K, d}, Support::real, DataUnit::location, Influence::component, 0, 1}}};
  if (posterior.shape == Shape::full)
    layout.blocks.push_back(
        {"covariances", {K, d, d}, Support::covariance, DataUnit::scale, Influence::component, 0, -1});
  else
    layout.blocks.push_back(
        {"scales", {K, d}, Support::positive, DataUnit::scale, Influence::component, 0, 1});
  return layout;
}

inline DrawSet draws_of(const MixturePosterior& posterior, std::size_t num_chains, std::size_t num_draws,
                        std::uint64_t seed) {
  DrawSet set;
  set.program = "emomc";
  for (std::size_t c = 0; c < num_chains; ++c) set.chains.push_back(std::to_string(c));
  set.num_draws = num_draws;
  set.layout = layout_of(posterior);
  set.add("log_density");
  set.num_log_densities = 1;
  for (const auto& name : element_names(set.layout)) set.add(name);
  const std::size_t K = posterior.num_components(), d = posterior.num_columns();
  for (std::size_t i = 0; i < num_chains * num_draws; ++i) {
    std::uint32_t index = 0;
    const device::RandomSource random{seed, i, 0};
    const auto normal = [&](double sd) { return sd * random.normal(device::Purpose::simulation, index++); };
    std::vector<double> x{normal(1)}, weights;
    for (const double w : posterior.weights) weights.push_back(w * std::exp(normal(posterior.sd_of_logs)));
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& w : weights) w /= sum;
    if (posterior.shape == Shape::pair) {
      x.push_back(weights[0]);
      x.push_back(normal(posterior.sd_of_means));
      for (const auto& mean : posterior.means) x.push_back(std::exp(mean[0] + normal(posterior.sd_of_logs)));
    } else {
      x.insert(x.end(), weights.begin(), weights.end());
      for (const auto& mean : posterior.means)
        for (const double m : mean) x.push_back(m + normal(posterior.sd_of_means));
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t a = 0; a < d; ++a) {
          if (posterior.shape == Shape::full)
            for (std::size_t b = 0; b < a; ++b)
              x.push_back(normal(posterior.sd_of_logs) / static_cast<double>(d));
          x.push_back(std::exp(normal(posterior.sd_of_logs)));
        }
    }
    for (std::size_t q = 0; q < x.size(); ++q) set.quantity(q)[i] = x[q];
  }
  return set;
}

enum class Permuted { by_chain, by_draw };

/// Permutes the labels at random.
inline DrawSet with_permuted_labels(DrawSet set, Permuted how, std::uint64_t seed) {
  const auto K = static_cast<std::uint32_t>(find_mixture(set)->num_components);
  Relabelling shuffle{static_cast<int>(K), {}};
  for (std::size_t i = 0; i < set.num_chains() * set.num_draws; ++i) {
    std::vector<int> order(K);
    std::iota(order.begin(), order.end(), 0);
    const device::RandomSource random{seed, how == Permuted::by_chain ? i / set.num_draws : i, 1};
    for (std::uint32_t k = K; k > 1; --k)
      std::swap(order[k - 1],
                order[static_cast<std::size_t>(random.uniform(device::Purpose::choice, k) * k)]);
    shuffle.permutation.insert(shuffle.permutation.end(), order.begin(), order.end());
  }
  apply(shuffle, set);
  return set;
}

}  // namespace emomc::testing
