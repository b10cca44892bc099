// Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman 2018, "Validating Bayesian
// inference algorithms with simulation-based calibration"; Modrak et al. 2023, "Simulation-based calibration
// checking for Bayesian computation: the choice of test quantities shapes sensitivity", for the use of the
// log likelihood as a quantity).
//
// Parameters are drawn from the prior, data are drawn from the model with these parameters, and a chain is
// run on the data. The rank of the parameters' quantities among those of the chain's draws is uniform if the
// chain samples the posterior.
//
// A chain begins at the parameters from which its data came. These are a draw from the posterior, so that the
// chain has the posterior as its distribution from the first step, in whatever mode. The test checks that
// steps leave this distribution invariant; a chain that does not move between modes raises no alarm. The
// warm-up makes the draws independent of the start and serves the adaptation.
#pragma once

#include <algorithm>
#include <optional>
#include <ostream>

#include "emomc/sampler/diagnostics.hpp"
#include "generative_model.hpp"
#include "keeper.hpp"
#include "label_free.hpp"

namespace emomc::testing {

struct Scenario {
  std::string name;
  GenerativeModel truth;
  std::size_t num_rows = 10;
  ProposalSpec proposal;
  std::int64_t thin = 30;  ///< steps between the ranked draws
  /// Number of chains of each data set. Moves by other chains' states need several chains. All but the first
  /// chain begin at draws from the prior.
  int num_chains = 1;
  Backend backend = Backend::cpu;
  Precision precision = Precision::float64;
  std::int64_t warmup = 500;
  /// The prior and the power of the likelihood that the chains use, if these are deliberately wrong.
  std::optional<PriorSet> assumed_prior = std::nullopt;
  double beta = 1;
};

inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

/// The counts of ranks, which are in 0 .. num_draws.
struct Ranks {
  struct Quantity {
    std::string name;
    std::vector<int> counts;     ///< [num_draws + 1], the number of ranks of each value
    double effective_share = 0;  ///< mean ESS of the ranked draws, as a share of their number
  };
  int num_draws = 0, num_replicates = 0;
  std::vector<Quantity> quantities;
};

inline constexpr int kRankedDraws = 31;  ///< or slightly more, so that several chains have equal numbers

/// Parameters from the prior, and data drawn with them: one segment of rows for each replicate.
struct Replicates {
  int dim = 0;                 ///< dimension of one true parameter vector
  std::vector<double> truths;  ///< num_replicates x dim
  DataSet data;

  Replicates(const Scenario& scenario, int count, Simulator& simulator) : dim(scenario.truth.layout().dim()) {
    data.dim = scenario.truth.num_columns;
    data.num_rows = static_cast<std::size_t>(count) * scenario.num_rows;
    for (int r = 0; r < count; ++r) {
      const auto theta = simulator.parameters();
      const auto rows = simulator.rows(scenario.num_rows);
      truths.insert(truths.end(), theta.begin(), theta.end());
      data.values.insert(data.values.end(), rows.begin(), rows.end());
      data.segments.push_back({static_cast<std::size_t>(r) * scenario.num_rows, scenario.num_rows});
    }
  }
  std::span<const double> truth(int r) const {
    return {truths.data() + static_cast<std::ptrdiff_t>(r) * dim, static_cast<std::size_t>(dim)};
  }
};

/// Computes the label-free quantities, log_prior and, if it is given, log_likelihood.
class Quantities {
 public:
  explicit Quantities(const Target& target) : target_(target), label_free_(target) {}
  std::vector<std::string> names(bool with_likelihood) const {
    auto names = label_free_.names();
    names.push_back("log_prior");
    if (with_likelihood) names.push_back("log_likelihood");
    return names;
  }
  std::vector<double> operator()(std::span<const double> theta,
                                 std::optional<double> log_likelihood = std::nullopt) const {
    auto values = label_free_(theta);
    values.push_back(target_.log_prior(theta));
    if (log_likelihood) values.push_back(*log_likelihood);
    return values;
  }

 private:
  const Target& target_;
  LabelFree label_free_;
};

/// Counts the ranks of the true values among the draws, one replicate after another.
class Ranking {
 public:
  Ranking(const std::vector<std::string>& names, int num_draws, int num_replicates)
      : ranks_{num_draws, num_replicates, {}} {
    for (const auto& name : names)
      ranks_.quantities.push_back({name, std::vector<int>(static_cast<std::size_t>(num_draws) + 1, 0), 0});
  }

  /// Adds the rank of one replicate. `draws` has the quantities of one draw after another. Ties are broken at
  /// random.
  void add(const std::vector<double>& truth, const std::vector<std::vector<double>>& draws,
           Simulator& simulator) {
    std::vector<double> of_quantity(draws.size());
    for (std::size_t q = 0; q < truth.size(); ++q) {
      int below = 0, equal = 0;
      for (std::size_t i = 0; i < draws.size(); ++i) {
        of_quantity[i] = draws[i][q];
        below += draws[i][q] < truth[q];
        equal += draws[i][q] == truth[q];
      }
      auto& quantity = ranks_.quantities[q];
      ++quantity.counts[static_cast<std::size_t>(below + simulator.below(equal + 1))];
      const double ess = ess_bulk({of_quantity.data(), draws.size(), 1});
      quantity.effective_share += (std::isfinite(ess) ? ess : 1) /  // all draws are equal
                                  (static_cast<double>(draws.size()) * ranks_.num_replicates);
    }
  }
  const Ranks& ranks() const { return ranks_; }

