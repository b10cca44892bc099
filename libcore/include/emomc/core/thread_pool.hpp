// A fixed set of threads for loops whose iterations are independent.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace emomc {

/// Called by the constructor of a ThreadPool that got fewer threads than it `wanted`: `got` of them, the
/// caller's included, since the system refused the others (`why`).
using RefusedThreadsHandler = void (*)(int wanted, int got, const std::string& why);
/// What is to be called from now on in all of the process; nullptr (at first): nothing. It is set for the
/// process, as std::set_new_handler is, because the limit is one of the process and pools are made deep
/// inside of the libraries.
void set_refused_threads_handler(RefusedThreadsHandler handler);

/// Threads that wait for loops; the calling thread works too. One loop at a time.
class ThreadPool {
 public:
  /// `num_threads` 0: one per processor. Where the system refuses some (limits of processes, of a container,
  /// of address space), the pool goes on with fewer, in the worst case with the calling thread alone, and
  /// calls the handler for refused threads. No result depends on how many there are.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  /// Ranges that a loop is cut into, at most 16: worker w begins in range w modulo this and goes on in the
  /// others. So a thread mostly sees the same indices in every loop.
  int num_ranges() const;
  /// Calls body(i, worker) for each i < count, in any order and on any thread; worker < num_threads().
  /// Returns when all are done. Rethrows the first exception of a `body`; which of the other calls were made
  /// is then not known.
  void for_each(std::size_t count, const std::function<void(std::size_t i, int worker)>& body);
  /// The same for starts.front() <= i < starts.back(), range r being starts[r] <= i < starts[r + 1];
  /// num_ranges() + 1 of them, not decreasing.
  void for_each(const std::vector<std::size_t>& starts,
                const std::function<void(std::size_t i, int worker)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace emomc
