// What the processes or threads of one run tell each other. Data are moved, never added: whoever receives
// them adds them in an order of its own, so that results do not depend on the number of ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_range.hpp"

namespace emomc {

/// Another rank has failed or has gone away. The rank that failed has the reason.
class PeerError : public MachineError {
 public:
  using MachineError::MachineError;
};

/// A fixed group of ranks, 0 to size() - 1, each a process or a thread. The calls below that move data are
/// collective: every rank makes the same calls in the same order, and each waits for the others. They throw
/// PeerError where another rank has failed.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// This rank among those that share its machine, and their number.
  virtual int rank_of_host() const = 0;
  virtual int size_of_host() const = 0;
  /// For people: "MPI" or "threads"; empty for a single rank.
  virtual std::string kind() const = 0;

  /// Rank r gives bytes[r] bytes at `mine`; `all` receives those of all ranks, in the order of ranks, on
  /// every rank. `bytes` [size()] is the same everywhere. `mine` may be its own place in `all`. Host memory.
  virtual void all_gather(const void* mine, std::span<const std::size_t> bytes, void* all) = 0;
  /// Copies `bytes` bytes of host memory from rank 0 to all the others.
  virtual void broadcast(void* data, std::size_t bytes) = 0;

  /// A communicator of the same ranks, whose calls another thread may make at the same time as this one's:
  /// calls of two threads on one communicator would meet in an order that differs between ranks. Collective.
  /// It must not outlive this one.
  virtual std::unique_ptr<Communicator> duplicate() = 0;

  /// Tells the other ranks that this one has failed with the program's exit code `code`: they do not wait for
  /// it any longer. With MPI it ends all processes and does not return.
  virtual void fail(int code) noexcept = 0;
  /// Whether another rank has failed, as far as is known without waiting; may be asked by any thread. With
  /// MPI never true: a failure ends all processes.
  virtual bool has_failed() const noexcept { return false; }

  /// Has `work` done when no rank uses the others any longer: an end that all ranks must reach together,
  /// which the destructors of what they hold do not. Ranks that are processes keep it until MPI ends, and
  /// leave it out where one of them has failed. Here, for ranks whose objects end at the same time, it is
  /// done at once. `work` must not throw.
  virtual void at_end(std::function<void()> work) { work(); }  // NOLINT(performance-unnecessary-value-param)
};

/// The communicator of a single rank, whose calls move nothing.
Communicator& single_rank();

/// The communicators of `size` threads of this process; element r is used by one thread at a time. Throws
/// std::invalid_argument for a size below 1.
std::vector<std::unique_ptr<Communicator>> make_thread_ranks(int size);

/// All ranks' values, in the order of ranks; rank r gives counts[r].
template <class T>
std::vector<T> all_gather(Communicator& ranks, std::span<const T> mine, std::span<const std::size_t> counts) {
  std::vector<std::size_t> bytes;
  for (const std::size_t count : counts) bytes.push_back(count * sizeof(T));
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  ranks.all_gather(mine.data(), bytes, all.data());
  return all;
}
template <class T>
T from_first(Communicator& ranks, T value) {
  ranks.broadcast(&value, sizeof(T));
  return value;
}

}  // namespace emomc
