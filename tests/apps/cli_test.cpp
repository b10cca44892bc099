// Tests the program from a user's point of view: what it prints, writes and refuses.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;
using testing::ProgramResult;

constexpr const char* kSimulation =
    "model: gaussian_mixture\n"
    "parameters: {weights: [0.4, 0.6], means: [[-20, 3], [30, 5]], scales: [[4, 0.5], [6, 1]]}\n"
    "rows: 300\n"
    "columns: [a, b]\n"
    "seed: 5\n";
constexpr const char* kConfig =
    "data: {file: data/data.csv, standardize: true}\n"
    "likelihood: {components: 2}\n"
    "sampler: {chains: 2, warmup: 200, draws: 100, seed: 3}\n"
    "output: {directory: run}\n";

class Cli : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void simulate() {
    folder.write("simulation.yaml", kSimulation);
    const auto result = folder.run("simulate simulation.yaml -o data");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  void sample(const std::string& config = kConfig) {
    simulate();
    folder.write("config.yaml", config);
    const auto result = folder.run("run config.yaml -q");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  /// Expects exit code 2 and one line on stderr that contains all `words`.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    testing::expect_refused(folder, arguments, words);
  }
};

TEST_F(Cli, EverySubcommandHasHelp) {
  for (const char* command :
       {"run", "check", "fit", "summary", "diagnose", "compare", "evidence", "stack", "report", "loglik",
        "gradient", "export", "simulate", "features", "evaluate", "train", "classify", "bench", "devices"}) {
    const auto result = folder.run(std::string(command) + " --help");
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_NE(result.out.find("Example: emomc " + std::string(command)), std::string::npos) << result.out;
  }
  EXPECT_EQ(folder.run("--version").exit_code, 0);
  expect_refused("", {"subcommand"});
  expect_refused("rnu", {"did you mean run?"});
}

