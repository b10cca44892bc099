// Tests runs in which every call on a file of the run directory fails once, in every way in which a disk can
// fail. The program reports the failure with advice, and the run continues to the draws of an undisturbed
// run.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "emomc/core/errors.hpp"
#include "struck_run.hpp"

namespace emomc {
namespace {

using testing::ProgramResult;
using testing::StruckRun;

constexpr int kMachineFault = 3;

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

class FileFaults : public ::testing::Test {
 protected:
  StruckRun run{testing::kKeptWarmup};
  std::map<std::string, int> outcomes;

  // Expects one line that names the failure in the run directory and says how to continue. The verdict on the
  // few draws may precede this line.
  void expect_a_message(const ProgramResult& result, const std::string& fault) {
    const auto lines = std::count(result.err.begin(), result.err.end(), '\n');
    EXPECT_EQ(lines, has(result.err, "should not be trusted") ? 2 : 1) << fault << ": " << result.err;
    for (const char* word : {"emomc: error: run", " failed: ", "; when this is fixed, ",
                             "emomc run config.yaml --output run --resume"})
      EXPECT_TRUE(has(result.err, word)) << fault << ": no '" << word << "' in " << result.err;
  }

  // Expects that readers of the remaining files get the right draws or an error.
  void expect_readers_not_fooled(const std::string& fault) {
    if (!run.folder.exists("run/chains")) return;
    const ProgramResult summary = run.folder.run("summary run --json");
    EXPECT_TRUE(summary.exit_code == 0 || summary.exit_code == 2) << fault << ": " << summary.err;
    EXPECT_EQ(std::count(summary.err.begin(), summary.err.end(), '\n'), summary.exit_code == 2 ? 1 : 0)
        << fault << ": " << summary.err;
    try {
      const auto whole = read_chains(run.folder / "whole"), chains = read_chains(run.folder / "run");
      for (std::size_t c = 0; c < chains.size(); ++c)
        EXPECT_TRUE(
            std::equal(chains[c].parameters.begin(), chains[c].parameters.end(), whole[c].parameters.begin()))
            << fault;
    } catch (const InputError&) {  // refused
    }
  }

