// Tests option -o with the name of a link, a FIFO or a device, and standard output on a full disk.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

#include "program.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramFolder;
using testing::ProgramResult;

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

class OutputFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<ProgramFolder>();
    std::string csv = "x\n";
    for (int i = 0; i < 40; ++i) csv += std::to_string((i % 2 == 0 ? -3 : 2) + 0.37 * (i % 7)) + "\n";
    folder->write("data.csv", csv);
    folder->write("config.yaml",
                  "data: {file: data.csv, standardize: true}\nlikelihood: {components: 2}\nthreads: 1\n"
                  "sampler: {chains: 2, warmup: 40, draws: 20, seed: 3}\n");
    const ProgramResult result = folder->run("run config.yaml --output run -q");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(folder->run("export run --format csv -o whole.csv").exit_code, 0);
    EXPECT_EQ(folder->run("fit config.yaml -q -o fit.json").exit_code, 0);
  }
  static void TearDownTestSuite() { folder.reset(); }

  static bool is_link(const std::string& name) { return std::filesystem::is_symlink(*folder / name); }
  static void expect_no_temporaries(const std::string& in) {
    for (const auto& entry : std::filesystem::directory_iterator(*folder / in))
      EXPECT_FALSE(has(entry.path().filename().string(), ".tmp")) << entry.path();
  }

  static std::unique_ptr<ProgramFolder> folder;
};
std::unique_ptr<ProgramFolder> OutputFiles::folder;

TEST_F(OutputFiles, PathsThatAreTooLongAreBadInput) {
  const std::string name(300, 'x');
  for (const std::string& command :
       {"summary " + name, "diagnose " + name, "export run --format csv -o " + name, "report run -o " + name,
        "fit config.yaml -q -o " + name, "run config.yaml --output " + name}) {
    const ProgramResult result = folder->run(command);
    EXPECT_EQ(result.exit_code, 2) << command << result.err;
    EXPECT_TRUE(has(result.err, "too long")) << result.err;
  }
}

