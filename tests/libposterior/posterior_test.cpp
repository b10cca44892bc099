// Tests posteriors in memory: their draws are those of the program, and their densities are those in the
// draws.
#include "emomc/posterior.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "apps/program.hpp"
#include "emomc/posterior/prior_rules.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::expect_equal;
using testing::kFaithful;
using testing::line;
using testing::refusal;

void expect_converged(const Draws& draws) {
  const DrawDiagnostics& run = draws.run;
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q)
    if (run.is_judged(q)) {
      EXPECT_LE(run.summaries[q].rhat, 1.01) << run.draws.names[q];
    }
  EXPECT_TRUE(is_trusted(diagnose(draws)));
}

TEST(Posterior, ThreeLinesGiveTheProgramsDraws) {
  // This is the program of issue 34.
  auto posterior =
      Posterior(GaussianMixture{.components = 2, .covariance = Covariance::full}, read_table(kFaithful));
  auto draws = sample(posterior, {.chains = 4, .seed = 1, .backend = Backend::cpu});
  std::ostringstream out;
  out << summary(draws);

  testing::ProgramFolder folder;
  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood: {components: 2, covariance: full}\n"
                               "sampler: {chains: 4, seed: 1}\nbackend: cpu\n");
  const auto run = folder.run("run run.yaml -q --output run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<ChainDraws> files = read_chains(folder / "run");
  expect_equal(draws.chains, files);
  EXPECT_EQ(draws.ended_by, "converged");
  EXPECT_TRUE(draws.finished);
  expect_converged(draws);
  const auto printed = folder.run("summary run");
  EXPECT_NE(printed.out.find(out.str().substr(0, out.str().find("mixture_"))), std::string::npos)
      << out.str() << printed.out;
  // There are two kinds of eruptions: about 35 % last two minutes.
  const auto weights = draws.of("weights[0]");
  double mean = 0;
  for (const double w : weights) mean += w / static_cast<double>(weights.size());
  EXPECT_NEAR(mean, 0.356, 0.01);
}

TEST(Posterior, RunsOfDefaultLengthReachEveryBound) {
  // With these seeds 250 draws have R-hats of 1.013 to 1.021 by chance, and more draws lower them.
  const Posterior posterior(GaussianMixture{.components = 2, .covariance = Covariance::full},
                            read_table(kFaithful));
  for (const std::uint64_t seed : {2, 3, 5, 8}) {
    const Draws draws = sample(posterior, {.seed = seed, .backend = Backend::cpu});
    EXPECT_EQ(draws.ended_by, "converged");
    EXPECT_GT(draws.num_draws(), 250u);
    EXPECT_LT(draws.num_draws(), 1000u);
    expect_converged(draws);
  }
}

TEST(Posterior, ALargerEffectiveSampleSizeGivesTheProgramsDrawsToo) {
  const Posterior posterior(GaussianMixture{.components = 2, .covariance = Covariance::full},
                            read_table(kFaithful));
  const Draws draws = sample(posterior, {.seed = 1, .until = {.ess = 2000}, .backend = Backend::cpu});
  testing::ProgramFolder folder;
  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood: {components: 2, covariance: full}\n"
                               "sampler: {seed: 1, until: {ess: 2000}}\nbackend: cpu\n");
  const auto run = folder.run("run run.yaml -q --output run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_equal(draws.chains, read_chains(folder / "run"));
  EXPECT_EQ(draws.ended_by, "ess");
  expect_converged(draws);
}

TEST(Posterior, ExpressionsGiveTheProgramsDraws) {
  const Posterior posterior(line(), read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 4, .seed = 3, .backend = Backend::reference});
  testing::ProgramFolder folder;
  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood:\n  parameters: {a: {}, b: {}, s: {support: positive}}\n"
                               "  log_density: \"normal_lpdf(waiting, a + b * duration, s)\"\n"
                               "  derived: {ratio: \"a / b\"}\n"
                               "prior: {a: {normal: {mean: 0, sd: 50}}, b: {normal: {mean: 0, sd: 50}}, s: "
                               "{half_normal: 20}}\n"
                               "sampler: {chains: 4, seed: 3}\nbackend: reference\n");
  const auto run = folder.run("run run.yaml -q --output run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_equal(draws.chains, read_chains(folder / "run"));
  expect_converged(draws);
  const auto a = draws.of("a"), b = draws.of("b"), ratio = draws.of("ratio");
  for (std::size_t i = 0; i < a.size(); i += 97) EXPECT_DOUBLE_EQ(ratio[i], a[i] / b[i]);
}

