// A fixed set of threads for loops with independent iterations.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace emomc {

/// Handler of threads that the system refused. The constructor of a ThreadPool calls the handler if the pool
/// got fewer threads than it `wanted`; `got` counts the calling thread too, and `why` is the system's reason.
using RefusedThreadsHandler = void (*)(int wanted, int got, const std::string& why);
/// Sets the handler of all pools that are constructed from now on; nullptr, the default, means none. It is
/// global to the process, like that of std::set_new_handler, because the limit applies to the process and
/// libraries construct pools internally.
void set_refused_threads_handler(RefusedThreadsHandler handler);

/// Threads that wait for loops; the calling thread takes part in each loop. One loop can run at a time:
/// for_each must not be called from a loop's body.
class ThreadPool {
 public:
  /// `num_threads`: 0 means one thread per processor. If the system refuses threads (limits on processes, of
  /// a container, on address space), the pool continues with fewer, in the worst case with the calling thread
  /// alone, and calls the handler of refused threads. No result depends on the number of threads.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  /// Number of ranges that a loop is divided into, at most 16. Worker w starts with range w modulo this
  /// number and continues with the others, so a thread mostly works on the same indices in every loop.
  int num_ranges() const;
  /// Calls body(i, worker) for each i < count, in any order and on any thread; worker < num_threads().
  /// Returns when all calls have returned. Rethrows the first exception of a `body`; in that case an
  /// unspecified subset of the other calls has been made.
  void for_each(std::size_t count, const std::function<void(std::size_t i, int worker)>& body);
  /// Calls body(i, worker) for each i with starts.front() <= i < starts.back(), like for_each above. Range r
  /// is starts[r] <= i < starts[r + 1]; `starts` has num_ranges() + 1 non-decreasing elements.
  void for_each(const std::vector<std::size_t>& starts,
                const std::function<void(std::size_t i, int worker)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace emomc
