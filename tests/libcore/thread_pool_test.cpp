#include "emomc/core/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace emomc {
namespace {

// The bodies write to plain memory, so that ThreadSanitizer detects a loop that does not publish the writes.
TEST(ThreadPool, CallsEachIndexOnceAndHandsItsWritesOver) {
  for (int num_threads : {1, 2, 3, 8}) {
    ThreadPool pool(num_threads);
    ASSERT_EQ(pool.num_threads(), num_threads);
    for (std::size_t count : {0, 1, 2, 7, 1000}) {
      std::vector<int> calls(count, 0), workers(count, -1);
      for (int loop = 1; loop <= 200; ++loop) {
        pool.for_each(count, [&](std::size_t i, int worker) {
          ++calls[i];
          workers[i] = worker;
        });
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(calls[i], loop);
          ASSERT_TRUE(workers[i] >= 0 && workers[i] < num_threads);
        }
      }
    }
  }
}

TEST(ThreadPool, AWorkerHasItsScratchToItself) {
  ThreadPool pool(4);
  std::vector<std::size_t> sums(4, 0);
  for (int loop = 0; loop < 100; ++loop)
    pool.for_each(1000, [&](std::size_t i, int worker) { sums[static_cast<std::size_t>(worker)] += i; });
  EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3], std::size_t{100} * 999 * 1000 / 2);
}

// The caller chooses the ranges, some of which are empty.
TEST(ThreadPool, TakesRangesThatAreGiven) {
  for (int num_threads : {1, 2, 3, 20}) {
    ThreadPool pool(num_threads);
    const auto num_ranges = static_cast<std::size_t>(pool.num_ranges());
    ASSERT_TRUE(num_ranges >= 1 && num_ranges <= 16 && num_ranges <= static_cast<std::size_t>(num_threads));
    for (std::size_t first_end : {0, 1, 50, 100}) {
      std::vector<std::size_t> starts{0, first_end};
      starts.resize(num_ranges + 1, 100);
      starts.back() = 100;
      std::vector<int> calls(100, 0);
      for (int loop = 1; loop <= 100; ++loop) {
        pool.for_each(starts, [&](std::size_t i, int) { ++calls[i]; });
        for (std::size_t i = 0; i < calls.size(); ++i) ASSERT_EQ(calls[i], loop);
      }
    }
  }
}

// These loops have more indices than a ticket can hold.
TEST(ThreadPool, LongLoopsAreCutIntoShares) {
  ThreadPool pool(3);
  std::vector<unsigned char> calls((std::size_t{1} << 21) + 5, 0);
  pool.for_each(calls.size(), [&](std::size_t i, int) { ++calls[i]; });
  std::size_t sum = 0;
  for (unsigned char n : calls) sum += n == 1;
  EXPECT_EQ(sum, calls.size());
}

TEST(ThreadPool, EndsRightAfterALoopOrWithoutOne) {
  for (int i = 0; i < 200; ++i) {
    int sum = 0;
    {
      ThreadPool pool(3);
      if (i % 2) pool.for_each(1, [&](std::size_t, int) { ++sum; });
    }
    EXPECT_EQ(sum, i % 2);
  }
}

// The loop ends before the exception reaches the caller: no thread continues after its caller has returned.
TEST(ThreadPool, AnExceptionOfABodyReachesTheCaller) {
  for (int num_threads : {1, 2, 8}) {
    ThreadPool pool(num_threads);
    for (int loop = 0; loop < 50; ++loop) {
      EXPECT_THROW(pool.for_each(100,
                                 [](std::size_t i, int) {
                                   if (i % 7 == 3) throw std::runtime_error("of a body");
                                 }),
                   std::runtime_error);
      std::vector<int> calls(100, 0);
      pool.for_each(calls.size(), [&](std::size_t i, int) { ++calls[i]; });
      for (int n : calls) ASSERT_EQ(n, 1);
    }
  }
}

#ifndef EMOMC_SANITIZED  // sanitizers need more address space than any limit

int g_wanted = 0, g_got = 0;
std::string g_why;

// Ends the process with status 0 if a pool that cannot create all of its threads works with fewer. An alarm
// ends the process if the pool hangs.
[[noreturn]] void make_pool_under_a_limit(rlim_t room) {
  ::alarm(60);
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + room;
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
  set_refused_threads_handler([](int wanted, int got, const std::string& why) {
    g_wanted = wanted;
    g_got = got;
    g_why = why;
  });
  ThreadPool pool(64);
  if (pool.num_threads() >= 64 || g_wanted != 64 || g_got != pool.num_threads() || g_why.empty()) ::_exit(3);
  if (pool.num_ranges() > pool.num_threads()) ::_exit(4);
  std::vector<int> calls(1000, 0);
  for (int loop = 0; loop < 20; ++loop) pool.for_each(calls.size(), [&](std::size_t i, int) { ++calls[i]; });
  for (int n : calls)
    if (n != 20) ::_exit(5);
  ::_exit(0);
}

TEST(ThreadPool, HasNoMoreThreadsThanAreOfUse) {
  const auto most = std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(ThreadPool(64).num_threads(), 64);
  ThreadPool pool(100 * most);
  EXPECT_EQ(pool.num_threads(), most);
  std::vector<std::atomic<int>> calls(1000);
  pool.for_each(calls.size(), [&](std::size_t i, int) { ++calls[i]; });
  for (const auto& n : calls) EXPECT_EQ(n, 1);
}

TEST(ThreadPoolDeathTest, GoesOnWithTheThreadsThatItGets) {
  // A thread takes 8 MiB of address space for its stack: the limit leaves room for a few threads, or for
  // none.
  for (rlim_t mebibytes : {100, 4})
    EXPECT_EXIT(make_pool_under_a_limit(mebibytes << 20), ::testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace emomc
