// Compiles the kernels of gradients for every model; NVRTC needs no GPU.
#include <gtest/gtest.h>

#include "emomc/device/mixture_gradient_sizes.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/models.hpp"
#include "gradient_plan.hpp"
#include "planned_chains.hpp"

namespace emomc {
namespace {

class GradientKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto problem = runtime_compiler_problem(); !problem.empty()) GTEST_SKIP() << problem;
  }
};

// A few words may be spilled between the loops over rows.
void expect_compiles(const DeviceLikelihood& likelihood, const GradientCode& code) {
  constexpr int kMostSpilled = 200;
  for (int chains : {1, 64})
    for (bool uniform : {true, false})
      for (const auto stage : {GradientStage::rows, GradientStage::finish, GradientStage::shares}) {
        if (!uniform && chains > 1) continue;
        if (stage != GradientStage::rows && chains > 1) continue;  // the code is the same
        const KernelSource source = gradient_source(likelihood, code, chains, uniform, stage);
        SCOPED_TRACE(source.kernel);
        const KernelCode kernel = compile_kernel(source, "sm_90", false);
        EXPECT_LE(kernel.spilled, kMostSpilled);
        if (std::getenv("EMOMC_PRINT_REGISTERS"))
          std::printf("%s: %d registers, %d spilled\n", source.kernel.c_str(), kernel.registers,
                      kernel.spilled);
      }
}

Expression linear_model(int covariates, const std::string& log_density) {
  ExpressionSpec spec;
  std::vector<std::string> columns{"y", "group"};
  LinearPredictor eta{"eta", "likelihood.linear.eta", "a", {}, "b", {}};
  for (int j = 0; j < covariates; ++j) {
    columns.push_back("c" + std::to_string(j));
    eta.columns.push_back(columns.back());
  }
  if (covariates > 0) spec.linear = {eta};
  spec.parameters = {
      {"m", "", Support::real, {}}, {"s", "", Support::positive, {2}}, {"effect", "", Support::real, {50}}};
  spec.log_density = {"likelihood.log_density", log_density};
  return Expression(spec, columns);
}

TEST_F(GradientKernels, OfExpressionsCompile) {
  for (const auto& [covariates, text] :
       {std::pair{0, "log_mix(0.5, normal_lpdf(y, m, s[0]), student_t_lpdf(y, 4, m, s[1]))"},
        {10, "poisson_log_lpmf(y, eta)"},
        {50, "bernoulli_logit_lpmf(y, eta)"},
        {3, "bernoulli_logit_lpmf(y, eta + effect[group])"}}) {
    const Expression expression = linear_model(covariates, text);
    const std::vector<double> row(expression.used_columns().size(), 1.0);
    const Expression::Bound bound = expression.bind(Backend::cuda, row);
    const DeviceModel known = bound.model->device();
    ASSERT_GT(known.gradient.num_slots, 0) << text;
    for (const char* real : {"float", "double"}) {
      DeviceLikelihood likelihood;
      likelihood.code = known.code;
      likelihood.real = real;
      likelihood.sizes = known.sizes;
      likelihood.sums_products = known.sums_products;
      expect_compiles(likelihood, {"emomc/device/density_gradient.cuh", known.gradient});
    }
  }
}

template <class Model>
void expect_mixture_compiles(const std::string& name, int components, int columns) {
  Model model;
  model.num_components = components;
  model.dim = columns;
  const auto shape = model.shape();
  DeviceLikelihood likelihood;
  likelihood.code = mixture_device_code("emomc::device::" + name, components, columns);
  likelihood.sizes = {columns, shape.num_coefficients(), shape.num_terms(), shape.num_scratch(), 0, 0};
  for (const char* real : {"float", "double"}) {
    likelihood.real = real;
    expect_compiles(likelihood, {"emomc/device/mixture_gradient.cuh",
                                 device::mixture_gradient_sizes<Model>(components, columns)});
  }
}

TEST_F(GradientKernels, OfMixturesCompile) {
#define EMOMC_EXPECT(Model, Shape)                         \
  if constexpr ((device::Model::fixed_components > 0)) {   \
    expect_mixture_compiles<device::Model>(#Model, 2, 1);  \
  } else {                                                 \
    expect_mixture_compiles<device::Model>(#Model, 8, 13); \
  }
  EMOMC_MODELS(EMOMC_EXPECT)
#undef EMOMC_EXPECT
}

}  // namespace
}  // namespace emomc
