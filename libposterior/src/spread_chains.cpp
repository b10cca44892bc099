#include "emomc/posterior/spread_chains.hpp"

#include <exception>
#include <thread>

#include "emomc/core/communicator.hpp"

namespace emomc {
namespace {

bool is_of_a_peer(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

RunResult run_spread_chains(SampledChains& chains, std::span<const Target> targets,
                            std::span<const double> starts, DrawHandler& handler,
                            const SamplerState* resume) {
  const auto run = [&](LikelihoodEngine& engine, DrawHandler& to, Communicator* ranks) {
    RunOptions options = chains.options;
    options.ranks = ranks;
    return run_chains(engine, targets, chains.proposal, chains.plans, options, starts, to, resume);
  };
  if (chains.further.empty()) return run(*chains.engine, handler, chains.options.ranks);

  const auto ranks = make_thread_ranks(1 + static_cast<int>(chains.further.size()));
  std::vector<std::exception_ptr> errors(ranks.size());
  RunResult result;
  const auto run_rank = [&](std::size_t r, const auto& work) {
    try {
      work();
    } catch (...) {
      errors[r] = std::current_exception();
      ranks[r]->fail(0);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t r = 1; r < ranks.size(); ++r)
    threads.emplace_back([&, r] {
      run_rank(r, [&] {
        IgnoreDraws ignored;
        run(*chains.further[r - 1].engine, ignored, ranks[r].get());
      });
    });
  run_rank(0, [&] { result = run(*chains.engine, handler, ranks[0].get()); });
  for (std::thread& thread : threads) thread.join();
  std::exception_ptr first;
  for (const auto& error : errors)
    if (error && (!first || (is_of_a_peer(first) && !is_of_a_peer(error)))) first = error;
  if (first) std::rethrow_exception(first);
  return result;
}

}  // namespace emomc
