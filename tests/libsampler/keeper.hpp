// A draw handler that keeps everything, for tests of the sampler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "emomc/sampler/run_chains.hpp"

namespace emomc::testing {

// Stores everything that it receives.
struct Keeper : DrawHandler {
  std::vector<double> theta, log_prior, log_likelihood;  ///< in the order of draws, then chains
  std::vector<std::int64_t> steps;
  std::vector<double> warmup_theta;
  std::vector<SamplerState> states;
  std::int64_t stop_after = std::numeric_limits<std::int64_t>::max();
  std::int64_t want_state_after = std::numeric_limits<std::int64_t>::max();

  void on_draws(const DrawBatch& d) override {
    const auto points = static_cast<std::ptrdiff_t>(d.num_draws) * d.num_chains;
    auto& to = d.warmup ? warmup_theta : theta;
    to.insert(to.end(), d.theta, d.theta + points * d.dim);
    if (d.warmup) return;
    log_prior.insert(log_prior.end(), d.log_prior, d.log_prior + points);
    log_likelihood.insert(log_likelihood.end(), d.log_likelihood, d.log_likelihood + points);
    for (int i = 0; i < d.num_draws; ++i) steps.push_back(d.first_step + i * d.thin);
  }
  Continue on_progress(const Progress& p) override {
    return p.step >= stop_after ? Continue::stop : Continue::yes;
  }
  bool wants_state(std::int64_t step) override { return step >= want_state_after && states.empty(); }
  void on_state(const SamplerState& s) override { states.push_back(s); }
};

}  // namespace emomc::testing