TEST(Posterior, AFixedLengthIsKept) {
  const Posterior posterior(GaussianMixture{.covariance = Covariance::tied}, read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 2, .draws = 50, .warmup = 100, .thin = 3, .threads = 1});
  EXPECT_EQ(draws.num_draws(), 50u);
  EXPECT_EQ(draws.num_chains(), 2u);
  EXPECT_EQ(draws.chains.at(0).steps.back(), 100 + 50 * 3);
  EXPECT_EQ(draws.ended_by, "");
}

TEST(Posterior, DensitiesAreThoseOfDraws) {
  for (const Covariance covariance : {Covariance::diagonal, Covariance::full})
    for (const bool standardize : {true, false}) {
      GaussianMixture model{
          .covariance = covariance, .standardize = standardize, .precision = Precision::float64};
      if (!standardize) {
        model.priors["means"] =
            priors::normal(std::vector<double>{3.0, 70.0}, std::vector<double>{5.0, 50.0});
        model.priors["scales"] = priors::half_normal(std::vector<double>{2.0, 20.0});
      }
      const Posterior posterior(model, read_table(kFaithful));
      const Draws draws = sample(posterior, {.chains = 2, .draws = 5, .warmup = 50, .backend = Backend::cpu});
      for (const ChainDraws& chain : draws.chains)
        for (std::size_t i = 0; i < chain.steps.size(); ++i) {
          const std::span<const double> theta(chain.parameters.data() + i * posterior.names().size(),
                                              posterior.names().size());
          const double expected = chain.log_prior[i] + chain.log_likelihood[i];
          EXPECT_NEAR(posterior.log_posterior(theta), expected, 1e-9 * std::abs(expected));
          const std::vector<double> u = posterior.unconstrain(theta), back = posterior.constrain(u);
          for (std::size_t p = 0; p < back.size(); ++p)
            EXPECT_NEAR(back[p], theta[p], 1e-9 * (1 + std::abs(theta[p])));
        }
    }
}

TEST(Posterior, GradientsAreDifferencesOfTheDensity) {
  const Posterior mixture(GaussianMixture{.precision = Precision::float64}, read_table(kFaithful));
  const Posterior own(line(), read_table(kFaithful));
  for (const Posterior* posterior : {&mixture, &own}) {
    std::vector<double> u = posterior->initial(7);
    const LogDensityAndGradient at = posterior->log_density_and_gradient(u);
    EXPECT_NEAR(at.log_density, posterior->log_density(u), 1e-9 * std::abs(at.log_density));
    ASSERT_EQ(at.gradient.size(), static_cast<std::size_t>(posterior->num_unconstrained()));
    for (std::size_t i = 0; i < u.size(); ++i) {
      constexpr double kStep = 1e-5;
      const double centre = u[i];
      u[i] = centre + kStep;
      const double up = posterior->log_density(u);
      u[i] = centre - kStep;
      const double down = posterior->log_density(u);
      u[i] = centre;
      // The bound covers the third derivative times the square of the step, and the rounding of the densities
      // divided by the step.
      const double bound = 1e-5 * (1 + std::abs(at.gradient[i])) + 1e-10 * std::abs(at.log_density);
      EXPECT_NEAR((up - down) / (2 * kStep), at.gradient[i], bound) << i;
    }
  }
}

TEST(Posterior, TheJacobianIsThatOfTheMap) {
  // The parameters of one component of one column are a mean and a scale, whose logarithm is u[1].
  const Posterior posterior(GaussianMixture{.components = 1, .precision = Precision::float64},
                            make_table({"x"}, {1, 2, 4}));
  ASSERT_EQ(posterior.num_unconstrained(), 2);
  for (const double u1 : {-0.5, 0.3}) {
    const std::vector<double> u{0.2, u1}, theta = posterior.constrain(u);
    const std::vector<double> u0{0.2, 0.0}, theta0 = posterior.constrain(u0);
    EXPECT_NEAR((posterior.log_density(u) - posterior.log_posterior(theta)) -
                    (posterior.log_density(u0) - posterior.log_posterior(theta0)),
                std::log((theta[2]) / theta0[2]), 2e-3);  // u[1] = log(scale - floor)
  }
}

