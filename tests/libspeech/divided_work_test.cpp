#include "divided_work.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "thread_ranks.hpp"

namespace emomc {
namespace {

using testing::on_ranks;

const SoftmaxReport kNoReport = [](const auto&...) {};

TEST(Numbers, AreTakenAsTheyWerePut) {
  Eigen::MatrixXd matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 0.1;
  Numbers numbers;
  numbers.put(matrix);
  numbers.put(std::vector<std::size_t>{7, 1ULL << 52});
  numbers.put(Eigen::MatrixXd());
  numbers.put(-0.5);
  Eigen::MatrixXd again, empty = matrix;
  std::vector<std::size_t> list;
  numbers.take(again);
  numbers.take(list);
  numbers.take(empty);
  EXPECT_EQ(again, matrix);
  EXPECT_EQ(list, (std::vector<std::size_t>{7, 1ULL << 52}));
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(numbers.take(), -0.5);
  EXPECT_THROW(numbers.take(), std::out_of_range);
}

// Returns a piece of length i with the numbers 100 i, 100 i + 1, ...
Numbers piece(std::size_t i) {
  Numbers numbers;
  for (std::size_t k = 0; k < i; ++k) numbers.put(static_cast<double>(100 * i + k));
  return numbers;
}

TEST(DividedWork, GivesAllPiecesToAllRanksAndDoesEachOnce) {
  for (const int size : {1, 2, 3, 5})
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{7}}) {
      std::atomic<std::size_t> calls{0}, reported{0};
      on_ranks(size, [&](Communicator& ranks) {
        std::size_t last = 0, own = 99;
        const SoftmaxReport report = [&](const std::string& stage, std::size_t done, std::size_t all) {
          EXPECT_EQ(stage, "stage");
          last = done;
          own = all;
        };
        DividedWork work(ranks, 2, report);
        auto pieces = work.run("stage", count, [&](std::size_t i) {
          ++calls;
          return piece(i);
        });
        ASSERT_EQ(pieces.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t k = 0; k < i; ++k)
            EXPECT_EQ(pieces[i].take(), static_cast<double>(100 * i + k)) << size << " " << ranks.rank();
          EXPECT_THROW(pieces[i].take(), std::out_of_range);
        }
        EXPECT_EQ(last, own);
        reported += own;
      });
      EXPECT_EQ(calls, count);
      EXPECT_EQ(reported, count);
    }
}

TEST(DividedWork, EndsOnAllRanksWhereOneIsStopped) {
  std::atomic<int> own{0}, elsewhere{0};
  on_ranks(3, [&](Communicator& ranks) {
    const SoftmaxReport report = [&](const std::string&, std::size_t done, std::size_t) {
      if (ranks.rank() == 1 && done == 1) throw std::domain_error("stop");
    };
    DividedWork work(ranks, 1, report);
    try {
      work.run("stage", 9, piece);
      ADD_FAILURE() << "rank " << ranks.rank() << " has not been stopped";
    } catch (const std::domain_error&) {
      own += 1 + 10 * ranks.rank();
    } catch (const StoppedElsewhere&) {
      ++elsewhere;
    }
  });
  EXPECT_EQ(own, 11);
  EXPECT_EQ(elsewhere, 2);
}

// A long piece of work checks repeatedly whether to continue.
TEST(DividedWork, IsStoppedWithinAPiece) {
  int calls = 0;
  const SoftmaxReport report = [&](const auto&...) {
    if (++calls == 2) throw std::domain_error("stop");
  };
  DividedWork work(single_rank(), 1, report);
  const auto forever = [&](std::size_t) -> Numbers {
    for (int i = 0; i < 10000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      work.still_working();
    }
    ADD_FAILURE() << "has not been stopped";
    return {};
  };
  EXPECT_THROW(work.run("stage", 1, forever), std::domain_error);
}

TEST(DividedWork, LetsExceptionsOfThePiecesPass) {
  const auto divide = [](Communicator& ranks) {
    DividedWork work(ranks, 1, kNoReport);
    work.run("stage", 4, [&](std::size_t i) {
      if (i == 3) throw std::range_error("piece 3");
      return piece(i);
    });
  };
  EXPECT_THROW(on_ranks(2, divide), std::range_error);
  EXPECT_THROW(divide(single_rank()), std::range_error);
}

}  // namespace
}  // namespace emomc