TEST_F(OutputFiles, ALinkStaysAndItsTargetIsWritten) {
  std::filesystem::create_directories(*folder / "big/deep");
  folder->write("big/deep/real", "old");
  ASSERT_EQ(::chmod((*folder / "big/deep/real").c_str(), 0640), 0);
  for (const auto& [link, target] : {std::pair{"near", "big/link"}, {"big/link", "deep/real"}})
    std::filesystem::create_symlink(target, *folder / link);
  struct Case {
    const char *command, *begins;
  };
  for (const auto& [command, begins] : {Case{"export run --format csv -o near", "chain,draw,"},
                                        {"export run --format netcdf -o near", "\x89HDF"},
                                        {"fit config.yaml -q -o near", "{"},
                                        {"report run -o near", "<!DOCTYPE html>"}}) {
    folder->write("big/deep/real", "old");
    const ProgramResult result = folder->run(command);
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
    EXPECT_TRUE(is_link("near") && is_link("big/link")) << command;
    EXPECT_TRUE(folder->read("big/deep/real").starts_with(begins)) << command;
    struct stat status {};
    ASSERT_EQ(::stat((*folder / "big/deep/real").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u) << command;
    for (const char* in : {"", "big", "big/deep"}) expect_no_temporaries(in);
  }
}

// The limit on the size of files kills the program while it writes the table.
TEST_F(OutputFiles, ASimulationThatIsKilledLeavesNoTableWithItsName) {
  folder->write(
      "simulation.yaml",
      "model: two_gaussian\nparameters: {fraction: 0.7, mean: 5.2, sigma: [0.1, 0.3]}\nrows: 20000\n"
      "columns: [mass]\nfile: events.csv\n");
  const std::string command = "\"$EMOMC\" simulate simulation.yaml -o simulated";
  EXPECT_NE(folder->shell("ulimit -f 16; " + command).exit_code, 0);
  EXPECT_FALSE(folder->exists("simulated/events.csv"));
  folder->write("simulated/events.csv.tmp", "of the user");
  EXPECT_EQ(folder->shell(command + " --force").exit_code, 0);
  const std::string table = folder->read("simulated/events.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 20001);
  EXPECT_EQ(folder->read("simulated/events.csv.tmp"), "of the user");
  std::filesystem::remove(*folder / "simulated/events.csv.tmp");
  // Permissions and links are kept, also a link to a file that does not exist yet.
  ASSERT_EQ(::chmod((*folder / "simulated/events.csv").c_str(), 0600), 0);
  EXPECT_EQ(folder->shell(command + " --force").exit_code, 0);
  struct stat status {};
  ASSERT_EQ(::stat((*folder / "simulated/events.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  std::filesystem::remove(*folder / "simulated/events.csv");
  std::filesystem::create_symlink("../elsewhere.csv", *folder / "simulated/events.csv");
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(folder->shell(command + " --force").exit_code, 0);
    EXPECT_TRUE(is_link("simulated/events.csv"));
    EXPECT_EQ(folder->read("elsewhere.csv"), table);
  }
  expect_no_temporaries("simulated");
}

TEST_F(OutputFiles, ALinkToNoFileYetMakesIt) {
  std::filesystem::create_directories(*folder / "later");
  std::filesystem::create_symlink("later/made.csv", *folder / "promise");
  EXPECT_EQ(folder->run("export run --format csv -o promise").exit_code, 0);
  EXPECT_TRUE(is_link("promise"));
  EXPECT_EQ(folder->read("later/made.csv"), folder->read("whole.csv"));
}

TEST_F(OutputFiles, WhatCannotBeWrittenIsRefusedBeforeAnyWork) {
  std::filesystem::create_symlink("round", *folder / "round");
  for (const char* command : {"export run --format csv", "fit config.yaml", "report run"}) {
    const std::string begin = std::string(command) + " -o ";
    expect_refused(*folder, begin + "round", {"round: cannot be written", "lead in a circle"});
    expect_refused(*folder, begin + "nowhere/x", {"nowhere/x: cannot be written", "no folder nowhere"});
    expect_refused(*folder, begin + "run", {"run: cannot be written", "a directory", "allowed: a file"});
  }
}

// A file whose name a temporary file could have belongs to the user and must be kept.
TEST_F(OutputFiles, AFileThatIsCalledTmpIsLeftAlone) {
  folder->write("x.csv.tmp", "mine");
  EXPECT_EQ(folder->run("export run --format csv -o x.csv").exit_code, 0);
  EXPECT_EQ(folder->read("x.csv.tmp"), "mine");
  EXPECT_EQ(folder->read("x.csv"), folder->read("whole.csv"));
  std::filesystem::remove(*folder / "x.csv.tmp");
}

TEST_F(OutputFiles, AFifoGetsTheBytes) {
  ASSERT_EQ(::mkfifo((*folder / "fifo").c_str(), 0600), 0);
  const ProgramResult result = folder->shell(
      "timeout 60 cat fifo > got & timeout 60 \"$EMOMC\" export run --format csv -o fifo; code=$?; wait; "
      "exit $code");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(folder->read("got"), folder->read("whole.csv"));
  EXPECT_TRUE(std::filesystem::is_fifo(*folder / "fifo"));
}

TEST_F(OutputFiles, ADeviceIsWrittenToAndStays) {
  const auto device = [&](const char* name, unsigned minor) {
    return ::mknod((*folder / name).c_str(), S_IFCHR | 0600, ::makedev(1, minor)) == 0 &&
           ::access((*folder / name).c_str(), W_OK) == 0;
  };
  if (!device("null", 3) || !device("full", 7)) GTEST_SKIP() << "only root makes devices";
  for (const char* command : {"export run --format csv", "fit config.yaml -q", "report run"}) {
    EXPECT_EQ(folder->run(command + std::string(" -o null")).exit_code, 0) << command;
    const ProgramResult full = folder->run(command + std::string(" -o full"));
    EXPECT_EQ(full.exit_code, 3) << command << full.err;
    EXPECT_TRUE(has(full.err, "full: writing failed: No space left on device")) << full.err;
    for (const char* name : {"null", "full"})
      EXPECT_TRUE(std::filesystem::is_character_file(*folder / name)) << command;
  }
}

// /dev/stdout is a descriptor, and no other file may replace this name.
TEST_F(OutputFiles, DevStdoutIsStandardOutput) {
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    folder->write("log", "before\n");
    const ProgramResult result =
        folder->shell(std::string("\"$EMOMC\" export run --format csv -o ") + name + " >> log");
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_EQ(folder->read("log"), "before\n" + folder->read("whole.csv")) << name;
    const ProgramResult piped =
        folder->shell(std::string("\"$EMOMC\" export run --format csv -o ") + name + " | cat");
    EXPECT_EQ(piped.out, folder->read("whole.csv")) << name << piped.err;
  }
}

TEST_F(OutputFiles, StandardOutputOnAFullDiskIsAMachineFaultInEveryCommand) {
  for (const char* command :
       {"--help", "--version", "run --help", "check config.yaml", "check config.yaml --json",
        "fit config.yaml -q", "fit config.yaml -q --json", "summary run", "summary run --json",
        "diagnose run", "diagnose run --json", "compare run run", "compare run run --json",
        "report run -o page.html", "loglik --data data.csv --parameters fit.json",
        "export run --format csv -o -", "devices", "devices --json",
        "bench --method reference --rows 100 --chains 1 --seconds 0.001"}) {
    const ProgramResult result = folder->shell("\"$EMOMC\" " + std::string(command) + " > /dev/full");
    EXPECT_EQ(result.exit_code, 3) << command << ": " << result.err;
    EXPECT_TRUE(has(result.err, "emomc: error: standard output: writing failed")) << command << result.err;
    const ProgramResult closed = folder->shell("\"$EMOMC\" " + std::string(command) + " >&-");
    EXPECT_EQ(closed.exit_code, 3) << command << ": " << closed.err;
  }
}

TEST_F(OutputFiles, NothingPrintedNeedsNoStandardOutput) {
  for (const char* to : {"> /dev/full", ">&-"}) {
    const ProgramResult run =
        folder->shell(std::string("\"$EMOMC\" run config.yaml --output again --force -q ") + to);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const ProgramResult exported =
        folder->shell(std::string("\"$EMOMC\" export again --format csv -o again.csv ") + to);
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_EQ(folder->read("again.csv"), folder->read("whole.csv"));
  }
}

// SIGPIPE ends the program, as it ends cat, and a shell reports this as 141. If SIGPIPE is ignored, writing
// fails as on a full disk.
TEST_F(OutputFiles, AClosedPipeEndsTheProgramQuietly) {
  const ProgramResult result = folder->shell(
      "{ for i in 1 2 3 4 5; do \"$EMOMC\" export run --format csv -o - || { echo $? > code; break; }; done; "
      "} "
      "| true");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(folder->read("code"), "141\n");
  const ProgramResult ignored = folder->shell(
      "trap '' PIPE; { sleep 0.2; \"$EMOMC\" export run --format csv -o - || echo $? > code; } | true");
  EXPECT_TRUE(has(ignored.err, "standard output: writing failed")) << ignored.err;
  EXPECT_EQ(folder->read("code"), "3\n");
}

// All thread pools of the program must work if only some or none of their threads can be created.
TEST_F(OutputFiles, ThreadsThatTheSystemRefusesAreSaidAndDoneWithout) {
  for (const char* most : {"0", "5"}) {
    const std::string under =
        "timeout 60 env LD_PRELOAD='" EMOMC_FILE_FAULTS "' EMOMC_FAULT_THREADS=" + std::string(most);
    const ProgramResult run = folder->run("run config.yaml --output few --force -q --set threads=64", under);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(has(run.err, "emomc: warning: the system refused")) << run.err;
    EXPECT_TRUE(has(run.err, "of 64 threads") || has(run.err, "threads (")) << run.err;
    // There is one line about the threads, and the verdict on a run as short as this one.
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 2) << run.err;
    EXPECT_TRUE(has(run.err, "\nwarning: this run should not be trusted as it is")) << run.err;
    EXPECT_EQ(folder->run("export few --format csv -o few.csv").exit_code, 0);
    // The draws do not depend on the number of threads.
    EXPECT_EQ(folder->read("few.csv"), folder->read("whole.csv"));
    const ProgramResult summary = folder->run("summary few --json", under);
    EXPECT_EQ(summary.exit_code, 0) << summary.err;
    EXPECT_EQ(summary.out, folder->run("summary few --json").out);
  }
}

}  // namespace
}  // namespace emomc
