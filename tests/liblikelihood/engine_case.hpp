// Parameters for tests of the engines with both precisions.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "emomc/likelihood/engines.hpp"

namespace emomc::testing {

using EngineCase = std::tuple<Backend, Precision>;

inline auto all_engine_cases() {
  return ::testing::Combine(::testing::Values(Backend::cpu, Backend::cuda),
                            ::testing::Values(Precision::float64, Precision::mixed));
}

/// Returns "cpu_double", "cuda_mixed" and so on.
inline std::string name_of_case(const ::testing::TestParamInfo<EngineCase>& engine) {
  return std::string(std::get<0>(engine.param) == Backend::cpu ? "cpu" : "cuda") +
         (std::get<1>(engine.param) == Precision::float64 ? "_double" : "_mixed");
}

/// A test of such an engine, which is skipped if the machine lacks the engine's device.
class EngineTest : public ::testing::TestWithParam<EngineCase> {
 protected:
  void SetUp() override {
    if (backend() == Backend::cuda && list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  }
  static Backend backend() { return std::get<0>(GetParam()); }
  static Precision precision() { return std::get<1>(GetParam()); }
};

}  // namespace emomc::testing
