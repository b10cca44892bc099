// Tests parallel tempering: exchanges, ladders, independence of segments and interruptions, and distributions
// that are known.
#include "emomc/sampler/tempering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ecdf_band.hpp"
#include "emomc/core/errors.hpp"
#include "exchanges.hpp"
#include "tempering_problems.hpp"

namespace emomc {
namespace {

using testing::FunctionEngine;
using testing::KnownEvidence;
using testing::normal_means;
using testing::number;
using testing::run_tempered;
using testing::TemperedRun;

RunOptions options_of(int rungs, std::int64_t warmup, std::int64_t draws) {
  RunOptions options;
  options.warmup = warmup;
  options.draws = draws;
  options.seed = 5;
  options.tempering.rungs = rungs;
  return options;
}

std::vector<std::uint64_t> ids_of(std::size_t rungs, std::size_t replicas) {
  std::vector<std::uint64_t> ids;
  for (std::size_t k = 0; k < rungs; ++k)
    for (std::size_t r = 0; r < replicas; ++r) ids.push_back(k * kRungStride + r);
  return ids;
}

TEST(Tempering, PlansHaveAGroupAndAPowerForEachRung) {
  const std::vector<ChainPlan> plans{{0, {0}, 1.0, 0}, {1, {0}, 1.0, 0}};
  const auto all = tempered_plans(plans, {3, {1, 0.25, 0}});
  ASSERT_EQ(all.size(), 6u);
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_EQ(all[c].group, static_cast<int>(c / 2));
    EXPECT_EQ(all[c].beta, (std::vector<double>{1, 0.25, 0})[c / 2]);
    EXPECT_EQ(all[c].id, c / 2 * kRungStride + c % 2);
  }
  EXPECT_EQ(tempered_plans(plans, {}).size(), 2u);
  EXPECT_EQ(chain_text(all[3].id), "1 of rung 1");
  const auto first = first_betas({5});
  EXPECT_EQ(first.front(), 1);
  EXPECT_EQ(first.back(), 0);
  EXPECT_DOUBLE_EQ(first[2], std::pow(0.5, 5));
}

TEST(Tempering, RefusesWhatIsNoLadder) {
  for (const Tempering& wrong : {Tempering{0}, Tempering{2000}, Tempering{3, {1, 0}}, Tempering{3, {1, 1, 0}},
                                 Tempering{2, {0.5, 0}}, Tempering{3, {1, 0.5, -0.1}}, Tempering{3, {}, -1}})
    EXPECT_THROW(check_tempering(wrong), InputError);
  EXPECT_NO_THROW(check_tempering({3, {1, 0.5, 0.1}}));
  const std::vector<ChainPlan> powered{{0, {0}, 0.5, 0}}, grouped{{0, {0}, 1.0, 1}};
  EXPECT_THROW(tempered_plans(powered, {3}), InputError);
  EXPECT_THROW(tempered_plans(grouped, {3}), InputError);
}

TEST(Tempering, ALadderIsEvenInTheSumOfRejections) {
  const std::vector<double> betas{1, 0.5, 0.25, 0};
  const auto same = even_ladder(betas, std::vector<double>{0.3, 0.3, 0.3});
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(same[k], betas[k], 1e-12);
  // Nearly all exchanges next to the prior are rejected, so that powers move there.
  const auto shifted = even_ladder(betas, std::vector<double>{0.0, 0.0, 0.9});
  EXPECT_EQ(shifted[0], 1);
  EXPECT_EQ(shifted[3], 0);
  EXPECT_LT(shifted[1], 0.25);
  EXPECT_LT(shifted[2], shifted[1]);
  const double place = std::pow(0.25, 0.2);  // two thirds of the way from this place to 0 end at 1/3 of it
  EXPECT_NEAR(std::pow(shifted[2], 0.2), place / 3, 0.01);
}

TEST(Tempering, NeighboursTakeTurnsAndKeepTheirPoints) {
  Exchanges exchanges({4, {1, 0.5, 0.2, 0}}, ids_of(4, 2), 3, 5);
  // The hotter rung always has the likelier point, so that all exchanges are accepted.
  const std::vector<double> rising{0, 0, 1, 1, 2, 2, 3, 3};
  const auto even = exchanges.exchange(10, rising), odd = exchanges.exchange(15, rising);
  EXPECT_EQ(even, (std::vector<std::size_t>{2, 3, 0, 1, 6, 7, 4, 5}));
  EXPECT_EQ(odd, (std::vector<std::size_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  // If the colder rung has the likelier point, with such differences, no exchange is accepted.
  const std::vector<double> falling{9000, 9000, 6000, 6000, 3000, 3000, 0, 0};
  const auto none = exchanges.exchange(20, falling);
  for (std::size_t c = 0; c < none.size(); ++c) EXPECT_EQ(none[c], c);
  const TemperingSummary summary = Exchanges::summary_of(exchanges.save());
  EXPECT_DOUBLE_EQ(summary.swap_rates[0], 0.5);
  EXPECT_DOUBLE_EQ(summary.swap_rates[1], 1);
}

TEST(Tempering, ARoundTripGoesFromTheColdRungToTheLastOneAndBack) {
  Exchanges exchanges({2, {1, 0}}, ids_of(2, 1), 3, 1);
  const std::vector<double> always{0, 1};
  std::vector<std::uint64_t> trips;
  for (std::int64_t step = 1; step <= 8; ++step) {
    exchanges.exchange(2 * step, always);
    trips.push_back(Exchanges::summary_of(exchanges.save()).round_trips);
  }
  // The point that is cold after the first exchange is last after the second one and cold again after the
  // third one.
  EXPECT_EQ(trips, (std::vector<std::uint64_t>{0, 0, 1, 2, 3, 4, 5, 6}));
}

TEST(Tempering, ExchangesGoOnFromWhatIsSavedAndRefuseAnotherLadder) {
  Exchanges exchanges({3, {}}, ids_of(3, 2), 3, 1), other({3, {}}, ids_of(3, 2), 3, 1);
  const std::vector<double> values{-1, -2, -3, -1, -2, -5};
  for (std::int64_t step = 1; step < 20; ++step) exchanges.exchange(step, values);
  EXPECT_TRUE(exchanges.learn(20, 0, 100));
  other.restore(exchanges.save());
  EXPECT_EQ(other.save(), exchanges.save());
  EXPECT_EQ(other.exchange(20, values), exchanges.exchange(20, values));
  std::vector<double> saved = exchanges.save();
  EXPECT_THROW(Exchanges({4, {}}, ids_of(4, 2), 3, 1).restore(saved), InputError);
  saved[5] = 2;  // a power that does not decrease
  EXPECT_THROW(other.restore(saved), InputError);
}

TEST(Tempering, TheLadderIsLearntInWarmUpAlone) {
  Exchanges exchanges({3, {}}, ids_of(3, 1), 3, 4);
  const std::vector<double> values{-1, -2, -3};
  const auto run = [&](std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t warmup) {
    std::vector<std::int64_t> changed;
    for (std::int64_t step = from; step <= to; step += 4) {
      exchanges.exchange(step, values);
      if (exchanges.learn(step, begin, warmup)) changed.push_back(step);
    }
    return changed;
  };
  EXPECT_EQ(run(4, 2000, 0, 1000), (std::vector<std::int64_t>{52, 100, 200, 336, 500, 668}));
  EXPECT_EQ(run(2004, 5000, 2000, 2000), (std::vector<std::int64_t>{2100, 2200, 2400, 2668, 3000, 3336}));
  Exchanges given({3, {1, 0.5, 0}}, ids_of(3, 1), 3, 4);
  given.exchange(52, values);
  given.exchange(56, values);
  EXPECT_FALSE(given.learn(100, 0, 1000));
}

const std::vector<std::string> kKinds{"component_wise", "crank_nicolson", "delayed_rejection",
                                      "stretch",        "nuts",           "chees"};

KnownEvidence small_problem(const std::string& kind) { return normal_means(3, 10, 2, kind); }

TEST(Tempering, DrawsDoNotDependOnSegments) {
  for (const auto& kind : kKinds) {
    RunOptions options = options_of(4, 120, 60);
    options.thin = 2;
    options.tempering.every = 3;
    const int chains = kind == "stretch" ? 6 : 3;
    const TemperedRun expected = run_tempered(small_problem(kind), options, chains);
    EXPECT_EQ(expected.keeper.theta.size(), 60u * static_cast<std::size_t>(chains) * 3);
    EXPECT_EQ(expected.keeper.of_rungs.size(), 60u * static_cast<std::size_t>(chains) * 4);
    for (const std::int64_t segment : {1, 7, 1000}) {
      options.segment_steps = segment;
      const TemperedRun run = run_tempered(small_problem(kind), options, chains);
      EXPECT_EQ(run.keeper.theta, expected.keeper.theta) << kind << ", segments of " << segment;
      EXPECT_EQ(run.keeper.of_rungs, expected.keeper.of_rungs) << kind << ", segments of " << segment;
      EXPECT_EQ(run.result.state.tempering, expected.result.state.tempering) << kind;
    }
  }
}

TEST(Tempering, GoesOnFromAStateBitForBit) {
  for (const auto& kind : kKinds) {
    RunOptions options = options_of(4, 120, 60);
    options.tempering.every = 3;
    options.segment_steps = 2;
    const int chains = kind == "stretch" ? 6 : 3;
    const KnownEvidence problem = small_problem(kind);
    const TemperedRun whole = run_tempered(problem, options, chains);
    const auto device = make_host_device();
    std::vector<double> theta, of_rungs;
    SamplerState state;
    for (const std::int64_t stop : {1, 7, 40, 83, 120, 121, 150, 1000}) {
      const bool first = state.num_chains == 0;
      FunctionEngine engine = proposal_use(kind).gradient
                                  ? FunctionEngine(*device, problem.target.layout(), problem.log_likelihood)
                                  : FunctionEngine(*device, problem.target.layout(),
                                                   FunctionEngine::Function([&](const double* x) {
                                                     return problem.log_likelihood(0, x, nullptr);
                                                   }));
      std::vector<ChainPlan> plans;
      std::vector<double> starts;
      for (int c = 0; c < chains; ++c) {
        plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
        starts.insert(starts.end(), problem.start.begin(), problem.start.end());
      }
      testing::RungKeeper piece;
      piece.stop_after = stop;
      run_chains(engine, problem.target, {kind}, plans, options, starts, piece, first ? nullptr : &state);
      state = piece.states.back();
      theta.insert(theta.end(), piece.theta.begin(), piece.theta.end());
      of_rungs.insert(of_rungs.end(), piece.of_rungs.begin(), piece.of_rungs.end());
    }
    EXPECT_EQ(state.step, 180);
    EXPECT_EQ(theta, whole.keeper.theta) << kind;
    EXPECT_EQ(of_rungs, whole.keeper.of_rungs) << kind;
    EXPECT_EQ(state.tempering, whole.result.state.tempering) << kind;
    EXPECT_EQ(state.unconstrained, whole.result.state.unconstrained) << kind;
    EXPECT_EQ(state.num_evaluations, whole.result.num_evaluations) << kind;
  }
}

TEST(Tempering, RungsBeginAtTheirChainsStartOrAtTheirOwn) {
  RunOptions options = options_of(3, 0, 1);
  options.tempering.betas = {1, 0.5, 0.25};
  options.tempering.every = 1000;  // no exchange
  const KnownEvidence problem = small_problem("component_wise");
  const auto at = [&](double shift) {
    std::vector<double> start = problem.start;
    for (double& x : start) x += shift;
    return start;
  };
  const auto starts = [&](const std::vector<double>& shifts) {
    std::vector<double> all;
    for (const double shift : shifts) {
      const std::vector<double> start = at(shift);
      all.insert(all.end(), start.begin(), start.end());
    }
    return all;
  };
  const auto run = [&](const std::vector<double>& shifts) {
    return run_tempered(problem, options, 2, nullptr, starts(shifts)).keeper.of_rungs;
  };
  // Starts are given for one rung after another, with the two chains in each.
  const std::vector<double> same = run({0, 1, 0, 1, 0, 1}), own = run({0, 1, 0, 1, 0, 1000});
  EXPECT_EQ(run({0, 1}), same);
  ASSERT_EQ(own.size(), 6u);
  for (std::size_t c = 0; c < 5; ++c) EXPECT_EQ(own[c], same[c]) << c;
  // A single step from this start cannot reach the neighbourhood of the other start.
  const double far = problem.log_likelihood(0, at(1000).data(), nullptr);
  EXPECT_LT(own[5], 0.9 * far);
  EXPECT_GT(same[5], 0.1 * far);
  EXPECT_THROW(run({0, 1, 0}), std::invalid_argument);
}

TEST(Tempering, RungsBeginAnewOnceInAWarmUpWhereTheLadderEndsAboveZero) {
  const auto steps = [](const std::vector<double>& betas, std::int64_t begin) {
    const Exchanges exchanges({3, betas}, ids_of(3, 1), 3, 4);
    std::vector<std::int64_t> result;
    for (std::int64_t step = 4; step < 400; step += 4)
      if (exchanges.begins_anew(step, begin, 102)) result.push_back(step);
    return result;
  };
  EXPECT_EQ(steps({1, 0.5, 0.25}, 0), (std::vector<std::int64_t>{20}));
  EXPECT_EQ(steps({1, 0.5, 0.25}, 201), (std::vector<std::int64_t>{224}));
  EXPECT_EQ(steps({1, 0.5, 0}, 0), (std::vector<std::int64_t>{}));
}

// The hot rung begins in a mode that is 60 lower. The rung cannot leave this mode, and no exchange leads out
// of it.
TEST(Tempering, ARungInALesserModeDoesNotBlockTheLadder) {
  const KnownEvidence problem{
      "two modes",
      testing::one_block("x", 1, Support::real, {PriorFamily::normal, {number(0), number(100)}}),
      [](int, const double* x, double*) {
        return x[0] < 50 ? -0.5 * x[0] * x[0] : -60 - 0.5 * std::pow(x[0] - 100, 2);
      },
      0,
      {0}};
  RunOptions options = options_of(2, 100, 100);
  options.tempering.betas = {1, 0.25};
  const TemperedRun run = run_tempered(problem, options, 2, nullptr, {0, 0, 100, 100});
  EXPECT_GT(*std::min_element(run.keeper.of_rungs.begin(), run.keeper.of_rungs.end()), -50);
}

TEST(Tempering, ChainsThatBeginAnewNumberComponentsAlike) {
  const KnownEvidence problem{
      "two components",
      Target(testing::mixture_layout(2, 1), testing::mixture_prior(), std::vector<double>{1.0}),
      [](int, const double* theta, double*) {
        const auto [low, high] = std::minmax(theta[2], theta[3]);
        return -50 * (std::pow(low + 2, 2) + std::pow(high - 2, 2));
      },
      0,
      {}};
  RunOptions options = options_of(2, 100, 50);
  options.tempering.betas = {1, 0.5};
  const std::vector<double> one{0.5, 0.5, -2, 2, 1, 1}, other{0.5, 0.5, 2, -2, 1, 1};
  std::vector<double> starts;
  for (const auto* start : {&one, &other, &other, &other})
    starts.insert(starts.end(), start->begin(), start->end());
  const TemperedRun run = run_tempered(problem, options, 2, nullptr, starts);
  ASSERT_EQ(run.keeper.theta.size(), 50u * 2 * 6);
  for (std::size_t i = 0; i < run.keeper.theta.size(); i += 6)
    EXPECT_LT(run.keeper.theta[i + 2], run.keeper.theta[i + 3])
        << "draw " << i / 12 << ", chain " << i / 6 % 2;
}

TEST(Tempering, AStateOfOtherRungsIsRefused) {
  const TemperedRun four = run_tempered(small_problem("component_wise"), options_of(4, 20, 10));
  EXPECT_THROW(run_tempered(small_problem("component_wise"), options_of(3, 20, 20), 4, &four.result.state),
               InputError);
  EXPECT_THROW(run_tempered(small_problem("component_wise"), options_of(1, 20, 20), 4, &four.result.state),
               InputError);
}

// The mean log likelihood of each rung is known. False alarms of 6.5 standard errors are below 1e-9.
TEST(Tempering, EachRungSamplesThePriorTimesAPowerOfTheLikelihood) {
  for (const auto& kind : kKinds) {
    const int chains = kind == "stretch" ? 8 : 4;
    RunOptions options = options_of(5, 400, 1500);
    options.tempering.betas = {1, 0.3, 0.1, 0.02, 0};
    const KnownEvidence problem = normal_means(3, 10, 2, kind);
    const TemperedRun run = run_tempered(problem, options, chains);
    const RungDraws draws = run.keeper.rungs(run.result.state);
    const std::size_t size = draws.num_chains * draws.num_draws;
    for (std::size_t k = 0; k < draws.betas.size(); ++k) {
      const DrawsView view{draws.log_likelihood.data() + k * size,
                           draws.num_draws,
                           draws.num_chains,
                           1,
                           static_cast<std::ptrdiff_t>(draws.num_draws),
                           kind == "stretch" ? draws.num_chains : 1};
      EXPECT_GT(ess_mean(view), 100) << kind << ", rung " << k;
      EXPECT_NEAR(draws_mean(view), problem.mean_log_likelihood(draws.betas[k]), 6.5 * mcse_mean(view))
          << kind << ", rung " << k;
    }
    for (const double rate : draws.exchanges.swap_rates) EXPECT_GT(rate, 0.1);
    EXPECT_EQ(draws.exchanges.finite_prior_draws, draws.exchanges.prior_draws);
    EXPECT_GT(draws.exchanges.round_trips, 20u) << kind;
  }
}

TEST(Tempering, TheLadderIsAdaptedToEqualRatesAndThenFixed) {
  RunOptions options = options_of(12, 1000, 1000);
  options.tempering.every = 1;
  const KnownEvidence problem = normal_means(4, 400, 20, "component_wise");
  testing::RungKeeper middle;
  const auto device = make_host_device();
  FunctionEngine engine(*device, problem.target.layout(), FunctionEngine::Function([&](const double* x) {
    return problem.log_likelihood(0, x, nullptr);
  }));
  middle.want_state_after = 1000;
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (std::uint64_t c = 0; c < 4; ++c) {
    plans.push_back({c, {0}, 1.0, 0});
    starts.insert(starts.end(), problem.start.begin(), problem.start.end());
  }
  const RunResult result = run_chains(engine, problem.target, {problem.kind}, plans, options, starts, middle);
  ASSERT_GE(middle.states.size(), 2u);
  const auto betas = tempering_summary(middle.states[0]).betas;
  const TemperingSummary end = tempering_summary(result.state);
  EXPECT_EQ(betas, end.betas);
  EXPECT_NE(betas, first_betas(options.tempering));
  const auto [least, most] = std::minmax_element(end.swap_rates.begin(), end.swap_rates.end());
  EXPECT_GT(*least, 0.2);
  EXPECT_LT(*most - *least, 0.15);
}

// The likelihood has a mode on each side of the prior's, with 30 % and 70 % of the mass.
KnownEvidence two_modes() {
  const auto log_likelihood = [](int, const double* x, double* gradient) {
    constexpr double kSd = 0.3, kAt = 5;
    const double a = std::log(0.3) - 0.5 * std::pow((x[0] + kAt) / kSd, 2),
                 b = std::log(0.7) - 0.5 * std::pow((x[0] - kAt) / kSd, 2);
    const double top = std::max(a, b), sum = top + std::log(std::exp(a - top) + std::exp(b - top));
    if (gradient)
      gradient[0] = -(std::exp(a - sum) * (x[0] + kAt) + std::exp(b - sum) * (x[0] - kAt)) / (kSd * kSd);
    return sum;
  };
  return {"two modes",
          testing::one_block("x", 1, Support::real, {PriorFamily::normal, {number(0), number(6)}}),
          log_likelihood,
          0,
          {5}};
}

TEST(Tempering, FindsTheMassOfModesThatPlainChainsNeverVisit) {
  for (const std::string kind : {"component_wise", "nuts"}) {
    constexpr std::size_t kDraws = 4000;
    KnownEvidence problem = two_modes();
    problem.kind = kind;
    const auto share_of_second = [&](int rungs, double& error) {
      const TemperedRun run = run_tempered(problem, options_of(rungs, 500, kDraws));
      std::vector<double> is_second;
      for (const double x : run.keeper.theta) is_second.push_back(x > 0 ? 1 : 0);
      const DrawsView view{is_second.data(), kDraws, 4, 4, 1};
      error = mcse_mean(view);
      return draws_mean(view);
    };
    double error = 0;
    EXPECT_EQ(share_of_second(1, error), 1) << kind << ": plain chains stay where they start";
    const double share = share_of_second(6, error);
    EXPECT_LT(error, 0.03) << kind;
    EXPECT_NEAR(share, 0.7, 6.5 * error) << kind;
  }
}

// Simulation-based calibration (sbc.hpp has the sources) with data that depend only on the size of x: the
// posterior has a mode on each side, and the prior determines how the mass is divided. Chains begin at draws
// from the prior, and not at the parameters of their data, so that a chain that stays in its mode is
// detected. Ranks of the log likelihood detect draws that are too wide, such as those of the prior, whose
// ranks of x are uniform, too.
struct RanksOfSize {
  std::vector<int> of_x, of_likelihood;
};
RanksOfSize ranks_of_size(int rungs, int replicates) {
  constexpr double kMean = 1, kPriorSd = 3, kSd = 0.3;
  constexpr int kRanked = 31;
  std::mt19937_64 random(36);
  std::normal_distribution<double> normal;
  RanksOfSize ranks{std::vector<int>(kRanked + 1), std::vector<int>(kRanked + 1)};
  const auto count = [](std::vector<int>& counts, const std::vector<double>& draws, double truth) {
    ++counts[static_cast<std::size_t>(
        std::count_if(draws.begin(), draws.end(), [&](double x) { return x < truth; }))];
  };
  for (int r = 0; r < replicates; ++r) {
    const double truth = kMean + kPriorSd * normal(random), y = std::abs(truth) + kSd * normal(random);
    const auto log_likelihood = [=](int, const double* x, double*) {
      return -0.5 * std::pow((std::abs(x[0]) - y) / kSd, 2);
    };
    const KnownEvidence problem{
        "size of x",
        testing::one_block("x", 1, Support::real, {PriorFamily::normal, {number(kMean), number(kPriorSd)}}),
        log_likelihood,
        0,
        {kMean + kPriorSd * normal(random)}};
    RunOptions options = options_of(rungs, 200, kRanked);
    options.thin = 16;
    options.seed = 1000 + static_cast<std::uint64_t>(r);
    const TemperedRun run = run_tempered(problem, options, 1);
    count(ranks.of_x, run.keeper.theta, truth);
    count(ranks.of_likelihood, run.keeper.log_likelihood, log_likelihood(0, &truth, nullptr));
  }
  return ranks;
}

TEST(Tempering, IsCalibratedWherePlainChainsAreNot) {
  constexpr int kReplicates = 150;
  const auto outside = [](const std::vector<int>& counts) {
    const auto band = testing::EcdfBands(kReplicates, static_cast<int>(counts.size()) - 1).band(0.5e-6);
    return testing::outside_band(band, counts);
  };
  const RanksOfSize tempered = ranks_of_size(6, kReplicates), plain = ranks_of_size(1, kReplicates);
  EXPECT_EQ(outside(tempered.of_x), 0);
  EXPECT_EQ(outside(tempered.of_likelihood), 0);
  EXPECT_GT(outside(plain.of_x), 0);
}

TEST(Tempering, WithoutRungsNothingIsCounted) {
  const TemperedRun run = run_tempered(small_problem("component_wise"), options_of(1, 20, 10));
  EXPECT_TRUE(run.result.state.tempering.empty());
  EXPECT_TRUE(run.keeper.of_rungs.empty());
  EXPECT_TRUE(tempering_summary(run.result.state).betas.empty());
}

}  // namespace
}  // namespace emomc
