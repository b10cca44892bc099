// Tests run directories from untrusted sources: paths in them are followed no further than necessary.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "emomc/sampler/run_directory.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class ForeignRunDirectory : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  void SetUp() override {
    std::string rows = "a,b\n";
    for (int i = 0; i < 40; ++i)
      rows += std::to_string(i % 7 + 5 * (i % 2)) + "," + std::to_string(i % 5 - 5 * (i % 2)) + "\n";
    folder.write("data.csv", rows);
    folder.write("run.yaml",
                 "data: {file: data.csv}\nlikelihood: {components: 2}\n"
                 "sampler: {chains: 2, warmup: 100, draws: 100}\n");
    const auto run = folder.run("run run.yaml -q --output mine");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    std::filesystem::copy(folder / "mine", folder / "other", std::filesystem::copy_options::recursive);
  }
  void change_manifest(const std::function<void(json&)>& change) const {
    json manifest = json::parse(folder.read("mine/manifest.json"));
    change(manifest);
    folder.write("other/manifest.json", manifest.dump());
  }
  void name_data(const std::string& file) const {
    change_manifest([&](json& m) { m["data"]["files"] = {file}; });
  }
};

// A table whose name is that of a file of a run would be removed with the files of the earlier run.
TEST_F(ForeignRunDirectory, ARunRefusesToReadDataOfItsOwnDirectory) {
  const std::string rows = folder.read("data.csv");
  for (const std::string name : {"predictions.csv", "summary.csv"})
    for (const std::string how : {"--force", "--resume"}) {
      folder.write("mine/" + name, rows);
      testing::expect_refused(
          folder, "run run.yaml -q --output mine " + how + " --set data.file=mine/../mine/" + name,
          {name, "which is in its directory", "choose another --output"});
      EXPECT_EQ(folder.read("mine/" + name), rows);
    }
}

// Commands that read the data again accept only regular files, whose content must have the right SHA-256.
TEST_F(ForeignRunDirectory, DataAreReadOnlyWhereTheyAreFilesOfTheRightHash) {
  ASSERT_LE(folder.run("compare mine other").exit_code, 1);  // exit code 1 means that diagnose rejects a run
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& [file, why] : {std::pair<std::string, std::string>{"pipe", "not a regular file"},
                                  {"/dev/zero", "not a regular file"},
                                  {"da*.csv", "there is no such file"},
                                  {"gone.csv", "there is no such file"}}) {
    name_data(file);
    for (const std::string command :
         {"compare mine other", "export other --format netcdf --log-likelihood -o x.nc"})
      testing::expect_refused(folder, command, {"other/manifest.json", "data.files", file, why});
    // These commands work without the data.
    for (const std::string command : {"summary other", "diagnose other", "report other -o r.html",
                                      "export other --format netcdf -o y.nc"}) {
      const auto result = folder.run(command);
      EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << command << ": " << result.err;
    }
  }
  folder.write("changed.csv", folder.read("data.csv") + "1,2\n");
  name_data("changed.csv");
  testing::expect_refused(folder, "compare mine other", {"changed.csv", "not the data", "SHA-256"});
  EXPECT_FALSE(folder.exists("x.nc"));
}

// The directory has the manifest of one run, but the chains and the checkpoint of a run with another seed.
TEST_F(ForeignRunDirectory, ChainsOfAnotherSeedThanTheManifestsAreRefused) {
  ASSERT_EQ(folder.run("run run.yaml -q --output second --seed 77").exit_code, 0);
  const auto how =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
  for (const char* part : {"chains", "checkpoint"})
    std::filesystem::copy(folder / (std::string("second/") + part), folder / (std::string("other/") + part),
                          how);
  for (const std::string command : {"summary other", "diagnose other", "report other -o r.html"})
    testing::expect_refused(folder, command, {"other/chains", "seed 77", "manifest.json"});
  EXPECT_FALSE(folder.exists("r.html"));
}

TEST_F(ForeignRunDirectory, ManifestsAreNotWaitedForAndTheirNumbersNotBelieved) {
  std::filesystem::remove(folder / "other/manifest.json");
  ASSERT_EQ(::mkfifo((folder / "other/manifest.json").c_str(), 0600), 0);
  const auto summary = folder.run("summary other");
  EXPECT_EQ(summary.exit_code, 0) << summary.err;
  EXPECT_EQ(folder.run("report other -o r.html").exit_code, 0);
  std::filesystem::remove(folder / "other/manifest.json");

  change_manifest([](json& m) {
    m["data"]["rows"] = 1u << 31;
    m["superchains"] = 1e300;
    m["scale_floor"] = {-1, nullptr, 1e308};
    m["adaptation_drift"] = json::array({"x", 1e308});
    m["seconds"] = {{"warmup", -1e308}, {"sampling", 1e308}};
    m["evaluations"] = -1;
  });
  for (const std::string command : {"summary other", "diagnose other", "report other -o r.html",
                                    "export other --format netcdf -o y.nc", "compare mine other"}) {
    const auto result = folder.run(command);
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << command << ": " << result.err;
  }
  folder.write("other/manifest.json", "{\"kind\": \"run\", \"x\": " + std::string(15 << 20, '[') + "}");
#ifdef EMOMC_SANITIZED
  const std::string limit;  // AddressSanitizer reserves terabytes
#else
  const std::string limit = "ulimit -v 1500000;";
#endif
  EXPECT_EQ(folder.run("summary other", limit).exit_code, 0);
}

// The chains have two columns and the data three. Indices into the draws would be out of range.
TEST_F(ForeignRunDirectory, ChainsOfAnotherModelThanTheDataAllowAreRefused) {
  folder.write("three.csv", "a,b,c\n1,2,3\n2,2,5\n3,1,2\n5,5,5\n7,6,5\n");
  folder.write(
      "three.yaml",
      "data: {file: three.csv}\nlikelihood: {components: 1}\nsampler: {chains: 2, warmup: 10, draws: 10}\n");
  ASSERT_EQ(folder.run("run three.yaml -q --output three").exit_code, 0);
  folder.write("other/manifest.json", folder.read("three/manifest.json"));
  testing::expect_refused(folder, "compare three other",
                          {"other", "parameters of its chains", "gaussian_mixture", "3 columns"});
  EXPECT_EQ(folder.run("report other -o r.html").exit_code, 0);
}

TEST_F(ForeignRunDirectory, NamesReachTheTerminalWithoutControlCharacters) {
  folder.write("evil.csv", "a\x1b[2Jb,c\n1,x\n");
  folder.write("evil.yaml", "data: {file: evil.csv, columns: [nothing]}\n");
  const auto result = folder.run("check evil.yaml");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(ForeignRunDirectory, MoreChainsThanMemoryHoldsAreRefusedBeforeTheyAreMade) {
  folder.write("many.yaml",
               "data: {file: data.csv}\nlikelihood: {components: 4096}\nsampler: {chains: 1048576}\n");
  testing::expect_refused(folder, "run many.yaml --output many", {"sampler.chains", "1048576", "memory"});
  EXPECT_FALSE(folder.exists("many"));
}

}  // namespace
}  // namespace emomc
