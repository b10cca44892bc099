// Simulation-based calibration of likelihoods of the user's own (sbc.hpp describes the method and its
// sources): parameters come from the prior, data from likelihood.simulate, and the ranks of the parameters
// among the draws must be uniform.
#include <gtest/gtest.h>

#include <algorithm>

#include "ecdf_band.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "keeper.hpp"

namespace emomc {
namespace {

constexpr int kReplicates = 300, kDraws = 31, kRows = 24;
constexpr std::uint64_t kSeed = 20261126;

PriorSpec prior_of(PriorFamily family, const std::vector<double>& arguments) {
  PriorSpec prior{family, {}};
  for (double argument : arguments) prior.arguments.push_back({{}, {argument}});
  return prior;
}

struct Model {
  const char* name;
  ExpressionSpec spec;
  PriorSet prior;
};

/// Returns models of columns x, g (0 to 2) and the simulated y.
std::vector<Model> models() {
  std::vector<Model> all(4);
  all[0].name = "Poisson";
  all[0].spec.linear = {{"eta", "", "a", {"x"}, "b", {"", "log(1 + g)"}}};
  all[0].spec.log_density = {"", "poisson_log_lpmf(y, eta)"};
  all[0].spec.simulate = {{"y", {"", "poisson_log_rng(eta)"}}};
  all[0].prior.blocks = {{"a", prior_of(PriorFamily::normal, {0, 1})},
                         {"b", prior_of(PriorFamily::normal, {0, 0.5})}};
  all[1].name = "robust";
  all[1].spec.parameters = {{"s", "", Support::positive, {}}, {"nu", "", Support::positive, {}}};
  all[1].spec.linear = {{"line", "", "a", {"x"}, "b", {"", ""}}};
  all[1].spec.log_density = {"", "student_t_lpdf(y, 1 + nu, line, s)"};
  all[1].spec.simulate = {{"y", {"", "student_t_rng(1 + nu, line, s)"}}};
  all[1].prior.blocks = {{"s", prior_of(PriorFamily::half_normal, {1})},
                         {"nu", prior_of(PriorFamily::gamma, {2, 0.5})},
                         {"a", prior_of(PriorFamily::normal, {0, 1})},
                         {"b", prior_of(PriorFamily::normal, {0, 1})}};
  all[2].name = "groups";
  all[2].spec.parameters = {{"alpha", "", Support::real, {3}}, {"f", "", Support::unit_interval, {}}};
  all[2].spec.log_density = {"",
                             "if_else(y == 0, log_mix(f, 0, bernoulli_logit_lpmf(y, alpha[g])), log1m(f) + "
                             "bernoulli_logit_lpmf(y, alpha[g]))"};
  all[2].spec.simulate = {{"y", {"", "if_else(bernoulli_rng(f) == 1, 0, bernoulli_logit_rng(alpha[g]))"}}};
  PriorSpec by_mean = prior_of(PriorFamily::normal, {0, 1});
  by_mean.arguments[0] = {{}, {}, true};
  all[2].prior.blocks = {{"alpha", by_mean},
                         {"alpha.mean", prior_of(PriorFamily::normal, {0, 1})},
                         {"f", prior_of(PriorFamily::beta, {2, 2})}};
  all[3].name = "directions";
  all[3].spec.parameters = {{"mu", "", Support::circular, {}}, {"kappa", "", Support::positive, {}}};
  all[3].spec.log_density = {"", "von_mises_lpdf(y, mu + x, kappa)"};
  all[3].spec.simulate = {{"y", {"", "von_mises_rng(mu + x, kappa)"}}};
  all[3].prior.blocks = {{"mu", prior_of(PriorFamily::von_mises, {2.8, 0.5})},
                         {"kappa", prior_of(PriorFamily::gamma, {2, 2})}};
  for (Model& model : all) model.prior.scale_floor = 0;
  return all;
}

/// A proposal, and the number of its steps that make a draw nearly independent of the previous one.
struct Sampler {
  const char* kind;
  ProposalShape shape;
  std::int64_t warmup, thin;
};
const std::vector<Sampler> kSamplers{{"crank_nicolson", ProposalShape::dense, 2000, 60},
                                     {"nuts", ProposalShape::diagonal, 600, 6},
                                     {"hmc", ProposalShape::dense, 600, 10},
                                     {"chees", ProposalShape::dense, 300, 8},
                                     {"mala", ProposalShape::diagonal, 1000, 60}};

/// Returns counts of the ranks of each parameter and of the log likelihood.
std::vector<std::vector<int>> ranks(const Model& model, const ExpressionSpec& assumed,
                                    const Sampler& sampler = kSamplers[0]) {
  const std::vector<std::string> columns{"x", "g", "y"};
  const Expression expression(model.spec, columns), fitted(assumed, columns);
  const Target target(expression.layout(), model.prior, std::span<const double>());
  const auto dim = static_cast<std::size_t>(target.dim());
  const std::size_t used = expression.used_columns().size();
  std::vector<double> truths, rows;
  for (std::uint32_t r = 0; r < kReplicates; ++r) {
    const std::vector<double> theta = target.draw_from_prior(kSeed, r, 0);
    truths.insert(truths.end(), theta.begin(), theta.end());
    std::vector<double> own;
    for (int i = 0; i < kRows; ++i)
      for (std::size_t column : expression.used_columns())
        own.push_back(column == 0 ? i / 12.0 - 1 : column == 1 ? i % 3 : 0);
    std::vector<double> y(kRows);
    expression.simulate(theta.data(), own, kSeed, r, y.data());
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 0; j < used; ++j)
        if (expression.used_columns()[j] == 2) own[i * used + j] = y[i];
    rows.insert(rows.end(), own.begin(), own.end());
  }
  Expression::Bound bound = fitted.bind(Backend::cpu, rows);
  bound.data.segments.clear();
  std::vector<ChainPlan> plans;
  for (int r = 0; r < kReplicates; ++r) {
    bound.data.segments.push_back({static_cast<std::size_t>(r * kRows), kRows});
    plans.push_back({static_cast<std::uint64_t>(r), {r}, 1.0, r});
  }
  const auto device = make_device(Backend::cpu);
  const auto engine = make_engine(Backend::cpu, bound.model, Precision::float64, bound.data, *device);
  RunOptions options;
  options.warmup = sampler.warmup;
  options.draws = kDraws;
  options.thin = sampler.thin;
  options.seed = kSeed;
  testing::Keeper keeper;
  run_chains(*engine, target, {sampler.kind, sampler.shape}, plans, options, truths, keeper);
  // The log likelihood of the true parameters is a further quantity, which also depends on the data.
  engine->allocate(plans, ComponentCaches::off);
  std::vector<double> of_truth(kReplicates);
  engine->evaluate(
      {kReplicates, static_cast<int>(dim), static_cast<int>(dim), truths.data(), of_truth.data()},
      {nullptr, kReplicates});
  std::vector<std::vector<int>> counts(dim + 1, std::vector<int>(kDraws + 1, 0));
  for (std::size_t r = 0; r < kReplicates; ++r)
    for (std::size_t q = 0; q <= dim; ++q) {
      const double truth = q < dim ? truths[r * dim + q] : of_truth[r];
      std::vector<double> draws;
      for (std::size_t i = 0; i < kDraws; ++i) {
        const std::size_t at = i * kReplicates + r;
        draws.push_back(q < dim ? keeper.theta[at * dim + q] : keeper.log_likelihood[at]);
      }
      ++counts[q][static_cast<std::size_t>(
          std::count_if(draws.begin(), draws.end(), [&](double x) { return x < truth; }))];
    }
  return counts;
}

int num_outside(const std::vector<std::vector<int>>& counts) {
  // There are 21 quantities in all for each sampler. The false-alarm rate of all tests together is at most
  // 1e-6.
  const double share = 1e-6 / 21 / static_cast<double>(kSamplers.size());
  const testing::EcdfBand band = testing::EcdfBands(kReplicates, kDraws).band(share);
  return static_cast<int>(std::count_if(
      counts.begin(), counts.end(),
      [&](const std::vector<int>& of_quantity) { return testing::outside_band(band, of_quantity) > 0; }));
}

TEST(ExpressionCalibration, RanksOfTheTruthAreUniform) {
  for (const Sampler& sampler : kSamplers)
    for (const Model& model : models())
      EXPECT_EQ(num_outside(ranks(model, model.spec, sampler)), 0) << model.name << ", " << sampler.kind;
}

TEST(ExpressionCalibration, SeesAnotherLikelihood) {
  std::vector<Model> all = models();
  ExpressionSpec wrong = all[0].spec;
  wrong.linear[0].offset.text = "log(2 + g)";
  EXPECT_GT(num_outside(ranks(all[0], wrong)), 0);
  wrong = all[1].spec;
  wrong.log_density.text = "student_t_lpdf(y, 1 + nu, line, 2 * s)";
  EXPECT_GT(num_outside(ranks(all[1], wrong)), 0);
  wrong = all[2].spec;
  wrong.log_density.text = "bernoulli_logit_lpmf(y, alpha[g]) + 0 * f";
  EXPECT_GT(num_outside(ranks(all[2], wrong)), 0);
}

}  // namespace
}  // namespace emomc
