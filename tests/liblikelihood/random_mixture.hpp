// Makes random mixtures and data for tests of the engines.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "emomc/device/random.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/simulate.hpp"

namespace emomc::testing {

struct MixtureProblem {
  int K = 1, d = 1;
  std::vector<double> theta;  ///< parameters in the layout of gaussian_mixture
  DataSet data;
};

/// Returns a mixture with weights of about 1/K, means within `spread` and scales in [0.3, 1.3], and rows
/// drawn from the mixture.
inline MixtureProblem random_problem(int K, int d, std::size_t num_rows, std::uint64_t seed,
                                     double spread = 2.5) {
  const device::RandomSource random{seed, 0, 0};
  std::uint32_t next = 0;
  const auto uniform = [&] { return random.uniform(device::Purpose::simulation, next++); };
  MixtureProblem p{K, d, {}, {}};
  double total = 0;
  for (int k = 0; k < K; ++k) {
    p.theta.push_back(0.2 + uniform());
    total += p.theta.back();
  }
  for (int k = 0; k < K; ++k) p.theta[static_cast<std::size_t>(k)] /= total;
  for (int i = 0; i < K * d; ++i) p.theta.push_back(spread * (2 * uniform() - 1));
  for (int i = 0; i < K * d; ++i) p.theta.push_back(0.3 + uniform());
  std::vector<double> values;
  values.reserve(num_rows * static_cast<std::size_t>(d));
  for (std::size_t row = 0; row < num_rows; ++row) {
    const device::RandomSource source{seed, 1 + row, 1};
    double u = source.uniform(device::Purpose::simulation, 0);
    int k = 0;
    while (k < K - 1 && u > p.theta[static_cast<std::size_t>(k)]) u -= p.theta[static_cast<std::size_t>(k++)];
    for (int j = 0; j < d; ++j) {
      const auto at = static_cast<std::size_t>(K + k * d + j);
      values.push_back(p.theta[at] +
                       p.theta[at + static_cast<std::size_t>(K * d)] *
                           source.normal(device::Purpose::simulation, static_cast<std::uint32_t>(2 + j)));
    }
  }
  p.data = DataSet::single_segment(d, std::move(values));
  return p;
}

/// Returns the problem's mixture with correlated components, and rows drawn from it. theta is in the layout
/// of `covariance`, which is "full" or "tied".
inline MixtureProblem with_correlations(MixtureProblem p, const std::string& covariance, std::uint64_t seed) {
  const device::RandomSource random{seed, 1, 7};
  std::uint32_t next = 0;
  const auto scales = static_cast<std::size_t>(p.K + p.K * p.d);
  std::vector<double> theta(p.theta.begin(), p.theta.begin() + static_cast<std::ptrdiff_t>(scales));
  for (int k = 0; k < (covariance == "full" ? p.K : 1); ++k)
    for (int i = 0; i < p.d; ++i) {
      const double scale = p.theta[scales + static_cast<std::size_t>(k * p.d + i)];
      for (int j = 0; j < i; ++j)
        theta.push_back(0.6 * scale * random.normal(device::Purpose::simulation, next++) / std::sqrt(i));
      theta.push_back(0.8 * scale);
    }
  p.theta = theta;
  p.data = DataSet::single_segment(
      p.d, simulate_rows({"gaussian_mixture", p.K, covariance}, p.d, theta, p.data.num_rows, seed));
  return p;
}

/// Returns theta with all means and scales moved by a step of `length` posterior sds in a random direction.
inline std::vector<double> neighbour(const MixtureProblem& p, double length, std::uint32_t pair) {
  std::vector<double> theta = p.theta;
  const device::RandomSource random{77, pair, 2};
  const auto rows = static_cast<double>(p.data.num_rows);
  const double step = length / std::sqrt(2.0 * p.K * p.d);
  for (int k = 0; k < p.K; ++k)
    for (int j = 0; j < p.d; ++j) {
      const auto mean = static_cast<std::size_t>(p.K + k * p.d + j),
                 scale = mean + static_cast<std::size_t>(p.K * p.d);
      const double sd = p.theta[scale] / std::sqrt(rows * p.theta[static_cast<std::size_t>(k)]);
      theta[mean] += step * sd * random.normal(device::Purpose::simulation, static_cast<std::uint32_t>(mean));
      theta[scale] += step * sd / std::sqrt(2.0) *
                      random.normal(device::Purpose::simulation, static_cast<std::uint32_t>(scale));
    }
  return theta;
}

/// An engine with its own device and one chain for each parameter vector.
class Evaluator {
 public:
  Evaluator(Backend backend, const ModelSpec& model, Precision precision, const DataSet& data,
            int num_chains = 1, int threads = 0, ComponentCaches caches = ComponentCaches::off)
      : device_(make_device(backend)),
        engine_(make_engine(backend, model, precision, data, *device_, threads)) {
    std::vector<ChainPlan> plans;
    std::vector<int> segments(data.segments.size());
    for (std::size_t s = 0; s < segments.size(); ++s) segments[s] = static_cast<int>(s);
    for (int c = 0; c < num_chains; ++c) plans.push_back({static_cast<std::uint64_t>(c), segments, 1.0, 0});
    engine_->allocate(plans, caches);
    dim_ = engine_->layout().dim();
    theta_ = {*device_, static_cast<std::size_t>(num_chains * dim_)};
    log_likelihood_ = {*device_, static_cast<std::size_t>(num_chains)};
    component_ = {*device_, static_cast<std::size_t>(num_chains)};
    accepted_ = {*device_, static_cast<std::size_t>(num_chains)};
    num_chains_ = num_chains;
  }

  LikelihoodEngine& engine() { return *engine_; }
  EnsembleView view() { return {num_chains_, dim_, dim_, theta_.data(), log_likelihood_.data()}; }
  ActiveSet all() const { return {nullptr, num_chains_}; }
  void set(const std::vector<double>& thetas) { theta_.upload(thetas); }

  /// Returns the log likelihoods of num_chains parameter vectors, which are consecutive in `thetas`.
  std::vector<double> operator()(const std::vector<double>& thetas) {
    theta_.upload(thetas);
    engine_->evaluate(view(), all());
    return log_likelihood_.download();
  }
  std::vector<double> component(const std::vector<double>& thetas, const std::vector<int>& components) {
    theta_.upload(thetas);
    component_.upload(components);
    engine_->evaluate_component(view(), component_.data(), all());
    return log_likelihood_.download();
  }
  void commit(const std::vector<std::uint8_t>& accepted) {
    accepted_.upload(accepted);
    engine_->commit(accepted_.data(), all());
    device_->synchronize();
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<LikelihoodEngine> engine_;
  DeviceArray<double> theta_, log_likelihood_;
  DeviceArray<int> component_;
  DeviceArray<std::uint8_t> accepted_;
  int num_chains_ = 1, dim_ = 0;
};

inline bool has_gpu() { return !list_cuda_devices().empty(); }

}  // namespace emomc::testing
