// A fixed set of threads for loops whose iterations are independent.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace emomc {

/// Threads that wait for loops; the calling thread works too. One loop at a time.
class ThreadPool {
 public:
  /// `num_threads` 0: one per processor.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  /// Calls body(i, worker) for each i < count, in any order and on any thread; worker < num_threads().
  /// Returns when all are done. `body` must not throw.
  void for_each(std::size_t count, const std::function<void(std::size_t i, int worker)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace emomc
