#include "emomc/likelihood/model_info.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/simulate.hpp"

namespace emomc {
namespace {

using device::Axis;
using device::BlockDescription;

int columns_of(const ModelInfo& model) { return model.fixed_dim ? model.fixed_dim : 3; }

TEST(ModelInfo, HasEveryModelOnce) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const ModelInfo& model : known_models()) {
    EXPECT_TRUE(seen.insert({model.name, model.covariance}).second) << model.name << " " << model.covariance;
    EXPECT_EQ(&model_info(model.name, model.covariance), &model);
    EXPECT_EQ(&model_info({model.name, 2, model.covariance}), &model);
  }
  std::set<std::string> names;
  for (const auto& [name, covariance] : seen) names.insert(name);
  const std::vector<std::string> known = model_names();
  EXPECT_EQ(names, std::set<std::string>(known.begin(), known.end()));
  EXPECT_EQ(known_models().front().name, ModelSpec{}.name);
  EXPECT_EQ(known_models().front().covariance, ModelSpec{}.covariance);
}

TEST(ModelInfo, IsThatOfTheHeaders) {
  const ModelInfo& diagonal = model_info("gaussian_mixture", "diagonal");
  EXPECT_EQ(diagonal.fixed_components, 0);
  EXPECT_EQ(diagonal.ordered_by, "means");
  EXPECT_EQ(diagonal.init, "kmeans");
  const ModelInfo& pair = model_info("two_gaussian", "diagonal");
  EXPECT_EQ(pair.fixed_components, 2);
  EXPECT_EQ(pair.fixed_dim, 1);
  EXPECT_EQ(pair.ordered_by, "sigma");
  EXPECT_EQ(pair.init, "prior");
  EXPECT_EQ(covariance_names("gaussian_mixture"),
            (std::vector<std::string>{"diagonal", "spherical", "tied", "full"}));
  EXPECT_EQ(covariance_names("two_gaussian"), std::vector<std::string>{"diagonal"});
  EXPECT_EQ(covariance_names(), covariance_names("gaussian_mixture"));
}

// The layout and the description have the same blocks, and ordered_by is a block of the components.
TEST(ModelInfo, AgreesWithTheLayout) {
  for (const ModelInfo& model : known_models()) {
    SCOPED_TRACE(model.name + " " + model.covariance);
    const ParameterLayout layout = model_layout({model.name, 2, model.covariance}, columns_of(model));
    ASSERT_EQ(layout.blocks.size(), model.blocks.size());
    bool has_ordered = model.ordered_by.empty();
    for (std::size_t b = 0; b < model.blocks.size(); ++b) {
      const BlockDescription& block = model.blocks[b];
      EXPECT_EQ(layout.blocks[b].name, block.name);
      EXPECT_NE(std::string(block.prior), "");
      EXPECT_EQ(block.support == Support::covariance, block.correlation_prior != nullptr);
      has_ordered = has_ordered || (block.name == model.ordered_by && block.axes[0] == Axis::component &&
                                    (block.support == Support::real || block.support == Support::positive));
    }
    EXPECT_TRUE(has_ordered) << model.ordered_by;
  }
}

TEST(ModelInfo, RefusesUnknownModelsWithTheKnownOnes) {
  const auto message = [](const std::string& name, const std::string& covariance) -> std::string {
    try {
      model_info(name, covariance);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  std::string names;
  for (const std::string& name : model_names()) names += (names.empty() ? "" : ", ") + name;
  EXPECT_TRUE(names.starts_with("gaussian_mixture, two_gaussian"));
  EXPECT_EQ(message("gauss", "diagonal"), "likelihood.model: gauss is not known; allowed: " + names);
  EXPECT_EQ(message("two_gaussian", "full"),
            "likelihood.covariance: full is not known for model two_gaussian; allowed: diagonal");
}

TEST(ModelOf, RecognisesEveryModelByItsLayout) {
  for (const ModelInfo& model : known_models())
    for (const int components : {1, 2, 5}) {
      const ModelSpec spec{model.name, model.fixed_components ? model.fixed_components : components,
                           model.covariance};
      ParameterLayout layout = model_layout(spec, columns_of(model));
      EXPECT_EQ(model_of(layout), spec) << model.name << " " << model.covariance << " " << components;
      // Sampled arguments of priors follow the blocks of the model.
      layout.blocks.push_back({model.ordered_by + ".sd",
                               {columns_of(model)},
                               Support::positive,
                               DataUnit::scale,
                               Influence::nothing,
                               -1,
                               0});
      EXPECT_EQ(model_of(layout), spec) << model.name << " " << model.covariance << " " << components;
    }
}

TEST(ModelOf, RefusesOtherLayouts) {
  EXPECT_THROW(model_of({}), InputError);
  const ParameterLayout mixture = model_layout({}, 2);
  ParameterLayout other = mixture;
  other.blocks.pop_back();
  EXPECT_THROW(model_of(other), InputError);
  other = mixture;
  other.blocks[1].name = "centres";
  EXPECT_THROW(model_of(other), InputError);
  other = mixture;
  other.blocks.push_back({"df", {1}, Support::positive, DataUnit::none, Influence::component, 0, -1});
  EXPECT_THROW(model_of(other), InputError);
}

TEST(ModelRoles, FollowFromTheBlocks) {
  for (const ModelInfo& model : known_models()) {
    SCOPED_TRACE(model.name + " " + model.covariance);
    EXPECT_EQ(is_pair(model), model.name == "two_gaussian");
    EXPECT_EQ(is_mixture(model), model.name != "two_gaussian");
    EXPECT_EQ(has_scales_by_column(model), is_mixture(model) && model.covariance == "diagonal");
    EXPECT_EQ(model_of_starts(model), model.has_em        ? &model
                                      : is_mixture(model) ? &known_models()[0]
                                                          : nullptr);
  }
}

// The components of this mixture have another parameter. Its first blocks are those of the Gaussian mixture,
// which finds starts.
TEST(ModelRoles, OfAMixtureWithFurtherParameters) {
  std::vector<BlockDescription> blocks(known_models().front().blocks.begin(),
                                       known_models().front().blocks.end());
  blocks.push_back({"df",
                    Support::positive,
                    DataUnit::none,
                    Influence::component,
                    1,
                    {Axis::component, Axis::component},
                    "{gamma: {shape: 2, rate: 0.1}}"});
  ModelInfo model = known_models().front();
  model.name = "student_t_mixture";
  model.blocks = blocks;
  model.has_em = model.has_gaussian_components = false;
  EXPECT_TRUE(is_mixture(model));
  EXPECT_TRUE(has_scales_by_column(model));
  ASSERT_NE(model_of_starts(model), nullptr);
  EXPECT_EQ(model_of_starts(model), &known_models().front());
  // Without the mixture's blocks no model finds starts.
  std::swap(blocks[0], blocks[3]);
  EXPECT_FALSE(is_mixture(model));
  EXPECT_EQ(model_of_starts(model), nullptr);
}

}  // namespace
}  // namespace emomc
