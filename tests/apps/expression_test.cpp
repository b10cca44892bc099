// Tests likelihoods of the user's own in the program: configurations, refusals, runs, and the commands that
// read the runs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "run_config.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramFolder;
using testing::replaced;

const std::string kNormal =
    "data: {file: x.csv}\n"
    "likelihood:\n"
    "  parameters: {m: {}, s: {support: positive}}\n"
    "  log_density: \"normal_lpdf(x, m, s)\"\n"
    "prior: {m: {normal: {mean: 0, sd: 10}}, s: {half_normal: 5}}\n";

/// Returns rows of x, a count n and a group g.
std::string some_rows() {
  std::string text = "x,n,g\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string((i * 37 % 60) / 10.0 - 1) + "," + std::to_string(i % 5) + "," +
            std::to_string(i % 3) + "\n";
  return text;
}

class ExpressionRuns : public ::testing::Test {
 protected:
  ExpressionRuns() { folder.write("x.csv", some_rows()); }
  void expect_config_refused(const std::string& config, const std::string& words) {
    folder.write("c.yaml", config);
    for (const char* command : {"check c.yaml", "run c.yaml"}) expect_refused(folder, command, {words});
    EXPECT_FALSE(folder.exists("runs")) << config;
  }
  ProgramFolder folder;
};

TEST(ExpressionConfig, IsWrittenAsItIsRead) {
  const std::string text =
      "data: {file: x.csv, weights: w}\n"
      "likelihood:\n"
      "  parameters: {p: {support: unit_interval}, k: {shape: [3]}, v: {support: simplex, shape: 2}}\n"
      "  linear: {eta: {intercept: a, columns: [x, 'a b'], coefficients: b, offset: \"log(t)\"}, zeta: "
      "{columns: [x], "
      "coefficients: c}}\n"
      "  constants: {lo: 1.5, cuts: [1, 2]}\n"
      "  prepare: {q: \"p * 2\"}\n"
      "  where: {z: \"x / q\", quote: '\"'}\n"
      "  log_density: |\n    z +\n    eta\n"
      "  derived: {r: \"exp(p)\"}\n"
      "  rows: {o: z}\n"
      "  simulate: {y: \"normal_rng(z, 1)\"}\n"
      "prior: {p: {beta: {a: 1, b: 2}}, k: {normal: {mean: [1, 2, 3], sd: {half_normal: 1}}}, v: {dirichlet: "
      "1},\n"
      "  a: {normal: {mean: 0, sd: 1}}, b: {fixed: [1, 2]}, c: {uniform: {lower: 0, upper: 1}}}\n";
  const auto parsed = app::parse_run_config(replaced(text, ", quote: '\"'", ""), "c.yaml");
  const std::string written = app::to_yaml(parsed);
  EXPECT_EQ(app::parse_run_config(written, "c.yaml"), parsed) << written;
  EXPECT_EQ(app::to_yaml(app::parse_run_config(written, "d.yaml")), replaced(written, "runs/c", "runs/c"));
}

