// Tests evaluations and trainings in whose directories calls on files fail, or which are killed at these
// calls. The program prints how to continue, and continues to exactly the predictions or the model of an
// undisturbed call.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "small_corpus.hpp"
#include "struck_run.hpp"

namespace emomc {
namespace {

using testing::ProgramFolder;
using testing::ProgramResult;

struct Command {
  std::string name;
  std::vector<std::string> results;  // names of files that are bitwise equal in all runs
};

std::ostream& operator<<(std::ostream& out, const Command& command) { return out << command.name; }

class EvaluationFaults : public ::testing::TestWithParam<Command> {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    folder.write("simulation.yaml", testing::kSmallCorpus);
    folder.write(
        "config.yaml",
        "corpus: {path: corpus}\n"
        "likelihood: {components: 2}\n"
        "features: {deltas: 0}\n"
        "sampler: {chains: 2, warmup: 60, draws: 60, thin: 2, seed: 3, proposal: {kind: component_wise}}\n"
        "classification: {temper: 0.4}\n"
        "checkpoint: {steps: 40}\n"
        "threads: 1\n");
    const ProgramResult result = folder.run("simulate simulation.yaml -o corpus -q");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  ProgramResult run(const std::string& options = "", const std::string& under = "") const {
    return folder.run(GetParam().name + " config.yaml --output run -q " + options, under);
  }
  bool says_finished() const {
    return folder.exists("run/manifest.json") &&
           nlohmann::json::parse(folder.read("run/manifest.json"))["status"] == "finished";
  }
  ProgramResult strike(const std::string& fault) const {
    return run("", testing::under_fault(folder, "run", fault));
  }
};

TEST_P(EvaluationFaults, AreToldAndTheResultsAreThoseOfAnUndisturbedRun) {
  ASSERT_EQ(strike("").exit_code, 0);
  const std::size_t num_calls = testing::logged_calls(folder).size(), stride = testing::long_form() ? 5 : 61;
  ASSERT_GT(num_calls, stride);
  std::map<std::string, std::string> expected;
  for (const std::string& name : GetParam().results) expected[name] = folder.read("run/" + name);

  std::map<std::string, int> outcomes;
  std::size_t first = 1;  // each kind of fault begins at another call
  for (const std::string action :
       {"enospc", "enospc+", "eio", "eio+", "eintr", "short", "kill", "killed", "term"}) {
    const bool harmless = action == "eintr" || action == "short", failure = !harmless && action[0] == 'e';
    for (std::size_t n = first; n <= num_calls; n += stride) {
      std::filesystem::remove_all(folder / "run");
      const ProgramResult struck = strike(action + "@" + std::to_string(n));
      const auto so_far = testing::logged_calls(folder);
      const std::string what =
          action + "@" + std::to_string(n) + " (" + (n <= so_far.size() ? so_far[n - 1] : "") + ")";
      if (harmless) {
        EXPECT_EQ(struck.exit_code, 0) << what << ": " << struck.err;
      }
      if (failure) {
        EXPECT_EQ(struck.exit_code, 3) << what << ": " << struck.err;
        EXPECT_EQ(std::count(struck.err.begin(), struck.err.end(), '\n'), 1) << what << ": " << struck.err;
        for (const std::string word : {"emomc: error: run", GetParam().name.c_str(), "--resume"})
          EXPECT_NE(struck.err.find(word), std::string::npos) << what << ": " << struck.err;
      }
      if (says_finished()) {
        for (const auto& [name, text] : expected)
          EXPECT_TRUE(folder.exists("run/" + name)) << what << ": finished without " << name;
      }
      if (struck.exit_code != 0) {
        const ProgramResult resumed = run("--resume");
        EXPECT_EQ(resumed.exit_code, 0) << what << ": " << resumed.err;
      }
      for (const auto& [name, text] : expected)
        EXPECT_TRUE(folder.exists("run/" + name) && folder.read("run/" + name) == text)
            << what << ": " << name;
      EXPECT_TRUE(says_finished()) << what;
      ++outcomes[action + ": exit " + std::to_string(struck.exit_code)];
    }
    first += testing::long_form() ? 1 : 7;
  }
  std::cout << num_calls << " calls;";
  for (const auto& [outcome, count] : outcomes) std::cout << ' ' << outcome << ", " << count << ';';
  std::cout << std::endl;
  EXPECT_GT(outcomes["kill: exit 137"], 0);
}

INSTANTIATE_TEST_SUITE_P(Commands, EvaluationFaults,
                         ::testing::Values(Command{"evaluate",
                                                   {"predictions.csv", "predictions_em.csv", "scores.json"}},
                                           Command{"train", {"model.json", "draws.npy"}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace emomc
