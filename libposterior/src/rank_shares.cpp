#include "emomc/posterior/rank_shares.hpp"

#include "emomc/core/rank_range.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {
namespace {

// The share of a rank that runs the chains `own` and evaluates `evaluated` chains.
RankShare share_of(const SampledChains& chains, const std::vector<ChainPlan>& own, std::size_t evaluated) {
  return {evaluated, chains.engine->plan(own, chains.options.caches),
          sampler_memory(chains.device->kind(), {chains.target.get(), 1}, chains.proposal, own)};
}

}  // namespace

std::vector<RankShare> shares_of_ranks(const SampledChains& chains, int ranks) {
  const std::vector<ChainPlan> all = tempered_plans(chains.plans, chains.options.tempering);
  check_ranks(ranks, all.size());
  const bool runs_all = proposal_use(chains.proposal.kind).other_chains;
  std::vector<RankShare> shares;
  for (int r = 0; r < ranks; ++r) {
    const RankRange range = range_of_rank(all.size(), r, ranks);
    const std::vector<ChainPlan> own(all.begin() + static_cast<std::ptrdiff_t>(range.first),
                                     all.begin() + static_cast<std::ptrdiff_t>(range.end));
    shares.push_back(share_of(chains, runs_all ? all : own, own.size()));
  }
  return shares;
}

std::vector<RankShare> shares_of_devices(const SampledChains& chains) {
  if (const std::size_t devices = num_chain_devices(chains); devices > 1)
    return shares_of_ranks(chains, static_cast<int>(devices));
  const auto row_devices = static_cast<std::size_t>(num_row_devices(chains));
  if (row_devices == 1) return {};
  const std::vector<ChainPlan> all = tempered_plans(chains.plans, chains.options.tempering);
  // The engine's plan is that of the first GPU, which has as many rows as any other GPU.
  return std::vector<RankShare>(row_devices, share_of(chains, all, all.size()));
}

}  // namespace emomc