TEST_F(ExpressionRuns, FaultsAreRefusedInOneLineWithTheirPlace) {
  const auto with_density = [](const std::string& density) {
    return replaced(kNormal, "normal_lpdf(x, m, s)", density);
  };
  expect_config_refused(
      with_density("nromal_lpdf(x, m, s)"),
      "c.yaml:4: likelihood.log_density, column 1: there is no function nromal_lpdf; did you mean "
      "normal_lpdf?");
  expect_config_refused(
      with_density("normal_lpdf(x, mu, s)"),
      "c.yaml:4: likelihood.log_density, column 16: there is no column, parameter or constant mu");
  expect_config_refused(with_density("normal_lpdf(x, m)"),
                        "column 1: normal_lpdf takes 3 arguments, not 2: normal_lpdf(y, mu, sigma)");
  expect_config_refused(with_density("poisson_lpmf(x, s)"),
                        "poisson_lpmf needs a count for n, and column x is -1 in row 1 of the data");
  expect_config_refused(with_density("poisson_lpmf(m, s * x)"), "and this depends on parameters");
  expect_config_refused(with_density("poisson_lpmf(n / 2, s * x)"), "and this is a real number");
  expect_config_refused(with_density("normal_lpdf(x, m, s"),
                        "column 20: \",\" or \")\" is expected, not end");
  expect_config_refused(with_density("normal_lpdf(x, m, s[0])"), "s is one number and has no index");
  expect_config_refused(with_density("log(-1) * m + x"),
                        "tries; at the last one the log density of row 1 of the data (x = -1) is ");
  expect_config_refused(replaced(kNormal, "half_normal", "half_norml"),
                        "c.yaml:5: prior.s: half_norml is an unknown family");
  expect_config_refused(replaced(kNormal, ", s: {half_normal: 5}", ""),
                        "c.yaml:5: prior.s: this key is missing");
  expect_config_refused(replaced(kNormal, "{m: {normal", "{mm: {normal"),
                        "prior.mm: unknown key; did you mean prior.m?");
  expect_config_refused(
      replaced(kNormal, "likelihood:\n", "likelihood:\n  model: two_gaussian\n"),
      "likelihood.model: a likelihood of your own (likelihood.log_density) does not use this key");
  expect_config_refused(
      replaced(kNormal, "  log_density: \"normal_lpdf(x, m, s)\"\n", ""),
      "likelihood.parameters: model gaussian_mixture does not use this key, only a likelihood of your "
      "own does");
  expect_config_refused(replaced(kNormal, "file: x.csv", "file: x.csv, standardize: true"),
                        "data.standardize: true is not for");
  expect_config_refused(replaced(kNormal, "support: positive", "support: positve"), "did you mean positive?");
  expect_config_refused(replaced(replaced(kNormal, "m: {}", "x: {}"), "{m: {normal", "{x: {normal"),
                        "x is a column of the data already");
  expect_config_refused(replaced(kNormal, "file: x.csv", "file: x.csv, weights: nn"),
                        "data.weights: the data have no column nn");
}

TEST_F(ExpressionRuns, AStartWithoutDensityNamesTheFirstRowThatHasNone) {
  std::string rows = "x,n\n";
  for (int i = 0; i < 40; ++i)
    rows += std::to_string(i == 25 ? -0.5 : 1 + i) + "," + std::to_string(i) + "\n";
  folder.write("x.csv", rows);
  folder.write("c.yaml", replaced(kNormal, "normal_lpdf(x, m, s)", "normal_lpdf(log(x), m + n, s)"));
  folder.write("init.json", R"({"m": 0, "s": 1})");
  expect_refused(folder, "run c.yaml",
                 {"no start of finite density for chain 0 in sampler.init_tries = 100 tries",
                  "the log density of row 26 of the data (x = -0.5, n = 25) is ",
                  "; use a parameter file, or a narrower prior"});
  expect_refused(folder, "check c.yaml --set sampler.init=init.json",
                 {"init.json: the density there is not finite: the log density of row 26 of the data (x = "
                  "-0.5, n = 25) is "});
}

// Where m < -1 the second term has no weight, and its derivative is infinite. Of 16 starts of the prior about
// three are there; such starts are drawn again for gradient samplers.
TEST_F(ExpressionRuns, StartsWithoutAGradientAreDrawnAgain) {
  folder.write("x.csv", "x\n3\n3.5\n2.5\n3.2\n2.8\n3.1\n2.9\n3\n");
  folder.write(
      "c.yaml",
      "data: {file: x.csv}\n"
      "likelihood: {parameters: {m: {}}, log_density: \"log_sum_exp(normal_lpdf(x, m, 1), log(fmax(m + 1, "
      "0)) - 50)\"}\n"
      "prior: {m: {normal: {mean: 0, sd: 1}}}\n"
      "sampler: {chains: 16, warmup: 200, draws: 100, seed: 1, proposal: {kind: nuts}}\n");
  const auto result = folder.run("run c.yaml -q --backend cpu");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // A random walk needs no gradient.
  EXPECT_EQ(
      folder.run("run c.yaml -q --backend cpu --force --set sampler.proposal.kind=random_walk").exit_code, 0);
  // A prior without such a start names what is missing.
  folder.write(
      "none.yaml",
      "data: {file: x.csv}\n"
      "likelihood: {parameters: {m: {}}, log_density: \"log_sum_exp(normal_lpdf(x, m, 1), log(fmax(m - 90, "
      "0)) - 50)\"}\n"
      "prior: {m: {normal: {mean: 0, sd: 1}}}\n"
      "sampler: {chains: 2, warmup: 20, draws: 10, init_tries: 3, proposal: {kind: nuts}}\n");
  expect_refused(folder, "run none.yaml --backend cpu",
                 {"no start of finite density and gradient for chain 0 in sampler.init_tries = 3 tries",
                  "the gradient of the log density is not finite"});
}

