// Tests rows that are divided among several devices of one process. On the CPU each "device" is the host,
// with a thread.
#include "emomc/posterior/row_team.hpp"

#include <gtest/gtest.h>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/gradient_check.hpp"
#include "emomc/posterior/spread_chains.hpp"
#include "libposterior/device_runs.hpp"
#include "libsampler/keeper.hpp"

namespace emomc {
namespace {

using testing::hosts;
using testing::Keeper;
using testing::small_config;
using testing::small_table;

RowTeam::Maker maker(const RunSetup& setup, const RunConfig& config) {
  return [make = testing::engine_maker(setup, config)](Device& device, Communicator& ranks) {
    return make(device, &ranks);
  };
}

/// Returns the setup that set_up() makes if GPUs of this process divide the rows, or on the CPU with `size`
/// hosts.
RunSetup divided(RunConfig config, const Table& table, int size) {
  config.shard = Shard::rows;
  for (int i = 1; config.backend == Backend::cuda && i < size; ++i) config.devices.push_back(i);
  RunSetup setup = set_up(config, &table);
  if (config.backend == Backend::cuda) return setup;
  setup.engine = std::make_unique<RowTeam>(*setup.device, hosts(size - 1), maker(setup, config));
  return setup;
}

class RowTeams : public testing::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Engines, RowTeams, ::testing::Values(Backend::cpu, Backend::cuda), testing::name_of);

TEST_P(RowTeams, HaveTheStartsAndDrawsOfOneDevice) {
  const Table table = small_table(3000);
  for (const std::string kind : {"component_wise", "crank_nicolson", "nuts"})
    for (const int size : testing::rank_counts(GetParam())) {
      SCOPED_TRACE(kind + std::to_string(size));
      const RunConfig config = small_config(GetParam(), kind);
      const auto draws_of = [&](RunSetup setup, Keeper& keeper) {
        std::vector<double> starts = find_starts(config, setup);
        EXPECT_TRUE(run_spread_chains(setup, {setup.target.get(), 1}, starts, keeper).finished);
        return starts;
      };
      Keeper alone, together;
      RunSetup setup = divided(config, table, size);
      EXPECT_EQ(num_row_devices(setup), size);
      EXPECT_EQ(setup.engine->num_rows(), 3000U);
      EXPECT_EQ(draws_of(set_up(config, &table), alone), draws_of(std::move(setup), together));
      ASSERT_EQ(alone.log_likelihood.size(), 16U);
      EXPECT_EQ(alone.theta, together.theta);
      EXPECT_EQ(alone.log_likelihood, together.log_likelihood);
      if (kind == "nuts" && GetParam() == Backend::cpu) break;  // saves time
    }
}

TEST_P(RowTeams, HaveTheSumsRowsAndGradientsOfOneDevice) {
  const Table table = small_table(3000);
  const RunConfig config = small_config(GetParam(), "nuts");
  RunSetup alone = set_up(config, &table), team = divided(config, table, 2);
  const std::vector<double> theta = alone.target->draw_from_prior(3, 0, 0);
  double expected = 0, sum = 1;
  alone.engine->sums_by_segment(theta.data(), 1, &expected);
  team.engine->sums_by_segment(theta.data(), 1, &sum);
  EXPECT_EQ(sum, expected);
  std::vector<double> expected_rows(3000), rows(3000);
  alone.engine->evaluate_rows(theta.data(), expected_rows.data());
  team.engine->evaluate_rows(theta.data(), rows.data());
  EXPECT_EQ(rows, expected_rows);
  const PosteriorGradient expected_gradient = posterior_gradient(*alone.target, *alone.engine, theta),
                          gradient = posterior_gradient(*team.target, *team.engine, theta);
  ASSERT_FALSE(gradient.gradient.empty());
  EXPECT_EQ(gradient.gradient, expected_gradient.gradient);
  EXPECT_EQ(gradient.log_likelihood, expected_gradient.log_likelihood);
  EXPECT_GT(std::abs(gradient.gradient[0]), 0);
}

// The memory of each device contains only its own part of the rows.
TEST_P(RowTeams, DivideTheMemoryOfTheData) {
  const Table table = small_table(100000);
  const RunConfig config = small_config(GetParam(), "random_walk");
  const RunSetup alone = set_up(config, &table), team = divided(config, table, 2);
  const auto bytes_of = [](const RunSetup& setup) {
    return static_cast<double>(setup.engine->plan(setup.plans, ComponentCaches::off).data_bytes);
  };
  EXPECT_NEAR(bytes_of(team), bytes_of(alone) / 2, 0.05 * bytes_of(alone));
}

TEST(RowTeam, ThrowsWhatOneDeviceHasThrown) {
  const Table table = small_table(500);
  const RunConfig config = small_config(Backend::cpu, "random_walk");
  RunSetup setup = set_up(config, &table);
  EXPECT_THROW(RowTeam(*setup.device, hosts(2),
                       [&](Device& device, Communicator& ranks) {
                         if (ranks.rank() == 1) throw MachineError("no memory");
                         return maker(setup, config)(device, ranks);
                       }),
               MachineError);
  RowTeam team(*setup.device, hosts(2), maker(setup, config));
  const std::vector<double> theta = setup.target->draw_from_prior(3, 0, 0);
  try {
    team.together([&](LikelihoodEngine& engine, Communicator& ranks) {
      if (ranks.rank() == 2) throw InputError("of rank 2");
      double sum = 0;
      engine.sums_by_segment(theta.data(), 1, &sum);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "of rank 2");
  }
}

TEST(RowTeam, RefusesWorkOfOneDevice) {
  const Table table = small_table(500);
  const RunConfig config = small_config(Backend::cpu, "random_walk");
  RunSetup setup = set_up(config, &table);
  RowTeam team(*setup.device, hosts(1), maker(setup, config));
  EXPECT_THROW(team.evaluate({}, {nullptr, 1}), std::logic_error);
}

}  // namespace
}  // namespace emomc
