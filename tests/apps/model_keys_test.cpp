// Tests keys, default priors and defaults of every known model, which are made from the models' headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "config_text.hpp"
#include "emomc/posterior/model_priors.hpp"
#include "emomc/sampler/mixture_labels.hpp"
#include "emomc/sampler/target.hpp"
#include "run_config_keys.hpp"
#include "run_config_prior.hpp"

namespace emomc::app {
namespace {

LikelihoodConfig likelihood_of(const ModelInfo& model) {
  return {.model = model.name, .components = 2, .covariance = model.covariance};
}

// Returns the configuration of a model, with the lines of `prior`.
std::string text_of(const ModelInfo& model, const std::string& prior) {
  std::string likelihood = "model: " + model.name;
  if (model.fixed_components == 0) likelihood += ", components: 2";
  if (covariance_names(model.name).size() > 1) likelihood += ", covariance: " + model.covariance;
  return data + "likelihood: {" + likelihood + "}\nprior: {" + prior + "}\n";
}

TEST(ModelKeys, EveryModelHasDefaultPriorsForItsLayout) {
  for (const ModelInfo& model : known_models()) {
    SCOPED_TRACE(model.name + " " + model.covariance);
    const PriorSet prior = default_prior(likelihood_of(model));
    const int columns = model.fixed_dim ? model.fixed_dim : 3;
    const ParameterLayout layout = model_layout({model.name, 2, model.covariance}, columns);
    const std::vector<double> column_sd(static_cast<std::size_t>(columns), 1.0);
    const Target target(layout, prior, column_sd);
    EXPECT_EQ(prior.blocks.size(), prior_parts(model).size());
    EXPECT_TRUE(std::isfinite(target.log_prior(target.draw_from_prior(1, 0, 0))));
  }
}

TEST(ModelKeys, ReadEveryPriorAsTheDefaultIsWritten) {
  for (const ModelInfo& model : known_models())
    for (const PriorPart& part : prior_parts(model)) {
      SCOPED_TRACE(model.name + " " + model.covariance + " " + part.name);
      const RunConfig config = parsed(text_of(model, part.name + ": " + part.default_prior));
      EXPECT_EQ(config, parsed(text_of(model, "")));
      EXPECT_EQ(to_yaml(config.prior, part.name), part.default_prior);
    }
}

TEST(ModelKeys, ArePriorsOfKnownParametersOnly) {
  std::map<std::string, std::vector<const ModelInfo*>> users;
  for (const SharedPart& shared : all_prior_parts()) users["prior." + shared.part.name] = shared.models;
  for (const ConfigKey& key : config_keys()) {
    if (!key.name.starts_with("prior.") || key.name == "prior.order" || key.name == "prior.scale_floor")
      continue;
    ASSERT_TRUE(users.contains(key.name)) << key.name;
    EXPECT_EQ(key.models, users[key.name]) << key.name;
    users.erase(key.name);
  }
  EXPECT_TRUE(users.empty()) << users.begin()->first;
}

// A name has a single comment and must therefore mean the same in all models.
TEST(ModelKeys, OfOneNameHaveOneDomain) {
  for (const SharedPart& shared : all_prior_parts())
    for (const ModelInfo* model : shared.models)
      EXPECT_EQ(prior_part(*model, shared.part.name).domain, shared.part.domain) << shared.part.name;
}

TEST(ModelKeys, EveryModelHasItsOrderAndStart) {
  for (const ModelInfo& model : known_models()) {
    SCOPED_TRACE(model.name + " " + model.covariance);
    if (model.ordered_by.empty()) {
      EXPECT_NE(refusal(text_of(model, "order: means.0")), "");
      continue;
    }
    const RunConfig config = parsed(text_of(model, "order: " + order_key(model)));
    EXPECT_EQ(config.prior.order, model.ordered_by);
    EXPECT_EQ(config.sampler.init, model.init);
    EXPECT_EQ(parse_run_config(to_yaml(config), "x.yaml"),
              parsed(text_of(model, "order: " + order_key(model)), {"output.directory=runs/x"}));
  }
}

// The configuration must state the units for a prior of a parameter that has the data's units, but not for a
// prior of weights.
TEST(ModelKeys, NeedUnitsWhereTheParameterHasThem) {
  for (const ModelInfo& model : known_models())
    for (const PriorPart& part : prior_parts(model)) {
      std::string text = text_of(model, part.name + ": " + part.default_prior);
      text.replace(text.find(", standardize: true"), std::string(", standardize: true").size(), "");
      EXPECT_EQ(refusal(text).find("needs data.standardize, which") != std::string::npos,
                part.unit != DataUnit::none)
          << model.name << " " << part.name;
    }
}

// libsampler recognises mixtures by their blocks, without the models.
TEST(ModelKeys, AgreeWithTheSamplerOnWhatIsGaussian) {
  for (const ModelInfo& model : known_models()) {
    SCOPED_TRACE(model.name + " " + model.covariance);
    const int columns = model.fixed_dim ? model.fixed_dim : 2;
    DrawSet draws;
    draws.layout = model_layout({model.name, 2, model.covariance}, columns);
    const auto mixture = find_mixture(draws);
    EXPECT_EQ(mixture.has_value(), is_mixture(model) || is_pair(model));
    if (!mixture) continue;
    EXPECT_EQ(mixture->is_gaussian, model.has_gaussian_components);
    EXPECT_EQ(mixture->is_pair, is_pair(model));
  }
}

}  // namespace
}  // namespace emomc::app