TEST_F(ExpressionRuns, AnEmptyListOfColumnsIsCalledEmpty) {
  expect_config_refused(
      replaced(kNormal, "  log_density", "  linear: {eta: {columns: [], coefficients: b}}\n  log_density"),
      "c.yaml:4: likelihood.linear.eta.columns: expected a list of columns, not an empty list");
}

TEST_F(ExpressionRuns, SimulationsSayWhatTheyReadFromTheData) {
  const std::string by_n = replaced(kNormal, "normal_lpdf(x, m, s)", "normal_lpdf(x, m * n, s)");
  folder.write("c.yaml", by_n);
  expect_refused(folder, "simulate c.yaml -o made --rows 5",
                 {"--rows: the simulation reads columns of the data (n)", "remove --rows"});
  folder.write("c.yaml", replaced(by_n, "x.csv", "none.csv"));
  expect_refused(folder, "simulate c.yaml -o made",
                 {"none.csv: there is no such file; the simulation reads columns of it: n"});
  folder.write("c.yaml", replaced(kNormal, "x.csv", "none.csv"));
  expect_refused(
      folder, "simulate c.yaml -o made",
      {"none.csv: there is no such file; the simulation reads none of its columns, so that --rows can"});
  // The log density reads n, and the simulation does not.
  folder.write("c.yaml", replaced(by_n, "prior:", "  simulate: {x: \"normal_rng(m, s)\"}\nprior:"));
  ASSERT_EQ(folder.run("simulate c.yaml -o made --rows 5 -q").exit_code, 0);
  EXPECT_EQ(folder.read("made/x.csv").substr(0, 2), "x\n");
  folder.write("s.yaml", "parameters: {weights: [1], means: [[0]], scales: [[1]]}\nrows: 5\n");
  expect_refused(folder, "simulate s.yaml -o made2 --rows 7",
                 {"--rows: ", "s.yaml has the key rows for this"});
}

TEST_F(ExpressionRuns, OtherOrUnknownDataAreNotTakenForThoseOfTheRun) {
  folder.write("c.yaml", replaced(kNormal, "prior:", "  rows: {d: \"x - m\"}\nprior:") +
                             "sampler: {chains: 2, warmup: 20, draws: 20}\n");
  ASSERT_EQ(folder.run("run c.yaml -q -o run").exit_code, 0);
  ASSERT_EQ(folder.run("predict run").exit_code, 0);
  const std::string rows = folder.read("x.csv"), manifest = folder.read("run/manifest.json");
  folder.write("x.csv", replaced(rows, "\n-1.000000,", "\n-2.000000,"));
  expect_refused(folder, "predict run", {"x.csv: these are not the data that run was made with"});
  folder.write("x.csv", rows);
  folder.write("run/manifest.json", "{");
  for (const char* command : {"predict run", "summary run", "compare run"})
    expect_refused(folder, command,
                   {"run/manifest.json: no whole JSON object, so that this file is damaged"});
  ASSERT_EQ(folder.run("run c.yaml -q -o run --resume").exit_code, 0);
  EXPECT_EQ(folder.run("predict run").exit_code, 0);
}

TEST_F(ExpressionRuns, ComparisonsSayHowRowsAreWeighted) {
  folder.write("c.yaml", replaced(kNormal, "file: x.csv", "file: x.csv, weights: n") +
                             "sampler: {chains: 2, warmup: 100, draws: 100}\n");
  ASSERT_EQ(folder.run("run c.yaml -q -o run").exit_code, 0);
  EXPECT_NE(
      folder.run("compare run").out.find("warning: run: rows are weighted by column n: a row of weight w"),
      std::string::npos);
}

