// Every kernel that is compiled while the program runs, compiled here: NVRTC needs no GPU.
#include "emomc/core/runtime_kernel.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "emomc/core/errors.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/likelihood/models.hpp"
#include "resident_plan.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class RuntimeKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto problem = runtime_compiler_problem(); !problem.empty()) GTEST_SKIP() << problem;
  }
};

const std::vector<std::string> kModels{
#define EMOMC_NAME(Model) #Model,
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

// Rows, and with them sums, stay in registers: a spill in the loop over chains would cost every evaluation.
TEST_F(RuntimeKernels, BatchKernelsOfAllModelsCompileWithoutSpills) {
  struct Sizes {
    std::string real;
    int components, dim, rows;
  };
  for (const auto& model : kModels) {
    const bool fixed = model == "TwoGaussian", pairs = model == "FullMixture" || model == "TiedMixture";
    for (const auto& [real, components, dim, rows] :
         {Sizes{"float", 8, 13, 4}, {"double", 8, 13, 2}, {"float", 3, 5, 4}, {"float", 32, 13, 4}})
      for (const char* work : {"full", "component"})
        for (const char* uniform : {"true", "false"}) {
          if (components != 8 && (uniform[0] == 'f' || work[0] == 'c')) continue;  // no other code
          if (fixed && components != 8) continue;
          const KernelSource source{"emomc/device/batch_kernel.cuh",
                                    "emomc::device::batch_kernel<emomc::device::BatchConfig<emomc::device::" +
                                        model + ", " + real + ", " + std::to_string(fixed ? 2 : components) +
                                        ", " + std::to_string(fixed ? 1 : dim) + ", " +
                                        std::to_string(fixed                       ? 8
                                                       : pairs && components == 32 ? 2
                                                                                   : rows) +
                                        ", " + uniform + ", emomc::device::BatchWork::" + work};
          for (const std::string rows_come : {"loaded", "ahead"}) {
            const int short_of_registers = fixed ? 0 : (real == "double") + pairs + (work[0] == 'f');
            if (rows_come == "ahead" && (uniform[0] == 'f' || components != 8 || short_of_registers > 1))
              continue;
            KernelSource compiled = source;
            compiled.kernel += ", emomc::device::BatchRows::" + rows_come + ">>";
            const KernelCode code = compile_kernel(compiled, "sm_90", false);
            EXPECT_FALSE(code.code.empty());
            EXPECT_GT(code.registers, 0);
            EXPECT_EQ(code.spilled, 0) << compiled.kernel;
          }
        }
  }
}

// The state of a chain is in shared memory; a few words may be written to memory between the loops over rows.
TEST_F(RuntimeKernels, ResidentKernelsOfAllModelsAndProposalsCompile) {
  DeviceLikelihood likelihood;
  ResidentPlan plan;
  for (const auto& model : kModels)
    for (const auto& proposal : kProposals)
      for (const auto form :
           {device::ResidentForm::ahead, device::ResidentForm::in_turn, device::ResidentForm::teams,
            device::ResidentForm::lines, device::ResidentForm::wide}) {
        if (takes_turns(proposal)) continue;
        // All pairs would take minutes and bring no other code.
        const bool full = model == "FullMixture", tied = model == "TiedMixture";
        const bool is_first = model == "GaussianMixture" || proposal == "ComponentWise" ||
                              ((full || tied) && proposal == "RandomWalk");
        if (!is_first) continue;
        likelihood.model = "emomc::device::" + model;
        likelihood.num_components = model == "TwoGaussian" ? 2 : 8;
        likelihood.dim = model == "TwoGaussian" ? 1 : 13;
        const bool wide = form == device::ResidentForm::wide;
        plan.sizes.form = form;
        const bool teams = form == device::ResidentForm::teams;
        const bool fixed = model == "TwoGaussian";
        plan.sizes.rows_per_lane = wide && fixed ? 8 : wide || (teams && !full && !tied) ? 4 : 2;
        const bool lines = form == device::ResidentForm::lines, by_component = proposal == "ComponentWise";
        plan.evaluators = form == device::ResidentForm::ahead ? 4
                          : teams                             ? device::kTeamWarps
                          : lines                             ? device::kLinesWarps
                          : wide                              ? device::kWideWarps
                                                              : 8;
        plan.sizes.num_lines = lines ? 4 : wide && proposal != "CrankNicolson" ? 2 : 1;
        plan.sizes.caches = by_component && !lines && !wide && !(teams && (full || tied));
        plan.sizes.neighbours = by_component || proposal == "SplitMerge" || proposal == "CrankNicolson";
        for (const char* real : {"float", "double"}) {
          if (real[0] == 'd' && !(fixed && wide)) continue;
          likelihood.real = real;
          const KernelSource source =
              resident_source(plan, likelihood, "emomc::device::" + proposal, device::ParameterTable{});
          const KernelCode code = compile_kernel(source, "sm_90", false);
          EXPECT_LE(code.spilled, kMostSpilled) << source.kernel;
        }
      }
}

TEST_F(RuntimeKernels, WhatDoesNotCompileIsSaidInTheCompilersWords) {
  try {
    compile_kernel({"emomc/device/batch_kernel.cuh", "emomc::device::no_such_kernel<3>"}, "sm_90", false);
    FAIL();
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_kernel"), std::string::npos) << error.what();
  }
}

// A kernel that was kept is taken, one that was damaged is not.
TEST_F(RuntimeKernels, KeptKernelsAreCheckedBeforeTheyAreTaken) {
  const fs::path directory = fs::temp_directory_path() / ("emomc_kernels_" + std::to_string(getpid()));
  fs::remove_all(directory);
  ::setenv("EMOMC_CACHE_DIR", directory.c_str(), 1);
  const KernelSource source{"emomc/device/batch_kernel.cuh",
                            "emomc::device::batch_kernel<emomc::device::BatchConfig<emomc::device::"
                            "GaussianMixture, float, 2, 2, 4, true, emomc::device::BatchWork::full>>"};
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
  EXPECT_NE(compile_kernel({source.header, source.kernel, {"EMOMC_PLAIN_TABLE=1"}}, "sm_90").symbol, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}), 2);
  ::unsetenv("EMOMC_CACHE_DIR");
  fs::remove_all(directory);
}

}  // namespace
}  // namespace emomc
