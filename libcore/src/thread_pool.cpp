#include "emomc/core/thread_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace emomc {
namespace {

// A step of a chain calls every few microseconds; sleeping between would cost more than the work.
constexpr int kSpins = 20000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// The state of a loop in one word, so that a share of it is claimed by one addition, whoever comes when:
// number of the loop, its shares, and the next one to claim.
constexpr int kShareBits = 21;
constexpr std::size_t kMostShares = std::size_t{1} << (kShareBits - 1);  // claims beyond the last one fit too
constexpr std::uint64_t kShareMask = (std::uint64_t{1} << kShareBits) - 1;
constexpr std::uint64_t first_ticket(std::uint64_t loop, std::uint64_t shares) {
  return (loop << (2 * kShareBits)) | (shares << kShareBits);
}
constexpr std::uint64_t loop_of(std::uint64_t ticket) { return ticket >> (2 * kShareBits); }

}  // namespace

struct ThreadPool::Impl {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::uint64_t> tickets{0};
  std::atomic<std::size_t> num_done{0};  ///< shares of this loop
  std::atomic<bool> ending{false};
  // Written between loops, read by who holds a share of one.
  std::size_t count = 0;
  const std::function<void(std::size_t, int)>* body = nullptr;

  // Works until no share is left; returns the loop it saw that of. A loop ends when its shares are done, not
  // when every thread has come by: one that has no processor holds nobody up.
  std::uint64_t work(int worker) {
    for (;;) {
      const std::uint64_t ticket = tickets.fetch_add(1, std::memory_order_acq_rel);
      const std::size_t share = ticket & kShareMask, shares = (ticket >> kShareBits) & kShareMask;
      if (share >= shares) return loop_of(ticket);
      for (std::size_t i = share; i < count; i += shares) (*body)(i, worker);
      num_done.fetch_add(1, std::memory_order_release);
    }
  }

  void wait_and_work(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      const auto is_new = [&] { return loop_of(tickets.load(std::memory_order_acquire)) != seen; };
      int spins = 0;
      while (!is_new() && !ending.load(std::memory_order_relaxed)) {
        if (++spins < kSpins) {
          pause();
          continue;
        }
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return is_new() || ending.load(); });
      }
      if (ending.load()) return;
      seen = work(worker);
    }
  }
};

ThreadPool::ThreadPool(int num_threads) : impl_(std::make_unique<Impl>()) {
  const int wanted = num_threads > 0 ? num_threads : static_cast<int>(std::thread::hardware_concurrency());
  for (int worker = 1; worker < wanted; ++worker)
    impl_->threads.emplace_back([impl = impl_.get(), worker] { impl->wait_and_work(worker); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->ending.store(true);
  }
  impl_->wake.notify_all();
  for (auto& thread : impl_->threads) thread.join();
}

int ThreadPool::num_threads() const { return static_cast<int>(impl_->threads.size()) + 1; }

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t, int)>& body) {
  if (impl_->threads.empty() || count < 2) {
    for (std::size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  const std::size_t shares = count < kMostShares ? count : kMostShares;
  impl_->count = count;
  impl_->body = &body;
  impl_->num_done.store(0, std::memory_order_relaxed);
  {
    const std::lock_guard lock(impl_->mutex);
    const std::uint64_t loop = loop_of(impl_->tickets.load(std::memory_order_relaxed)) + 1;
    impl_->tickets.store(first_ticket(loop, shares), std::memory_order_release);
  }
  impl_->wake.notify_all();
  impl_->work(0);
  while (impl_->num_done.load(std::memory_order_acquire) < shares) pause();
}

}  // namespace emomc