TEST(Posterior, OutsideTheSupportTheDensityIsZero) {
  const Posterior posterior(GaussianMixture{}, read_table(kFaithful));
  const Draws draws = sample(posterior, {.chains = 1, .draws = 1, .warmup = 10});
  std::vector<double> theta = draws.chains[0].parameters;
  EXPECT_TRUE(std::isfinite(posterior.log_posterior(theta)));
  theta.back() = -1;  // a negative scale
  EXPECT_EQ(posterior.log_posterior(theta), -INFINITY);
}

TEST(Posterior, ProgressCanEndARun) {
  const Posterior posterior(GaussianMixture{}, read_table(kFaithful));
  int calls = 0;
  const Draws draws = sample(
      posterior,
      {.draws = 1'000'000'000, .warmup = 100, .backend = Backend::cpu, .on_progress = [&](const Progress& p) {
         ++calls;
         return p.step <= 200;
       }});
  EXPECT_FALSE(draws.finished);
  EXPECT_GT(calls, 0);
  EXPECT_GT(draws.num_draws(), 0u);
  EXPECT_LT(draws.num_draws(), 1'000'000u);
}

TEST(Posterior, AFitIsTheMaximumOfTheLikelihood) {
  const Posterior posterior(GaussianMixture{.covariance = Covariance::full}, read_table(kFaithful));
  const MixtureFit best = fit(posterior);
  EXPECT_TRUE(best.converged);
  EXPECT_EQ(best.degenerate, "");
  // scikit-learn 1.x with reg_covar=0 gives -1130.26396.
  EXPECT_NEAR(best.log_likelihood, -1130.26396, 1e-4);
  const Draws draws = sample(posterior, {.chains = 2, .draws = 100, .warmup = 200});
  for (const double x : draws.of("log_likelihood")) EXPECT_LT(x, best.log_likelihood);
  const std::vector<std::string>& names = posterior.names();
  const auto of = [&](const std::string& name) {
    return best.theta.at(
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  // The components may be in either order.
  EXPECT_NEAR(of("means[0,1]") + of("means[1,1]"), 54.4785 + 79.9681, 1e-3);
}

TEST(Posterior, AnExceptionAfterARoundEndsAFit) {
  const Posterior posterior(GaussianMixture{.covariance = Covariance::full}, read_table(kFaithful));
  int rounds = 0;
  const MixtureFit best = fit(posterior, {.on_round = [&] { ++rounds; }});
  EXPECT_GE(rounds, best.rounds);
  rounds = 0;
  const auto stop = [&] {
    if (++rounds == 2) throw std::runtime_error("stop");
  };
  EXPECT_THROW(fit(posterior, {.on_round = stop}), std::runtime_error);
  EXPECT_EQ(rounds, 2);
}

TEST(Posterior, ThreadsAndConcurrentRunsChangeNoDraw) {
  const Posterior posterior(GaussianMixture{}, read_table(kFaithful));
  SampleOptions options{.draws = 40, .warmup = 60, .threads = 1};
  const Draws one = sample(posterior, options);
  options.threads = 3;
  expect_equal(sample(posterior, options).chains, one.chains);
  options.seed = 5;
  EXPECT_NE(sample(posterior, options).chains[0].parameters, one.chains[0].parameters);
}

TEST(Posterior, RefusesWhatCannotBeSampled) {
  const Table table = read_table(kFaithful);
  const auto of_mixture = [&](GaussianMixture model) { return refusal([&] { Posterior(model, table); }); };
  EXPECT_EQ(of_mixture({.components = 0}), "components: 0 is out of range; allowed: 1 to 65536");
  EXPECT_EQ(of_mixture({.priors = {{"mean", priors::normal(0, 1)}}}),
            "prior.mean: there is no such parameter; did you mean means? allowed: weights, means, scales");
  EXPECT_EQ(
      of_mixture({.priors = {{"means", priors::gamma(1, 1)}}}),
      "prior.means: gamma is no prior for means; allowed for means: normal, student_t, cauchy, uniform, "
      "fixed");
  EXPECT_EQ(of_mixture({.priors = {{"means", priors::normal(0, -1)}}}),
            "prior.means.normal.sd: -1 is out of range; allowed: numbers above 0");
  EXPECT_EQ(
      of_mixture({.components = 3, .priors = {{"weights", priors::dirichlet(std::vector<double>{1, 2})}}}),
      "prior.weights.dirichlet.a: a list of 2; allowed: one number or 3, one for each component");
  EXPECT_EQ(
      of_mixture({.priors = {{"weights", priors::dirichlet(std::vector<double>{1, 2})}}, .ordered = true}),
      "ordered: it needs the same prior for every component, and prior.weights differs between them; "
      "allowed here: none");
  ExpressionModel model = line();
  model.priors.erase("b");
  EXPECT_EQ(refusal([&] { Posterior(model, table); }),
            "prior.b: there is none; each parameter needs a prior, such as {normal: {mean: 0, sd: 10}}");
  model = line();
  model.likelihood.parameters[0] = parameter("a", Support::simplex);
  EXPECT_EQ(refusal([&] { Posterior(model, table); }),
            "parameters.a: a simplex is a list of weights that sum to 1; allowed: lengths from 2");
  const Posterior posterior(GaussianMixture{}, table);
  const auto of_options = [&](const SampleOptions& options) {
    return refusal([&] { sample(posterior, options); });
  };
  EXPECT_EQ(of_options({.chains = 0}), "chains: 0 is out of range; allowed: 1 to 1048576");
  EXPECT_EQ(of_options({.draws = 0}), "draws: 0 is out of range; allowed: 1 to 1000000000000");
  EXPECT_EQ(of_options({.init = "kmean"}),
            "init: kmean is unknown; did you mean kmeans? allowed: prior, kmeans, em, clusters");
  EXPECT_EQ(of_options({.target_acceptance = 1}),
            "target_acceptance: 1 is out of range; allowed: above 0 and below 1");
  EXPECT_EQ(of_options({.chains = 4, .superchains = 3}),
            "superchains: 3 is out of range; allowed: 0, or a divisor of chains (4) from 2");
  EXPECT_NE(of_options({.proposal = "nut"}).find("did you mean nuts?"), std::string::npos);
  EXPECT_EQ(refusal([&] { posterior.log_posterior(std::vector<double>{1}); }),
            "theta has 1 elements; allowed: 10");
}

TEST(MemoryTable, ChecksItsNumbers) {
  EXPECT_EQ(refusal([] { make_table({"x", "x"}, {1, 2}); }), "data: column x is there twice");
  EXPECT_EQ(refusal([] {
              make_table({"x", "y"}, {1, 2, 3});
            }),
            "data: 3 values do not fill rows of 2 columns");
  EXPECT_EQ(refusal([] {
              make_table({"x", "y"}, {1, 2, 3, NAN});
            }),
            "data: row 1, column y: nan is not a finite number");
  const Table table = make_table({"x", "y"}, {1, 2, 1, 2, -0.0, 3, 0.0, 3});
  EXPECT_EQ(table.num_rows, 4u);
  EXPECT_EQ(table.num_duplicate_rows, 2u);
  const Table y = columns_of(table, {"y"});
  EXPECT_EQ(y.values, (std::vector<double>{2, 2, 3, 3}));
  EXPECT_EQ(y.num_duplicate_rows, 2u);
  EXPECT_EQ(refusal([&] { columns_of(table, {"z"}); }).find("data: there is no column z"), 0u);
}

TEST(PriorRules, EveryModelsDefaultPriorsAreAllowed) {
  for (const ModelInfo& model : known_models()) {
    LikelihoodConfig likelihood;
    likelihood.model = model.name;
    likelihood.covariance = model.covariance;
    likelihood.components = 2;
    const PriorSet prior = default_prior(likelihood);
    EXPECT_FALSE(prior.blocks.empty());
    EXPECT_NO_THROW(check_priors(likelihood, prior, 0)) << model.name;
  }
}

}  // namespace
}  // namespace emomc
