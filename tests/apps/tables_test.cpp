// Tests CSV files of other programs, from a user's point of view.
#include "program.hpp"

namespace emomc {
namespace {

class CsvFiles : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;
  void SetUp() override { folder.write("c.yaml", "data: {file: d.csv}\nlikelihood: {components: 1}\n"); }
  void expect_checked(const std::string& arguments, const std::vector<std::string>& words) {
    const auto result = folder.run("check c.yaml " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const auto& word : words)
      EXPECT_NE(result.out.find(word), std::string::npos) << "no '" << word << "' in: " << result.out;
  }
};

TEST_F(CsvFiles, KeysDecideBetweenReadings) {
  folder.write("d.csv", "0.5,1\n2,3.5\n4,6\n");
  testing::expect_refused(folder, "check c.yaml", {"d.csv:1", "data.header: false", "data.header: true"});
  expect_checked("--set data.header=false", {"data: 3 rows x 2 columns (c0, c1)", "no header"});
  expect_checked("--set data.header=true", {"data: 2 rows x 2 columns (0.5, 1)"});
  testing::expect_refused(folder, "check c.yaml --set data.header=maybe",
                          {"data.header", "auto, true, false"});
  folder.write("d.csv", "height, m\n1,714\n1,783\n1,6\n");
  testing::expect_refused(folder, "check c.yaml",
                          {"d.csv:1", "data.separator: comma", "data.decimal: comma"});
  expect_checked("--set data.decimal=comma", {"data: 3 rows x 1 column (height, m)", "decimal commas"});
  expect_checked("--set data.separator=comma", {"data: 3 rows x 2 columns (height, m)"});
  folder.write("d.csv", ",a\n0,1.5\n1,3\n2,3.5\n");
  expect_checked("", {"data: 3 rows x 1 column (a)", "taken for row names", "skipped columns: (index)"});
}

// The report and the pointwise export of a run read its data again.
TEST_F(CsvFiles, ARunRemembersHowItsDataWereRead) {
  folder.write("d.csv", "0.5;1\n2;3,5\n4;6\n1;2\n");
  const auto run = folder.run(
      "run c.yaml -q --output r --set data.header=false --set sampler.draws=20 --set sampler.warmup=20");
  EXPECT_EQ(run.exit_code, 2) << run.err;  // the file has a decimal point and a decimal comma
  folder.write("d.csv", "0,5;1\n2;3,5\n4;6\n1;2\n");
  const auto good = folder.run(
      "run c.yaml -q --output r --set data.header=false --set sampler.draws=20 --set sampler.warmup=20");
  ASSERT_EQ(good.exit_code, 0) << good.err;
  const std::string manifest = folder.read("r/manifest.json");
  EXPECT_NE(manifest.find("\"header\": false"), std::string::npos) << manifest;
}

TEST_F(CsvFiles, AValueOfSetThatYamlCutsOffIsRefused) {
  folder.write("h #1/d.csv", "a\n1\n2\n3.5\n");
  testing::expect_refused(folder, "check c.yaml --set 'data.file=h #1/d.csv'",
                          {"data.file", "comment", "quotes of its own"});
  expect_checked("--set 'data.file=\"h #1/d.csv\"'", {"data: 3 rows x 1 column (a)"});
  testing::expect_refused(folder, "check c.yaml --set 'data.file=~/d.csv'", {"a ~ is not expanded"});
}

}  // namespace
}  // namespace emomc
