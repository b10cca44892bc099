// Tests a run that is killed repeatedly, at random times and at random calls of the file system. The run
// continues each time and gives draws that are bitwise equal to those of an undisturbed run.
#include <iostream>
#include <map>
#include <random>

#include "struck_run.hpp"

namespace emomc {
namespace {

using testing::ProgramResult;
using testing::StruckRun;

// Returns the phase of a run whose last call was `line`.
std::string phase_of(const std::string& line, bool has_checkpoint) {
  const auto has = [&](const char* word) { return line.find(word) != std::string::npos; };
  if (has("/checkpoint")) return "checkpoint";
  if (has("summary.csv") || has("draws.nc")) return "finish";
  if (!has_checkpoint) return "start";
  return has("/chains/") ? "drain" : "other files";
}

constexpr std::int64_t kLongWarmup = 4000;
constexpr int kKilled = 128 + 9;

class KilledRun : public ::testing::Test {
 protected:
  std::mt19937_64 random{20260101};
  std::map<std::string, int> phases;
  int kills = 0, finished = 0;

  std::string threads() { return "-q --set threads=" + std::to_string(1 + random() % 3); }

  // Kills the run at calls, most of them early, since a continued run has fewer calls left.
  void kill_at_calls(StruckRun& run, int times, const std::string& what) {
    for (int k = 0; k < times;) {
      const std::size_t among = run.calls.size() >> (random() % 2);
      const std::string fault =
          (random() % 2 == 0 ? "kill@" : "killed@") + std::to_string(1 + random() % among);
      const ProgramResult result = run.strike(fault, "--resume " + threads());
      if (result.exit_code == kKilled) {
        ++k;
        ++kills;
        ++phases[phase_of(run.calls_so_far().back(), run.folder.exists("run/checkpoint"))];
        continue;
      }
      ASSERT_EQ(result.exit_code, 0) << what << ", " << fault << ": " << result.err;
      finish(run, what);
    }
    const ProgramResult last = run.resume();
    ASSERT_EQ(last.exit_code, 0) << what << ": " << last.err;
    finish(run, what);
  }

  // Kills the run at one of the last calls, which are few, until `wanted` kills were in the phase "finish".
  void kill_at_last_calls(StruckRun& run, int wanted) {
    for (int tries = 0; phases["finish"] < wanted && tries < 20 * wanted; ++tries) {
      const std::string fault = "kill@" + std::to_string(run.calls.size() - random() % 12);
      const ProgramResult result = run.strike(fault, "--resume " + threads());
      if (result.exit_code == kKilled) {
        ++kills;
        ++phases[phase_of(run.calls_so_far().back(), run.folder.exists("run/checkpoint"))];
        ASSERT_EQ(run.resume().exit_code, 0) << fault;
      } else {  // the run made fewer calls
        ASSERT_EQ(result.exit_code, 0) << fault << ": " << result.err;
      }
      finish(run, fault);
    }
  }

  // Kills the run after a random time. `timeout` runs in the foreground and waits for the killed program,
  // which holds the lock of the run until it has ended.
  void kill_at_times(StruckRun& run, int times, double seconds) {
    for (int k = 0; k < times;) {
      const double after = std::uniform_real_distribution<>(0.001, seconds)(random);
      const ProgramResult result =
          run.folder.run("run config.yaml --output run --resume " + threads(),
                         "timeout --foreground --preserve-status -s KILL " + std::to_string(after));
      if (result.exit_code == kKilled) {
        ++k;
        ++kills;
        const bool going = run.folder.exists("run/checkpoint");
        const std::int64_t step = going ? read_checkpoint(run.folder / "run/checkpoint").state.step : 0;
        ++phases[!going ? "start" : step < kLongWarmup ? "warm-up" : "sampling"];
        continue;
      }
      ASSERT_EQ(result.exit_code, 0) << result.err;
      finish(run, "killed by time");
    }
    ASSERT_EQ(run.resume().exit_code, 0);
    finish(run, "killed by time");
  }

  void finish(StruckRun& run, const std::string& what) {
    run.expect_the_same_draws(what);
    run.clear();
    ++finished;
  }
  void tell() {
    std::cout << kills << " kills, " << finished << " runs compared;";
    for (const auto& [phase, count] : phases) std::cout << ' ' << phase << ' ' << count << ';';
    std::cout << std::endl;
  }
};

TEST_F(KilledRun, AtFileCallsGivesTheSameDraws) {
  const int times = testing::long_form() ? 50 : 8;
  for (const char* config :
       {testing::kComponentWise, testing::kRandomWalk, testing::kEnsemble, testing::kKeptWarmup}) {
    StruckRun run(config);
    kill_at_calls(run, times, config);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(kills, 4 * times);
  const int wanted = testing::long_form() ? 10 : 1;
  StruckRun whole(testing::kKeptWarmup);
  kill_at_last_calls(whole, wanted);
  if (HasFatalFailure()) return;
  tell();
  for (const char* phase : {"start", "drain", "checkpoint", "finish"})
    EXPECT_GE(phases[phase], wanted) << phase;
}

TEST_F(KilledRun, AtRandomTimesGivesTheSameDraws) {
  StruckRun run(
      "likelihood: {components: 2}\n"
      "sampler: {chains: 4, warmup: 4000, draws: 1000, seed: 3}\n",
      250);
  const int times = testing::long_form() ? 100 : 6;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(run.folder.run("run config.yaml --output run -q").exit_code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  run.clear();
  kill_at_times(run, times, took.count());
  tell();
  EXPECT_EQ(kills, times);
  for (const char* phase : {"warm-up", "sampling"})
    EXPECT_GE(phases[phase], testing::long_form() ? 10 : 0) << phase;
}

// After a signal the program finishes its steps, writes a checkpoint and prints how to continue; a second
// signal ends the program at once.
TEST_F(KilledRun, SignalsEndARunInOrder) {
  StruckRun run(testing::kComponentWise);
  const std::string at = run.at_checkpoint(2);
  for (const auto& [signal, code] : {std::pair{"int", 130}, {"term", 143}}) {
    const ProgramResult stopped = run.strike(signal + ("@" + at), "--set 'sampler.seed=3'");
    EXPECT_EQ(stopped.exit_code, code) << stopped.err;
    EXPECT_NE(
        stopped.err.find("go on with: emomc run config.yaml --output run --set sampler.seed=3 --resume"),
        std::string::npos)
        << stopped.err;
    const auto step = read_checkpoint(run.folder / "run/checkpoint").state.step;
    EXPECT_NE(stopped.err.find("stopped after step " + std::to_string(step) + ";"), std::string::npos);
    EXPECT_NE(run.folder.read("run/manifest.json").find("interrupted"), std::string::npos);
    EXPECT_EQ(run.resume().exit_code, 0);
    finish(run, signal);
  }
  const ProgramResult at_once = run.strike("intint@" + at);
  EXPECT_EQ(at_once.exit_code, 130);
  EXPECT_EQ(at_once.err.find("go on with"), std::string::npos);
  EXPECT_EQ(run.resume().exit_code, 0);
  finish(run, "two signals");
}

}  // namespace
}  // namespace emomc
