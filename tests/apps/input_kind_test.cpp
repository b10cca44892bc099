// Tests that messages about a file of the wrong kind name its kind and say what to do instead.
#include "program.hpp"

namespace emomc {
namespace {

using testing::ProgramFolder;

class WrongKind : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    std::string rows = "a,b\n";
    for (int i = 0; i < 40; ++i)
      rows += std::to_string(i % 7 + 20 * (i % 2)) + "," + std::to_string(i % 5) + "\n";
    folder.write("data.csv", rows);
    folder.write("mine.yaml",
                 "data: {file: data.csv}\nlikelihood: {components: 2}\n"
                 "sampler: {chains: 2, warmup: 50, draws: 20}\n");
    folder.write("emotions.yaml", "corpus: {path: features}\n");
    folder.write("simulation.yaml",
                 "model: gaussian_mixture\nparameters: {weights: [1], means: [[0]], scales: [[1]]}\n"
                 "rows: 5\n");
    folder.write("parameters.json", R"({"weights": [1], "means": [[0, 0]], "scales": [[1, 1]]})");
    folder.write("sound.wav", "RIFF    WAVEfmt ");
    folder.write("notes/readme.txt", "text");
  }
  void sample() {
    const auto result = folder.run("run mine.yaml -q");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    testing::expect_refused(folder, arguments, words);
  }
};

TEST_F(WrongKind, WhereARunIsExpected) {
  expect_refused("summary mine.yaml",
                 {"mine.yaml is a configuration, not a run; run it first: emomc run mine.yaml"});
  sample();
  const std::vector<std::string> commands{"summary ", "diagnose ", "report -o page.html ",
                                          "export --format csv -o draws.csv ", "compare "};
  for (const std::string& command : commands) {
    expect_refused(command + "mine.yaml", {"mine.yaml is a configuration, not a run; its run is runs/mine"});
    expect_refused(command + "emotions.yaml",
                   {"is a configuration of evaluate and train, not a run", "emomc evaluate emotions.yaml"});
    expect_refused(command + "simulation.yaml", {"is a configuration of simulate, not a run"});
    expect_refused(command + "data.csv",
                   {"data.csv is a table of data, not draws", "data: {file: data.csv}"});
    expect_refused(command + "sound.wav", {"sound.wav is a recording, not a run"});
    expect_refused(command + "parameters.json", {"parameters.json is a parameter file, not a run"});
    expect_refused(command + "runs/mine/chains/chain-00000.emc",
                   {"is a file of a run, not a run; give the run's directory: runs/mine"});
    expect_refused(command + "runs/mine/checkpoint", {"give the run's directory: runs/mine"});
    expect_refused(command + "runs", {"runs is a folder, not a run; it has runs in it", "runs/mine"});
    expect_refused(command + "notes", {"notes: this is no run directory"});
  }
  EXPECT_FALSE(folder.exists("page.html"));
  EXPECT_FALSE(folder.exists("draws.csv"));
}

TEST_F(WrongKind, WhereAConfigurationIsExpected) {
  sample();
  ASSERT_EQ(folder.run("export runs/mine --format csv -o draws.csv").exit_code, 0);
  for (const std::string command : {"run ", "check ", "fit ", "evaluate ", "train -o model "}) {
    expect_refused(command + "runs/mine",
                   {"runs/mine is a run directory, not a configuration (YAML)",
                    "its configuration is runs/mine/config.yaml", "emomc summary runs/mine"});
    expect_refused(command + "runs/mine/chains/chain-00001.emc",
                   {"is a file of a run", "runs/mine/config.yaml"});
    expect_refused(command + "data.csv", {"data.csv is a table of data", "data: {file: data.csv}"});
    expect_refused(command + "sound.wav", {"sound.wav is a recording", "emomc classify"});
    expect_refused(command + "draws.csv", {"draws.csv is a file of draws", "emomc summary draws.csv"});
    expect_refused(command + "parameters.json", {"is a parameter file", "sampler: {init: parameters.json}"});
    expect_refused(command + "notes", {"notes is a folder, not a configuration"});
    expect_refused(command + "simulation.yaml",
                   {"simulation.yaml:2: parameters: this is a configuration of emomc simulate, not of "});
  }
  for (const std::string command : {"run ", "fit "})
    expect_refused(command + "emotions.yaml",
                   {"emotions.yaml:1: corpus: this is a configuration of emomc evaluate and train, not of "
                    "run, check and fit"});
  for (const std::string command : {"evaluate ", "train -o model ", "simulate -o data "})
    expect_refused(command + "mine.yaml",
                   {"mine.yaml:1: data: this is a configuration of emomc run, check and fit"});
  EXPECT_FALSE(folder.exists("model"));
}

TEST_F(WrongKind, WhereAModelIsExpected) {
  sample();
  expect_refused("classify runs/mine sound.wav",
                 {"runs/mine is a run directory, not the directory of a model", "emomc train CONFIG"});
  expect_refused("classify emotions.yaml sound.wav",
                 {"emotions.yaml is a configuration of evaluate and train, not the directory of a model",
                  "emomc train emotions.yaml -o MODEL"});
  expect_refused("classify sound.wav runs/mine",
                 {"sound.wav is a recording", "emomc classify MODEL sound.wav"});
  expect_refused("classify notes sound.wav", {"notes is a folder, not the directory of a model"});
}

}  // namespace
}  // namespace emomc
