#include "emomc/posterior/spread_chains.hpp"

#include "emomc/posterior/row_team.hpp"

namespace emomc {

RunResult run_spread_chains(SampledChains& chains, std::span<const Target> targets,
                            std::span<const double> starts, DrawHandler& handler,
                            const SamplerState* resume) {
  IgnoreDraws ignored;
  RunResult result;
  const auto run = [&](LikelihoodEngine& engine, bool is_first, Communicator* ranks,
                       std::shared_ptr<DeviceRanks> connection) {
    RunOptions options = chains.options;
    options.ranks = ranks;
    options.connection = std::move(connection);
    RunResult own = run_chains(engine, targets, chains.proposal, chains.plans, options, starts,
                               is_first ? handler : ignored, resume);
    if (is_first) result = std::move(own);
  };
  const auto run_rank = [&](Communicator& ranks, std::shared_ptr<DeviceRanks> connection) {
    const auto r = static_cast<std::size_t>(ranks.rank());
    run(r == 0 ? *chains.engine : *chains.further[r - 1].engine, r == 0, &ranks, std::move(connection));
  };
  if (auto* team = dynamic_cast<RowTeam*>(chains.engine.get()))
    team->together([&](LikelihoodEngine& engine, Communicator& ranks) {
      run(engine, ranks.rank() == 0, nullptr, nullptr);
    });
  else if (chains.further.empty())
    run(*chains.engine, true, chains.options.ranks, nullptr);
  else if (chains.connections)
    chains.connections->together([&](const std::shared_ptr<DeviceRanks>& connection, Communicator& ranks) {
      run_rank(ranks, connection);
    });
  else
    on_rank_threads(make_thread_ranks(1 + static_cast<int>(chains.further.size())),
                    [&](Communicator& ranks) { run_rank(ranks, nullptr); });
  return result;
}

}  // namespace emomc
