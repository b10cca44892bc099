// Reads the draws of all rungs of a run with tempering.
#include <algorithm>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {
namespace {

struct SamplingDraws {
  std::size_t first = 0, count = 0;
};

SamplingDraws after_warmup(const ChainDraws& chain, std::int64_t warmup) {
  const auto first = std::upper_bound(chain.steps.begin(), chain.steps.end(), warmup);
  return {static_cast<std::size_t>(first - chain.steps.begin()),
          static_cast<std::size_t>(chain.steps.end() - first)};
}

}  // namespace

RungDraws rung_draws_of(const std::vector<ChainDraws>& cold, const std::vector<ChainDraws>& rungs,
                        const TemperingSummary& exchanges) {
  RungDraws draws;
  draws.betas = exchanges.betas;
  draws.exchanges = exchanges;
  draws.num_chains = cold.size();
  const std::size_t num_rungs = draws.betas.size();
  if (cold.empty() || num_rungs * cold.size() != cold.size() + rungs.size())
    throw InputError("rungs: " + std::to_string(rungs.size()) + " chains do not fit " +
                     std::to_string(num_rungs) + " powers of " + std::to_string(cold.size()) + " chains");
  std::vector<const ChainDraws*> all;
  for (const auto* part : {&cold, &rungs})
    for (const ChainDraws& chain : *part) all.push_back(&chain);
  std::int64_t warmup = 0;
  for (const ChainDraws* chain : all) warmup = std::max(warmup, chain->header.warmup);
  draws.num_draws = std::numeric_limits<std::size_t>::max();
  for (const ChainDraws* chain : all)
    draws.num_draws = std::min(draws.num_draws, after_warmup(*chain, warmup).count);
  for (const ChainDraws* chain : all) {
    const auto begin =
        chain->log_likelihood.begin() + static_cast<std::ptrdiff_t>(after_warmup(*chain, warmup).first);
    draws.log_likelihood.insert(draws.log_likelihood.end(), begin,
                                begin + static_cast<std::ptrdiff_t>(draws.num_draws));
  }
  for (std::size_t k = 0; k < num_rungs; ++k) {
    double accepted = 0, proposed = 0;
    for (std::size_t c = k * cold.size(); c < (k + 1) * cold.size(); ++c) {
      for (const std::uint64_t n : all[c]->accepted) accepted += static_cast<double>(n);
      for (const std::uint64_t n : all[c]->proposed) proposed += static_cast<double>(n);
    }
    draws.acceptance.push_back(proposed > 0 ? accepted / proposed : std::numeric_limits<double>::quiet_NaN());
  }
  return draws;
}

RungDraws read_rungs(const std::filesystem::path& run_directory) {
  if (!std::filesystem::is_directory(run_directory / "chains"))
    throw InputError(run_directory.string() + ": this is no run directory (there is no chains/ in it)");
  const auto file = run_directory / "checkpoint";
  if (!std::filesystem::exists(file))
    throw InputError(run_directory.string() +
                     ": there is no checkpoint yet, which has the powers of the rungs");
  const Checkpoint checkpoint = read_checkpoint(file);
  if (checkpoint.state.tempering.empty())
    throw InputError(run_directory.string() +
                     ": the run has no rungs; allowed: runs with sampler.tempering.rungs, such as emomc run "
                     "CONFIG --set sampler.tempering.rungs=12");
  std::vector<ChainDraws> cold, rungs;
  for (const CommittedChain& chain : checkpoint.chains) {
    const auto name = draws_file(run_directory, chain.id);
    ChainDraws draws = read_chain(name, chain.bytes);
    if (draws.header.chain_id != chain.id || draws.header.seed != checkpoint.seed)
      throw InputError(name.string() + ": it is of another chain or run; restore it from a copy");
    (rung_of(chain.id) == 0 ? cold : rungs).push_back(std::move(draws));
  }
  return rung_draws_of(cold, rungs, tempering_summary(checkpoint.state));
}

}  // namespace emomc
