#include "emomc/posterior/spread_chains.hpp"

#include "emomc/core/communicator.hpp"
#include "emomc/posterior/row_team.hpp"
#include "rank_threads.hpp"

namespace emomc {

RunResult run_spread_chains(SampledChains& chains, std::span<const Target> targets,
                            std::span<const double> starts, DrawHandler& handler,
                            const SamplerState* resume) {
  IgnoreDraws ignored;
  RunResult result;
  const auto run = [&](LikelihoodEngine& engine, bool is_first, Communicator* ranks) {
    RunOptions options = chains.options;
    options.ranks = ranks;
    RunResult own = run_chains(engine, targets, chains.proposal, chains.plans, options, starts,
                               is_first ? handler : ignored, resume);
    if (is_first) result = std::move(own);
  };
  if (auto* team = dynamic_cast<RowTeam*>(chains.engine.get())) {
    team->together(
        [&](LikelihoodEngine& engine, Communicator& ranks) { run(engine, ranks.rank() == 0, nullptr); });
  } else if (chains.further.empty()) {
    run(*chains.engine, true, chains.options.ranks);
  } else {
    on_rank_threads(make_thread_ranks(1 + static_cast<int>(chains.further.size())), [&](Communicator& ranks) {
      const auto r = static_cast<std::size_t>(ranks.rank());
      run(r == 0 ? *chains.engine : *chains.further[r - 1].engine, r == 0, &ranks);
    });
  }
  return result;
}

}  // namespace emomc
