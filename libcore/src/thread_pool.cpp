#include "emomc/core/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace emomc {
namespace {

// Steps of a chain start a loop every few microseconds; sleeping in between would take longer than the work.
constexpr int kSpins = 20000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// The state of a range in one word, so that any thread claims a share of it with one atomic addition: the
// number of the loop, the number of shares, and the next share to claim.
constexpr int kShareBits = 21;
// The limit leaves room for claims beyond the last share.
constexpr std::size_t kMostShares = std::size_t{1} << (kShareBits - 1);
constexpr std::uint64_t kShareMask = (std::uint64_t{1} << kShareBits) - 1;
constexpr std::uint64_t first_ticket(std::uint64_t loop, std::uint64_t shares) {
  return (loop << (2 * kShareBits)) | (shares << kShareBits);
}
constexpr std::uint64_t loop_of(std::uint64_t ticket) { return ticket >> (2 * kShareBits); }
constexpr std::size_t shares_of(std::uint64_t ticket) { return (ticket >> kShareBits) & kShareMask; }
constexpr std::size_t share_of(std::uint64_t ticket) { return ticket & kShareMask; }

// A pool has at most this many threads for each processor, and on small machines kAlwaysAllowed: waiting
// threads look for work in turn, so that a thousand of them on two processors take seconds for each loop.
constexpr int kMostPerProcessor = 4, kAlwaysAllowed = 64;

constexpr int kMostRanges = 16;  // bounds the number of ranges that an idle worker searches

std::atomic<RefusedThreadsHandler> g_refused_threads_handler{nullptr};

}  // namespace

struct ThreadPool::Impl {
  // `begin` and `end` are written between loops and read by threads that hold a share of the range.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> tickets{0};
    std::size_t begin = 0, end = 0;
  };

  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<Range> ranges;
  std::atomic<std::size_t> num_done{0};  ///< number of finished shares of this loop
  std::atomic<bool> ending{false};
  std::exception_ptr first_error;  ///< first exception of the bodies of this loop; written under `mutex`
  const std::function<void(std::size_t, int)>* body = nullptr;  ///< body of this loop; written between loops

  // The last range is published last, so a thread that sees its loop sees those of all ranges.
  std::uint64_t current_loop() const {
    return loop_of(ranges.back().tickets.load(std::memory_order_acquire));
  }

  // A share whose body throws counts as finished, because the loop must end before the exception reaches the
  // caller.
  void run_share(const Range& range, std::size_t share, std::size_t shares, int worker) {
    try {
      for (std::size_t i = range.begin + share; i < range.end; i += shares) (*body)(i, worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
  }

  // Works until no share is left, starting with the worker's own range, and returns the number of the loop
  // that it saw first. A loop ends when all its shares are finished, not when every thread has taken part, so
  // a thread that is not scheduled delays no other.
  std::uint64_t work(int worker) {
    const std::uint64_t seen = current_loop();
    std::size_t mine = 0;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      Range& range = ranges[(static_cast<std::size_t>(worker) + r) % ranges.size()];
      for (;;) {
        std::uint64_t ticket = range.tickets.load(std::memory_order_acquire);
        if (share_of(ticket) < shares_of(ticket))
          ticket = range.tickets.fetch_add(1, std::memory_order_acq_rel);
        const std::size_t share = share_of(ticket), shares = shares_of(ticket);
        if (share >= shares) break;
        run_share(range, share, shares, worker);
        ++mine;
      }
    }
    if (mine > 0) num_done.fetch_add(mine, std::memory_order_release);
    return seen;
  }

  void wait_and_work(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      const auto is_new = [&] { return current_loop() != seen; };
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

  // Runs the loop over `ranges`, whose `begin` and `end` are set.
  void run(const std::function<void(std::size_t, int)>& loop_body) {
    body = &loop_body;
    num_done.store(0, std::memory_order_relaxed);
    std::size_t num_shares = 0;
    {
      const std::lock_guard lock(mutex);
      for (Range& range : ranges) {
        const std::size_t shares = std::min(range.end - range.begin, kMostShares);
        const std::uint64_t loop = loop_of(range.tickets.load(std::memory_order_relaxed)) + 1;
        range.tickets.store(first_ticket(loop, shares), std::memory_order_release);
        num_shares += shares;
      }
    }
    wake.notify_all();
    work(0);
    while (num_done.load(std::memory_order_acquire) < num_shares) pause();
    if (first_error) std::rethrow_exception(std::exchange(first_error, nullptr));
  }

  // Returns false if the system refused a thread; `why` then has the reason, and `threads` has the threads
  // that were started.
  bool start(int num_threads, std::string& why) {
    ranges = std::vector<Range>(static_cast<std::size_t>(std::min(num_threads, kMostRanges)));
    ending.store(false);
    try {
      threads.reserve(static_cast<std::size_t>(num_threads));
      for (int worker = 1; worker < num_threads; ++worker)
        threads.emplace_back([this, worker] { wait_and_work(worker); });
      return true;
    } catch (const std::system_error& error) {
      why = error.code().message();
    } catch (const std::bad_alloc&) {
      why = "out of memory";
    }
    return false;
  }

  // Ends and joins all threads.
  void end_threads() {
    {
      const std::lock_guard lock(mutex);
      ending.store(true);
    }
    wake.notify_all();
    for (auto& thread : threads) thread.join();
    threads.clear();
  }
};

ThreadPool::ThreadPool(int num_threads) : impl_(std::make_unique<Impl>()) {
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  const int wanted = std::max(num_threads > 0 ? num_threads : processors, 1);
  const int most = std::max(kMostPerProcessor * processors, kAlwaysAllowed);
  std::string why;  // stays empty if the system refuses nothing
  for (int trying = std::min(wanted, most); !impl_->start(trying, why);) {
    // The threads have used up a limit on processes or address space. The rest of the program needs part of
    // it too, so a quarter of the possible number is left free.
    const auto possible = static_cast<int>(impl_->threads.size()) + 1;
    impl_->end_threads();
    trying = std::max(possible * 3 / 4, 1);
  }
  const auto handler = g_refused_threads_handler.load();
  if (handler != nullptr && this->num_threads() < wanted) handler(wanted, this->num_threads(), why);
}

ThreadPool::~ThreadPool() { impl_->end_threads(); }

void set_refused_threads_handler(RefusedThreadsHandler handler) { g_refused_threads_handler.store(handler); }

int ThreadPool::num_threads() const { return static_cast<int>(impl_->threads.size()) + 1; }
int ThreadPool::num_ranges() const { return static_cast<int>(impl_->ranges.size()); }

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t, int)>& body) {
  if (impl_->threads.empty() || count < 2) {
    for (std::size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  const std::size_t num_ranges = impl_->ranges.size();
  for (std::size_t r = 0; r < num_ranges; ++r) {
    impl_->ranges[r].begin = count / num_ranges * r + std::min(r, count % num_ranges);
    impl_->ranges[r].end = count / num_ranges * (r + 1) + std::min(r + 1, count % num_ranges);
  }
  impl_->run(body);
}

void ThreadPool::for_each(const std::vector<std::size_t>& starts,
                          const std::function<void(std::size_t, int)>& body) {
  if (impl_->threads.empty()) {
    for (std::size_t i = starts.front(); i < starts.back(); ++i) body(i, 0);
    return;
  }
  for (std::size_t r = 0; r < impl_->ranges.size(); ++r) {
    impl_->ranges[r].begin = starts[r];
    impl_->ranges[r].end = starts[r + 1];
  }
  impl_->run(body);
}

}  // namespace emomc
