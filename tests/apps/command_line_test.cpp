// Tests command lines of newcomers: mistyped commands and options, and several values after one option.
#include <nlohmann/json.hpp>

#include "netcdf_file.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

class CommandLine : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void write_config() {
    std::string rows = "a,b\n";
    for (int i = 0; i < 40; ++i)
      rows += std::to_string(i % 7 + 20 * (i % 2)) + "," + std::to_string(i % 5) + "\n";
    folder.write("data.csv", rows);
    folder.write("config.yaml",
                 "data: {file: data.csv}\nlikelihood: {components: 2}\n"
                 "sampler: {chains: 2, warmup: 50, draws: 20}\noutput: {directory: run}\n");
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    testing::expect_refused(folder, arguments, words);
  }
};

TEST_F(CommandLine, AMistypedCommandIsNamedWithTheNearestOne) {
  expect_refused("rnu", {"rnu: there is no such command; did you mean run?", "allowed: run, check"});
  expect_refused("sumary run", {"did you mean summary?"});
  expect_refused("diagnoze run", {"did you mean diagnose?"});
  expect_refused("xyzzy", {"xyzzy", "allowed: run, check", "emomc --help"});
}

TEST_F(CommandLine, VersionAndHelpAreUnderstoodWithoutDashes) {
  const auto version = folder.run("version"), dashed = folder.run("--version");
  EXPECT_EQ(version.exit_code, 0) << version.err;
  EXPECT_EQ(version.out, dashed.out);
  EXPECT_EQ(version.out.rfind("emomc ", 0), 0u);
  EXPECT_EQ(folder.run("help").out, folder.run("--help").out);
  EXPECT_EQ(folder.run("help run").out, folder.run("run --help").out);
  expect_refused("--verison", {"--verison: emomc has no such option; did you mean --version?"});
}

TEST_F(CommandLine, AMistypedTopicOfHelpIsNamedWithTheNearestOne) {
  expect_refused("help errs", {"errs: there is no such command; did you mean errors?"});
  expect_refused("help sumary", {"did you mean summary?"});
}

TEST_F(CommandLine, AJobHasATimeOfSlurm) {
  write_config();
  for (const char* time :
       {"6", "90", "5:01", "90:30", "24:00:00", "2-0", "2-12", "2-12:30", "2-12:30:15", "0", "0:0:0"})
    EXPECT_EQ(folder.run(std::string("job config.yaml --time ") + time).exit_code, 0) << time;
  for (const char* time :
       {"banana", "1:2:3:4", "1-", "-1", "1-2-3", "12:", ":30", "1.5", "1-2:3:4:5", "1h", "+5", "9999999999"})
    expect_refused(
        std::string("job config.yaml --time=") + time,
        {"--time: ", "is no time of Slurm; allowed: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS"});
  // SIGTERM would come at once.
  expect_refused("job config.yaml --time 5", {"--time: 5 is 300 s", "--warning = 300 s"});
  EXPECT_EQ(folder.run("job config.yaml --time 5 --warning 60").exit_code, 0);
}

TEST_F(CommandLine, AJobIsPrintedOrWritten) {
  write_config();
  const std::string script = folder.run("job config.yaml").out;
  EXPECT_EQ(script.rfind("#!/bin/bash\n#SBATCH", 0), 0u);
  EXPECT_EQ(folder.run("job config.yaml -o -").out, script);
  EXPECT_FALSE(folder.exists("-"));
  EXPECT_EQ(folder.run("job config.yaml -o job.sh").exit_code, 0);
  EXPECT_EQ(folder.read("job.sh"), script);
  expect_refused("job config.yaml -o job.sh", {"job.sh: the file exists; --force replaces it"});
}

TEST_F(CommandLine, CirclesOfLinksAreNamed) {
  write_config();
  std::filesystem::create_symlink("round", folder / "round");
  for (const char* command :
       {"run round", "check round", "summary round", "diagnose round", "report round -o p.html",
        "predict round", "compare round", "simulate round -o made", "check config.yaml --set data.file=round",
        "fit config.yaml --start round"})
    expect_refused(command, {"round: its symbolic links lead in a circle"});
}

TEST_F(CommandLine, NetcdfIsKnownWithoutItsEnding) {
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  write_config();
  ASSERT_EQ(folder.run("run config.yaml -q").exit_code, 0);
  std::filesystem::copy(folder / "run/draws.nc", folder / "draws.netcdf");
  const auto result = folder.run("summary draws.netcdf");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("means"), std::string::npos);
}

TEST_F(CommandLine, TooManyThreadsAreFewer) {
  write_config();
  const auto result = folder.run("run config.yaml -q --set threads=4096 --set likelihood.components=1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(
      result.err.find("emomc: warning: 4096 threads are too many for the processors of this machine; going "
                      "on with "),
      std::string::npos)
      << result.err;
}

TEST_F(CommandLine, AMistypedOptionIsNamedWithTheNearestOne) {
  write_config();
  expect_refused("run config.yaml --ouput x", {"--ouput", "did you mean --output?", "emomc run --help"});
  expect_refused("run config.yaml --ouput=x", {"--ouput", "did you mean --output?"});
  expect_refused("run config.yaml -output x", {"-output", "did you mean --output?"});
  // A missing required option does not hide the message about its mistyped name.
  expect_refused("export run --fromat csv -o y", {"--fromat", "did you mean --format?"});
  // The option is the name of a key of the configuration.
  expect_refused("run config.yaml --draws 500", {"--draws", "--set sampler.draws=500"});
  expect_refused("run config.yaml --darws=500", {"--darws", "--set sampler.draws=500"});
  expect_refused("check config.yaml --keep-warmup", {"--set output.keep_warmup="});
  EXPECT_FALSE(folder.exists("run"));
  EXPECT_FALSE(folder.exists("x"));
}

TEST_F(CommandLine, OneOptionTakesSeveralValues) {
  write_config();
  const auto check = folder.run(
      "check --json --set sampler.draws=30 sampler.thin=2 config.yaml --set=threads=1 backend=cpu");
  ASSERT_EQ(check.exit_code, 0) << check.err;
  const std::string config = json::parse(check.out)["config"];
  for (const char* line : {"draws: 30\n", "thin: 2\n", "threads: 1\n", "backend: cpu\n"})
    EXPECT_NE(config.find(line), std::string::npos) << line << " not in\n" << config;
  ASSERT_EQ(folder.run("run config.yaml -q").exit_code, 0);
  for (const char* arguments :
       {"summary run --vars log_prior 'weights*' --json", "summary --vars log_prior 'weights*' run --json",
        "summary run --json --vars=log_prior weights[0] weights[1]"}) {
    const auto summary = folder.run(arguments);
    ASSERT_EQ(summary.exit_code, 0) << arguments << ": " << summary.err;
    EXPECT_EQ(json::parse(summary.out)["parameters"].size(), 3u) << arguments;
  }
  // The name of a missing run is not taken for the name of a quantity.
  expect_refused("summary --vars log_prior runs/none", {"runs/none"});
  expect_refused("summary --vars log_prior none.csv", {"none.csv"});
}

TEST_F(CommandLine, ThreadsIsAnOptionOfRun) {
  write_config();
  ASSERT_EQ(folder.run("run config.yaml -q --threads 1").exit_code, 0);
  EXPECT_NE(folder.read("run/config.yaml").find("threads: 1\n"), std::string::npos);
  expect_refused("run config.yaml --force --threads none", {"threads", "none"});
}

}  // namespace
}  // namespace emomc
