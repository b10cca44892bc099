// Tests whether a gradient sampler keeps a distribution from which exact draws are possible. Many independent
// chains begin at exact draws. For a correct sampler, the differences of functions of u between the chains'
// ends and beginnings have mean zero, however the sampler mixes.
#pragma once

#include <cmath>
#include <vector>

#include "trajectory_problems.hpp"

namespace emomc::testing {

struct Stationarity {
  double worst_z = 0;     ///< largest |z| of the functions
  double acceptance = 0;  ///< mean acceptance
  /// Mean squared jump in variances of u, for the coordinate with the least one. It shows that the chains
  /// move.
  double least_move = 0;
};

/// Returns `density`, and for each coordinate its value, its square, its tanh, the signed square of its tanh,
/// and the product of its tanh with that of the next coordinate.
inline std::vector<double> functions_of(const double* u, int n, double density) {
  std::vector<double> values{density};
  for (int i = 0; i < n; ++i) {
    values.insert(values.end(),
                  {u[i], u[i] * u[i], std::tanh(u[i]), std::tanh(u[i]) * std::abs(std::tanh(u[i]))});
    values.push_back(std::tanh(u[i]) * std::tanh(u[(i + 1) % n]));
  }
  return values;
}

inline Stationarity measure_stationarity(const std::string& kind, const ExactProblem& exact, int num_chains,
                                         int steps, std::uint64_t seed = 1) {
  TrajectoryChains chains(kind, exact.problem, num_chains, exact.metric, seed);
  const auto n = static_cast<std::size_t>(chains.dim_u());
  const auto num = static_cast<std::size_t>(num_chains);
  std::vector<double> start(num * n);
  for (std::size_t c = 0; c < num; ++c)
    exact.draw({seed + 1000, 0, static_cast<device::u32>(c)}, start.data() + c * n);
  const auto densities = [&] {
    const auto& current = chains.ensemble().view().current;
    auto sum = chains.ensemble().download_scalars(current.log_likelihood);
    const auto prior = chains.ensemble().download_scalars(current.log_prior);
    const auto jacobian = chains.ensemble().download_scalars(current.log_jacobian);
    for (std::size_t c = 0; c < num; ++c)
      sum[c] = std::tanh(0.2 * (exact.problem.beta * sum[c] + prior[c] + jacobian[c]));
    return sum;
  };
  chains.begin(start);
  const auto before = densities();
  Stationarity result;
  for (int step = 0; step < steps; ++step) {
    chains.run(1);
    for (const auto& draw : chains.statistics) result.acceptance += draw.acceptance / (num_chains * steps);
  }
  const auto after = densities();
  std::vector<double> sums, squares;
  for (std::size_t c = 0; c < num; ++c) {
    const auto x = functions_of(start.data() + c * n, static_cast<int>(n), before[c]);
    const auto y = functions_of(chains.u.data() + c * n, static_cast<int>(n), after[c]);
    sums.resize(x.size());
    squares.resize(x.size());
    for (std::size_t f = 0; f < x.size(); ++f) {
      sums[f] += y[f] - x[f];
      squares[f] += (y[f] - x[f]) * (y[f] - x[f]);
    }
  }
  for (std::size_t f = 0; f < sums.size(); ++f)
    result.worst_z = std::max(result.worst_z, std::abs(sums[f]) / std::sqrt(squares[f]));
  result.least_move = 1e300;
  for (std::size_t i = 0; i < n; ++i) {
    double mean = 0, square = 0, moved = 0;
    for (std::size_t c = 0; c < num; ++c) {
      const double x = start[c * n + i], d = chains.u[c * n + i] - x;
      mean += x / num_chains;
      square += x * x / num_chains;
      moved += d * d / num_chains;
    }
    result.least_move = std::min(result.least_move, moved / (square - mean * mean));
  }
  return result;
}

}  // namespace emomc::testing
