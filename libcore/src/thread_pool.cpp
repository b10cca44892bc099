#include "emomc/core/thread_pool.hpp"

#include <atomic>
#include <condition_variable>
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

}  // namespace

struct ThreadPool::Impl {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::uint64_t> loop{0};  ///< number of loops begun
  std::atomic<bool> ending{false};
  std::atomic<std::size_t> next{0};
  std::atomic<int> working{0};
  std::size_t count = 0;
  const std::function<void(std::size_t, int)>* body = nullptr;

  void work(int worker) {
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) (*body)(i, worker);
  }

  void wait_and_work(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      int spins = 0;
      while (loop.load(std::memory_order_acquire) == seen && !ending.load(std::memory_order_relaxed)) {
        if (++spins < kSpins) {
          pause();
          continue;
        }
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return loop.load(std::memory_order_acquire) != seen || ending.load(); });
      }
      if (ending.load()) return;
      seen = loop.load(std::memory_order_acquire);
      work(worker);
      working.fetch_sub(1, std::memory_order_acq_rel);
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
  impl_->count = count;
  impl_->body = &body;
  impl_->next.store(0, std::memory_order_relaxed);
  impl_->working.store(static_cast<int>(impl_->threads.size()), std::memory_order_relaxed);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->loop.fetch_add(1, std::memory_order_release);
  }
  impl_->wake.notify_all();
  impl_->work(0);
  while (impl_->working.load(std::memory_order_acquire) > 0) pause();
}

}  // namespace emomc