TEST_F(Cli, ARunWritesItsDirectoryAndSummaryReadsIt) {
  sample();
  for (const char* file : {"config.yaml", "manifest.json", "checkpoint", "summary.csv", "run.log",
                           "chains/chain-00000.emc", "chains/chain-00001.emc"})
    EXPECT_TRUE(folder.exists(std::string("run/") + file)) << file;
  const json manifest = json::parse(folder.read("run/manifest.json"));
  EXPECT_EQ(manifest["status"], "finished");
  const auto result = folder.run("summary run --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json summary = json::parse(result.out);
  EXPECT_EQ(summary["chains"], 2);
  EXPECT_EQ(summary["draws"], 100);
  EXPECT_EQ(summary["parameters"].size(), 3u + 10u);
  for (const char* key : {"name", "mean", "sd", "q5", "q50", "q95", "mcse_mean", "mcse_sd", "ess_bulk",
                          "ess_tail", "ess_bulk_per_second", "rhat"})
    EXPECT_TRUE(summary["parameters"][0].contains(key)) << key;
  const double seconds =
      summary["seconds"]["warmup"].get<double>() + summary["seconds"]["sampling"].get<double>();
  const json& first = summary["label_free"][0];
  EXPECT_NEAR(first["ess_bulk_per_second"].get<double>() * seconds, first["ess_bulk"].get<double>(),
              1e-9 * first["ess_bulk"].get<double>());
  EXPECT_EQ(folder.run("summary run --vars 'log_*' --vars 'means[0,1]'").exit_code, 0);
  expect_refused("summary run --vars nothing", {"--vars"});
  expect_refused("summary nowhere", {"nowhere"});
}

TEST_F(Cli, ExportsDrawsInTheDataUnitsAndLoglikAgreesWithThem) {
  sample(
      "data: {file: data/data.csv, standardize: true}\nlikelihood: {components: 2, precision: double}\n"
      "sampler: {chains: 2, warmup: 200, draws: 100, seed: 3}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
  std::istringstream lines(folder.read("draws.csv"));
  std::string header, line;
  std::getline(lines, header);
  EXPECT_EQ(header,
            "chain,draw,log_density,log_likelihood,log_prior,weights[0],weights[1],\"means[0,0]\","
            "\"means[0,1]\",\"means[1,0]\",\"means[1,1]\",\"scales[0,0]\",\"scales[0,1]\",\"scales[1,0]\","
            "\"scales[1,1]\"");
  std::vector<std::vector<double>> rows;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::vector<double> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 200u);
  const auto& draw = rows[150];
  EXPECT_EQ(draw[2], draw[3] + draw[4]);
  EXPECT_NEAR(std::min(draw[7], draw[9]), -20, 2);  // in the data's own units
  const json parameters{{"weights", {draw[5], draw[6]}},
                        {"means", {{draw[7], draw[8]}, {draw[9], draw[10]}}},
                        {"scales", {{draw[11], draw[12]}, {draw[13], draw[14]}}}};
  folder.write("draw.json", parameters.dump());
  for (const char* backend : {"reference", "cpu"}) {
    const auto result = folder.run(std::string("loglik --data data/data.csv --parameters draw.json --json "
                                               "--pointwise --backend ") +
                                   backend);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json loglik = json::parse(result.out);
    EXPECT_NEAR(loglik["log_likelihood"].get<double>(), draw[3], 1e-9 * std::abs(draw[3])) << backend;
    double sum = 0;
    for (const auto& row : loglik["pointwise"]) sum += row.get<double>();
    EXPECT_NEAR(sum, draw[3], 1e-9 * std::abs(draw[3]));
  }
  expect_refused("export run --format xlsx -o x", {"xlsx", "csv"});
  expect_refused("export run --format csv -o nowhere/x.csv", {"nowhere", "folder"});
}

// The end of a run depends on its draws: interruptions do not change the end, and a finished run is left
// unchanged.
TEST_F(Cli, UntilEndsARunWhenTheEssIsReached) {
  sample(
      "data: {file: data/data.csv, standardize: true}\nlikelihood: {components: 2}\n"
      "sampler: {chains: 4, warmup: 500, draws: 20000, until: {ess: 600}, seed: 3}\n"
      "output: {directory: run}\n");
  EXPECT_EQ(json::parse(folder.read("run/manifest.json"))["ended_by"], "sampler.until.ess");
  const json summary = json::parse(folder.run("summary run --json").out);
  const int draws = summary["draws"];
  EXPECT_GT(draws, 100);
  EXPECT_LT(draws, 10000);
  for (int i : {0, 1, 2}) {
    EXPECT_GE(summary["parameters"][i]["ess_bulk"].get<double>(), 600) << i;
    EXPECT_GE(summary["parameters"][i]["ess_tail"].get<double>(), 600) << i;
  }
  for (const auto& row : summary["label_free"]) {
    EXPECT_GE(row["ess_bulk"].get<double>(), 600) << row["name"];
    EXPECT_GE(row["ess_tail"].get<double>(), 600) << row["name"];
  }
  ASSERT_EQ(folder.run("export run --format csv -o a.csv").exit_code, 0);
  EXPECT_EQ(folder.run("run config.yaml --resume -q").exit_code, 0);
  ASSERT_EQ(folder.run("export run --format csv -o b.csv").exit_code, 0);
  EXPECT_EQ(folder.read("a.csv"), folder.read("b.csv"));
  double seconds = 0.03;
  for (int attempt = 0; attempt < 12; ++attempt, seconds *= 2)
    if (folder.run("run config.yaml --output again --resume", "timeout -s INT " + std::to_string(seconds))
            .exit_code == 0)
      break;
  ASSERT_EQ(folder.run("export again --format csv -o c.csv").exit_code, 0);
  EXPECT_EQ(folder.read("a.csv"), folder.read("c.csv"));

  const auto timed = folder.run(
      "run config.yaml --output timed --set 'sampler.until={seconds: 0.3}' --set sampler.draws=100000000 -q");
  EXPECT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_EQ(json::parse(folder.read("timed/manifest.json"))["ended_by"], "sampler.until.seconds");
  EXPECT_EQ(json::parse(folder.read("timed/manifest.json"))["status"], "finished");
}

TEST_F(Cli, ASphericalMixtureIsSampledInTheDataUnits) {
  sample(
      "data: {file: data/data.csv, standardize: true}\n"
      "likelihood: {components: 2, covariance: spherical, precision: double}\n"
      "sampler: {chains: 2, warmup: 300, draws: 50, seed: 3}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
  std::istringstream lines(folder.read("draws.csv"));
  std::string header, line, last;
  std::getline(lines, header);
  EXPECT_NE(header.find(",scales[0],scales[1]"), std::string::npos) << header;
  while (std::getline(lines, line)) last = line;
  std::istringstream cells(last);
  std::vector<double> draw;
  for (std::string cell; std::getline(cells, cell, ',');) draw.push_back(std::stod(cell));
  ASSERT_EQ(draw.size(), 5u + 8);
  const json parameters{{"weights", {draw[5], draw[6]}},
                        {"means", {{draw[7], draw[8]}, {draw[9], draw[10]}}},
                        {"scales", {draw[11], draw[12]}}};
  folder.write("draw.json", parameters.dump());
  const auto result = folder.run("loglik --data data/data.csv --parameters draw.json --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NEAR(json::parse(result.out)["log_likelihood"].get<double>(), draw[3], 1e-9 * std::abs(draw[3]));
  folder.write("start.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 2, covariance: spherical}\n"
               "sampler: {warmup: 10, draws: 10, init: draw.json}\n");
  EXPECT_EQ(folder.run("run start.yaml -q").exit_code, 0);
}

TEST_F(Cli, SummaryWarnsOfARunThatIsTooShort) {
  sample(
      "data: {file: data/data.csv}\nlikelihood: {components: 2}\n"
      "sampler: {chains: 2, warmup: 200, draws: 40}\noutput: {directory: short}\n");
  EXPECT_NE(folder.run("summary short").out.find("warning: not converged: "), std::string::npos);
  folder.write("config.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 2}\n"
               "sampler: {chains: 4, warmup: 1000, draws: 4000, thin: 2}\noutput: {directory: long}\n");
  ASSERT_EQ(folder.run("run config.yaml -q").exit_code, 0);
  EXPECT_EQ(folder.run("summary long").out.find("warning"), std::string::npos);
}

TEST_F(Cli, FitWritesParametersThatLoglikAgreesWith) {
  simulate();
  for (const char* covariance : {"diagonal", "spherical", "tied", "full"}) {
    folder.write("config.yaml",
                 std::string("data: {file: data/data.csv}\nlikelihood: {components: 2, covariance: ") +
                     covariance + ", precision: double}\n");
    const auto fit = folder.run("fit config.yaml -o fit.json --json -q");
    ASSERT_EQ(fit.exit_code, 0) << fit.err;
    const auto result = json::parse(fit.out);
    EXPECT_TRUE(result["converged"].get<bool>());
    const auto loglik = folder.run("loglik --data data/data.csv --parameters fit.json --json");
    ASSERT_EQ(loglik.exit_code, 0) << loglik.err;
    const double value = result["log_likelihood"];
    EXPECT_NEAR(json::parse(loglik.out)["log_likelihood"].get<double>(), value, 1e-9 * std::abs(value));
    // A fit that starts at the maximum stays there.
    const auto again = folder.run("fit config.yaml --start fit.json --json -q");
    EXPECT_NEAR(json::parse(again.out)["log_likelihood"].get<double>(), value, 1e-9 * std::abs(value));
  }
}

// The model has one component with known scales s and normal(m, t) priors of its mean. The mode equals the
// posterior mean, which has a closed form.
TEST_F(Cli, FitFindsAPosteriorMode) {
  std::string csv = "x\n";
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    const double x = 0.3 * (i % 11) - 1;
    csv += std::to_string(x) + "\n";
    sum += x;
  }
  folder.write("data.csv", csv);
  folder.write("config.yaml",
               "data: {file: data.csv, standardize: false}\nlikelihood: {components: 1}\n"
               "prior: {means: {normal: {mean: 2, sd: 0.1}}, scales: {fixed: 0.5}}\n");
  const auto fit = folder.run("fit config.yaml --maximize posterior --json -q");
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const double precision = 1 / 0.01 + 40 / 0.25, expected = (2 / 0.01 + sum / 0.25) / precision;
  EXPECT_NEAR(json::parse(fit.out)["parameters"]["means"][0][0].get<double>(), expected, 1e-6);
  expect_refused(
      "fit config.yaml --maximize posterior --set 'prior.means={normal: {mean: 0, sd: {half_normal: 1}}}'",
      {"sampled arguments"});
  expect_refused("fit config.yaml --maximize both", {"both"});
}

TEST_F(Cli, ResumingGivesTheDrawsOfAnUninterruptedRun) {
  const std::string config =
      "data: {file: data/data.csv, standardize: true}\nlikelihood: {components: 2}\n"
      "sampler: {chains: 2, warmup: 500, draws: 8000, seed: 3}\noutput: {directory: run}\n";
  sample(config);
  int interrupted = 0;
  bool finished = false;
  double seconds = 0.05;
  for (int attempt = 0; attempt < 12 && !finished; ++attempt, seconds *= 2) {
    const ProgramResult result =
        folder.run("run config.yaml --output again --resume", "timeout -s INT " + std::to_string(seconds));
    finished = result.exit_code == 0;
    interrupted += !finished;
  }
  ASSERT_TRUE(finished);
  EXPECT_GE(interrupted, 1) << "nothing was interrupted: the run is too short for this test";
  ASSERT_EQ(folder.run("export run --format csv -o a.csv").exit_code, 0);
  ASSERT_EQ(folder.run("export again --format csv -o b.csv").exit_code, 0);
  EXPECT_EQ(folder.read("a.csv"), folder.read("b.csv"));
}

// The reader that docs/chain-format.md prints can read the files of the program.
TEST_F(Cli, TheDocumentedNumpyReaderWorks) {
  if (std::system("${EMOMC_TEST_PYTHON:-python3} -c 'import numpy' 2>/dev/null") != 0)
    GTEST_SKIP() << "no python3 with numpy";
  std::ifstream document(std::string(EMOMC_SOURCE_DIR) + "/docs/chain-format.md");
  std::string line, reader;
  bool inside = false;
  while (std::getline(document, line)) {
    if (line.rfind("```", 0) == 0)
      inside = line == "```python";
    else if (inside)
      reader += line + "\n";
  }
  for (const auto& [covariance, last] :
       {std::pair<std::string, std::string>{"diagonal", "scales[1,1]"}, {"full", "covariances[1,1,1]"}}) {
    std::string config = kConfig;
    config.replace(config.find("{components: 2}"), 15, "{components: 2, covariance: " + covariance + "}");
    std::filesystem::remove_all(folder / "run");
    std::filesystem::remove_all(folder / "data");
    sample(config);
    folder.write("reader.py",
                 reader +
                     "step, prior, likelihood, x, names = read_chain('run/chains/chain-00001.emc')\n"
                     "print(len(step), names[2], names[-1])\n"
                     "print(','.join(map(repr, map(float, [prior[7], *x[7]]))))\n");
    ASSERT_EQ(std::system(("cd '" + folder.path().string() +
                           "' && ${EMOMC_TEST_PYTHON:-python3} reader.py > read.txt 2> error.txt")
                              .c_str()),
              0)
        << folder.read("error.txt");
    ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
    std::istringstream read(folder.read("read.txt")), exported(folder.read("draws.csv"));
    std::getline(read, line);
    EXPECT_EQ(line, "100 means[0,0] " + last);
    std::string expected;
    while (expected.rfind("1,7,", 0) != 0 && std::getline(exported, expected)) continue;
    std::getline(read, line);
    std::istringstream ours(line), theirs(expected);
    std::string cell;
    for (int skip = 0; skip < 4; ++skip) std::getline(theirs, cell, ',');
    for (std::string value; std::getline(ours, value, ',');) {
      ASSERT_TRUE(std::getline(theirs, cell, ','));
      EXPECT_EQ(std::stod(value), std::stod(cell));
    }
  }
}

TEST_F(Cli, BadInputIsOneLineExitCode2AndNothingWritten) {
  simulate();
  const auto config = [&](const std::string& text) { folder.write("bad.yaml", text); };
  const std::string data = "data: {file: data/data.csv}\n";
  config(data + "likelihood: {componets: 2}\n");
  expect_refused("run bad.yaml --output out", {"bad.yaml:2", "componets", "components"});
  config(data + "likelihood: {components: 0}\n");
  expect_refused("run bad.yaml --output out", {"bad.yaml:2", "components", "1 to"});
  config("data: {file: data/data.csv, standardize: true}\nprior: {scales: {half_normal: -1}}\n");
  expect_refused("run bad.yaml --output out", {"bad.yaml:2", "half_normal", "-1"});
  config(data + "prior: {means: {normal: {mean: 0, sd: 1}}}\n");
  expect_refused("run bad.yaml --output out", {"bad.yaml:2", "prior.means", "standardize"});
  config("data: {file: nowhere.csv}\n");
  expect_refused("run bad.yaml --output out", {"nowhere.csv"});
  config("data: {file: data/data.csv, columns: [a, z]}\n");
  expect_refused("run bad.yaml --output out", {"data.csv", "z"});

  folder.write("letter.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n11,x12\n");
  config("data: {file: letter.csv}\n");
  expect_refused("run bad.yaml --output out", {"letter.csv", "7", "b", "x12"});
  folder.write("empty.csv", "");
  config("data: {file: empty.csv}\n");
  expect_refused("run bad.yaml --output out", {"empty.csv"});
  folder.write("header.csv", "a,b\n");
  config("data: {file: header.csv}\n");
  expect_refused("run bad.yaml --output out", {"header.csv", "no rows"});
  folder.write("ragged.csv", "a,b\n1,2\n3\n");
  config("data: {file: ragged.csv}\n");
  expect_refused("run bad.yaml --output out", {"ragged.csv", "3"});
  folder.write("nan.csv", "a,b\n1,2\n3,nan\n");
  config("data: {file: nan.csv}\n");
  expect_refused("check bad.yaml", {"nan.csv", "3", "b"});

  config(data);
  folder.write("full/notes.txt", "mine");
  expect_refused("run bad.yaml --output full", {"full", "not empty"});
  expect_refused("run bad.yaml --output full --force", {"full", "notes.txt"});
  EXPECT_EQ(folder.read("full/notes.txt"), "mine");
  expect_refused("run bad.yaml --output out --backend gpu", {"gpu", "cuda"});
  expect_refused("run bad.yaml --output out --set sampler.chains=none", {"sampler.chains", "none"});
  expect_refused("run nowhere.yaml", {"nowhere.yaml"});
  EXPECT_FALSE(folder.exists("out"));
}

TEST_F(Cli, LoglikRefusesWhatDoesNotFit) {
  simulate();
  const auto loglik = [&](const std::string& parameters) {
    folder.write("p.json", parameters);
    return "loglik --data data/data.csv --parameters p.json";
  };
  const std::string rest = ", \"means\": [[0, 0], [1, 1]], \"scales\": [[1, 1], [1, 1]]}";
  expect_refused(loglik("{\"weights\": [0.5, 0.6]" + rest), {"p.json", "weights", "1.1"});
  expect_refused(loglik("{\"weights\": [0.5, 0.5], \"means\": [[0, 0]], \"scales\": [[1, 1], [1, 1]]}"),
                 {"p.json", "means"});
  expect_refused(
      loglik("{\"weights\": [0.5, 0.5], \"means\": [[0, 0], [1, 1]], \"scales\": [[1, 1], [1, -1]]}"),
      {"p.json", "scales"});
  expect_refused(loglik("{\"wieghts\": [1]" + rest), {"p.json", "weights"});
  expect_refused(loglik("nonsense"), {"p.json"});
  expect_refused("loglik --data data/data.csv --parameters nowhere.json", {"nowhere.json"});
  expect_refused("loglik --data data/data.csv --parameters p.json --model triangle", {"triangle"});
}

TEST_F(Cli, CheckSaysWhatARunWouldTakeAndWritesNothing) {
  simulate();
  folder.write("config.yaml", kConfig);
  const auto text = folder.run("check config.yaml");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* word : {"300 rows x 2 columns (a, b)", "prior of means", "data's own units", "memory:",
                           "output:", "likelihood evaluations to come", "parameters: 10, 9 of them free"})
    EXPECT_NE(text.out.find(word), std::string::npos) << word << " not in\n" << text.out;
  const auto machine = folder.run(
      "check config.yaml --json --set sampler.draws=50 --set sampler.proposal.kind=component_wise");
  ASSERT_EQ(machine.exit_code, 0) << machine.err;
  const json check = json::parse(machine.out);
  EXPECT_EQ(check["parameters"], 10);
  EXPECT_EQ(check["evaluations"], (200 + 50) * 2 * 5);
  std::size_t sum = 0;
  for (const char* part : {"data", "work", "component_caches", "state", "draws", "drawn_ahead"})
    sum += check["memory_bytes"][part].get<std::size_t>();
  EXPECT_EQ(check["memory_bytes"]["total"], sum);
  // The state has at least two points of two chains, each in both coordinate systems.
  EXPECT_GT(check["memory_bytes"]["state"], 2 * 4 * 10 * 8);
  EXPECT_FALSE(folder.exists("run"));
}

TEST_F(Cli, SimulationsAreReproducibleAndChecked) {
  simulate();
  const std::string first = folder.read("data/data.csv");
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 301);
  ASSERT_EQ(folder.run("simulate simulation.yaml -o data2").exit_code, 0);
  EXPECT_EQ(folder.read("data2/data.csv"), first);
  EXPECT_EQ(json::parse(folder.read("data/truth.json"))["means"][1][0], 30.0);
  expect_refused("simulate simulation.yaml -o data", {"data", "not empty"});
  folder.write("bad.yaml", "model: gaussian_mixture\nparameters: {weights: [1], means: [[0]]}\nrows: 3\n");
  expect_refused("simulate bad.yaml -o out", {"bad.yaml:2", "scales"});
  folder.write("bad.yaml", std::string(kSimulation) + "rwos: 3\n");
  expect_refused("simulate bad.yaml -o out", {"rwos", "rows"});
  EXPECT_FALSE(folder.exists("out"));
  const auto corpus = folder.run("simulate '" EMOMC_SOURCE_DIR "/configs/demo/corpus.yaml' -o corpus");
  ASSERT_EQ(corpus.exit_code, 0) << corpus.err;
  for (const char* emotion : {"Neutral", "Sad", "Bored", "Happy", "HotAnger"})
    EXPECT_TRUE(folder.exists(std::string("corpus/") + emotion + "_M2.csv"));
}

