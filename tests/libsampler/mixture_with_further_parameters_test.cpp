// Tests mixtures whose components have a parameter besides weight, mean and scale, such as the degrees of
// freedom of a Student t. No quantity that exists only for Gaussians is computed for them.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/mixture_labels.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

constexpr int kComponents = 3, kColumns = 2;

ParameterLayout layout_with_df() {
  ParameterLayout layout = testing::mixture_layout(kComponents, kColumns);
  layout.blocks.push_back(
      {"df", {kComponents}, Support::positive, DataUnit::none, Influence::component, 0, -1});
  return layout;
}

Target target_with_df() {
  PriorSet prior = testing::mixture_prior();
  prior.blocks["df"] = {PriorFamily::gamma, {testing::number(2), testing::number(0.1)}};
  const std::vector<double> column_sd{100, 100};
  return {layout_with_df(), prior, column_sd};
}

// Returns one draw of components with means 0, 10, 20 and -1, -11, -21, scales of 2 and 3, and df of 5, 6, 7.
DrawSet one_draw() {
  DrawSet set;
  set.layout = layout_with_df();
  set.chains = {"0"};
  set.num_draws = 1;
  for (const auto& name : element_names(set.layout)) set.add(name);
  set.values = {0.2, 0.3, 0.5, 20, -21, 0, -1, 10, -11, 2, 3, 2, 3, 2, 3, 7, 5, 6};
  return set;
}

TEST(MixtureWithFurtherParameters, FloorsItsScalesAlone) {
  const Target target = target_with_df();
  std::vector<double> theta = target.draw_from_prior(1, 0, 0);
  const auto df = static_cast<std::size_t>(target.layout().offset(3));
  for (std::size_t i = df; i < theta.size(); ++i) theta[i] = 0.01;
  target.move_inside(theta);
  for (std::size_t i = df; i < theta.size(); ++i) EXPECT_EQ(theta[i], 0.01);
  EXPECT_TRUE(std::isfinite(target.log_prior(theta)));
  theta[df - 1] = 4.9;  // a scale below 0.05 of the column's sd
  EXPECT_FALSE(std::isfinite(target.log_prior(theta)));
}

TEST(MixtureWithFurtherParameters, IsNotSplitAndMerged) {
  const Target target = target_with_df();
  EXPECT_EQ(target.table().mixture.num_components, 0);
  EXPECT_THROW(proposal_block_names({"split_merge", ProposalShape::diagonal, 0.234}, target), InputError);
  const auto names = proposal_block_names({"component_wise", ProposalShape::diagonal, 0.234}, target);
  EXPECT_EQ(names.back(), "df[2]");
}

TEST(MixtureWithFurtherParameters, HasNoDensitiesOfGaussians) {
  DrawSet set = one_draw();
  const auto mixture = find_mixture(set);
  ASSERT_TRUE(mixture);
  EXPECT_FALSE(mixture->is_gaussian);
  const std::vector<double> x{0};
  EXPECT_THROW(column_densities(set, *mixture, 0, 0, x), std::logic_error);
  EXPECT_THROW(column_moments(set, *mixture, 0, 0), std::logic_error);
  const std::size_t first = append_label_free(set, *mixture);
  const std::vector<std::string> names(set.names.begin() + static_cast<std::ptrdiff_t>(first),
                                       set.names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"sorted_weights[0]", "sorted_weights[1]", "sorted_weights[2]",
                                             "mixture_location[0]", "mixture_location[1]", "mixture_scale[0]",
                                             "mixture_scale[1]"}));
  EXPECT_DOUBLE_EQ(set.values[first], 0.5);
  EXPECT_DOUBLE_EQ(set.values[first + 3], 9);  // 0.2 20 + 0.3 0 + 0.5 10
  EXPECT_EQ(LabelFreePoint(layout_with_df()).size(), 7u);
}

TEST(MixtureWithFurtherParameters, IsNumberedWithThem) {
  DrawSet set = one_draw();
  const auto mixture = find_mixture(set);
  ASSERT_TRUE(mixture);
  apply(relabel_by_order(set, *mixture), set);
  const std::vector<double> expected{0.3, 0.5, 0.2, 0, -1, 10, -11, 20, -21, 2, 3, 2, 3, 2, 3, 5, 6, 7};
  EXPECT_EQ(set.values, expected);
}

TEST(MixtureWithFurtherParameters, IsGaussianWithoutThem) {
  DrawSet set = one_draw();
  set.layout.blocks.pop_back();
  // A sampled argument of a prior is not a parameter of the components.
  set.layout.blocks.push_back(
      {"means.sd", {kComponents}, Support::positive, DataUnit::scale, Influence::nothing, -1, 0});
  const auto mixture = find_mixture(set);
  ASSERT_TRUE(mixture);
  EXPECT_TRUE(mixture->is_gaussian);
}

}  // namespace
}  // namespace emomc
