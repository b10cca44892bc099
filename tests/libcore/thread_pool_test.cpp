#include "emomc/core/thread_pool.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace emomc {
namespace {

// What the bodies write is plain memory: ThreadSanitizer sees whether loops hand it over.
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

// Ranges as the caller wants them, some of them empty.
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

// Loops of more indices than a ticket has room for.
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

}  // namespace
}  // namespace emomc
