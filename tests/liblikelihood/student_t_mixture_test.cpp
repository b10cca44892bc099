// Tests mixtures of Student's t distributions on every engine: compares them with SciPy, compares mixed
// precision with float64, and tests caches.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "random_mixture.hpp"

namespace emomc {
namespace {

using testing::Evaluator;

ModelSpec student_t(int components) { return {"student_t_mixture", components, "diagonal"}; }

struct OnEngine {
  Backend backend;
  Precision precision;
  const char* name;
};

class StudentT : public ::testing::TestWithParam<OnEngine> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda && !testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
  bool mixed() const { return GetParam().precision == Precision::mixed; }
  Evaluator make(const ModelSpec& model, const DataSet& data, int chains = 1,
                 ComponentCaches caches = ComponentCaches::off) const {
    return Evaluator(GetParam().backend, model, GetParam().precision, data, chains, 2, caches);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, StudentT,
                         ::testing::Values(OnEngine{Backend::reference, Precision::float64, "reference"},
                                           OnEngine{Backend::cpu, Precision::float64, "cpu"},
                                           OnEngine{Backend::cpu, Precision::mixed, "cpu_mixed"},
                                           OnEngine{Backend::cuda, Precision::float64, "cuda"},
                                           OnEngine{Backend::cuda, Precision::mixed, "cuda_mixed"}),
                         [](const auto& engine) { return engine.param.name; });

/// Returns a mixture with 2, 5, 8, ... degrees of freedom and rows drawn from it: a normal vector divided by
/// the root of a mean of as many squares.
testing::MixtureProblem heavy_tails(int K, int d, std::size_t rows, std::uint64_t seed) {
  testing::MixtureProblem p = testing::random_problem(K, d, 1, seed);
  std::vector<double> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const device::RandomSource source{seed, 1 + row, 3};
    std::uint32_t next = 0;
    double u = source.uniform(device::Purpose::simulation, next++);
    int k = 0;
    while (k < K - 1 && u > p.theta[static_cast<std::size_t>(k)]) u -= p.theta[static_cast<std::size_t>(k++)];
    const int freedom = 2 + 3 * k;
    double squares = 0;
    for (int i = 0; i < freedom; ++i)
      squares += std::pow(source.normal(device::Purpose::simulation, 100 + next++), 2);
    for (int j = 0; j < d; ++j) {
      const auto mean = static_cast<std::size_t>(K + k * d + j),
                 scale = mean + static_cast<std::size_t>(K * d);
      values.push_back(p.theta[mean] + p.theta[scale] *
                                           source.normal(device::Purpose::simulation, 100 + next++) /
                                           std::sqrt(squares / freedom));
    }
  }
  for (int k = 0; k < K; ++k) p.theta.push_back(2 + 3 * k);
  p.data = DataSet::single_segment(d, std::move(values));
  return p;
}

// The values were computed by mpmath with 40 digits.
TEST(LogGammaRatio, IsThatOfMpmath) {
  const double cases[][3] = {{0.35, 0.5, -0.82798611066811496584},
                             {0.5, 0.5, -0.57236494292470008707},
                             {0.001, 6.5, -1.2428238310586419298},
                             {3, 32, 87.887680361637733494},
                             {15.9, 0.5, 1.3752992135687590732},
                             {16, 6.5, 19.020707411967886152},
                             {1234.5, 2, 14.237652334213898957},
                             {1e6, 6.5, 89.800836501732031783},
                             {1e12, 0.5, 13.815510557964149104},
                             {2, 512, 2692.3007474715191526},
                             {5, 0, 0}};
  for (const auto& [x, a, value] : cases)
    EXPECT_NEAR(device::log_gamma_ratio(x, a), value, 4e-15 * (1 + std::abs(value))) << x << ", " << a;
}

TEST_P(StudentT, HasTheValuesOfScipy) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/liblikelihood/data/student_t.json");
  const auto cases = nlohmann::json::parse(file)["cases"];
  ASSERT_EQ(cases.size(), 6u);
  for (const auto& c : cases) {
    const ModelSpec model = student_t(c["components"]);
    SCOPED_TRACE(model.components);
    std::vector<double> values, rows;
    for (const auto& row : c["rows"])
      for (double x : row) values.push_back(x);
    const DataSet data = DataSet::single_segment(static_cast<int>(c["rows"][0].size()), values);
    const auto theta = parse_parameters(c["parameters"].dump(), "case", model_layout(model, data.dim));
    auto evaluator = make(model, data);
    const double log_likelihood = c["log_likelihood"];
    EXPECT_NEAR(evaluator(theta)[0], log_likelihood, (mixed() ? 2e-6 : 1e-10) * std::abs(log_likelihood));
    rows.resize(data.num_rows);
    evaluator.engine().evaluate_rows(theta.data(), rows.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double expected = c["log_densities"][i];
      EXPECT_NEAR(rows[i], expected, (mixed() ? 1e-5 : 1e-10) * (1 + std::abs(expected))) << "row " << i;
    }
  }
}

