// Exchange of data between the processes or threads of one run. Data are moved, never added: the receiver
// adds them in an order of its own, so that results do not depend on the number of ranks.
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

/// Another rank has failed or is gone. The failed rank reports the reason.
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
  /// The number of this rank among the ranks on the same machine, and how many ranks that machine has.
  virtual int rank_of_host() const = 0;
  virtual int size_of_host() const = 0;
  /// Kind of communicator for messages: "MPI" or "threads"; empty for a single rank.
  virtual std::string kind() const = 0;

  /// Rank r contributes bytes[r] bytes from `mine`; on every rank, `all` receives the bytes of all ranks in
  /// rank order. `bytes` [size()] is the same on all ranks. `mine` may be this rank's part of `all`. Host
  /// memory.
  virtual void all_gather(const void* mine, std::span<const std::size_t> bytes, void* all) = 0;
  /// Copies `bytes` bytes of host memory from rank 0 to all other ranks.
  virtual void broadcast(void* data, std::size_t bytes) = 0;

  /// Returns a communicator of the same ranks that another thread may use at the same time as this one.
  /// (Calls of two threads on one communicator could meet in an order that differs between ranks.)
  /// Collective. The result must not outlive this communicator.
  virtual std::unique_ptr<Communicator> duplicate() = 0;

  /// Reports to the other ranks that this rank has failed with the program's exit code `code`; the others
  /// then stop waiting for it. With MPI, the call ends all processes and does not return.
  virtual void fail(int code) noexcept = 0;
  /// Whether another rank is known to have failed; does not wait, and any thread may call it. Always false
  /// with MPI, where a failure ends all processes.
  virtual bool has_failed() const noexcept { return false; }

  /// Registers `work` to be done when no rank uses the others any longer. Such work is an end that all ranks
  /// must reach together, which destructors cannot guarantee. Ranks that are processes delay `work` until MPI
  /// ends, and skip it if one of them has failed. This default, for ranks whose objects end at the same time,
  /// does `work` at once. `work` must not throw.
  virtual void at_end(std::function<void()> work) { work(); }  // NOLINT(performance-unnecessary-value-param)
};

/// The communicator of a single rank, whose calls move nothing.
Communicator& single_rank();

/// The communicators of `size` threads of this process; element r is used by one thread at a time. Throws
/// std::invalid_argument for a size below 1.
std::vector<std::unique_ptr<Communicator>> make_thread_ranks(int size);

/// Returns the values of all ranks in rank order; rank r contributes counts[r] values.
template <class T>
std::vector<T> all_gather(Communicator& ranks, std::span<const T> mine, std::span<const std::size_t> counts) {
  std::vector<std::size_t> bytes;
  for (const std::size_t count : counts) bytes.push_back(count * sizeof(T));
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  ranks.all_gather(mine.data(), bytes, all.data());
  return all;
}
/// Returns rank 0's `value` on all ranks. Collective.
template <class T>
T from_first(Communicator& ranks, T value) {
  ranks.broadcast(&value, sizeof(T));
  return value;
}

}  // namespace emomc
