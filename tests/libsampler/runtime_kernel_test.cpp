// Compiles every kernel that the program compiles at run time. NVRTC needs no GPU.
#include "emomc/core/runtime_kernel.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "../../docs/examples/poisson_regression.hpp"
#include "compiled_kernels.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/device/batch_layout.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/likelihood/density_model.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/models.hpp"
#include "planned_chains.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class RuntimeKernels : public testing::CompiledKernels {};

using RuntimeKernelsLong = RuntimeKernels;

const std::vector<std::string> kModels{
#define EMOMC_NAME(Model, Shape) #Model,
    EMOMC_MODELS(EMOMC_NAME)
#undef EMOMC_NAME
};
const std::vector<std::string> kProposals{
#define EMOMC_NAME(Proposal) #Proposal,
    EMOMC_PROPOSALS(EMOMC_NAME)
#undef EMOMC_NAME
};
bool takes_turns(const std::string& proposal) {
  return proposal == "DelayedRejection" || proposal == "DifferentialEvolution" || proposal == "Stretch";
}

// Returns the source of a batch kernel. `more` contains the arguments of BatchConfig after the columns, the
// last one without its bracket.
KernelSource batch_kernel(const std::string& model, const std::string& real, int components, int columns,
                          const std::string& more) {
  const DeviceCode code = mixture_device_code("emomc::device::" + model, components, columns);
  KernelSource source{code.headers,
                      "emomc::device::batch_kernel<emomc::device::BatchConfig<" + code.type + ", " + real +
                          ", " + std::to_string(columns) + ", " + more,
                      {},
                      code.sources};
  source.headers.push_back("emomc/device/batch_kernel.cuh");
  return source;
}

struct BatchSizes {
  std::string real;
  int components, dim, rows;
};

// Rows and sums stay in registers: a spill in the loop over chains would cost time in every evaluation.
void expect_batch_kernels(const std::vector<BatchSizes>& sizes) {
  for (const auto& model : kModels) {
    // The arithmetic of these models leaves no registers (MixtureRows::kLeavesRegisters).
    const bool fixed = model == "TwoGaussian", heavy_tails = model == "StudentTMixture",
               pairs = model == "FullMixture" || model == "TiedMixture" || heavy_tails;
    for (const auto& [real, components, dim, rows] : sizes)
      for (const char* work : {"full", "component"})
        for (const char* uniform : {"true", "false"}) {
          if (components != 8 && (uniform[0] == 'f' || work[0] == 'c')) continue;  // the code is the same
          if (fixed && components != 8) continue;
          const int columns = fixed ? 1 : dim;
          const KernelSource source =
              batch_kernel(model, real, fixed ? 2 : components, columns,
                           std::to_string(fixed                             ? 8
                                          : pairs && components == 32       ? 2
                                          : heavy_tails && real == "double" ? 1
                                                                            : rows) +
                               ", " + uniform + ", emomc::device::BatchWork::" + work);
          for (const std::string rows_come : {"loaded", "ahead"}) {
            const int short_of_registers = fixed ? 0 : (real == "double") + pairs + (work[0] == 'f');
            if (rows_come == "ahead" && (uniform[0] == 'f' || components != 8 || short_of_registers > 1))
              continue;
            KernelSource compiled = source;
            const bool together = rows_come == "ahead" && work[0] == 'f';
            compiled.kernel += ", emomc::device::BatchRows::" + rows_come + (together ? ", 1>>" : ">>");
            const KernelCode code = testing::compiled(compiled, "sm_90");
            EXPECT_FALSE(code.code.empty());
            EXPECT_GT(code.registers, 0);
            EXPECT_EQ(code.spilled, 0) << compiled.kernel;
          }
        }
  }
}

TEST_F(RuntimeKernels, BatchKernelsOfAllModelsCompileWithoutSpills) {
  expect_batch_kernels({{"float", 8, 13, 4}, {"double", 8, 13, 2}});
}

TEST_F(RuntimeKernelsLong, BatchKernelsOfOtherSizesCompileWithoutSpills) {
  expect_batch_kernels({{"float", 3, 5, 4}, {"float", 32, 13, 4}});
}

struct PlannedKernel {
  std::string model, proposal, real;
  std::size_t rows, chains;
  int dim = 13, components = 8;
};