TEST_P(StudentT, ComponentCachesChangeNoBit) {
  if (GetParam().backend == Backend::reference) GTEST_SKIP() << "has none";
  for (const int K : {1, 3, 5, 8}) {
    const auto p = heavy_tails(K, 3, 3000, 8);
    auto cached = make(student_t(K), p.data, 1, ComponentCaches::on);
    auto full = make(student_t(K), p.data);
    auto current = p.theta;
    cached.set(current);
    cached.engine().rebuild_caches(cached.view(), cached.all());
    const device::RandomSource random{3, 3, 3};
    std::uint32_t next = 0;
    for (int step = 0; step < 20; ++step) {
      const int k = static_cast<int>(random.uniform(device::Purpose::simulation, next++) * (K + 1)) - 1;
      auto candidate = current;
      if (k == kAllComponents) {
        std::swap(candidate[0], candidate[static_cast<std::size_t>(K - 1)]);
      } else {
        for (int j = 0; j < 3; ++j) candidate[static_cast<std::size_t>(K + 3 * k + j)] += 0.05;
        if (step % 2 == 0)
          candidate[static_cast<std::size_t>(K + 6 * K + k)] *= 1.1;  // its degrees of freedom
      }
      EXPECT_EQ(cached.component(candidate, {k}), full(candidate)) << "K = " << K << ", step " << step;
      const bool accepted = random.uniform(device::Purpose::simulation, next++) < 0.5;
      cached.commit({static_cast<std::uint8_t>(accepted)});
      if (accepted) current = candidate;
    }
  }
}

TEST_P(StudentT, PointsThatAreNoMixtureGiveNan) {
  const auto p = heavy_tails(3, 2, 500, 4);
  auto evaluator = make(student_t(3), p.data);
  const std::size_t freedom = 3 + 6 + 6;
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto theta = p.theta;
    theta[freedom] = bad;
    EXPECT_TRUE(std::isnan(evaluator(theta)[0])) << bad;
    theta = p.theta;
    theta[3 + 6] = bad;
    EXPECT_TRUE(std::isnan(evaluator(theta)[0])) << "scale " << bad;
  }
  EXPECT_TRUE(std::isfinite(evaluator(p.theta)[0]));
}

// The requirement is that of docs/statistics.md, as for the Gaussian mixtures (engine_test.cpp).
TEST_P(StudentT, DifferencesOfNeighboursMeetTheMixedPrecisionBar) {
  if (!mixed()) GTEST_SKIP() << "float64 is compared with";
  constexpr std::size_t rows = 200000;
  auto p = heavy_tails(8, 13, rows, 12);
  auto fast = make(student_t(8), p.data);
  Evaluator exact(GetParam().backend, student_t(8), Precision::float64, p.data);
  const double bar = 2e-3 * std::sqrt(static_cast<double>(rows) / 1e6);
  const double fast_here = fast(p.theta)[0], exact_here = exact(p.theta)[0];
  EXPECT_NEAR(fast_here, exact_here, 2e-6 * std::abs(exact_here));
  double square = 0, worst = 0;
  for (std::uint32_t pair = 0; pair < 100; ++pair) {
    auto there = testing::neighbour(p, 2.38, pair);
    for (std::size_t k = 0; k < 8; ++k)
      there[there.size() - 8 + k] *= 1 + 0.002 * (static_cast<double>((pair + k) % 5) - 2);
    const double error = (fast(there)[0] - fast_here) - (exact(there)[0] - exact_here);
    square += error * error / 100;
    worst = std::max(worst, std::abs(error));
  }
  std::cout << "RMS " << std::sqrt(square) << ", largest " << worst << ", bar " << bar << '\n';
  EXPECT_LE(std::sqrt(square), bar);
  EXPECT_LE(worst, 4 * bar);
}

// With very many degrees of freedom the density equals that of the mixture of Gaussians.
TEST_P(StudentT, HasTheGaussianAsItsLimit) {
  const auto p = testing::random_problem(4, 3, 2000, 6);
  auto theta = p.theta;
  theta.insert(theta.end(), 4, 1e9);
  auto gaussian = make({"gaussian_mixture", 4}, p.data);
  auto limit = make(student_t(4), p.data);
  const double expected = gaussian(p.theta)[0];
  EXPECT_NEAR(limit(theta)[0], expected, (mixed() ? 2e-6 : 1e-7) * std::abs(expected));
}

}  // namespace
}  // namespace emomc
