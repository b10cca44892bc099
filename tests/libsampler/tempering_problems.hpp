// Models whose evidence is known, and a handler that receives the draws of all rungs.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/sampler/evidence.hpp"
#include "function_engine.hpp"
#include "keeper.hpp"
#include "mixture_target.hpp"

namespace emomc::testing {

/// Keeps the log likelihoods of all rungs, too.
struct RungKeeper : Keeper {
  std::vector<double> of_rungs;  ///< in the order of draws, then chains
  std::size_t num_chains = 0;
  void on_rungs(const RungBatch& d) override {
    num_chains = static_cast<std::size_t>(d.num_chains);
    if (d.warmup) return;
    of_rungs.insert(of_rungs.end(), d.log_likelihood,
                    d.log_likelihood + static_cast<std::ptrdiff_t>(d.num_draws) * d.num_chains);
  }
  RungDraws rungs(const SamplerState& state) const {
    RungDraws draws;
    draws.exchanges = tempering_summary(state);
    draws.betas = draws.exchanges.betas;
    draws.num_chains = num_chains / draws.betas.size();
    draws.num_draws = of_rungs.size() / num_chains;
    for (std::size_t c = 0; c < num_chains; ++c)
      for (std::size_t i = 0; i < draws.num_draws; ++i)
        draws.log_likelihood.push_back(of_rungs[i * num_chains + c]);
    draws.acceptance.assign(draws.betas.size(), 0.5);
    return draws;
  }
};

struct KnownEvidence {
  std::string name;
  Target target;
  FunctionEngine::GradientFunction log_likelihood;
  double log_evidence;
  std::vector<double> start;
  std::string kind = "component_wise";
  /// Mean of the log likelihood at a power; empty: unknown.
  std::function<double(double beta)> mean_log_likelihood = {};
};

inline Target one_block(const std::string& name, int size, Support support, const PriorSpec& prior) {
  return {ParameterLayout{{{name, {size}, support}}}, PriorSet{{{name, prior}}}, std::vector<double>{1.0}};
}

/// Returns a model of `n` observations of each of `dim` means, with sd 1, and a normal prior with sd `s` on
/// the means.
inline KnownEvidence normal_means(int dim, double n, double s, const std::string& kind) {
  std::vector<double> mean, square;
  for (int i = 0; i < dim; ++i) {
    mean.push_back(1.5 * s * std::sin(1.0 + 2.0 * i));
    square.push_back(n * mean.back() * mean.back() + n - 1);
  }
  const double constant = -0.5 * n * std::log(2 * std::numbers::pi);
  const auto log_likelihood = [=](int, const double* theta, double* gradient) {
    double sum = 0;
    for (int i = 0; i < dim; ++i) {
      const auto j = static_cast<std::size_t>(i);
      sum += constant - 0.5 * (square[j] - 2 * n * mean[j] * theta[i] + n * theta[i] * theta[i]);
      if (gradient) gradient[i] = n * (mean[j] - theta[i]);
    }
    return sum;
  };
  double evidence = 0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    evidence += constant - 0.5 * square[i] + 0.5 * n * n * mean[i] * mean[i] / (n + 1 / (s * s)) -
                0.5 * std::log1p(n * s * s);
  const auto expected = [=](double beta) {
    double sum = 0;
    const double precision = beta * n + 1 / (s * s);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double at = beta * n * mean[i] / precision;
      sum += constant - 0.5 * (square[i] - 2 * n * mean[i] * at + n * (at * at + 1 / precision));
    }
    return sum;
  };
  return {"normal means " + std::to_string(dim) + ", " + kind,
          one_block("mu", dim, Support::real, {PriorFamily::normal, {number(0), number(s)}}),
          log_likelihood,
          evidence,
          mean,
          kind,
          expected};
}

/// Returns a model of `n` counts with the sum `k`, without their factorials, and a gamma prior on the rate.
inline KnownEvidence poisson_rate(double n, double k, double shape, double rate) {
  const auto log_likelihood = [=](int, const double* theta, double*) {
    return k * std::log(theta[0]) - n * theta[0];
  };
  return {
      "Poisson rate",
      one_block("rate", 1, Support::positive, {PriorFamily::gamma, {number(shape), number(rate)}}),
      log_likelihood,
      shape * std::log(rate) - std::lgamma(shape) + std::lgamma(shape + k) - (shape + k) * std::log(rate + n),
      {k / n}};
}

/// Returns a model of `k` successes in `n` trials with a beta prior.
inline KnownEvidence share(double n, double k, double a, double b) {
  const auto log_likelihood = [=](int, const double* theta, double*) {
    return k * std::log(theta[0]) + (n - k) * std::log1p(-theta[0]);
  };
  const auto lbeta = [](double x, double y) { return std::lgamma(x) + std::lgamma(y) - std::lgamma(x + y); };
  return {"share",
          one_block("share", 1, Support::unit_interval, {PriorFamily::beta, {number(a), number(b)}}),
          log_likelihood,
          lbeta(a + k, b + n - k) - lbeta(a, b),
          {k / n}};
}

struct TemperedRun {
  RunResult result;
  RungKeeper keeper;
};

/// Runs tempered chains. `starts` replace problem.start for all chains; they are starts of the chains, or of
/// their rungs, too.
inline TemperedRun run_tempered(const KnownEvidence& problem, const RunOptions& options, int chains = 4,
                                const SamplerState* resume = nullptr, std::vector<double> starts = {}) {
  const auto device = make_host_device();
  const bool gradient = proposal_use(problem.kind).gradient;
  FunctionEngine engine = gradient ? FunctionEngine(*device, problem.target.layout(), problem.log_likelihood)
                                   : FunctionEngine(*device, problem.target.layout(),
                                                    FunctionEngine::Function([&](const double* theta) {
                                                      return problem.log_likelihood(0, theta, nullptr);
                                                    }));
  std::vector<ChainPlan> plans;
  const bool are_given = !starts.empty();
  for (int c = 0; c < chains; ++c) {
    plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
    if (!are_given) starts.insert(starts.end(), problem.start.begin(), problem.start.end());
  }
  TemperedRun run;
  run.result = run_chains(engine, problem.target, {problem.kind}, plans, options, starts, run.keeper, resume);
  return run;
}

}  // namespace emomc::testing
