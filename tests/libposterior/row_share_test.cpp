// Tests the key `shard`, which says what several ranks divide.
#include <gtest/gtest.h>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "thread_ranks.hpp"

namespace emomc {
namespace {

RunConfig config_of_rows() {
  RunConfig config;
  config.likelihood.components = 2;
  set_likelihood_defaults(config);
  config.sampler.proposal.kind = "random_walk";
  set_proposal_defaults(config);
  config.backend = Backend::cpu;
  config.threads = 1;
  return config;
}

Table table_of(std::size_t num_rows) {
  std::vector<double> values;
  for (std::size_t i = 0; i < num_rows; ++i) values.push_back(static_cast<double>(i * 37 % 101) / 50);
  return make_table({"x"}, values);
}

TEST(Shard, RowsAreDividedAndChainsAreNot) {
  const Table table = table_of(5000);
  RunConfig config = config_of_rows();
  const RunSetup alone = set_up(config, &table);
  const MemoryPlan all = alone.engine->plan(alone.plans, ComponentCaches::off);
  testing::on_ranks(2, [&](Communicator& ranks) {
    for (const Shard shard : {Shard::rows, Shard::chains}) {
      RunConfig own = config;
      own.shard = shard;
      const RunSetup setup = set_up(own, &table, std::nullopt, &ranks);
      EXPECT_EQ(setup.engine->num_rows(), 5000u);
      EXPECT_EQ(setup.plans.size(), alone.plans.size());
      const std::size_t bytes = setup.engine->plan(setup.plans, ComponentCaches::off).data_bytes;
      if (shard == Shard::rows)
        EXPECT_LT(bytes, all.data_bytes);
      else
        EXPECT_EQ(bytes, all.data_bytes);
    }
  });
}

}  // namespace
}  // namespace emomc
