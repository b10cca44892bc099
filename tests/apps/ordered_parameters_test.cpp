// Tests likelihood.parameters.NAME.order in the program.
#include <array>
#include <cmath>
#include <sstream>

#include "program.hpp"
#include "run_config.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramFolder;
using testing::replaced;

const std::string kTwoWidths =
    "data: {file: x.csv}\n"
    "likelihood:\n"
    "  parameters: {s: {support: positive, shape: [2], order: increasing}, f: {support: unit_interval}}\n"
    "  log_density: \"log_mix(f, normal_lpdf(x, 0, s[0]), normal_lpdf(x, 0, s[1]))\"\n"
    "prior: {s: {half_normal: 5}, f: {beta: {a: 1, b: 1}}}\n"
    "sampler: {warmup: 300, draws: 200, seed: 1}\n";

class OrderedParameters : public ::testing::Test {
 protected:
  OrderedParameters() {
    std::string rows = "x\n";
    for (int i = 0; i < 40; ++i) rows += std::to_string((i % 2 ? 1 : 6) * std::sin(i * 1.7)) + "\n";
    folder.write("x.csv", rows);
    folder.write("c.yaml", kTwoWidths);
  }
  void expect_config_refused(const std::string& config, const std::string& words) {
    folder.write("c.yaml", config);
    for (const char* command : {"check c.yaml", "run c.yaml"}) expect_refused(folder, command, {words});
    EXPECT_FALSE(folder.exists("runs")) << config;
  }
  /// Returns the draws of s[0] and s[1].
  std::vector<std::array<double, 2>> widths(const std::string& run) {
    std::istringstream csv(folder.run("export " + run + " --format csv -o -").out);
    std::vector<std::array<double, 2>> all;
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line, "chain,draw,log_density,log_likelihood,log_prior,s[0],s[1],f");
    while (std::getline(csv, line)) {
      std::istringstream fields(line);
      std::string field;
      std::array<double, 2> s{};
      for (int j = 0; j < 7 && std::getline(fields, field, ','); ++j)
        if (j >= 5) s[static_cast<std::size_t>(j - 5)] = std::stod(field);
      all.push_back(s);
    }
    return all;
  }
  ProgramFolder folder;
};

TEST_F(OrderedParameters, StayInOrder) {
  ASSERT_EQ(folder.run("run c.yaml -q -o up").exit_code, 0) << folder.run("check c.yaml").err;
  const auto up = widths("up");
  EXPECT_EQ(up.size(), 800U);
  for (const auto& s : up) EXPECT_LT(s[0], s[1]);
  const auto config = app::parse_run_config(folder.read("up/config.yaml"), "c.yaml");
  EXPECT_EQ(config.likelihood.expression.parameters[0].order, ListOrder::increasing);
  EXPECT_EQ(config.prior.list_orders.at("s"), ListOrder::increasing);
  EXPECT_EQ(folder.run("run c.yaml -q -o up --resume --set sampler.draws=250").exit_code, 0);
  folder.write("c.yaml", replaced(kTwoWidths, "increasing", "decreasing"));
  expect_refused(folder, "run c.yaml -o up --resume",
                 {"the configuration has changed since: likelihood.parameters"});
  ASSERT_EQ(folder.run("run c.yaml -q -o down").exit_code, 0);
  for (const auto& s : widths("down")) EXPECT_GT(s[0], s[1]);
}

TEST_F(OrderedParameters, StartWhereAFileSays) {
  folder.write("start.json", "{\"s\": [1, 2], \"f\": 0.5}");
  EXPECT_EQ(folder.run("run c.yaml -q -o run --set sampler.init=start.json").exit_code, 0);
  folder.write("start.json", "{\"s\": [2, 1], \"f\": 0.5}");
  expect_refused(folder, "run c.yaml -o other --set sampler.init=start.json",
                 {"sampler.init: start.json",
                  "parameter s[1]: 1.000000 is outside its support; allowed: above s[0], "
                  "which is 2.000000"});
}

TEST_F(OrderedParameters, FaultsAreRefused) {
  expect_config_refused(
      replaced(kTwoWidths, "order: increasing", "order: incresing"),
      "c.yaml:3: likelihood.parameters.s.order: incresing is unknown; did you mean increasing? "
      "allowed: increasing, decreasing");
  expect_config_refused(
      replaced(kTwoWidths, "shape: [2], ", ""),
      "c.yaml:3: likelihood.parameters.s.order: an order is of a list whose support is real");
  expect_config_refused(
      replaced(kTwoWidths, "support: positive", "support: simplex"),
      "c.yaml:3: likelihood.parameters.s.order: an order is of a list whose support is real");
  expect_config_refused(
      replaced(kTwoWidths, "prior: {", "prior: {order: s, "),
      "c.yaml:5: prior.order: it orders the components of a model; of a likelihood of your own the "
      "values of a list are ordered by likelihood.parameters.s.order: increasing");
  expect_config_refused(replaced(kTwoWidths, "{half_normal: 5}", "{half_normal: [5, 6]}"),
                        "prior.s: it differs between the values of a list that has an order");
  expect_config_refused(replaced(kTwoWidths, "{half_normal: 5}", "{fixed: [6, 5]}"),
                        "prior.s.fixed: the values are not increasing");
}

}  // namespace
}  // namespace emomc