TEST_F(ExpressionRuns, AParameterMayHaveTheNameOfAModels) {
  for (const std::string name : {"sigma", "means", "weights", "scales", "order", "scale_floor"}) {
    folder.write("c.yaml", "data: {file: x.csv}\nlikelihood: {parameters: {" + name +
                               ": {support: positive}}, log_density: \"normal_lpdf(x, 0, " + name +
                               ")\"}\nprior: {" + name +
                               ": {half_normal: 5}}\nsampler: {warmup: 50, draws: 50}\n");
    const auto run = folder.run("run c.yaml -q --force -o " + name);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const auto config = app::parse_run_config(folder.read(name + "/config.yaml"), "c.yaml");
    EXPECT_EQ(config.prior.blocks.at(name).family, PriorFamily::half_normal) << name;
  }
}

TEST_F(ExpressionRuns, EnginesAgreeAndARunGoesOn) {
  folder.write("c.yaml", kNormal + "sampler: {seed: 3, warmup: 500, draws: 1000}\n");
  ASSERT_EQ(folder.run("run c.yaml -q -o whole").exit_code, 0);
  ASSERT_EQ(folder.run("run c.yaml -q -o part --set sampler.draws=400").exit_code, 0);
  const auto went_on = folder.run("run c.yaml -q -o part --resume");
  ASSERT_EQ(went_on.exit_code, 0) << went_on.err;
  const auto draws = [&](const std::string& run) {
    return folder.run("export " + run + " --format csv -o -").out;
  };
  EXPECT_EQ(draws("part"), draws("whole"));
  ASSERT_EQ(folder.run("run c.yaml -q -o interpreted --backend reference").exit_code, 0);
  const auto mean = [&](const std::string& run) {
    const auto json = nlohmann::json::parse(folder.run("summary --json " + run).out);
    for (const auto& quantity : json["parameters"])
      if (quantity["name"] == "m") return quantity["mean"].get<double>();
    ADD_FAILURE();
    return 0.0;
  };
  EXPECT_NEAR(mean("interpreted"), mean("whole"), 0.1);
  folder.write("d.yaml",
               replaced(kNormal, "normal_lpdf(x", "cauchy_lpdf(x") + "sampler: {seed: 3, warmup: 500}\n");
  expect_refused(folder, "run d.yaml -o part --resume", {"likelihood.log_density was", "cauchy_lpdf"});
}

TEST_F(ExpressionRuns, DerivedAndRowQuantitiesAndReplicates) {
  folder.write("c.yaml", replaced(kNormal, "prior:",
                                  "  derived: {twice: \"2 * m\"}\n  rows: {z: \"(x - m) / s\"}\n"
                                  "  simulate: {x: \"normal_rng(m, s)\"}\nprior:") +
                             "sampler: {seed: 3, warmup: 500, draws: 500}\n");
  ASSERT_EQ(folder.run("run c.yaml -q -o run").exit_code, 0);
  const std::string csv = folder.run("export run --format csv -o -").out;
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "chain,draw,log_density,log_likelihood,log_prior,m,s,twice");
  const auto predicted = folder.run("predict run --json");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const auto json = nlohmann::json::parse(predicted.out);
  EXPECT_EQ(json["rows"], 60);
  EXPECT_NEAR(json["outputs"]["z"]["mean"][0].get<double>(), -1.7, 0.3);
  folder.write("new.csv", "x\n2\n");
  const auto other = folder.run("predict run --data new.csv");
  EXPECT_EQ(other.out.substr(0, other.out.find('\n')), "row,z_mean,z_sd,z_q5,z_q50,z_q95") << other.err;
  const auto checks = folder.run("summary run --predictive");
  EXPECT_EQ(checks.exit_code, 0) << checks.err;
  EXPECT_NE(checks.out.find("posterior predictive checks"), std::string::npos);
  EXPECT_EQ(folder.run("compare run").exit_code, 0);
  EXPECT_EQ(folder.run("report run").exit_code, 0);
  folder.write("truth.json", "{\"m\": 100, \"s\": 0.001}");
  const auto simulated = folder.run("simulate c.yaml -o made --parameters truth.json --rows 10");
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_EQ(folder.read("made/x.csv").substr(0, 5), "x\n100") << folder.read("made/x.csv");
}