 private:
  Ranks ranks_;
};

inline Target assumed_target(const Scenario& scenario) {
  const GenerativeModel& truth = scenario.truth;
  return {model_layout(truth.model, truth.num_columns), scenario.assumed_prior.value_or(truth.prior),
          std::vector<double>(static_cast<std::size_t>(truth.num_columns), 1.0)};
}

/// Returns the log likelihood of each replicate's true parameters, computed by the engine.
inline std::vector<double> truths_log_likelihoods(LikelihoodEngine& engine, const Replicates& replicates) {
  const int count = static_cast<int>(replicates.data.segments.size()), dim = engine.layout().dim();
  std::vector<ChainPlan> plans;
  std::vector<double> thetas, log_likelihoods(static_cast<std::size_t>(count));
  for (int r = 0; r < count; ++r) {
    plans.push_back({static_cast<std::uint64_t>(r), {r}, 1.0, 0});
    const auto truth = replicates.truth(r).first(static_cast<std::size_t>(dim));
    thetas.insert(thetas.end(), truth.begin(), truth.end());
  }
  engine.allocate(plans, ComponentCaches::off);
  engine.evaluate({count, dim, dim, thetas.data(), log_likelihoods.data()}, {nullptr, count});
  engine.device().synchronize();
  return log_likelihoods;
}

/// Runs `count` data sets at once on a host, each with its own group of chains.
inline void rank_batch(const Scenario& scenario, int count, std::uint64_t seed, const Target& target,
                       Ranking& ranking) {
  Simulator simulator(scenario.truth, seed);
  const Replicates replicates(scenario, count, simulator);
  const int chains = scenario.num_chains, draws = ranking.ranks().num_draws / chains;
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < chains; ++c) {
      plans.push_back({plans.size(), {r}, scenario.beta, r});
      const auto truth = replicates.truth(r);
      const auto start = c == 0 ? std::vector<double>(truth.begin(), truth.end()) : simulator.parameters();
      starts.insert(starts.end(), start.begin(), start.end());
    }
  RunOptions options;
  options.warmup = scenario.warmup;
  options.draws = draws;
  options.thin = scenario.thin;
  options.seed = seed;
  const auto device = make_device(scenario.backend);
  const auto engine =
      make_engine(scenario.backend, scenario.truth.model, scenario.precision, replicates.data, *device, 1);
  Keeper keeper;
  run_chains(*engine, target, scenario.proposal, plans, options, starts, keeper);

  const auto log_likelihoods = truths_log_likelihoods(*engine, replicates);
  const Quantities quantities(target);
  const auto dim = static_cast<std::size_t>(target.dim());
  for (int r = 0; r < count; ++r) {
    std::vector<std::vector<double>> of_draws;
    for (int i = 0; i < draws; ++i)
      for (int c = 0; c < chains; ++c) {
        const auto point = static_cast<std::size_t>((i * count + r) * chains + c);
        of_draws.push_back(
            quantities({keeper.theta.data() + point * dim, dim}, keeper.log_likelihood[point]));
      }
    ranking.add(quantities(replicates.truth(r), log_likelihoods[static_cast<std::size_t>(r)]), of_draws,
                simulator);
  }
}

inline Ranks sbc(const Scenario& scenario, int num_replicates, std::uint64_t seed) {
  constexpr int kBatch = 50;  // a chain's component cache has the size of all data of a batch
  const Target target = assumed_target(scenario);
  const int chains = scenario.num_chains, draws = (kRankedDraws + chains - 1) / chains;
  Ranking ranking(Quantities(target).names(true), draws * chains, num_replicates);
  for (int first = 0; first < num_replicates; first += kBatch)
    rank_batch(scenario, std::min(kBatch, num_replicates - first), seed + static_cast<std::uint64_t>(first),
               target, ranking);
  return ranking.ranks();
}

/// Returns ranks with the library's draws from the prior in place of a chain's draws.
inline Ranks prior_ranks(const Scenario& scenario, int num_replicates, std::uint64_t seed) {
  Simulator simulator(scenario.truth, seed);
  const Target target = assumed_target(scenario);
  const Quantities quantities(target);
  Ranking ranking(quantities.names(false), kRankedDraws, num_replicates);
  for (int r = 0; r < num_replicates; ++r) {
    std::vector<std::vector<double>> of_draws;
    for (std::uint64_t i = 0; i < kRankedDraws; ++i)
      of_draws.push_back(quantities(target.draw_from_prior(seed, static_cast<std::uint32_t>(r), i)));
    ranking.add(quantities(simulator.parameters()), of_draws, simulator);
  }
  return ranking.ranks();
}

}  // namespace emomc::testing