// Returns sizes for which the rule chooses each form: several candidates at once, one for both outcomes, one
// after another, many chains at the same time, and all multiprocessors for one chain; the last two also with
// rows in device memory.
std::vector<PlannedKernel> planned_kernels() {
  std::vector<PlannedKernel> result;
  using Sizes = std::pair<std::size_t, std::size_t>;  // rows, chains
  for (const auto& proposal : kProposals) {
    if (takes_turns(proposal)) continue;
    for (const auto& [rows, chains] : {Sizes{5'316, 1}, {3'000, 100}, {5'316, 256}, {100'000, 1}})
      result.push_back({"GaussianMixture", proposal, "float", rows, chains});
  }
  for (const char* proposal : {"ComponentWise", "RandomWalk"}) {
    for (const auto& [rows, chains] : {Sizes{500, 200}, {5'316, 512}, {2'000'000, 1}})
      result.push_back({"GaussianMixture", proposal, "float", rows, chains});
    for (const char* model : {"TiedMixture", "FullMixture", "StudentTMixture"})
      for (const auto& [rows, chains] : {Sizes{1'000, 1}, {500, 300}, {30'000, 1}})
        result.push_back({model, proposal, "float", rows, chains});
  }
  for (const auto& [rows, chains] : {Sizes{1'000, 1}, {3'000, 100}, {5'316, 256}, {100'000, 1}}) {
    result.push_back({"SphericalMixture", "ComponentWise", "float", rows, chains});
    result.push_back({"TwoGaussian", "ComponentWise", "float", rows, chains, 1});
    result.push_back({"GaussianMixture", "ComponentWise", "double", rows, chains});
  }
  result.push_back({"TwoGaussian", "RandomWalk", "double", 1'000'000, 1, 1});
  result.push_back({"GaussianMixture", "ComponentWise", "float", 10'000, 1, 39});
  // Many components with few columns need the most registers for a split and a merge.
  result.push_back({"GaussianMixture", "SplitMerge", "float", 1'200, 600, 2, 40});
  return result;
}

enum class Compiled { some, all };

// The state of a chain is in shared memory; a few words may be spilled between the loops over rows.
// Compiled::some compiles the first kernel of each form, of each proposal and of each model, and plans the
// others.
void expect_resident_kernels(Compiled which) {
  std::map<std::string, std::set<device::ResidentForm>> forms;
  std::set<std::string> seen;
  bool has_rows_outside[2] = {false, false};
  for (const PlannedKernel& k : planned_kernels()) {
    SCOPED_TRACE(k.model + ", " + k.proposal + ", " + k.real + ", " + std::to_string(k.rows) + " rows, " +
                 std::to_string(k.chains) + " chains, " + std::to_string(k.dim) + " columns");
    const bool two = k.model == "TwoGaussian", tied = k.model == "TiedMixture",
               full = k.model == "FullMixture", heavy_tails = k.model == "StudentTMixture";
    const int components = two ? 2 : k.components;
    DeviceLikelihood l = testing::planned_likelihood(k.rows, components, k.dim);
    l.code = mixture_device_code("emomc::device::" + k.model, components, k.dim);
    l.real = k.real;
    l.leaves_registers = !tied && !full && !heavy_tails;
    const int more_coefficients = tied ? 3 : full ? 7 : 1;
    l.sizes.num_coefficients *= more_coefficients;
    l.cost_of_row *= more_coefficients;
    l.rows_per_thread = two ? 8 : k.dim > 13 ? 1 : k.real == "double" || !l.leaves_registers ? 2 : 4;
    l.kept_bytes = std::size_t{1} << 32;
    device::StepView view = testing::planned_view(l);
    view.table.num_covariance_rows = l.leaves_registers ? 0 : 1;
    const bool whole =
        k.proposal == "RandomWalk" || k.proposal == "AdaptiveMetropolis" || k.proposal == "Independence";
    const bool by_fit = k.proposal == "CrankNicolson";
    const auto plan = plan_resident(l, testing::planned_chains(k.chains), view,
                                    {whole    ? 1
                                     : by_fit ? 51
                                              : 17,
                                     by_fit, !whole},
                                    testing::kH200);
    if (!plan) {
      ADD_FAILURE() << "the rule has no plan";
      continue;
    }
    forms[k.model == "GaussianMixture" ? k.proposal : k.model].insert(plan->sizes.form);
    if (plan->has_rows_outside()) has_rows_outside[plan->is_wide()] = true;
    bool is_new = seen.insert(k.model + k.real).second;
    is_new |= seen.insert(k.proposal).second;
    is_new |= seen.insert("form " + std::to_string(static_cast<int>(plan->sizes.form)) +
                          (plan->has_rows_outside() ? ", rows outside" : ""))
                  .second;
    if (which == Compiled::some && !is_new) continue;
    const KernelCode code =
        testing::compiled(resident_source(*plan, l, "emomc::device::" + k.proposal, view.table), "sm_90");
    EXPECT_LE(code.spilled, kMostSpilled);
    EXPECT_LE(static_cast<std::size_t>(code.shared) + kSharedOfSystem, other_shared_bytes(plan->sizes));
  }
  EXPECT_TRUE(has_rows_outside[0] && has_rows_outside[1]);
  for (const auto& [name, of_it] : forms) {
    if (name.ends_with("Mixture") || name == "TwoGaussian") continue;
    SCOPED_TRACE(name);
    EXPECT_TRUE(of_it.contains(device::ResidentForm::lines));
    EXPECT_TRUE(of_it.contains(device::ResidentForm::teams));
    EXPECT_TRUE(of_it.contains(device::ResidentForm::wide));
  }
  for (const char* name : {"ComponentWise", "RandomWalk"}) EXPECT_EQ(forms[name].size(), 5u) << name;
}

TEST_F(RuntimeKernels, ResidentKernelsOfEachModelProposalAndFormCompile) {
  expect_resident_kernels(Compiled::some);
}

// Compiling all kernels takes minutes.
TEST_F(RuntimeKernelsLong, ResidentKernelsOfAllModelsAndProposalsCompile) {
  expect_resident_kernels(Compiled::all);
}

// A likelihood of the user's own uses the same kernels at run time, and also those that are compiled in
// advance for mixtures.
TEST_F(RuntimeKernels, KernelsOfALikelihoodOfTheUsersOwnCompile) {
  const DensityModel<PoissonRegression> model(EMOMC_SOURCE_DIR "/docs/examples/poisson_regression.hpp");
  const DeviceModel known = model.device();
  for (const std::string real : {"float", "double"}) {
    const std::vector<std::pair<std::string, std::string>> kernels{
        {"prepare_kernel", "sized_prepare_kernel<" + known.code.type + ", " + real + ">"},
        {"tile_kernel", "sized_tile_kernel<" + known.code.type + ", " + real +
                            ", emomc::device::TileWork::full, emomc::device::TileMemory::direct, 1>"},
        {"batch_kernel",
         "batch_kernel<emomc::device::BatchConfig<" + known.code.type + ", " + real +
             ", 4, 2, true, emomc::device::BatchWork::full, emomc::device::BatchRows::ahead, 1>>"}};
    for (const auto& [header, kernel] : kernels) {
      KernelSource source{known.code.headers, "emomc::device::" + kernel, {}, known.code.sources};
      source.headers.push_back("emomc/device/" + header + ".cuh");
      EXPECT_EQ(testing::compiled(source, "sm_90").spilled, 0) << kernel;
    }
    std::set<device::ResidentForm> forms;
    for (const auto& [rows, chains] :
         {std::pair{5'316, 1}, {3'000, 100}, {500, 200}, {5'316, 256}, {100'000, 1}}) {
      DeviceLikelihood l = testing::planned_likelihood(static_cast<std::size_t>(rows));
      l.code = known.code;
      l.real = real;
      l.sizes = known.sizes;
      l.rows_per_thread = real == "float" ? std::min(4, 2 * known.rows_per_thread) : known.rows_per_thread;
      l.leaves_registers = known.leaves_registers;
      device::StepView view{};
      view.table.dim = view.table.dim_unconstrained = 3;
      view.num_innovation = 3 + device::kExtraInnovation;
      view.num_blocks = 2;
      view.adapted_layout = {2, 3, 0, 0};
      const auto plan = plan_resident(l, testing::planned_chains(static_cast<std::size_t>(chains)), view, {2},
                                      testing::kH200);
      ASSERT_TRUE(plan) << rows << " rows, " << chains << " chains";
      forms.insert(plan->sizes.form);
      const KernelCode code =
          testing::compiled(resident_source(*plan, l, "emomc::device::ComponentWise", view.table), "sm_90");
      EXPECT_LE(code.spilled, kMostSpilled) << rows << " rows, " << chains << " chains";
    }
    EXPECT_GE(forms.size(), 4u);
  }
}

// The likelihoods come from a configuration, with a linear predictor whose columns are in registers or
// streamed.
TEST_F(RuntimeKernels, KernelsOfExpressionsCompile) {
  for (int covariates : {0, 10, 40, 50}) {
    ExpressionSpec spec;
    std::vector<std::string> columns{"y"};
    std::vector<double> row{1};
    LinearPredictor eta{"eta", "likelihood.linear.eta", "a", {}, "b", {}};
    for (int j = 0; j < covariates; ++j) {
      columns.push_back("c" + std::to_string(j));
      eta.columns.push_back(columns.back());
      row.push_back(0.5);
    }
    spec.linear = {eta};
    spec.parameters = {{"m", "", Support::real, {}}, {"s", "", Support::positive, {2}}};
    const bool is_heavy = covariates == 40;
    spec.log_density = {"likelihood.log_density",
                        covariates == 0
                            ? "log_mix(0.5, normal_lpdf(y, m, s[0]), student_t_lpdf(y, 4, m, s[1]))"
                        : is_heavy ? "neg_binomial_2_log_lpmf(y, eta, s[0])"
                                   : "bernoulli_logit_lpmf(y, eta)"};
    if (covariates == 0) spec.linear.clear();
    const Expression expression(spec, columns);
    std::vector<double> used;
    for (std::size_t j : expression.used_columns()) used.push_back(row[j]);
    const Expression::Bound bound = expression.bind(Backend::cuda, used);
    const DeviceModel known = bound.model->device();
    EXPECT_EQ(known.sums_products, covariates > 0 && !is_heavy);
    EXPECT_EQ(known.chains_together, covariates == 0 ? 2 : is_heavy ? 1 : 4);
    if (is_heavy) continue;
    for (const std::string real : {"float", "double"}) {
      for (const std::string come : {"loaded", "ahead", "streamed"}) {
        if ((covariates == 50) != (come == "streamed")) continue;
        SCOPED_TRACE(std::to_string(covariates) + " covariates, " + real + ", " + come);
        KernelSource source{
            known.code.headers,
            "emomc::device::batch_kernel<emomc::device::BatchConfig<" + known.code.type + ", " + real + ", " +
                std::to_string(known.sizes.num_columns) + (real == "float" ? ", 4" : ", 2") +
                ", true, emomc::device::BatchWork::full, emomc::device::BatchRows::" + come + ", " +
                (come == "streamed" ? std::to_string(device::kStreamedAtOnce)
                                    : std::to_string(known.chains_together)) +
                ">>",
            {},
            known.code.sources};
        source.headers.push_back("emomc/device/batch_kernel.cuh");
        EXPECT_EQ(testing::compiled(source, "sm_90").spilled, 0);
      }
    }
  }
}

TEST_F(RuntimeKernels, WhatDoesNotCompileIsSaidInTheCompilersWords) {
  try {
    KernelSource source = batch_kernel("GaussianMixture", "float", 2, 2, "");
    source.kernel = "emomc::device::no_such_kernel<3>";
    compile_kernel(source, "sm_90", false);
    FAIL();
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_kernel"), std::string::npos) << error.what();
  }
}

// A cached kernel is used unless it is damaged.
TEST_F(RuntimeKernels, KeptKernelsAreCheckedBeforeTheyAreTaken) {
  const fs::path directory = fs::temp_directory_path() / ("emomc_kernels_" + std::to_string(getpid()));
  fs::remove_all(directory);
  ::setenv("EMOMC_CACHE_DIR", directory.c_str(), 1);
  const KernelSource source =
      batch_kernel("GaussianMixture", "float", 2, 2, "4, true, emomc::device::BatchWork::full>>");
  const KernelCode first = compile_kernel(source, "sm_90");
  ASSERT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}), 1);
  const fs::path file = fs::directory_iterator(directory)->path();
  const auto kept_at = fs::last_write_time(file);
  EXPECT_EQ(compile_kernel(source, "sm_90").code, first.code);
  EXPECT_EQ(fs::last_write_time(file), kept_at);
  {
    std::fstream damage(file, std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(-100, std::ios::end);
    damage.put('x').put('y');
  }
  EXPECT_EQ(compile_kernel(source, "sm_90").code, first.code);
  KernelSource other = source;
  other.defines = {"EMOMC_PLAIN_TABLE=1"};
  EXPECT_NE(compile_kernel(other, "sm_90").symbol, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}), 2);
  ::unsetenv("EMOMC_CACHE_DIR");
  fs::remove_all(directory);
}

}  // namespace
}  // namespace emomc