TEST_F(Cli, ACorpusIsMadeFromADiagonalMixtureOnly) {
  folder.write("corpus.yaml",
               "model: gaussian_mixture\n"
               "parameters: {weights: [0.5, 0.5], means: [[0, 0], [3, 3]], scales: [1, 2]}\n"
               "corpus: {speakers: [a], emotions: {sad: {spread: 2}}}\n");
  expect_refused("simulate corpus.yaml -o data", {"corpus.yaml:3", "diagonal"});
}

// Emotion a_b with speaker c and emotion a with speaker b_c would write the same file.
TEST_F(Cli, ACorpusIsNotMadeWhereItsFileNamesAreAmbiguous) {
  const auto refused = [&](const std::string& speakers, const std::string& emotions, const char* word) {
    folder.write("corpus.yaml",
                 "model: gaussian_mixture\n"
                 "parameters: {weights: [1], means: [[0]], scales: [[1]]}\n"
                 "corpus: {speakers: [" +
                     speakers + "], emotions: {" + emotions + "}}\n");
    expect_refused("simulate corpus.yaml -o ambiguous", {"corpus.yaml:3", word});
    EXPECT_FALSE(folder.exists("ambiguous"));
  };
  refused("c", "a_b: {}", "a_b");
  refused("b_c", "a: {}", "b_c");
  refused("c, d, c", "a: {}", "listed twice");
}