  void expect_survival(const std::string& action, std::size_t n) {
    const std::string fault = action + "@" + std::to_string(n);
    const ProgramResult struck = run.strike(fault, "-q");
    const auto calls = run.calls_so_far();
    const std::string what = fault + " (" + (n <= calls.size() ? calls[n - 1] : "") + ")";
    const bool harmless = action == "eintr" || action == "short";
    if (struck.exit_code == 0) {
      EXPECT_TRUE(harmless) << what << " went unnoticed";
    } else {
      EXPECT_FALSE(harmless) << what << ": " << struck.err;
      EXPECT_EQ(struck.exit_code, kMachineFault) << what << ": " << struck.err;
      expect_a_message(struck, what);
      expect_readers_not_fooled(what);
      const ProgramResult resumed = run.resume();
      EXPECT_EQ(resumed.exit_code, 0) << what << ": " << resumed.err;
    }
    ++outcomes[action + (struck.exit_code == 0 ? ": went on" : ": exit 3, went on with --resume")];
    run.expect_the_same_draws(what);
    run.clear();
  }
  void tell() {
    std::cout << run.calls.size() << " calls;";
    for (const auto& [outcome, count] : outcomes) std::cout << ' ' << outcome << ' ' << count << ';';
    std::cout << std::endl;
  }
};

TEST_F(FileFaults, OfEveryKindAtEveryCallAreToldAndSurvived) {
  const std::size_t stride = testing::long_form() ? 1 : 23;
  std::size_t first = 1;  // each kind of fault begins at another call
  for (const char* action : {"enospc", "enospc+", "eio", "eio+", "eintr", "short"}) {
    for (std::size_t n = testing::long_form() ? 1 : first; n <= run.calls.size(); n += stride)
      expect_survival(action, n);
    first += 4;
  }
  tell();
}

// Reads and writes of a continued run fail.
TEST_F(FileFaults, WhileGoingOnLeaveTheCheckpointGood) {
  const std::string stop = "int@" + run.at_checkpoint(2);
  ASSERT_EQ(run.strike(stop).exit_code, 130);
  ::setenv("EMOMC_FAULT_READS", "1", 1);
  std::filesystem::copy(run.folder / "run", run.folder / "stopped", std::filesystem::copy_options::recursive);
  ASSERT_EQ(run.strike("", "-q --resume").exit_code, 0);
  const std::size_t calls = run.calls_so_far().size(), stride = testing::long_form() ? 1 : 17;
  for (const char* action : {"eio", "eintr"})
    for (std::size_t n = 1; n <= calls; n += stride) {
      run.clear();
      std::filesystem::copy(run.folder / "stopped", run.folder / "run",
                            std::filesystem::copy_options::recursive);
      const std::string fault = action + ("@" + std::to_string(n));
      const ProgramResult struck = run.strike(fault, "-q --resume");
      const auto lines = run.calls_so_far();
      const std::string what = fault + " (" + (n <= lines.size() ? lines[n - 1] : "") + ")";
      EXPECT_EQ(struck.exit_code, action == std::string("eio") ? kMachineFault : 0) << what << struck.err;
      if (struck.exit_code != 0) {
        EXPECT_TRUE(has(struck.err, "emomc: error: run")) << what << struck.err;
        const ProgramResult resumed = run.resume();
        EXPECT_EQ(resumed.exit_code, 0) << what << ": " << resumed.err;
      }
      run.expect_the_same_draws(what);
      ++outcomes[action];
    }
  ::unsetenv("EMOMC_FAULT_READS");
  tell();
}

TEST_F(FileFaults, ADirectoryThatVanishesEndsTheRunWithAMessage) {
  const std::size_t stride = testing::long_form() ? 3 : 25;
  for (const char* action : {"vanish", "replace"})
    for (std::size_t n = std::stoul(run.at_checkpoint(1)); n < run.calls.size(); n += stride) {
      const std::string fault = action + ("@" + std::to_string(n));
      const ProgramResult struck = run.strike(fault, "-q");
      const auto lines = run.calls_so_far();
      const std::string what = fault + " (" + lines.at(n - 1) + ")";
      std::filesystem::remove_all(run.folder / "run");
      std::filesystem::rename(run.folder / "run.away", run.folder / "run");
      if (struck.exit_code != 0) {  // 0: everything had already been written
        EXPECT_EQ(struck.exit_code, kMachineFault) << what << ": " << struck.err;
        EXPECT_TRUE(has(struck.err, "emomc: error: run")) << what << ": " << struck.err;
        EXPECT_TRUE(has(struck.err, "--resume")) << what << ": " << struck.err;
        // Once the directory is back in its place, the run continues.
        const ProgramResult resumed = run.resume();
        EXPECT_EQ(resumed.exit_code, 0) << what << ": " << resumed.err;
      }
      run.expect_the_same_draws(what);
      run.clear();
      ++outcomes[action];
    }
  tell();
}

// A table that is read in part must not be taken for the whole one.
TEST(TableFaults, AReadThatFailsEndsTheCommand) {
  testing::ProgramFolder folder;
  std::string csv = "x\n";
  for (int i = 0; i < 20000; ++i) csv += std::to_string(i % 97) + "\n";
  folder.write("data/x.csv", csv);
  folder.write("p.json", R"({"weights": [1], "means": [[3]], "scales": [[9]]})");
  const std::string command = "loglik --data data/x.csv --model gaussian_mixture --parameters p.json";
  ::setenv("EMOMC_FAULT_READS", "1", 1);
  ASSERT_EQ(folder.run(command, testing::under_fault(folder, "data", "")).exit_code, 0);
  const std::size_t calls = testing::logged_calls(folder).size();
  EXPECT_GE(calls, 1u);
  for (std::size_t n = 1; n <= calls; ++n) {
    const ProgramResult struck =
        folder.run(command, testing::under_fault(folder, "data", "eio@" + std::to_string(n)));
    EXPECT_EQ(struck.exit_code, kMachineFault) << n << ": " << struck.out << struck.err;
    EXPECT_TRUE(has(struck.err, "data/x.csv: cannot be read")) << n << ": " << struck.err;
  }
  ::unsetenv("EMOMC_FAULT_READS");
}

// Bits are flipped in chain files and in the checkpoint, of a finished run and of one that is continued.
TEST_F(FileFaults, AFlippedBitIsToldByReadersAndByResume) {
  const int samples = testing::long_form() ? 400 : 10;
  ASSERT_EQ(run.strike("int@" + run.at_checkpoint(2), "-q").exit_code, 130);
  for (const char* name : {"chains/chain-00000.emc", "chains/chain-00001.emc", "checkpoint"}) {
    const std::string file = std::string("run/") + name, good = run.folder.read(file);
    for (int i = 0; i < samples; ++i) {
      const std::size_t bit =
          (8 * good.size() - 1) * static_cast<std::size_t>(i) / static_cast<std::size_t>(samples - 1);
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      run.folder.write(file, bad);
      for (const char* command : {"summary run --json", "run config.yaml --output run --resume -q"}) {
        const ProgramResult result = run.folder.run(command);
        EXPECT_EQ(result.exit_code, 2) << name << ", bit " << bit << ": " << command << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_TRUE(has(result.err, name)) << result.err;
        ++outcomes["told"];
      }
      EXPECT_EQ(run.folder.read(file), bad) << "a refused run has written";
    }
    run.folder.write(file, good);
  }
  EXPECT_EQ(run.resume().exit_code, 0);
  run.expect_the_same_draws("mended");
  tell();
}

TEST_F(FileFaults, AChainFileThatIsShorterOrGoneIsTold) {
  ASSERT_EQ(run.strike("", "-q").exit_code, 0);
  const std::string file = "run/chains/chain-00001.emc", good = run.folder.read(file);
  for (const std::size_t lost : {std::size_t{1}, std::size_t{300}, good.size() / 2, good.size()}) {
    run.folder.write(file, good.substr(0, good.size() - lost));
    testing::expect_refused(run.folder, "summary run", {"chain-00001.emc"});
    testing::expect_refused(run.folder, "run config.yaml --output run --resume", {"chain-00001.emc"});
  }
  std::filesystem::remove(run.folder / file);
  testing::expect_refused(run.folder, "summary run", {"chain-00001.emc: missing", "--force"});
  testing::expect_refused(run.folder, "run config.yaml --output run --resume", {"chain-00001.emc"});
}

// A run is summarised, diagnosed and exported while it is running, after it is killed, and after it
// continues.
TEST_F(FileFaults, ReadersMayComeAtAnyMoment) {
  const int rounds = testing::long_form() ? 60 : 6;
  std::atomic<bool> going = true;
  std::thread writer([&] {
    for (int round = 0; round < rounds; ++round) {
      if (round % 3 == 2) {
        EXPECT_EQ(run.resume().exit_code, 0);
        if (round + 1 < rounds) run.clear();
      } else {
        run.folder.run("run config.yaml --output run --resume -q",
                       "timeout --foreground -s KILL 0.0" + std::to_string(3 + round % 7));
      }
    }
    going = false;
  });
  int answers = 0, refusals = 0;
  while (going)
    for (const char* command :
         {"summary run --json", "diagnose run --json", "export run --format csv -o draws.csv"}) {
      const ProgramResult result = run.folder.run(command);
      EXPECT_TRUE(result.exit_code >= 0 && result.exit_code <= 2) << command << ": " << result.err;
      ++(result.exit_code == 2 ? refusals : answers);
      EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 1) << command << result.err;
      for (const char* word : {"damaged", "internal error"})
        EXPECT_FALSE(has(result.err, word)) << command << ": " << result.err;
    }
  writer.join();
  run.expect_the_same_draws("read meanwhile");
  std::cout << answers << " answers, " << refusals << " refusals\n";
  EXPECT_GT(answers, 0);
}

}  // namespace
}  // namespace emomc
