#include "emomc/posterior/predictive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/posterior/written_draws.hpp"

namespace emomc {
namespace {

// Keys that are combined with the seed. Without them, data that `emomc simulate` has made with the same seed
// would be one of the replicates. The numbers are digits of pi.
constexpr std::uint64_t kReplicates = 0x243f6a8885a308d3, kPriorParameters = 0x13198a2e03707344,
                        kPriorReplicates = 0xa4093822299f31d0;

std::size_t chosen_draws(const RowSimulator& simulator, std::size_t num_chains, std::size_t num_draws,
                         const PredictiveOptions& options) {
  if (options.draws == std::size_t{0})
    throw InputError("predictive draws: 0 of each chain is out of range; allowed: 1 or more");
  const std::size_t of_each = simulator.variables().size() * num_chains * simulator.num_rows();
  const std::size_t most = PredictiveOptions::kMostValues / of_each;
  const std::size_t asked =
      options.draws ? std::min(*options.draws, num_draws)
                    : std::clamp<std::size_t>(PredictiveOptions::kMostValuesUnasked / of_each, 1, num_draws);
  if (asked <= most) return asked;
  const std::string values = fmt::format(
      "predictive draws: {} of each of {} with {} of {} take {}", asked, counted(num_chains, "chain"),
      counted(simulator.num_rows(), "row"), counted(simulator.variables().size(), "column"),
      bytes_text(static_cast<double>(asked) * static_cast<double>(of_each) * sizeof(double)));
  throw InputError(values + (most > 0 ? "; allowed: at most " + std::to_string(most) + " of each chain"
                                      : "; allowed: at most 1 GB, which fewer chains or rows need"));
}

PredictiveDraws replicates(const RowSimulator& simulator, const DrawSet& set, std::uint64_t seed,
                           const PredictiveOptions& options) {
  PredictiveDraws result;
  result.variables = simulator.variables();
  result.num_chains = set.num_chains();
  result.num_rows = simulator.num_rows();
  result.num_draws_of_chain = set.num_draws;
  const std::size_t C = set.num_chains(), N = set.num_draws, V = result.variables.size(), R = result.num_rows,
                    n = chosen_draws(simulator, C, N, options);
  for (std::size_t k = 0; k < n; ++k) result.draws.push_back(k * N / n);
  result.values.resize(V * C * n * R);
  std::atomic<std::size_t> not_finite{0};
  ThreadPool threads(options.threads);
  threads.for_each(C * n, [&](std::size_t at, int) {
    const std::size_t c = at / n, k = at % n, i = result.draws[k];
    std::vector<double> theta(simulator.num_parameters()), rows(R * V);
    for (std::size_t j = 0; j < theta.size(); ++j)
      theta[j] = set.values[((set.num_log_densities + j) * C + c) * N + i];
    simulator.simulate(theta, seed, static_cast<std::uint32_t>(i * C + c), rows);
    for (std::size_t v = 0; v < V; ++v)
      for (std::size_t row = 0; row < R; ++row)
        result.values[((v * C + c) * n + k) * R + row] = rows[row * V + v];
    if (!std::all_of(rows.begin(), rows.end(), [](double x) { return std::isfinite(x); })) ++not_finite;
    if (options.on_replicate) options.on_replicate(C * n);
  });
  result.num_not_finite = not_finite;
  return result;
}

/// The prior of a likelihood, in the units of draws in files.
struct Prior {
  SampledChains chains;
  ColumnUnits units;

  Prior(const RunConfig& config, const Table& data, const RowSimulator& simulator) {
    if (const Expression* const expression = simulator.expression()) {
      chains.target = std::make_unique<Target>(expression->layout(), config.prior, std::span<const double>());
      return;
    }
    const ModelSpec model = model_of(config.likelihood);
    const LoadedData loaded = prepare_data(data, config.data, model);
    chains.target = make_target(model, config.prior, loaded, config.data.standardize);
    units = loaded.units;
  }
};

/// `count` draws from the prior, as one chain.
DrawSet draws_of(const Prior& prior, std::size_t num_rows, std::uint64_t seed, std::size_t count) {
  const Target& target = *prior.chains.target;
  const WrittenDraws written(prior.chains, prior.units, num_rows);
  DrawSet set;
  set.source = "prior";
  set.program = "emomc";
  set.names = element_names(target.layout());
  set.chains = {"0"};
  set.num_draws = count;
  set.layout = target.layout();
  set.values.resize(set.names.size() * count);
  std::vector<double> theta(set.names.size());
  for (std::size_t i = 0; i < count; ++i) {
    written.convert(target.draw_from_prior(seed, static_cast<std::uint32_t>(i), 0), theta);
    for (std::size_t j = 0; j < theta.size(); ++j) set.values[j * count + i] = theta[j];
  }
  return set;
}

}  // namespace

std::uint64_t seed_of_replicates(std::uint64_t seed) { return seed ^ kReplicates; }

PredictiveDraws posterior_predictive(const RowSimulator& simulator, const DrawSet& draws, std::uint64_t seed,
                                     const PredictiveOptions& options) {
  return replicates(simulator, draws, seed_of_replicates(seed), options);
}

PredictiveDraws posterior_predictive(const Posterior& posterior, const Draws& draws,
                                     const PredictiveOptions& options) {
  if (draws.chains.empty() || draws.num_draws() == 0) throw InputError("there are no draws");
  if (!(draws.chains[0].header.layout.blocks == posterior.layout().blocks))
    throw InputError("the draws have other parameters than the posterior");
  return posterior_predictive(row_simulator(posterior.config(), posterior.data()), draws.run.draws,
                              draws.chains[0].header.seed, options);
}

PriorPredictive prior_predictive(const RunConfig& config, const Table& data, std::uint64_t seed,
                                 const PredictiveOptions& options) {
  const RowSimulator simulator = row_simulator(config, data);
  const Prior prior(config, data, simulator);
  const std::size_t count =
      chosen_draws(simulator, 1, options.draws.value_or(PredictiveOptions::kPriorDraws), options);
  PriorPredictive result;
  result.prior = draws_of(prior, data.num_rows, seed ^ kPriorParameters, count);
  PredictiveOptions all = options;
  all.draws = count;
  result.predictive = replicates(simulator, result.prior, seed ^ kPriorReplicates, all);
  if (const Expression* const expression = simulator.expression()) add_derived(*expression, result.prior);
  return result;
}

PriorPredictive prior_predictive(const Posterior& posterior, std::uint64_t seed,
                                 const PredictiveOptions& options) {
  return prior_predictive(posterior.config(), posterior.data(), seed, options);
}

}  // namespace emomc
