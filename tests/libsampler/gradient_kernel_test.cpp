// Compiles the kernels of gradients for every model. NVRTC needs no GPU.
#include <gtest/gtest.h>

#include "compiled_kernels.hpp"
#include "emomc/core/host_compiler.hpp"
#include "emomc/device/mixture_gradient_sizes.hpp"
#include "emomc/likelihood/density_model.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/models.hpp"
#include "gradient_plan.hpp"
#include "planned_chains.hpp"

namespace emomc {
namespace {

class GradientKernels : public testing::CompiledKernels {};

constexpr GradientMachine kH200{132, 227 << 10};

// The number of bytes that may be spilled: a few words between the loops over rows. Dual numbers have eight
// derivatives each, and a long density has more of them in use than registers can hold.
constexpr int kFewSpilled = 200, kDualsSpilled = 500;

/// A spilled register is stored at least once, so that a larger stack holds an array. CUDA's sin() and cos()
/// have one of seven words, for large arguments; a table of a tile's columns (GradientTile) has 25.
void expect_in_registers(const KernelCode& kernel, int most_spilled) {
  constexpr int kArrayOfSine = 32;
  EXPECT_LE(kernel.spilled, most_spilled);
  EXPECT_LE(kernel.stack, kernel.spilled + kArrayOfSine) << "an array is in memory";
}

/// Three blocks of a mixture's kernel for one chain share a multiprocessor where that is faster.
void expect_form_of_three_blocks_compiles(const DeviceLikelihood& likelihood, const GradientCode& code) {
  const GradientForm form = gradient_form(likelihood, code.sizes, 64, true, 6, kH200, 1);
  if (form.blocks != 3) return;
  EXPECT_EQ(form.chains, 1);
  const KernelCode kernel =
      testing::compiled(gradient_source(likelihood, code, form, true, GradientStage::rows), "sm_90");
  expect_in_registers(kernel, kFewSpilled);
  EXPECT_LE(kernel.registers, 80);
}

/// Warps copy rows where few blocks run.
void expect_form_that_copies_compiles(const DeviceLikelihood& likelihood, const GradientCode& code,
                                      int most_spilled) {
  const GradientForm form = gradient_form(likelihood, code.sizes, 1, true, 6, kH200, 1);
  if (!form.copies) return;
  const KernelSource source = gradient_source(likelihood, code, form, true, GradientStage::rows);
  SCOPED_TRACE(source.kernel);
  expect_in_registers(testing::compiled(source, "sm_90"), most_spilled);
}

void expect_compiles(const DeviceLikelihood& likelihood, const GradientCode& code, int most_spilled) {
  expect_form_that_copies_compiles(likelihood, code, most_spilled);
  EXPECT_EQ(testing::compiled(prepare_source(likelihood, code.sizes.num_parameters), "sm_90").spilled, 0);
  for (int chains : {1, 64})
    for (bool uniform : {true, false})
      for (const auto stage : {GradientStage::rows, GradientStage::finish, GradientStage::shares}) {
        if (!uniform && chains > 1) continue;
        if (stage != GradientStage::rows && chains > 1) continue;  // the code is the same
        const int blocks = uniform ? device::kMostFinishBlocks : 1;
        const GradientForm form = gradient_form(likelihood, code.sizes, chains, uniform, 256, kH200, 4);
        const KernelSource source = gradient_source(likelihood, code, form, uniform, stage, blocks);
        SCOPED_TRACE(source.kernel);
        const KernelCode kernel = testing::compiled(source, "sm_90");
        expect_in_registers(kernel, most_spilled);
        // A GPU without clusters takes the form with one block.
        if (blocks == 1 && stage == GradientStage::finish) {
          EXPECT_GT(testing::compiled(source, "sm_80").registers, 0);
        }
        if (std::getenv("EMOMC_PRINT_REGISTERS"))
          std::printf("%s: %d registers, %d spilled, stack %d\n", source.kernel.c_str(), kernel.registers,
                      kernel.spilled, kernel.stack);
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

void expect_model_compiles(const DeviceModel& known, int most_spilled) {
  for (const char* real : {"float", "double"}) {
    DeviceLikelihood likelihood;
    likelihood.code = known.code;
    likelihood.real = real;
    likelihood.sizes = known.sizes;
    likelihood.sums_products = known.sums_products;
    expect_compiles(likelihood, {"emomc/device/density_gradient.cuh", known.gradient}, most_spilled);
  }
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
    expect_model_compiles(known, kFewSpilled);
  }
}

// These gradients are computed by dual numbers.
TEST_F(GradientKernels, OfAHeaderCompile) {
  if (!host_compiler_problem().empty()) GTEST_SKIP() << host_compiler_problem();
  ExpressionSpec spec;
  for (const char* name : {"period", "phase", "eccentricity", "amplitude", "omega", "velocity", "jitter"})
    spec.parameters.push_back({name, "", Support::positive, {}});
  spec.parameters[1].support = spec.parameters[2].support = Support::unit_interval;
  spec.parameters[4].support = Support::circular;
  spec.parameters[5].support = Support::real;
  spec.code = {"likelihood.source",
               "orbit.hpp",
               read_device_source(EMOMC_SOURCE_DIR "/docs/examples/likelihoods/orbit.hpp").text,
               "Orbit",
               {"time", "velocity_measured", "error"}};
  const Expression expression(spec, spec.code.columns);
  const std::vector<double> row{1.0, 2.0, 3.0};
  const Expression::Bound bound = expression.bind(Backend::cuda, row);
  const DeviceModel known = bound.model->device();
  ASSERT_GT(known.gradient.num_slots, 0) << bound.model->why_no_gradient();
  expect_model_compiles(known, kDualsSpilled);
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
    const GradientCode code{"emomc/device/mixture_gradient.cuh",
                            device::mixture_gradient_sizes<Model>(components, columns)};
    expect_compiles(likelihood, code, kFewSpilled);
    expect_form_of_three_blocks_compiles(likelihood, code);
  }
}

// A block has few chains while all blocks run at the same time.
TEST(GradientForms, DependOnTheNumberOfBlocks) {
  DeviceLikelihood likelihood;
  likelihood.sizes.num_coefficients = 8 * 27;
  likelihood.real = "float";
  const device::GradientSizes sizes = device::mixture_gradient_sizes<device::GaussianMixture>(8, 13);
  const auto form = [&](int chains, int groups) {
    const GradientForm f = gradient_form(likelihood, sizes, chains, true, groups, kH200, 4);
    return std::pair(f.chains, f.blocks);
  };
  EXPECT_EQ(form(1, 256), std::pair(1, 0));
  EXPECT_EQ(form(40, 6), std::pair(1, 0));
  EXPECT_EQ(form(64, 6), std::pair(1, 3));
  EXPECT_EQ(form(256, 6), std::pair(2, 0));
  EXPECT_EQ(form(16, 256), std::pair(2, 0));
  device::GradientSizes regression{};
  regression.num_of_tile = regression.num_numbers = 1;
  regression.num_tiles = 7;
  likelihood.sizes.num_coefficients = 51;
  likelihood.sums_products = true;
  for (const auto& [chains, groups, expected] :
       {std::tuple{64, 98, 16}, {16, 98, 8}, {4, 98, 4}, {64, 5, 2}, {4, 5, 1}})
    EXPECT_EQ(gradient_form(likelihood, regression, chains, true, groups, kH200, 1).chains, expected)
        << chains << " chains, " << groups << " groups";
  likelihood.sums_products = false;
  likelihood.real = "double";
  likelihood.sizes.num_coefficients = 6;
  EXPECT_EQ(gradient_form(likelihood, device::mixture_gradient_sizes<device::TwoGaussian>(2, 1), 16, true,
                          256, kH200, 4)
                .chains,
            1);
}

// Warps copy rows to shared memory where each block has a multiprocessor of its own, each warp has one step,
// and rows have room.
TEST(GradientForms, CopyRowsWhereFewBlocksRun) {
  DeviceLikelihood likelihood;
  likelihood.sizes.num_coefficients = likelihood.sizes.num_columns = 51;
  likelihood.real = "float";
  likelihood.sums_products = true;
  device::GradientSizes regression{};
  regression.num_of_tile = regression.num_numbers = 1;
  regression.num_tiles = 7;
  const auto copies = [&](int chains, int groups, int parts, std::size_t most_shared = 227 << 10) {
    return gradient_form(likelihood, regression, chains, true, groups, {132, most_shared}, parts).copies;
  };
  EXPECT_TRUE(copies(1, 98, 1));
  EXPECT_TRUE(copies(4, 98, 1));  // four chains share a block
  EXPECT_FALSE(copies(1, 98, 2)) << "two steps of each warp";
  EXPECT_FALSE(copies(1, 98, 1, 99 << 10)) << "a GPU with less shared memory";
  EXPECT_FALSE(gradient_form(likelihood, regression, 1, false, 98, kH200, 1).copies) << "lists of rows";
  // A warp's copy is 51 columns of 128 rows.
  EXPECT_EQ(gradient_shared_bytes(likelihood, regression, {1, 0, true}, 1) -
                gradient_shared_bytes(likelihood, regression, {1, 0, false}, 1),
            8 * 51 * 128 * sizeof(float));
  likelihood.sizes.num_coefficients = likelihood.sizes.num_columns = 11;  // copies have room for any form
  regression.num_tiles = 2;
  EXPECT_TRUE(copies(1, 132, 1));
  EXPECT_FALSE(copies(1, 133, 1)) << "more blocks than multiprocessors";
  EXPECT_FALSE(copies(64, 98, 1)) << "more blocks than multiprocessors";
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
