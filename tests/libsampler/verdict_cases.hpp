// Chains that the verdict must accept, and chains that it must reject for one known reason each.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emomc/core/thread_pool.hpp"
#include "emomc/device/random.hpp"
#include "emomc/sampler/convergence.hpp"

namespace emomc::testing {

struct VerdictCase {
  const char* what;
  int num_chains, num_draws, num_quantities;
  double correlation;  ///< lag-1 correlation of a stationary autoregression with unit sd
  /// Returns what is added to draw i of chain c of the first quantity; may be empty.
  std::function<double(int i, int c)> fault = {};
  double shared = 0;  ///< share of the variance that quantities have in common
  int superchains = 0;
  std::function<bool(int c)> stuck = {};  ///< whether chain c repeats one draw
};

inline DrawSet verdict_draws(const VerdictCase& one, std::uint64_t seed) {
  DrawSet set;
  set.num_draws = static_cast<std::size_t>(one.num_draws);
  set.num_log_densities = 1;
  for (int c = 0; c < one.num_chains; ++c) set.chains.push_back(std::to_string(c));
  if (one.superchains > 0)
    set.chains_per_superchain = static_cast<std::size_t>(one.num_chains / one.superchains);
  const double rho = one.correlation;
  const auto series = [&](int q, int c) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(q), static_cast<std::uint32_t>(c)};
    std::vector<double> x(set.num_draws);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = random.normal(device::Purpose::simulation, static_cast<std::uint32_t>(i));
      x[i] = i == 0 ? z : rho * x[i - 1] + std::sqrt(1 - rho * rho) * z;
    }
    return x;
  };
  const double own = std::sqrt(1 - one.shared), common = std::sqrt(one.shared);
  std::vector<std::vector<double>> together;
  if (common > 0)
    for (int c = 0; c < one.num_chains; ++c) together.push_back(series(one.num_quantities, c));
  for (int q = 0; q < one.num_quantities; ++q) {
    double* x = set.add("q" + std::to_string(q));
    for (int c = 0; c < one.num_chains; ++c) {
      const auto draws = series(q, c);
      for (int i = 0; i < one.num_draws; ++i, ++x) {
        const auto at = static_cast<std::size_t>(one.stuck && one.stuck(c) ? 0 : i);
        *x = own * draws[at];
        if (common > 0) *x += common * together[static_cast<std::size_t>(c)][at];
        if (q == 0 && one.fault) *x += one.fault(i, c);
      }
    }
  }
  return set;
}

/// Returns how many of `count` data sets are rejected.
inline int rejections(const VerdictCase& one, int count, std::uint64_t first_seed = 0) {
  ThreadPool threads(0);
  int rejected = 0;
  for (int s = 0; s < count; ++s) {
    const auto run = diagnose_draws(verdict_draws(one, first_seed + static_cast<std::uint64_t>(s)),
                                    Numbering::raw, false, threads);
    rejected += !judge_convergence(run).converged();
  }
  return rejected;
}

}  // namespace emomc::testing
