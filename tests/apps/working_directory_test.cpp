// Tests relative paths, and run directories that are read from another folder.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

class WorkingDirectory : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    std::string rows = "a,b\n";
    for (int i = 0; i < 60; ++i)
      rows += std::to_string(i % 7 + 20 * (i % 2)) + "," + std::to_string(i % 5) + "\n";
    folder.write("study/data.csv", rows);
    folder.write("study/mine.yaml",
                 "data: {file: data.csv}\nlikelihood: {components: 1}\n"
                 "sampler: {chains: 2, warmup: 200, draws: 300}\noutput: {directory: run}\n");
  }
};

TEST_F(WorkingDirectory, DataBesideTheConfigurationAreNamed) {
  testing::expect_refused(
      folder, "run study/mine.yaml",
      {"study/mine.yaml: data.file: data.csv: there is no such file in the working directory",
       "there is study/data.csv beside the configuration", "write data.file: study/data.csv"});
  testing::expect_refused(folder, "check study/mine.yaml --set 'data.file=d*.csv'", {"study/d*.csv"});
  testing::expect_refused(folder, "check study/mine.yaml --set data.file=none.csv",
                          {"none.csv: there is no such file"});
  folder.write("study/start.json", "{}");
  testing::expect_refused(folder,
                          "check study/mine.yaml --set data.file=study/data.csv sampler.init=start.json",
                          {"sampler.init", "study/start.json"});
  folder.write("study/features/a.csv", "x\n1\n");
  folder.write("study/emotions.yaml", "corpus: {path: features}\n");
  testing::expect_refused(folder, "check study/emotions.yaml", {"corpus.path", "study/features"});
  EXPECT_EQ(folder.run("check study/mine.yaml --set data.file=study/data.csv").exit_code, 0);
  EXPECT_FALSE(folder.exists("run"));
}

TEST_F(WorkingDirectory, ARunFindsItsDataFromAnotherFolder) {
  ASSERT_EQ(
      folder.shell("cd study && $EMOMC run mine.yaml -q && $EMOMC run mine.yaml -q --output other").exit_code,
      0);
  folder.write("elsewhere/data.csv", "a,b\n1,2\n3,4\n");  // other data with the same name
  const auto from_elsewhere = [&](const std::string& arguments) {
    const auto result = folder.shell("cd elsewhere && $EMOMC " + arguments);
    EXPECT_LE(result.exit_code, 1) << arguments << ": " << result.err;
    return result.out;
  };
  EXPECT_EQ(json::parse(from_elsewhere("summary ../study/run --json --predictive"))["predictive"].size(),
            18u);
  EXPECT_EQ(json::parse(from_elsewhere("compare ../study/run ../study/other --json"))["groups"], 60);
  if (from_elsewhere("report ../study/run -o page.html") == "page.html\n") {
    EXPECT_EQ(folder.read("elsewhere/page.html").find("\"histogram\":[]"), std::string::npos);
  }
  // The data are moved together with the run: a project that was moved as a whole is read from its root.
  std::filesystem::rename(folder / "study", folder / "moved");
  const auto moved = folder.shell("cd moved && $EMOMC summary run --predictive");
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  const auto lost = folder.shell("cd elsewhere && $EMOMC compare ../moved/run");
  EXPECT_EQ(lost.exit_code, 2) << lost.out;
}

}  // namespace
}  // namespace emomc
