// Compares the properties of a proposal's blocks in its plan with the transforms themselves.
#include "proposal_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emomc/device/proposals.hpp"
#include "emomc/likelihood/engines.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::number;
const std::vector<double> kUnitSd(4, 1.0);

std::vector<Target> targets() {
  std::vector<Target> result;
  for (const char* order : {"", "means", "scales"}) {
    PriorSet prior = testing::mixture_prior();
    prior.order = order;
    result.emplace_back(testing::mixture_layout(3, 2), prior, kUnitSd);
  }
  PriorSet prior = testing::mixture_prior();
  const ArrayArgument sampled{{}, {}, true};
  prior.blocks["means"] = {PriorFamily::normal, {sampled, sampled}};
  prior.blocks["means.mean"] = {PriorFamily::normal, {number(0), number(3)}};
  prior.blocks["means.sd"] = {PriorFamily::half_normal, {number(3)}};
  for (const char* covariance : {"spherical", "diagonal"})
    result.emplace_back(model_layout({"gaussian_mixture", 3, covariance}, 2), prior, kUnitSd);
  PriorSet with_correlations = prior;
  with_correlations.blocks["correlations"] = {PriorFamily::lkj, {number(2)}};
  for (const char* covariance : {"tied", "full"})
    result.emplace_back(model_layout({"gaussian_mixture", 3, covariance}, 2), with_correlations, kUnitSd);
  prior.blocks["weights"] = {PriorFamily::fixed, {number(1.0 / 3)}};
  result.emplace_back(testing::mixture_layout(3, 2), prior, kUnitSd);
  return result;
}

TEST(ProposalBlocks, ElementsBeyondABlocksRangeDoNotDependOnIt) {
  int num_checked = 0, num_inside = 0;
  for (const Target& target : targets()) {
    const auto dim = static_cast<std::size_t>(target.dim());
    std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(1.0 + 2.7 * static_cast<double>(i));
    std::vector<double> before(dim), after(dim);
    target.constrain_with_prior(u, before);
    const ProposalBlocks plan =
        plan_blocks(traits_of<device::ComponentWise>(), ProposalShape::diagonal, target);
    for (const device::ProposalBlock& block : plan.blocks) {
      std::vector<double> moved = u;
      for (int i = block.begin; i < block.begin + block.size; ++i) moved[static_cast<std::size_t>(i)] += 0.3;
      target.constrain_with_prior(moved, after);
      for (std::size_t i = 0; i < dim; ++i) {
        const int element = static_cast<int>(i);
        const bool inside =
            element >= block.first_element && element < block.first_element + block.num_elements;
        if (!inside) {
          EXPECT_EQ(after[i], before[i]) << "element " << i;
        }
        num_checked += !inside;
        num_inside += inside;
      }
    }
  }
  EXPECT_GT(num_checked, 3 * num_inside) << "ranges so wide that they save nothing";
}

TEST(ProposalBlocks, OnlyMeansOfOneComponentKeepItsHeight) {
  for (const Target& target : targets()) {
    const ProposalBlocks plan =
        plan_blocks(traits_of<device::ComponentWise>(), ProposalShape::diagonal, target);
    for (std::size_t b = 0; b < plan.blocks.size(); ++b)
      if (plan.blocks[b].keeps_heights) {
        EXPECT_TRUE(plan.names[b].starts_with("means[")) << plan.names[b];
        EXPECT_EQ(plan.blocks[b].influence, Influence::component);
      }
  }
  const Target plain(testing::mixture_layout(3, 2), testing::mixture_prior(), kUnitSd);
  const ProposalBlocks plan = plan_blocks(traits_of<device::ComponentWise>(), ProposalShape::diagonal, plain);
  EXPECT_EQ(
      std::count_if(plan.blocks.begin(), plan.blocks.end(), [](const auto& b) { return b.keeps_heights; }),
      3);
}

}  // namespace
}  // namespace emomc
