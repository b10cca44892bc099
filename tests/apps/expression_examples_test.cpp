// Tests the examples of docs/your-own-likelihood.md: each runs with its defaults, and has Stan's log
// likelihood and log prior (data/make_expressions.R).
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/target.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "program.hpp"
#include "reference_posterior.hpp"
#include "run_config.hpp"

namespace emomc {
namespace {

const std::string kSource = EMOMC_SOURCE_DIR;
const std::string kExamples = kSource + "/docs/examples/likelihoods/";

nlohmann::json stan() {
  std::ifstream file(kSource + "/tests/apps/data/expressions.json");
  return nlohmann::json::parse(file);
}

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class LikelihoodExample : public ::testing::TestWithParam<std::string> {
 protected:
  LikelihoodExample() : before_(std::filesystem::current_path()) { std::filesystem::current_path(kSource); }
  ~LikelihoodExample() override { std::filesystem::current_path(before_); }
  RunConfig config() const { return app::load_run_config(kExamples + GetParam() + ".yaml"); }

 private:
  std::filesystem::path before_;
};
INSTANTIATE_TEST_SUITE_P(All, LikelihoodExample, ::testing::ValuesIn(examples()),
                         [](const auto& example) { return example.param; });

// Returns the values of the parameters in the order of the layout. `parameters` has them by name;
// "alpha.mean" is alpha_mean in Stan.
std::vector<double> theta_of(const ParameterLayout& layout, const nlohmann::json& parameters) {
  std::vector<double> theta;
  for (const ParameterBlock& block : layout.blocks) {
    std::string name = block.name;
    std::replace(name.begin(), name.end(), '.', '_');
    const auto& value = parameters.at(name);
    if (value.is_array())
      for (const auto& number : value) theta.push_back(number);
    else
      theta.push_back(value);
  }
  return theta;
}

TEST_P(LikelihoodExample, HasStansDensities) {
  if (config().likelihood.has_code()) GTEST_SKIP() << "code_test.cpp compares it with its formula";
  const auto reference = stan().at("models").at(GetParam());
  const RunConfig run = config();
  for (Backend backend : {Backend::reference, Backend::cpu, Backend::cuda}) {
    if (backend == Backend::cuda && !testing::has_gpu()) continue;
    const LoadedExpression own = load_expression(run.data, run.likelihood.expression, backend, 1);
    const Target target(own.expression->layout(), run.prior, std::span<const double>());
    const auto device = make_device(backend);
    const auto engine = make_engine(backend, own.model, Precision::float64, own.loaded.data, *device);
    ASSERT_EQ(reference.at("points").size(), 2U);
    for (const auto& point : reference.at("points")) {
      const std::vector<double> theta = theta_of(target.layout(), point.at("parameters"));
      double value = 0, terms = 0;
      engine->sums_by_segment(theta.data(), 1, &value);
      std::vector<double> rows(engine->num_rows());
      engine->evaluate_rows(theta.data(), rows.data());
      for (double row : rows) terms += std::abs(row);
      EXPECT_NEAR(value, point.at("log_likelihood").get<double>(), 1e-10 * terms) << backend_name(backend);
      const double prior = point.at("log_prior");
      EXPECT_NEAR(target.log_prior(theta), prior, 1e-10 * (1 + std::abs(prior)));
    }
  }
}

TEST_P(LikelihoodExample, ConvergesWithItsDefaults) {
  testing::ProgramFolder folder;
  const std::string run = (folder / "run").string();
  const auto result = folder.shell("cd '" + kSource + "' && \"$EMOMC\" run docs/examples/likelihoods/" +
                                   GetParam() + ".yaml --allow-code -q -o '" + run + "'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto verdict = folder.run("diagnose run");
  EXPECT_EQ(verdict.exit_code, 0) << verdict.out;
}

// Returns our name of an element: eta[1] in Stan is eta[0] here, and alpha_mean is alpha.mean.
std::string our_name(const std::string& theirs) {
  if (theirs.starts_with("alpha_")) return "alpha." + theirs.substr(6);
  const auto bracket = theirs.find('[');
  if (bracket == std::string::npos) return theirs;
  return theirs.substr(0, bracket) + "[" + std::to_string(std::stoi(theirs.substr(bracket + 1)) - 1) + "]";
}

// All examples together have 66 parameters with 5 numbers each. With z = 6 a normal error exceeds the bound
// with probability 2e-9, so that a false alarm occurs for less than 1e-6 of all seeds.
TEST(LikelihoodExamples, HaveStansPosteriors) {
  const auto reference = stan();
  int compared = 0;
  for (const auto& [name, draws] : std::map<std::string, std::string>{
           {"eight_schools", "8000"}, {"poisson", "8000"}, {"hierarchical_logistic", "3000"}}) {
    testing::ProgramFolder folder;
    folder.write("stan.json", reference.at("models").at(name).dump());
    const std::string run = (folder / "run").string();
    const auto result = folder.shell(
        "cd '" + kSource + "' && \"$EMOMC\" run docs/examples/likelihoods/" + name + ".yaml -q -o '" + run +
        "' --set sampler.warmup=4000 --set sampler.draws=" + draws + " --set sampler.chains=8");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    compared += testing::expect_reference_posterior(folder / "run", folder / "stan.json", 6, our_name);
  }
  EXPECT_EQ(compared, 5 * (10 + 3 + 53));
}

}  // namespace
}  // namespace emomc
