#include "emomc/posterior/rank_team.hpp"

#include <exception>
#include <thread>
#include <vector>

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

void on_rank_threads(std::span<const std::unique_ptr<Communicator>> ranks,
                     const std::function<void(Communicator&)>& work) {
  std::vector<std::exception_ptr> errors(ranks.size());
  const auto run_rank = [&](std::size_t r) {
    try {
      work(*ranks[r]);
    } catch (...) {
      errors[r] = std::current_exception();
      ranks[r]->fail(0);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t r = 1; r < ranks.size(); ++r) threads.emplace_back(run_rank, r);
  run_rank(0);
  for (std::thread& thread : threads) thread.join();
  std::exception_ptr first;
  for (const auto& error : errors)
    if (error && (!first || (is_of_a_peer(first) && !is_of_a_peer(error)))) first = error;
  if (first) std::rethrow_exception(first);
}

}  // namespace emomc
