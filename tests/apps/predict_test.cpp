// Tests `emomc predict` of mixtures: probabilities of components and the best partition of rows.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "emomc/device/random.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::expect_refused;

class Predict : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  /// Writes rows in two columns, far from 0, from three groups in turn. `distance` is in units of the groups'
  /// sds.
  void write_groups(double distance, int rows = 150) {
    std::string text = "id,x,y\n";
    for (int i = 0; i < rows; ++i) {
      const device::RandomSource random{3, static_cast<std::uint64_t>(i), 0};
      const auto normal = [&](std::uint32_t index) {
        return random.normal(device::Purpose::simulation, index);
      };
      text += std::to_string(i) + "," + std::to_string(1000 + normal(0) + distance * (i % 3)) + "," +
              std::to_string(-5 + 0.1 * (normal(1) + distance * (i % 3 == 1))) + "\n";
    }
    folder.write("data.csv", text);
  }
  void sample(const std::string& likelihood, const std::string& data = "", const std::string& name = "run") {
    folder.write(
        "run.yaml",
        "data: {file: data.csv, columns: [x, y]" + data + "}\nlikelihood: {components: 3" + likelihood +
            "}\n" +
            (data.empty() ? ""
                          : "prior: {means: {normal: {mean: 0, sd: 1000}}, scales: {half_normal: 5}}\n") +
            "sampler: {chains: 2, warmup: 1000, draws: 400, thin: 2}\n");
    const auto result = folder.run("run run.yaml -q --output " + name);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  json predict(const std::string& arguments) {
    const auto result = folder.run("predict --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? json::parse(result.out) : json();
  }
};

// If the components are far apart, every row is put into the group from which it was drawn, in every model
// and in all units.
TEST_F(Predict, PartitionsOfGroupsThatAreApartAreTheTruth) {
  write_groups(12);
  for (const auto& [likelihood, data] : {std::pair<std::string, std::string>{"", ""},
                                         {"", ", standardize: false"},
                                         {", covariance: spherical", ""},
                                         {", covariance: tied", ""},
                                         {", covariance: full", ", standardize: false"},
                                         {", model: student_t_mixture", ""}}) {
    const std::string name = "run" + std::to_string(likelihood.size()) + std::to_string(data.size());
    sample(likelihood, data, name);
    const json found = predict(name);
    ASSERT_EQ(found["rows"], 150) << likelihood;
    const auto partition = found["partition"]["component"].get<std::vector<int>>();
    for (std::size_t i = 0; i < partition.size(); ++i) {
      EXPECT_EQ(partition[i], partition[i % 3]) << likelihood << i;
      const std::string own = "component_" + std::to_string(partition[i]);
      EXPECT_GT(found["outputs"][own]["mean"][i].get<double>(), 0.99) << likelihood << data << ' ' << i;
      EXPECT_GT(found["outputs"][own]["q5"][i].get<double>(), 0.98) << likelihood << data << ' ' << i;
    }
    // The components have the numbers that summary uses, which follow their means of x here.
    EXPECT_EQ(std::vector<int>(partition.begin(), partition.begin() + 3), (std::vector<int>{0, 1, 2}))
        << likelihood;
    EXPECT_LT(found["partition"]["pairs_that_differ"].get<double>(), 0.01) << likelihood;
    std::filesystem::remove_all(folder / name);
  }
}

// The components overlap. The test compares with means, sds and quantiles of the probabilities by Bayes' rule
// over the draws that `export --relabel` writes, and with Binder's loss of the partition over all pairs of
// rows.
TEST_F(Predict, ProbabilitiesAreThoseOfTheExportedDraws) {
  constexpr int kRows = 60;
  write_groups(2.5, kRows);
  sample("");
  const json found = predict("run --draws 800");
  ASSERT_EQ(folder.run("export run --relabel --format csv -o draws.csv").exit_code, 0);
  const DrawSet draws = read_draw_table(folder / "draws.csv");
  std::map<std::string, const double*> values;
  const std::size_t total = draws.num_chains() * draws.num_draws;
  for (std::size_t q = 0; q < draws.num_quantities(); ++q)
    values[draws.names[q]] = draws.values.data() + q * total;
  ASSERT_EQ(total, 800U);
  ASSERT_EQ(found["draws"], 800);
  std::stringstream table(folder.read("data.csv"));
  std::string line;
  std::getline(table, line);
  std::vector<std::vector<double>> probability(kRows * 3);  // [row x component][draw]
  for (std::size_t i = 0; std::getline(table, line); ++i) {
    double x[2];
    ASSERT_EQ(std::sscanf(line.c_str(), "%*d,%lf,%lf", x, x + 1), 2);
    for (std::size_t s = 0; s < total; ++s) {
      double density[3], sum = 0;
      for (int k = 0; k < 3; ++k) {
        const auto index = [&](const char* name, int j) {
          return name + ("[" + std::to_string(k)) + "," + std::to_string(j) + "]";
        };
        density[k] = values.at("weights[" + std::to_string(k) + "]")[s];
        for (int j = 0; j < 2; ++j) {
          const double sd = values.at(index("scales", j))[s],
                       z = (x[j] - values.at(index("means", j))[s]) / sd;
          density[k] *= std::exp(-0.5 * z * z) / (sd * std::sqrt(2 * std::numbers::pi));
        }
        sum += density[k];
      }
      for (std::size_t k = 0; k < 3; ++k) probability[i * 3 + k].push_back(density[k] / sum);
    }
  }
  const auto partition = found["partition"]["component"].get<std::vector<int>>();
  double loss = 0;
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double together = 0;
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t s = 0; s < total; ++s)
          together += probability[i * 3 + k][s] * probability[j * 3 + k][s] / 800;
      loss += partition[i] == partition[j] ? 1 - together : together;
    }
  EXPECT_NEAR(found["partition"]["pairs_that_differ"].get<double>(), loss / (0.5 * kRows * (kRows - 1)),
              1e-9);
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double>& p = probability[i * 3 + k];
      const json& of_component = found["outputs"]["component_" + std::to_string(k)];
      double mean = 0, square = 0;
      for (double x : p) mean += x / 800;
      for (double x : p) square += (x - mean) * (x - mean) / 799;
      std::sort(p.begin(), p.end());
      EXPECT_NEAR(of_component["mean"][i].get<double>(), mean, 1e-9);
      EXPECT_NEAR(of_component["sd"][i].get<double>(), std::sqrt(square), 1e-9);
      EXPECT_NEAR(of_component["q5"][i].get<double>(), p[39] + 0.95 * (p[40] - p[39]), 1e-9);
      EXPECT_NEAR(of_component["q50"][i].get<double>(), p[399] + 0.5 * (p[400] - p[399]), 1e-9);
      EXPECT_NEAR(of_component["q95"][i].get<double>(), p[759] + 0.05 * (p[760] - p[759]), 1e-9);
    }
}

