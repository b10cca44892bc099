// Tests when a run that chooses its length checks its draws, what it decides, and that a longer warm-up is
// the same however often the run is interrupted.
#include "emomc/sampler/stopping.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "emomc/core/errors.hpp"
#include "function_engine.hpp"
#include "keeper.hpp"
#include "mixture_target.hpp"
#include "verdict_cases.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;
using testing::Keeper;
using testing::VerdictCase;

DrawDiagnostics diagnosed(const VerdictCase& one, std::uint64_t seed = 1) {
  ThreadPool threads(1);
  return diagnose_draws(testing::verdict_draws(one, seed), Numbering::mended, false, threads);
}

TEST(Stopping, LooksAreOnAGridThatTheMostDrawsDoNotMove) {
  const auto looks = looks_below(20000), more = looks_below(1'000'000);
  ASSERT_GT(looks.size(), 10u);
  EXPECT_EQ(looks.front(), 250);
  EXPECT_LT(looks.back(), 20000);
  EXPECT_TRUE(std::equal(looks.begin(), looks.end(), more.begin()));
  double sum = 0;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    sum += static_cast<double>(looks[i]);
    if (i > 0) {
      EXPECT_NEAR(static_cast<double>(looks[i]) / static_cast<double>(looks[i - 1]), 1.25, 0.005);
    }
  }
  EXPECT_LT(sum, 5.2 * static_cast<double>(looks.back()));
  EXPECT_TRUE(looks_below(250).empty());
}

// Four chains of independent draws have an ESS close to their number, 4 x 500.
TEST(Stopping, DrawsAreEnoughWhereTheVerdictPassesAndTheEssIsThatAskedFor) {
  const DrawDiagnostics good = diagnosed({"independent", 4, 500, 3, 0});
  EXPECT_EQ(decide({0, 1, 8000}, good, 1000), Decision::enough);
  EXPECT_EQ(decide({1000, 1, 8000}, good, 1000), Decision::enough);
  EXPECT_EQ(decide({5000, 1, 8000}, good, 1000), Decision::more_draws);
  EXPECT_EQ(worst_of(good, 0), "");
  EXPECT_NE(worst_of(good, 5000).find("sampler.until.ess asks for 5000"), std::string::npos)
      << worst_of(good, 5000);
  const DrawDiagnostics few = diagnosed({"correlated", 4, 500, 3, 0.97});
  EXPECT_NE(decide({0, 1, 0}, few, 1000), Decision::enough);
  EXPECT_NE(worst_of(few, 0).find(" q"), std::string::npos) << worst_of(few, 0);
}

// The draws of a chain with mean 0 are three times as wide in the chain's first quarter.
TEST(Stopping, AChangeOfWidthIsNotCalledOneOfTheValue) {
  const device::RandomSource random{77, 0, 0};
  const DrawDiagnostics wide =
      diagnosed({"wide at first", 4, 1000, 1, 0, [&](int i, int c) {
                   return i < 250 ? 3 * random.normal(device::Purpose::simulation,
                                                      static_cast<std::uint32_t>(1000 * c + i))
                                  : 0.0;
                 }});
  EXPECT_TRUE(wide.has_trend(0));
  EXPECT_TRUE(wide.tests[0].trend_is_of_scale);
  const std::string worst = worst_of(wide, 0);
  if (!wide.has_high_rhat(0)) {
    EXPECT_NE(worst.find("the spread of q0 is larger in the first "), std::string::npos) << worst;
  }
  EXPECT_EQ(worst.find("posterior sds away"), std::string::npos) << worst;
  const DrawDiagnostics away =
      diagnosed({"away at first", 4, 1000, 1, 0, [](int i, int) { return i < 125 ? 1.0 : 0.0; }});
  EXPECT_TRUE(away.has_trend(0));
  EXPECT_FALSE(away.tests[0].trend_is_of_scale);
}

// One chain is three sds away. It is checked after 250 draws, the first check, and after 313.
TEST(Stopping, TheWarmupIsMadeLongerOnceAfterAsManyStepsAsItHad) {
  const auto far = [](int draws) {
    return diagnosed({"one chain away", 4, draws, 3, 0, [](int, int c) { return c == 2 ? 3.0 : 0.0; }});
  };
  const DrawDiagnostics first = far(250), second = far(313);
  EXPECT_EQ(decide({0, 1, 8000}, first, 200), Decision::longer_warmup);
  EXPECT_EQ(decide({0, 1, 8000}, first, 250), Decision::longer_warmup);
  EXPECT_EQ(decide({0, 1, 8000}, first, 251), Decision::more_draws);
  EXPECT_EQ(decide({0, 1, 8000}, second, 251), Decision::longer_warmup);
  EXPECT_EQ(decide({0, 1, 8000}, second, 200), Decision::more_draws)
      << "that was for the look before to decide";
  EXPECT_EQ(decide({0, 4, 8000}, first, 1000), Decision::longer_warmup) << "250 draws of four steps each";
  EXPECT_EQ(decide({0, 4, 8000}, first, 1001), Decision::more_draws);
  EXPECT_EQ(decide({0, 1, 500}, first, 250), Decision::longer_warmup);
  EXPECT_EQ(decide({0, 1, 499}, first, 250), Decision::more_draws) << "it would be longer than allowed";
  EXPECT_NE(worst_of(first, 0).find("q0"), std::string::npos) << worst_of(first, 0);
  // R-hat is close to 1.03, which more draws will reduce.
  const DrawDiagnostics near =
      diagnosed({"one chain a little away", 4, 250, 3, 0, [](int, int c) { return c == 2 ? 0.5 : 0.0; }});
  EXPECT_NE(decide({0, 1, 8000}, near, 250), Decision::longer_warmup);
}

