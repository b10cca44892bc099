// Lists every proposal with a joint distribution on which it is tested, for joint_test.cpp and rank_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <tuple>

#include "backend_problem.hpp"
#include "joint_chains.hpp"
#include "liblikelihood/random_mixture.hpp"

namespace emomc::testing {

inline std::vector<JointTest> joint_tests() {
  const auto diagonal = ProposalShape::diagonal, dense = ProposalShape::dense,
             isotropic = ProposalShape::isotropic;
  const JointModel two = mixture_in_one_column(2);
  return {{two, {"component_wise", diagonal, 0.234}},
          {two, {"random_walk", dense, 0.234}},
          {two, {"adaptive_metropolis", dense, 0.234}},
          {two, {"delayed_rejection", isotropic, 0.234}},
          {two, {"independence", dense, 0.234}},
          {two, {"differential_evolution", isotropic, 0.234}},
          {two, {"stretch", isotropic, 0.234}},
          {mixture_in_one_column(3), {"split_merge", diagonal, 0.234}},
          {mixture_in_one_column(3, "scales"), {"split_merge", isotropic, 0.234}},
          {two, {"crank_nicolson", diagonal, 0.234}},
          {mixture_with_covariances(1, 2, "full"), {"crank_nicolson", dense, 0.234}},
          {mixture_in_one_column(2, "means"), {"component_wise", dense, 0.234}},
          {hierarchical_mixture(), {"component_wise", diagonal, 0.234}},
          {mixture_with_covariances(1, 3, "full"), {"component_wise", dense, 0.234}},
          {mixture_with_covariances(2, 2, "tied"), {"random_walk", isotropic, 0.234}},
          {two_gaussians(), {"delayed_rejection", dense, 0.234}},
          {tempered_normal(), {"random_walk", diagonal, 0.234}},
          {two, {"mala", diagonal}},
          {two, {"hmc", dense}},
          {two, {"nuts", diagonal}},
          {mixture_in_one_column(3, "means"), {"nuts", dense}},
          {hierarchical_mixture(), {"nuts", diagonal}},
          {mixture_with_covariances(1, 3, "full"), {"nuts", dense}},
          {mixture_with_covariances(2, 2, "tied"), {"hmc", diagonal}},
          {two_gaussians(), {"nuts", isotropic}},
          {tempered_normal(), {"nuts", diagonal}},
          {two, {"chees", diagonal}},
          {mixture_with_covariances(1, 3, "full"), {"chees", dense}}};
}

class OnJointTest : public ::testing::TestWithParam<std::tuple<Backend, JointTest>> {
 protected:
  void SetUp() override {
    if (backend() == Backend::cuda && !has_gpu()) GTEST_SKIP() << "no GPU";
    if (proposal_use(test().proposal.kind).gradient && !has_gradients(backend()))
      GTEST_SKIP() << "gradients are not there yet";
  }
  static bool has_gradients(Backend backend) {
    const auto kinds = kinds_on(backend);
    return std::find(kinds.begin(), kinds.end(), "nuts") != kinds.end();
  }
  static Backend backend() { return std::get<0>(GetParam()); }
  static const JointTest& test() { return std::get<1>(GetParam()); }
};

inline const auto kJointTests =
    ::testing::Combine(::testing::Values(Backend::cpu, Backend::cuda), ::testing::ValuesIn(joint_tests()));
inline const auto name_of_joint_test = [](const auto& parameters) {
  return std::string(std::get<0>(parameters.param) == Backend::cpu ? "cpu_" : "cuda_") +
         std::get<1>(parameters.param).name();
};

}  // namespace emomc::testing