// g++ and clang know different flags.
TEST_F(ExpressionRuns, ClangCompilesALikelihoodToo) {
  if (folder.shell("command -v clang++-16").exit_code != 0) GTEST_SKIP() << "no clang++-16";
  folder.write("c.yaml", kNormal + "backend: cpu\n");
  const std::string gradient = " EMOMC_CACHE_DIR=$PWD/cache \"$EMOMC\" gradient c.yaml";
  const auto clang = folder.shell("EMOMC_CXX=clang++-16" + gradient), usual = folder.shell(gradient);
  ASSERT_EQ(clang.exit_code, 0) << clang.err;
  ASSERT_EQ(usual.exit_code, 0) << usual.err;
  const auto ours = nlohmann::json::parse(clang.out), theirs = nlohmann::json::parse(usual.out);
  EXPECT_NEAR(ours["log_likelihood"].get<double>(), theirs["log_likelihood"].get<double>(),
              1e-12 * std::abs(theirs["log_likelihood"].get<double>()));
}

TEST_F(ExpressionRuns, TheMachinesFaultsExitWith3) {
  folder.write("c.yaml", kNormal + "backend: cpu\n");
  const auto refused = [&](const std::string& environment, const std::string& words) {
    const auto result = folder.shell(environment + " EMOMC_CACHE_DIR=$PWD/cache \"$EMOMC\" run c.yaml -q");
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_FALSE(folder.exists("runs")) << result.err;
  };
  refused("PATH=/nowhere", "there is no C++ compiler");
  folder.write("broken", "#!/bin/sh\necho 'likelihood.cpp:1: error: no memory' >&2\nexit 1\n");
  folder.write("killed", "#!/bin/sh\nkill -9 $$\n");
  folder.shell("chmod +x broken killed");
  refused("EMOMC_CXX=$PWD/broken", "failed: likelihood.cpp:1: error: no memory");
  refused("EMOMC_CXX=$PWD/killed", "the compiler was killed by signal 9");
  refused("EMOMC_CXX=$PWD/missing", "EMOMC_CXX: there is no program");
  // Code is not loaded from a folder into which others may write, nor from a changed file.
  folder.shell("mkdir -p cache/host && chmod 777 cache/host");
  refused("", "chmod 700");
  folder.shell("chmod 700 cache/host");
  ASSERT_EQ(folder.shell("EMOMC_CACHE_DIR=$PWD/cache \"$EMOMC\" run c.yaml -q -o good").exit_code, 0);
  folder.shell("for f in cache/host/*.so; do echo changed > $f; done");
  EXPECT_EQ(folder.shell("EMOMC_CACHE_DIR=$PWD/cache \"$EMOMC\" run c.yaml -q -o again").exit_code, 0)
      << "it is compiled anew";
  EXPECT_EQ(
      folder.shell("env -u HOME -u XDG_CACHE_HOME -u EMOMC_CACHE_DIR \"$EMOMC\" run c.yaml -q -o homeless")
          .exit_code,
      0);
  // Without a compiler the likelihood is interpreted, unless the configuration names a backend.
  folder.write("d.yaml", kNormal + "sampler: {warmup: 100, draws: 100}\n");
  const auto interpreted = folder.shell("PATH=/nowhere \"$EMOMC\" run d.yaml -o slow");
  EXPECT_EQ(interpreted.exit_code, 0) << interpreted.err;
  EXPECT_NE(interpreted.err.find("interpreted by backend reference"), std::string::npos) << interpreted.err;
}

