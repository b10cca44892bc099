// Tests chains whose rows are divided among ranks: each rank runs all chains, with the draws of a single
// rank.
#include <gtest/gtest.h>

#include <stdexcept>

#include "emomc/likelihood/engines.hpp"
#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "mixture_target.hpp"
#include "thread_ranks.hpp"

namespace emomc {
namespace {

using testing::device_of_rank;
using testing::Keeper;
using testing::on_ranks;
using testing::rank_counts;

class DrawsOverRanks : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (rank_counts(GetParam()).empty()) GTEST_SKIP() << "fewer than two GPUs";
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, DrawsOverRanks, ::testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) {
                           return std::string(backend.param == Backend::cpu ? "cpu" : "cuda");
                         });

// The kinds are walks with and without kept sums of components, a proposal that uses other chains, and
// gradient samplers, of which nuts skips different chains in each leapfrog.
TEST_P(DrawsOverRanks, AreThoseOfOneRank) {
  const testing::MixtureProblem mixture = testing::random_problem(3, 2, 5000, 3);
  const Target target(testing::mixture_layout(3, 2), testing::mixture_prior(), std::vector<double>(2, 1.0));
  RunOptions options;
  options.warmup = 6;  // all ranks meet in each evaluation, which takes long only on a busy machine
  options.draws = 4;
  options.seed = 11;
  std::size_t which = 0;  // varies the number of ranks
  for (const std::string kind : {"random_walk", "component_wise", "stretch", "hmc", "nuts"})
    for (const Precision precision : {Precision::mixed, Precision::float64}) {
      if (GetParam() == Backend::cpu && precision == Precision::mixed && kind != "nuts")
        continue;  // saves time
      SCOPED_TRACE(kind);
      std::vector<ChainPlan> plans;
      std::vector<double> starts;
      const std::uint64_t num_chains = kind == "stretch" ? 30 : 4;  // more than twice the dimension
      for (std::uint64_t c = 0; c < num_chains; ++c) {
        plans.push_back({c, {0}, 1.0, 0});
        const auto start = testing::neighbour(mixture, 5, static_cast<std::uint32_t>(c));
        starts.insert(starts.end(), start.begin(), start.end());
      }
      const auto draws_of = [&](Communicator* ranks) {
        const auto device = device_of_rank(GetParam(), ranks ? ranks->rank() : 0);
        const auto engine =
            make_engine(GetParam(), {"gaussian_mixture", 3}, precision, mixture.data, *device, 1, ranks);
        // Without this, each rank's own times decide the length of its segments.
        if (engine->row_ranks() != ranks) throw std::logic_error("the engine does not know its ranks");
        ProposalSpec proposal;
        proposal.kind = kind;
        Keeper keeper;
        run_chains(*engine, target, proposal, plans, options, starts, keeper);
        return keeper;
      };
      const Keeper expected = draws_of(nullptr);
      ASSERT_EQ(expected.log_likelihood.size(), 4 * num_chains);
      const std::vector<int> counts = rank_counts(GetParam());
      const int size = counts[which++ % counts.size()];
      std::vector<Keeper> actual(static_cast<std::size_t>(size));
      on_ranks(size, [&](Communicator& ranks) {
        actual[static_cast<std::size_t>(ranks.rank())] = draws_of(&ranks);
      });
      for (const Keeper& of_rank : actual) {
        EXPECT_EQ(of_rank.theta, expected.theta) << size;
        EXPECT_EQ(of_rank.log_likelihood, expected.log_likelihood) << size;
      }
    }
}

}  // namespace
}  // namespace emomc