double hill(const double* theta) {
  double sum = 0;
  for (int i = 0; i < 10; ++i) sum -= 2 * (theta[i] - 0.1 * i) * (theta[i] - 0.1 * i);
  return sum;
}

// Requests a longer warm-up twice, each time after 30 draws, and then 60 draws.
struct TwiceLonger : Keeper {
  std::vector<std::int64_t> ends, asked;
  int longer = 0;
  bool takes_states = false;

  Decision on_decision(std::int64_t draws) override {
    asked.push_back(draws);
    if (draws == 30 && longer < 2) return Decision::longer_warmup;
    return draws >= 60 ? Decision::enough : Decision::more_draws;
  }
  void on_longer_warmup(std::int64_t end) override {
    ++longer;
    ends.push_back(end);
    theta.clear();
    steps.clear();
  }
  bool wants_state(std::int64_t) override { return takes_states; }
};

struct HillProblem {
  Target target{testing::mixture_layout(2, 2), testing::mixture_prior(), std::vector<double>(8, 1.0)};
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  RunOptions options;

  explicit HillProblem(const std::string& kind) {
    proposal.kind = kind;
    for (std::uint64_t c = 0; c < 3; ++c) {
      plans.push_back({c, {0}, 1.0, 0});
      starts.insert(starts.end(), {0.3, 0.7, 0.1, 0.2, 0.3, 0.4, 1, 1.1, 0.9, 1.2});
    }
    options.warmup = 100;
    options.draws = 100;
    options.thin = 2;
    options.seed = 4;
    options.segment_steps = 7;
    options.decisions = {30, 60, 90};
  }
  RunResult run(DrawHandler& handler, const SamplerState* from = nullptr) const {
    const auto device = make_host_device();
    testing::FunctionEngine engine(*device, target.layout(), hill);
    return run_chains(engine, target, proposal, plans, options, starts, handler, from);
  }
};

// The warm-ups have 100, 200 and 400 steps; the first two are each followed by 30 draws with 2 steps each.
TEST(Stopping, ALongerWarmupHasTwiceTheStepsAndItsDrawsCountAnew) {
  TwiceLonger keeper;
  const RunResult result = HillProblem("component_wise").run(keeper);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(keeper.ends, (std::vector<std::int64_t>{100 + 60 + 200, 100 + 60 + 200 + 60 + 400}));
  EXPECT_EQ(keeper.asked, (std::vector<std::int64_t>{30, 30, 30, 60}));
  ASSERT_EQ(keeper.steps.size(), 60u);
  EXPECT_EQ(keeper.steps.front(), 820 + 2);
  EXPECT_EQ(result.state.step, 820 + 120);
  EXPECT_EQ(result.state.warmup_begin, 420);
  EXPECT_EQ(result.state.warmup, 400);
  EXPECT_EQ(result.state.proposed[0], 120u) << "proposals are counted since the last warm-up";
}

// NaN, for values that a window does not have yet, counts as equal to itself.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(Stopping, ARunThatIsInterruptedAnywhereGivesTheSameDraws) {
  for (const char* kind :
       {"component_wise", "random_walk", "adaptive_metropolis", "independence", "crank_nicolson"}) {
    HillProblem problem(kind);
    TwiceLonger whole;
    const RunResult expected = problem.run(whole);
    TwiceLonger watched;
    watched.takes_states = true;
    problem.run(watched);
    ASSERT_GT(watched.states.size(), 100u);
    for (std::size_t i = 0; i < watched.states.size(); i += 9) {
      const SamplerState& from = watched.states[i];
      TwiceLonger rest;
      rest.longer = from.warmup_begin == 0 ? 0 : from.warmup_begin == 160 ? 1 : 2;
      const RunResult result = problem.run(rest, &from);
      ASSERT_LE(rest.theta.size(), whole.theta.size());
      EXPECT_TRUE(std::equal(rest.theta.rbegin(), rest.theta.rend(), whole.theta.rbegin()))
          << kind << " from step " << from.step;
      EXPECT_EQ(result.state.unconstrained, expected.state.unconstrained)
          << kind << " from step " << from.step;
      EXPECT_TRUE(same_bits(result.state.adaptation, expected.state.adaptation))
          << kind << " from step " << from.step;
      EXPECT_EQ(result.state.proposed, expected.state.proposed) << kind << " from step " << from.step;
    }
  }
}

class LongerWarmupFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("emomc-warmup-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "chains");
  }
  void TearDown() override { fs::remove_all(folder_); }

  static ChainHeader header(std::uint64_t id) {
    ChainHeader h;
    h.chain_id = id;
    h.warmup = 10;
    h.layout = testing::mixture_layout(2, 1);
    h.block_names = {"all"};
    return h;
  }
  // Writes draws of steps 11 to 14, a warm-up until step 34, and draws of steps 35 to 37.
  std::int64_t write(std::uint64_t id, bool keeps, bool tells_of_warmup = true) const {
    ChainWriter writer(chain_file(folder_, id), header(id));
    const std::vector<double> point(6, 0.5);
    const std::vector<std::uint64_t> one{1}, four{4};
    for (std::int64_t step = 11; step <= 14; ++step) writer.append(DrawView{step, -1.0, -2.0, point});
    writer.append(AcceptanceView{14, one, four});
    if (tells_of_warmup) {
      writer.begin_longer_warmup(34, keeps);
      for (std::int64_t step = 35; step <= 37; ++step) writer.append(DrawView{step, -1.0, -2.0, point});
      writer.append(AcceptanceView{37, one, four});
    }
    return writer.commit();
  }
  std::string content(std::uint64_t id) const {
    std::ifstream stream(chain_file(folder_, id), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

TEST_F(LongerWarmupFiles, WhatCameBeforeIsLeftOutOrIsWarmup) {
  for (const bool keeps : {false, true}) {
    const std::int64_t bytes = write(0, keeps);
    const ChainDraws chain = read_chain(chain_file(folder_, 0));
    EXPECT_EQ(chain.header.warmup, 34);
    EXPECT_EQ(chain.first_warmup, 10);
    EXPECT_EQ(chain.steps, keeps ? (std::vector<std::int64_t>{11, 12, 13, 14, 35, 36, 37})
                                 : (std::vector<std::int64_t>{35, 36, 37}));
    EXPECT_EQ(chain.log_prior.size(), chain.steps.size());
    EXPECT_EQ(chain.parameters.size(), 6 * chain.steps.size());
    EXPECT_EQ(chain.accepted, (std::vector<std::uint64_t>{1})) << "of the draws that count";
    EXPECT_EQ(draw_set_of({chain}, "x").num_draws, 3u);
    EXPECT_EQ(draw_set_of({chain}, "x").warmup, 34);
    EXPECT_EQ(draw_set_of({chain}, "x", Phase::warmup).num_draws, keeps ? 4u : 0u);
    // A resumed run appends after all draws, including those that are left out.
    EXPECT_EQ(check_committed(chain_file(folder_, 0), header(0), bytes).num_draws, 7);
  }
}

TEST_F(LongerWarmupFiles, AFileCutAtAnyByteHasTheDrawsOfOneWarmup) {
  write(0, false);
  const std::string whole = content(0);
  bool with_first = false, with_second = false;
  for (std::size_t length = whole.size(); length > 0; --length) {
    fs::resize_file(chain_file(folder_, 0), length);
    try {
      const ChainDraws chain = read_chain(chain_file(folder_, 0));
      if (chain.steps.empty()) continue;
      EXPECT_EQ(chain.header.warmup, chain.steps[0] - 1) << length;
      (chain.header.warmup == 10 ? with_first : with_second) = true;
    } catch (const InputError&) {  // the header was cut
    }
  }
  EXPECT_TRUE(with_first);
  EXPECT_TRUE(with_second);
}

// A run was killed when only one of two files had the record of the longer warm-up.
TEST_F(LongerWarmupFiles, ChainsThatHaveNotAllBeenToldHaveNoDrawsYet) {
  write(0, false);
  write(1, false, false);
  const auto chains = read_chains(folder_);
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[1].header.warmup, 34);
  EXPECT_THROW(draw_set_of(chains, "x"), InputError);
}

TEST_F(LongerWarmupFiles, AWarmupThatEndsBeforeItsDrawsIsDamage) {
  {
    ChainWriter writer(chain_file(folder_, 0), header(0));
    const std::vector<double> point(6, 0.5);
    writer.append(DrawView{11, -1.0, -2.0, point});
    writer.begin_longer_warmup(11, false);
    writer.commit();
  }
  EXPECT_THROW(read_chain(chain_file(folder_, 0)), InputError);
}

}  // namespace
}  // namespace emomc
