// Tests ranks that are threads of one process.
#include "emomc/core/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "emomc/core/mpi.hpp"
#include "emomc/core/rank_gather.hpp"

namespace emomc {
namespace {

void on_ranks(int size, const std::function<void(Communicator&)>& work) {
  auto ranks = make_thread_ranks(size);
  std::vector<std::thread> threads;
  for (auto& rank : ranks) threads.emplace_back([&] { work(*rank); });
  for (auto& thread : threads) thread.join();
}

TEST(Communicator, GathersUnequalPartsInTheOrderOfRanks) {
  for (const int size : {1, 2, 3, 4}) {
    std::atomic<int> equal = 0;
    on_ranks(size, [&](Communicator& ranks) {
      for (int round = 0; round < 100; ++round) {
        std::vector<std::size_t> counts;
        std::vector<int> expected;
        for (int r = 0; r < size; ++r) {
          counts.push_back(static_cast<std::size_t>((r + round) % 3));
          expected.insert(expected.end(), counts.back(), 1000 * round + r);
        }
        const std::vector<int> mine(counts[static_cast<std::size_t>(ranks.rank())],
                                    1000 * round + ranks.rank());
        if (all_gather<int>(ranks, mine, counts) == expected) ++equal;
      }
    });
    EXPECT_EQ(equal, 100 * size);
  }
}

TEST(Communicator, GathersInPlace) {
  std::atomic<int> equal = 0;
  on_ranks(3, [&](Communicator& ranks) {
    std::vector<double> all(3, -1);
    const auto own = static_cast<std::size_t>(ranks.rank());
    all[own] = 10.0 + ranks.rank();
    const std::vector<std::size_t> bytes(3, sizeof(double));
    ranks.all_gather(&all[own], bytes, all.data());
    if (all == std::vector<double>{10, 11, 12}) ++equal;
  });
  EXPECT_EQ(equal, 3);
}

TEST(Communicator, CallsOfADuplicateDoNotMeetThoseOfItsOriginal) {
  std::atomic<int> equal = 0;
  on_ranks(3, [&](Communicator& ranks) {
    const auto other = ranks.duplicate();
    // Each rank makes the calls of its two threads in another order.
    std::thread beside([&] {
      for (int i = 0; i < 50; ++i) equal += from_first(*other, 1000 + i + ranks.rank()) == 1000 + i;
    });
    for (int i = 0; i < 50; ++i) equal += from_first(ranks, i + ranks.rank()) == i;
    beside.join();
  });
  EXPECT_EQ(equal, 300);
}

TEST(Communicator, BroadcastsTheFirstRanksValue) {
  std::atomic<int> sum = 0;
  on_ranks(4, [&](Communicator& ranks) { sum += from_first(ranks, 7 + ranks.rank()); });
  EXPECT_EQ(sum, 28);
}

TEST(Communicator, ARankThatFailsEndsTheWaitOfTheOthers) {
  std::atomic<int> told = 0;
  on_ranks(3, [&](Communicator& ranks) {
    if (ranks.rank() == 1) {
      ranks.fail(3);
      return;
    }
    try {
      from_first(ranks, 0);
    } catch (const PeerError& error) {
      if (std::string(error.what()).find("rank 1") != std::string::npos) ++told;
    }
  });
  EXPECT_EQ(told, 2);
}

TEST(Communicator, AFailureReachesThoseWhoWaitInADuplicate) {
  std::atomic<int> told = 0;
  on_ranks(2, [&](Communicator& ranks) {
    const auto other = ranks.duplicate();
    if (ranks.rank() == 0) {
      ranks.fail(3);
      return;
    }
    try {
      from_first(*other, 0);
    } catch (const PeerError&) {
      ++told;
    }
  });
  EXPECT_EQ(told, 1);
}

TEST(RankGather, CapturedWorkGathersEachTimeItRuns) {
  std::atomic<int> equal = 0;
  on_ranks(3, [&](Communicator& ranks) {
    const auto device = make_host_device();
    RankGather gather(connect_devices(*device, ranks), std::vector<std::size_t>(3, sizeof(double)));
    std::vector<double> all(3, -1);
    double& own = all[static_cast<std::size_t>(ranks.rank())];
    const auto graph = device->capture([&] {
      own += 1;
      gather.enqueue(all.data());
    });
    own = ranks.rank();
    for (int i = 0; i < 5; ++i) device->launch(*graph);
    if (all == std::vector<double>{5, 6, 7}) ++equal;
  });
  EXPECT_EQ(equal, 3);
}

// Ranks gather fewer records than there is room for, unequal numbers of records, and none from one rank.
TEST(RankGather, GathersAsManyRecordsAsAreAskedFor) {
  std::atomic<int> equal = 0;
  on_ranks(3, [&](Communicator& ranks) {
    const auto device = make_host_device();
    RankGather gather(connect_devices(*device, ranks), {2 * sizeof(double), 0, sizeof(double)}, 4);
    std::vector<double> all(12, -1);
    for (const std::size_t count : {4u, 1u, 2u}) {
      std::fill(all.begin(), all.end(), -1);
      const std::size_t first = ranks.rank() == 0 ? 0 : 2 * count, own = ranks.rank() == 0   ? 2 * count
                                                                         : ranks.rank() == 1 ? 0
                                                                                             : count;
      for (std::size_t i = 0; i < own; ++i) all[first + i] = 100.0 * ranks.rank() + static_cast<double>(i);
      gather.enqueue(all.data(), count);
      bool is_equal = true;
      for (std::size_t i = 0; i < 3 * count; ++i)
        is_equal = is_equal && all[i] == (i < 2 * count ? static_cast<double>(i)
                                                        : 200 + static_cast<double>(i - 2 * count));
      if (is_equal) ++equal;
    }
    EXPECT_THROW(gather.enqueue(all.data(), 5), std::logic_error);
  });
  EXPECT_EQ(equal, 9);
}

TEST(RankRange, PartsAreContiguousAndEqualButForOne) {
  for (const std::size_t count : {0, 1, 5, 12, 513})
    for (const int size : {1, 2, 3, 4, 64}) {
      std::size_t next = 0;
      for (int r = 0; r < size; ++r) {
        const RankRange range = range_of_rank(count, r, size);
        EXPECT_EQ(range.first, next);
        EXPECT_LE(range.size(), count / static_cast<std::size_t>(size) + 1);
        EXPECT_GE(range.size(), count / static_cast<std::size_t>(size));
        next = range.end;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(Communicator, ThreadsDoAtOnceWhatIsForTheEnd) {
  std::atomic<int> done = 0;
  on_ranks(2, [&](Communicator& ranks) {
    int own = 0;
    ranks.at_end([&] { ++own; });
    if (own == 1) ++done;
  });
  EXPECT_EQ(done, 2);
}

#ifdef EMOMC_TEST_MPI
// A process that no launcher has started is a group of one.
TEST(Communicator, ProcessesKeepWhatIsForTheEndUntilMpiEnds) {
  if (!built_with_mpi()) GTEST_SKIP() << "no MPI in this build";
  std::vector<int> done;
  {
    const auto world = join_mpi();
    const auto duplicate = world->duplicate();
    duplicate->at_end(
        [&] { done.push_back(all_gather<int>(*world, std::vector{1}, std::vector<std::size_t>{1})[0]); });
    world->at_end([&] { done.push_back(2); });
    EXPECT_TRUE(done.empty());
  }
  EXPECT_EQ(done, (std::vector{1, 2}));
}
#endif

}  // namespace
}  // namespace emomc
