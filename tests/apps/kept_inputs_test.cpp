// Tests that option -o of no command replaces a file that the command reads.
#include "netcdf_file.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramFolder;

namespace fs = std::filesystem;

class KeptInputs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<ProgramFolder>();
    std::string csv = "x\n";
    for (int i = 0; i < 40; ++i) csv += std::to_string((i % 2 == 0 ? -3 : 2) + 0.37 * (i % 7)) + "\n";
    for (const char* name : {"data.csv", "new.csv"}) folder->write(name, csv);
    folder->write("config.yaml",
                  "data: {file: '*ata.csv', standardize: true}\nlikelihood: {components: 2}\nthreads: 1\n"
                  "sampler: {chains: 2, warmup: 40, draws: 20, seed: 3}\n");
    folder->write("own.yaml",
                  "data: {file: data.csv}\nlikelihood:\n  parameters: {m: {}}\n"
                  "  log_density: \"normal_lpdf(x, m, 1)\"\n"
                  "prior: {m: {normal: {mean: 0, sd: 1}}}\n");
    folder->write("simulation.yaml",
                  "parameters: {weights: [1], means: [[0]], scales: [[1]]}\nrows: 5\nfile: data.csv\n");
    folder->write("truth.json", R"({"m": 0.5})");
    ASSERT_EQ(folder->run("run config.yaml --output run -q").exit_code, 0);
    ASSERT_EQ(folder->run("fit config.yaml -q -o fit.json").exit_code, 0);
    ASSERT_EQ(folder->run("export run --format stan-csv -o stan.csv").exit_code, 0);
    ASSERT_EQ(folder->run("export run --format csv -o table.csv").exit_code, 0);
    fs::create_symlink("data.csv", *folder / "link");
    fs::create_hard_link(*folder / "config.yaml", *folder / "same");
  }
  static void TearDownTestSuite() { folder.reset(); }

  /// Expects that the command is refused, naming `output`, and that no file has changed.
  static void expect_kept(const std::string& command, const std::string& output) {
    const std::string before = everything();
    expect_refused(*folder, command + " -o " + output, {"-o " + output, "the command reads this file"});
    EXPECT_EQ(everything(), before) << command;
  }
  /// Returns the names and contents of all files.
  static std::string everything() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder->path()))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with(".std"))
        files.push_back(fs::relative(entry.path(), folder->path()));
    std::sort(files.begin(), files.end());
    std::string text;
    for (const auto& file : files) text += file.string() + '\n' + folder->read(file.string()) + '\n';
    return text;
  }

  static std::unique_ptr<ProgramFolder> folder;
};
std::unique_ptr<ProgramFolder> KeptInputs::folder;

TEST_F(KeptInputs, ARunsFilesAndItsDataAreKept) {
  for (const char* command :
       {"export run --format csv", "export run --format netcdf", "predict run", "report run"})
    for (const char* output : {"run/config.yaml", "run/manifest.json", "run/chains/chain-00000.emc",
                               "run/checkpoint", "run/summary.csv", "data.csv", "./run/../data.csv", "link"})
      expect_kept(command, output);
  expect_kept("predict run --data new.csv", "new.csv");
}

TEST_F(KeptInputs, TheConfigurationTheDataAndTheStartOfAFitAreKept) {
  for (const char* output : {"config.yaml", "same", "data.csv", "link"})
    expect_kept("fit config.yaml -q", output);
  expect_kept("fit config.yaml -q --start fit.json", "fit.json");
}

TEST_F(KeptInputs, FilesOfOtherProgramsAreKept) {
  expect_kept("report stan-1.csv stan-2.csv", "stan-2.csv");
  expect_kept("export table.csv --format csv", "table.csv");
  // The files of the chains get these names.
  const std::string before = everything();
  expect_refused(*folder, "export stan-1.csv stan-2.csv --format stan-csv -o stan.csv",
                 {"-o stan-1.csv", "the command reads this file"});
  EXPECT_EQ(everything(), before);
}

TEST_F(KeptInputs, SimulatedFilesDoNotReplaceWhatTheyAreMadeFrom) {
  const std::string before = everything();
  expect_refused(*folder, "simulate own.yaml -o . --force", {"-o ./data.csv", "the command reads this file"});
  expect_refused(*folder, "simulate own.yaml -o . --rows 9 --parameters truth.json --force",
                 {"-o ./truth.json", "the command reads this file"});
  EXPECT_EQ(everything(), before);
}

TEST_F(KeptInputs, TheScriptOfAJobDoesNotReplaceTheConfiguration) {
  for (const char* output : {"config.yaml", "same"}) expect_kept("job config.yaml --force", output);
}

// What the commands themselves have written may be written again.
TEST_F(KeptInputs, ResultsAreReplaced) {
  for (const char* command :
       {"export run --format csv -o run/table.csv", "predict run -o run/predictions.csv", "report run",
        "report run -o run/report.html", "export run --format netcdf -o run/draws.nc",
        "fit config.yaml -q -o f.json", "simulate own.yaml -o made --rows 7 -q --force",
        "job config.yaml --force --output job.sh"})
    for (int time = 0; time < 2; ++time) {
      if (std::string(command).find("netcdf") != std::string::npos && !app::has_netcdf()) continue;
      const auto result = folder->run(command);
      EXPECT_EQ(result.exit_code, 0) << command << result.err;
    }
}

}  // namespace
}  // namespace emomc