/// Returns the blocks of a page between ```KIND and ```.
std::vector<std::string> blocks_of(const std::string& page, const std::string& kind) {
  std::vector<std::string> blocks;
  const std::string begin = "```" + kind + "\n";
  for (auto at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const auto first = at + begin.size();
    blocks.push_back(page.substr(first, page.find("```", first) - first));
  }
  return blocks;
}

TEST(YourOwnLikelihoodPage, RunsFromTopToBottom) {
  const std::string source = EMOMC_SOURCE_DIR;
  std::ifstream file(source + "/docs/your-own-likelihood.md");
  std::stringstream text;
  text << file.rdbuf();
  const auto configurations = blocks_of(text.str(), "yaml"), commands = blocks_of(text.str(), "sh");
  ASSERT_GE(configurations.size(), 2U);
  ASSERT_EQ(commands.size(), 3U);
  ProgramFolder folder;
  folder.write("normal.yaml", configurations[0]);
  folder.write("claims.yaml", configurations[1]);
  folder.write("page.sh", "set -e\nln -s '" + source + "/docs' docs\nemomc() { \"$EMOMC\" \"$@\"; }\n" +
                              commands[0] + commands[1] + commands[2]);
  const auto result = folder.shell("sh page.sh");
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(folder.read("rates.csv").substr(0, 13), "row,rate_mean");
}

TEST_F(ExpressionRuns, CategoriesAreNumberedByTheirLevels) {
  std::string rows = "x,school\n";
  for (int i = 0; i < 90; ++i)
    rows += std::to_string(10 * (i % 3) + (i * 7 % 10) / 10.0) + (i % 3 == 0   ? ",west\n"
                                                                  : i % 3 == 1 ? ",\"the east\"\n"
                                                                               : ",north\n");
  folder.write("schools.csv", rows);
  const std::string config =
      "data: {file: schools.csv, categories: {school: auto}}\n"
      "likelihood:\n  parameters: {m: {shape: [3]}}\n  log_density: \"normal_lpdf(x, m[school], 1)\"\n"
      "  rows: {level: \"m[school]\"}\nprior: {m: {normal: {mean: 0, sd: 100}}}\n"
      "sampler: {warmup: 500, draws: 500, seed: 1}\n";
  folder.write("c.yaml", config);
  const auto run = folder.run("run c.yaml -q -o run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto manifest = nlohmann::json::parse(folder.read("run/manifest.json"));
  EXPECT_EQ(manifest["data"]["categories"]["school"], nlohmann::json({"north", "the east", "west"}));
  folder.write("new.csv", "school\nwest\nthe east\n");
  const auto predicted = nlohmann::json::parse(folder.run("predict run --data new.csv --json").out);
  EXPECT_NEAR(predicted["outputs"]["level"]["mean"][0].get<double>(), 0.45, 0.5);
  EXPECT_NEAR(predicted["outputs"]["level"]["mean"][1].get<double>(), 10.45, 0.5);
  // Each school has its own m, which depends on its rows. A warning states this, and Pareto k is high.
  const auto by_school = nlohmann::json::parse(folder.run("compare run --by school --json").out);
  EXPECT_EQ(by_school["groups"], 3);
  EXPECT_NE(by_school["warnings"].dump().find("each school has parameters of its own"), std::string::npos);
  EXPECT_GT(by_school["runs"][0]["worst_pareto_k"].get<double>(), 0.7);
  EXPECT_NE(by_school["warnings"].dump().find("school = "), std::string::npos) << by_school["warnings"];
  EXPECT_EQ(nlohmann::json::parse(folder.run("compare run --json").out)["warnings"].dump().find("of its own"),
            std::string::npos);
  folder.write("new.csv", "school\nwset\n");
  expect_refused(folder, "predict run --data new.csv",
                 {"data.categories.school: wset in row 1", "did you mean west?"});
  folder.write("c.yaml", replaced(config, "school: auto", "school: [west, north]"));
  expect_refused(folder, "check c.yaml", {"data.categories.school: the east in row 2"});
  folder.write("c.yaml", replaced(config, "{school: auto}", "{schol: auto}"));
  expect_refused(folder, "check c.yaml",
                 {"data.categories.schol: no expression uses this column; did you mean school?"});
}

}  // namespace
}  // namespace emomc
