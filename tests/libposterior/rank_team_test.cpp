// Tests objects of the ranks of one process that wait for each other, as GPUs do for NCCL.
#include "emomc/posterior/rank_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

using namespace std::chrono_literals;

struct Told {
  std::atomic<int> made = 0, ended = 0;  ///< ranks that have come to a place where each rank waits for all
  std::atomic<int> alone = 0;            ///< ranks that waited there in vain
  std::atomic<int> after_failure = 0;    ///< ranks that ended after they had been told of a failure
};

/// An object whose constructor and destructor wait for those of the other ranks, 5 s at most. The destructor
/// does not wait if a rank has failed.
class Waiting {
 public:
  Waiting(Communicator& ranks, Told& told) : rank(ranks.rank()), ranks_(ranks), told_(told) {
    wait_for_all(told.made);
  }
  ~Waiting() {
    if (ranks_.has_failed())
      ++told_.after_failure;
    else
      wait_for_all(told_.ended);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  const int rank;

 private:
  void wait_for_all(std::atomic<int>& here) {
    ++here;
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (here < ranks_.size() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    if (here < ranks_.size()) ++told_.alone;
  }

  Communicator& ranks_;
  Told& told_;
};

RankTeam<Waiting>::Maker maker(Told& told) {
  return [&told](Communicator& ranks) { return std::make_shared<Waiting>(ranks, told); };
}

TEST(RankTeam, MakesUsesAndEndsAllAtTheSameTime) {
  Told told;
  std::atomic<int> sum = 0;
  {
    RankTeam<Waiting> team(3, maker(told));
    EXPECT_EQ(team.size(), 3);
    EXPECT_EQ(team.first().rank, 0);
    const auto caller = std::this_thread::get_id();
    for (int round = 0; round < 2; ++round)
      team.together([&](const std::shared_ptr<Waiting>& own, Communicator& ranks) {
        EXPECT_EQ(own->rank, ranks.rank());
        EXPECT_EQ(std::this_thread::get_id() == caller, ranks.rank() == 0);
        const int first = from_first(ranks, ranks.rank() + 7);
        sum += first;
      });
    EXPECT_EQ(told.ended, 0);
  }
  EXPECT_EQ(sum, 2 * 3 * 7);
  EXPECT_EQ(told.ended, 3);
  EXPECT_EQ(told.alone, 0);
}

TEST(RankTeam, AnErrorEndsTheWaitOfTheOthersAndIsKnownAtTheEnd) {
  Told told;
  {
    RankTeam<Waiting> team(3, maker(told));
    try {
      team.together([&](const std::shared_ptr<Waiting>&, Communicator& ranks) {
        if (ranks.rank() == 1) throw MachineError("of rank 1");
        from_first(ranks, 1);
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const MachineError& error) {
      EXPECT_STREQ(error.what(), "of rank 1");
    }
  }
  EXPECT_EQ(told.after_failure, 3);
  EXPECT_EQ(told.alone, 0);
}

TEST(RankTeam, AnErrorOfOneMakerIsThrown) {
  std::atomic<int> made = 0;
  EXPECT_THROW(RankTeam<int>(3,
                             [&](Communicator& ranks) {
                               if (ranks.rank() == 2) throw InputError("of rank 2");
                               from_first(ranks, 1);  // waits for rank 2
                               ++made;
                               return std::make_shared<int>(0);
                             }),
               InputError);
  EXPECT_EQ(made, 0);
}

}  // namespace
}  // namespace emomc
