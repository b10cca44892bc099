// Tests likelihoods that are functions of the program.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "emomc/posterior/gradient_check.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::kFaithful;
using testing::line;
using testing::refusal;

void line_of_rows(const double* theta, const double* rows, std::int64_t stride, std::int64_t num_rows,
                  double* out) {
  for (std::int64_t i = 0; i < num_rows; ++i) {
    const double z = (rows[i] - theta[0] - theta[1] * rows[stride + i]) / theta[2];
    out[i] = -0.5 * z * z - std::log(theta[2]) - 0.5 * std::log(2 * std::numbers::pi);
  }
}

void slopes_of_rows(const double* theta, const double* rows, std::int64_t stride, std::int64_t num_rows,
                    double* out) {
  for (std::int64_t i = 0; i < num_rows; ++i, out += 3) {
    const double z = (rows[i] - theta[0] - theta[1] * rows[stride + i]) / theta[2];
    out[0] = z / theta[2];
    out[1] = z * rows[stride + i] / theta[2];
    out[2] = (z * z - 1) / theta[2];
  }
}

ExpressionModel function() {
  ExpressionModel model = line();
  model.likelihood.log_density = {};
  model.likelihood.code = {.key = "log_density",
                           .file = "log_density",
                           .text = "1",
                           .type = "this test",
                           .columns = {"waiting", "duration"},
                           .function = line_of_rows};
  return model;
}

TEST(FunctionModel, IsTheExpressionThatSaysTheSame) {
  const Posterior expression(line(), read_table(kFaithful)), ours(function(), read_table(kFaithful));
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<double> u = expression.initial(seed);
    EXPECT_NEAR(ours.log_density(u), expression.log_density(u), 1e-11 * std::abs(expression.log_density(u)));
    const std::vector<double> theta = expression.constrain(u);
    const std::vector<double> rows = ours.row_log_likelihoods(theta),
                              expected = expression.row_log_likelihoods(theta);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(rows[i], expected[i], 1e-11 * (1 + std::abs(expected[i])));
  }
  // Backends evaluate rows one at a time or in tiles.
  const SampleOptions options{.chains = 2, .draws = 50, .warmup = 200, .backend = Backend::reference};
  const Draws reference = sample(ours, options);
  EXPECT_EQ(reference.names().back(), "ratio");
  SampleOptions on_cpu = options;
  on_cpu.backend = Backend::cpu;
  const Draws cpu = sample(ours, on_cpu);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(cpu.of("a")[i], reference.of("a")[i], 1e-6);
}

// Each row's derivatives are multiplied by its weight, and differences are those of the function.
TEST(FunctionModel, HasTheGradientOfTheExpression) {
  Table table = read_table(kFaithful);
  table.columns.push_back("weight");
  std::vector<double> values;
  const std::size_t dim = table.columns.size() - 1;
  for (std::size_t i = 0; i < table.num_rows; ++i) {
    values.insert(values.end(), table.values.begin() + static_cast<std::ptrdiff_t>(i * dim),
                  table.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * dim));
    values.push_back(static_cast<double>(i % 3));
  }
  table.values = std::move(values);
  for (const bool is_weighted : {false, true})
    for (const auto by : {FunctionGradient::function, FunctionGradient::differences})
      for (const Backend backend : {Backend::reference, Backend::cpu}) {
        ExpressionModel model = function(), same = line();
        model.likelihood.code.gradient_by = by;
        if (by == FunctionGradient::function) model.likelihood.code.gradient = slopes_of_rows;
        if (is_weighted) model.likelihood.weights = same.likelihood.weights = "weight";
        const double error = by == FunctionGradient::function ? 1e-10 : 1e-6;
        RunConfig config = Posterior(model, table).config();
        config.backend = backend;
        const Posterior ours(config, table), expression(same, table);
        for (const std::uint64_t seed : {1, 2, 3}) {
          const std::vector<double> u = expression.initial(seed);
          const LogDensityAndGradient at = ours.log_density_and_gradient(u),
                                      expected = expression.log_density_and_gradient(u);
          EXPECT_NEAR(at.log_density, expected.log_density, 1e-11 * std::abs(expected.log_density));
          for (std::size_t j = 0; j < u.size(); ++j)
            EXPECT_NEAR(at.gradient[j], expected.gradient[j], error * (1 + std::abs(expected.gradient[j])));
          EXPECT_TRUE(ours.check_gradient(u).agrees());
        }
      }
}

// The linker refuses a text that is no code for GPUs. tests/python/test_function.py links code of Numba.
TEST(FunctionModel, LinksItsCodeIntoKernels) {
  ExpressionModel model = function();
  model.likelihood.code.arguments = {"waiting", "a", "b", "duration", "s"};
  std::vector<int> asked;
  model.likelihood.code.lto_ir = [&](int major, int minor) {
    asked = {major, minor};
    return std::string("this is no code");
  };
  const Expression expression(model.likelihood, {"duration", "waiting"});
  EXPECT_THROW(static_cast<void>(expression.compile_function(9, 0)), MachineError);
  EXPECT_EQ(asked, (std::vector<int>{9, 0}));
  model.likelihood.code.arguments = {"waiting", "time"};
  const Expression unknown(model.likelihood, {"duration", "waiting"});
  EXPECT_THROW(static_cast<void>(unknown.compile_function(9, 0)), std::logic_error);
  // A posterior on the CPU does not request code for a GPU.
  asked.clear();
  const Posterior posterior(model, read_table(kFaithful));
  EXPECT_TRUE(asked.empty() || !list_cuda_devices().empty());
}

TEST(FunctionModel, SaysWhatItCannotDo) {
  const Posterior ours(function(), read_table(kFaithful));
  EXPECT_EQ(refusal([&] { ours.log_density_and_gradient(ours.initial(1)); }),
            "there is no gradient: a function has none unless it is given (gradient= of Model in Python)");
  EXPECT_EQ(refusal([&] { sample(ours, {.backend = Backend::cuda}); }),
            "backend: cuda cannot call this function; allowed: auto, reference, cpu");
  ExpressionModel mixed = function();
  mixed.precision = Precision::mixed;
  EXPECT_EQ(refusal([&] { Posterior(mixed, read_table(kFaithful)); }),
            "precision: a function is of float64; allowed: float64");
  ExpressionModel other = function();
  other.likelihood.code.columns = {"waiting", "time"};
  EXPECT_NE(refusal([&] { Posterior(other, read_table(kFaithful)); }).find("time"), std::string::npos);
}

}  // namespace
}  // namespace emomc