TEST_F(Cli, BenchAndDevicesPrintJson) {
  const auto bench =
      folder.run("bench --method reference,cpu --rows 100 --chains 1,2 --seconds 0.001 --json");
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  const json results = json::parse(bench.out);
  const auto events =
      folder.run("bench --model two_gaussian --method cpu --rows 100 --chains 1 --seconds 0.001 --json");
  ASSERT_EQ(events.exit_code, 0) << events.err;
  EXPECT_EQ(json::parse(events.out)[0]["dim"], 1);
  EXPECT_GT(json::parse(events.out)[0]["microseconds_per_evaluation"], 0);
  folder.write("own.csv", "x\n0.5\n1.5\n");
  folder.write(
      "own.yaml",
      "data: {file: own.csv}\nlikelihood: {parameters: {m: {}}, log_density: 'normal_lpdf(x, m, 1)'}\n"
      "prior: {m: {normal: {mean: 0, sd: 1}}}\n");
  const auto own =
      folder.run("bench --config own.yaml --method reference,cpu --chains 2 --seconds 0.001 --json");
  ASSERT_EQ(own.exit_code, 0) << own.err;
  for (const json& one : json::parse(own.out)) EXPECT_GT(one["microseconds_per_gradient"], 0) << one;
  const auto gradient =
      folder.run("bench --gradient --method cpu --rows 100 --chains 2 --seconds 0.001 --json");
  ASSERT_EQ(gradient.exit_code, 0) << gradient.err;
  const json slopes = json::parse(gradient.out);
  EXPECT_GT(slopes[0]["microseconds_per_gradient"], 0);
  EXPECT_FALSE(slopes[0].contains("microseconds_per_step"));
  ASSERT_EQ(results.size(), 3u);
  for (const char* key :
       {"method", "n", "dim", "components", "chains", "microseconds_per_evaluation", "microseconds_per_step"})
    EXPECT_TRUE(results[0].contains(key)) << key;
  EXPECT_GT(results[2]["microseconds_per_step"].get<double>(), 0);
  const auto devices = folder.run("devices --json");
  ASSERT_EQ(devices.exit_code, 0);
  EXPECT_TRUE(json::parse(devices.out)["cuda"].contains("devices"));
}

TEST_F(Cli, ShippedConfigurationsAreValid) {
  ASSERT_EQ(
      folder.run("simulate '" EMOMC_SOURCE_DIR "/configs/demo/corpus.yaml' -o runs/demo-corpus").exit_code,
      0);
  const auto demo = folder.run("check '" EMOMC_SOURCE_DIR "/configs/demo/sad.yaml'");
  EXPECT_EQ(demo.exit_code, 0) << demo.err;
  ASSERT_EQ(folder
                .run("simulate '" EMOMC_SOURCE_DIR "/configs/two_gaussian_events.yaml' "
                     "-o runs/two_gaussian_data -q")
                .exit_code,
            0);
  const auto fit = folder.run("check '" EMOMC_SOURCE_DIR "/configs/two_gaussian.yaml'");
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
}

}  // namespace
}  // namespace emomc
