// Runs work on several ranks that are threads of the test, on the CPU or each with a GPU of its own.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc::testing {

/// Calls `work` on each rank in a thread of its own and waits for all. Throws what the first rank has thrown
/// that did not fail because of another rank.
inline void on_ranks(int size, const std::function<void(Communicator&)>& work) {
  auto ranks = make_thread_ranks(size);
  std::vector<std::exception_ptr> thrown(ranks.size());
  std::vector<std::thread> threads;
  for (auto& rank : ranks)
    threads.emplace_back([&, at = static_cast<std::size_t>(rank->rank())] {
      try {
        work(*ranks[at]);
      } catch (const PeerError&) {
        // The rank that failed first gives the reason.
      } catch (...) {
        thrown[at] = std::current_exception();
        ranks[at]->fail(1);
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& error : thrown)
    if (error) std::rethrow_exception(error);
}

/// Returns the device of a rank: the GPU with the rank's number, or the host.
inline std::unique_ptr<Device> device_of_rank(Backend backend, int rank) {
  return backend == Backend::cuda ? make_cuda_device(rank) : make_host_device();
}

/// Returns the numbers of ranks for a test: on GPUs as many as there are, four at most; empty with fewer than
/// two GPUs.
inline std::vector<int> rank_counts(Backend backend) {
  if (backend != Backend::cuda) return {2, 3, 4};
  std::vector<int> counts;
  for (int n = 2; n <= 4 && n <= static_cast<int>(list_cuda_devices().size()); ++n) counts.push_back(n);
  return counts;
}

}  // namespace emomc::testing
