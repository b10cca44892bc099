// A fixture of tests that compile kernels with NVRTC.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "emomc/core/runtime_kernel.hpp"

namespace emomc::testing {

/// Skips without NVRTC. If $EMOMC_TEST_KERNEL_CACHE names a directory, kernels that were compiled from the
/// same sources before are read from there; otherwise each is compiled.
class CompiledKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto problem = runtime_compiler_problem(); !problem.empty()) GTEST_SKIP() << problem;
    if (const char* directory = std::getenv("EMOMC_TEST_KERNEL_CACHE"))
      ::setenv("EMOMC_CACHE_DIR", directory, 1);
  }
  void TearDown() override { ::unsetenv("EMOMC_CACHE_DIR"); }
};

/// Compiles a kernel or takes it from the directory that the fixture describes.
inline KernelCode compiled(const KernelSource& source, const std::string& architecture) {
  return compile_kernel(source, architecture, std::getenv("EMOMC_TEST_KERNEL_CACHE") != nullptr);
}

}  // namespace emomc::testing