TEST_F(Predict, OtherRowsHaveTheProbabilitiesOfTheSameRowsInTheRun) {
  write_groups(3);
  sample("");
  const auto of_run = folder.run("predict run -o own.csv");
  ASSERT_EQ(of_run.exit_code, 0) << of_run.err;
  EXPECT_NE(of_run.err.find("note: the partition is the best of 200 candidates by 800 draws"),
            std::string::npos)
      << of_run.err;
  const std::string own = folder.read("own.csv");
  EXPECT_EQ(own.substr(0, own.find('\n')),
            "row,partition,component_0_mean,component_0_sd,component_1_mean,component_1_sd,component_2_mean,"
            "component_2_sd");
  EXPECT_EQ(std::count(own.begin(), own.end(), '\n'), 151);
  // Columns are found by their names, and one row is enough.
  std::stringstream rows(folder.read("data.csv"));
  std::string header, id, x, y;
  std::getline(rows, header);
  std::getline(rows, id, ',');
  std::getline(rows, x, ',');
  std::getline(rows, y);
  folder.write("new.csv", "y,other,x\n" + y + ",7," + x + "\n");
  const json all = predict("run"), one = predict("run --data new.csv");
  EXPECT_EQ(one["rows"], 1);
  EXPECT_EQ(one["partition"]["pairs_that_differ"], 0.0);
  for (const char* k : {"component_0", "component_1", "component_2"})
    for (const char* what : {"mean", "sd", "q5", "q50", "q95"})
      EXPECT_NEAR(one["outputs"][k][what][0].get<double>(), all["outputs"][k][what][0].get<double>(), 1e-9);
}

TEST_F(Predict, TwoGaussiansTellWideFromNarrow) {
  std::string text = "x\n";
  for (std::uint32_t i = 0; i < 400; ++i)
    text += std::to_string((i % 2 ? 1 : 10) *
                           device::RandomSource{4, i, 0}.normal(device::Purpose::simulation, 0)) +
            "\n";
  folder.write("data.csv", text);
  folder.write("run.yaml",
               "data: {file: data.csv}\nlikelihood: {model: two_gaussian}\n"
               "sampler: {chains: 2, warmup: 1000, draws: 500}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  folder.write("new.csv", "x\n0\n20\n");
  const json found = predict("run --data new.csv");
  EXPECT_EQ(found["partition"]["component"], (std::vector<int>{0, 1}));  // components are numbered by sigma
  EXPECT_GT(found["outputs"]["component_1"]["q5"][1].get<double>(), 0.999);
  EXPECT_GT(found["outputs"]["component_0"]["mean"][0].get<double>(), 0.8);
}

TEST_F(Predict, WhatDoesNotFitIsRefusedInOneLine) {
  write_groups(3);
  sample("");
  expect_refused(folder, "predict nowhere", {"nowhere: there is no such run directory"});
  folder.write("evaluation/manifest.json", "{\"kind\": \"evaluation\"}");
  folder.write("evaluation/config.yaml", "corpus: {folder: there}\n");
  expect_refused(folder, "predict evaluation", {"an evaluation of many posteriors, not a run"});
  folder.write("new.csv", "x,z\n1,2\n");
  expect_refused(folder, "predict run --data new.csv -o out.csv", {"new.csv", "y"});
  folder.write("new.csv", "x,y\n1,2\n3,\n");
  expect_refused(folder, "predict run --data new.csv -o out.csv", {"new.csv:3", "y"});
  folder.write("new.csv", "x,y\n1,2\n3,1e300\n");
  expect_refused(folder, "predict run --data new.csv -o out.csv",
                 {"no component has a density above 0 in row 2 of the data"});
  folder.write("one.yaml",
               "data: {file: data.csv, columns: [x]}\nlikelihood: {components: 1}\n"
               "sampler: {chains: 2, warmup: 200, draws: 100}\noutput: {directory: one}\n");
  ASSERT_EQ(folder.run("run one.yaml -q").exit_code, 0);
  expect_refused(folder, "predict one -o out.csv", {"one: its likelihood has one component"});
  write_groups(4);
  expect_refused(folder, "predict run -o out.csv",
                 {"data.csv: these are not the data that run was made with", "--data predicts other rows"});
  EXPECT_FALSE(folder.exists("out.csv"));
}

}  // namespace
}  // namespace emomc
