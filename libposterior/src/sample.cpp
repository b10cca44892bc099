#include <nlohmann/json.hpp>

#include "draw_collector.hpp"
#include "emomc/posterior.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/spread_chains.hpp"
#include "sample_config.hpp"
#include "sample_in_directory.hpp"

namespace emomc {
namespace {

/// The facts that a run's manifest would state.
RunFacts facts_of(const RunConfig& config, const RunSetup& setup, const RunResult& result) {
  RunFacts facts;
  facts.status = "finished";
  facts.chose_length = config.sampler.chooses_draws;
  facts.order = config.prior.order;
  facts.exchangeable_components = setup.target->components_are_exchangeable();
  if (proposal_use(setup.proposal.kind).target_acceptance)
    facts.target_acceptance = setup.proposal.target_acceptance;
  facts.adaptation_drift = result.adaptation_drift;
  facts.scale_floor = scale_floors(config, facts_of(setup.loaded));
  if (!result.state.tempering.empty()) facts.tempering = tempering_summary(result.state);
  std::uint64_t faults = 0;
  for (const std::uint64_t n : result.state.faults) faults += n;
  facts.faults = static_cast<double>(faults);
  facts.evaluations = static_cast<double>(result.num_evaluations);
  facts.rows = static_cast<double>(setup.loaded.table.num_rows);
  facts.duplicate_rows = static_cast<double>(setup.loaded.table.num_duplicate_rows);
  facts.columns = setup.loaded.table.columns;
  facts.files = setup.loaded.table.files;
  return facts;
}

/// Counts the draws at each optimum of the starts, and stores the counts where diagnose() reads them.
void follow_starts(const RunConfig& config, const RunSetup& setup, Inspection& run, StartReport& starts) {
  follow_draws_to_optima(config, setup, run.draws, starts);
  nlohmann::ordered_json json = to_json(starts);
  add_followed(starts, json);
  run.facts.starts = starts_of(nlohmann::json(json));
}

Draws sample_in_memory(const Posterior& posterior, const RunConfig& config, const SampleOptions& options) {
  RunSetup setup = set_up(config, &posterior.data());
  const std::vector<double> starts = find_starts(config, setup);
  Draws draws;
  draws.backend = backend_name(setup.backend);
  draws.starts = setup.starts;
  draws.warnings = warnings(setup);
  for (const std::string& line : describe(setup.starts).warned) draws.warnings.push_back(line);

  DrawCollector collector(config, setup, options.on_progress);
  const RunResult result = run_spread_chains(setup, {setup.target.get(), 1}, starts, collector);
  draws.ended_by = collector.end().ended_by(result);
  draws.finished = result.finished || !draws.ended_by.empty();
  collector.set_acceptance(result.state);
  collector.set_seconds(result.warmup_seconds, result.sampling_seconds);
  RunFacts facts = facts_of(config, setup, result);
  if (collector.num_draws() == 0) return draws;
  if (!draws.finished) facts.status = "interrupted";
  draws.run = collector.inspect(std::move(facts));
  follow_starts(config, setup, draws.run, draws.starts);
  for (const std::string& line : describe_lost(draws.starts)) draws.warnings.push_back(line);
  if (config.sampler.tempering.is_on()) draws.rungs = collector.rung_draws(result.state);
  draws.chains = collector.take_chains();
  return draws;
}

}  // namespace

Draws sample(const Posterior& posterior, const SampleOptions& options) {
  const RunConfig config = with_options(posterior.config(), options);
  return options.directory.empty() ? sample_in_memory(posterior, config, options)
                                   : sample_in_directory(posterior, config, options);
}

}  // namespace emomc
