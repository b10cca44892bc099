// A small run of the program that the libraries of tests/faults disturb, and the draws that the run must
// give.
#pragma once

#include <cstring>

#include "emomc/sampler/run_directory.hpp"
#include "program.hpp"

namespace emomc::testing {

/// Returns whether to run the forms of tests that take minutes: EMOMC_LONG_TESTS=1, set for ctest's label
/// `long`.
inline bool long_form() { return std::getenv("EMOMC_LONG_TESTS") != nullptr; }

/// Returns the environment of a program whose calls on files below `directory` are logged, and are disturbed
/// by `fault` (tests/faults/file_faults.cpp) unless it is empty.
inline std::string under_fault(const ProgramFolder& folder, const std::string& directory,
                               const std::string& fault) {
  std::filesystem::remove(folder / "calls");
  return "env LD_PRELOAD='" EMOMC_FILE_FAULTS "' EMOMC_FAULT_UNDER='" + (folder / directory).string() +
         "' EMOMC_FAULT_LOG='" + (folder / "calls").string() + "'" +
         (fault.empty() ? "" : " EMOMC_FAULT=" + fault);
}
/// Returns the lines "N NAME PATH" of that log.
inline std::vector<std::string> logged_calls(const ProgramFolder& folder) {
  std::vector<std::string> lines;
  std::istringstream stream(folder.read("calls"));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A configuration with an undisturbed run in `whole`, whose draws are expected, and a disturbed run in
/// `run`.
class StruckRun {
 public:
  explicit StruckRun(const std::string& more, int checkpoint_steps = 20) {
    std::string csv = "x\n";
    for (int i = 0; i < 60; ++i) csv += std::to_string((i % 2 == 0 ? -3 : 2) + 0.37 * (i % 7)) + "\n";
    folder.write("data.csv", csv);
    folder.write("config.yaml",
                 "data: {file: data.csv, standardize: true}\nthreads: 1\ncheckpoint: {steps: " +
                     std::to_string(checkpoint_steps) + "}\n" + more);
    const ProgramResult result =
        folder.run("run config.yaml --output whole -q", under_fault(folder, "whole", ""));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    calls = calls_so_far();
  }

  /// Runs the program with a fault, or without one if `fault` is empty.
  ProgramResult strike(const std::string& fault, const std::string& options = "") {
    return folder.run("run config.yaml --output run " + options, under_fault(folder, "run", fault));
  }
  /// Returns the number N, as text, of the call that opens the n-th checkpoint in the undisturbed run.
  std::string at_checkpoint(int nth) const {
    for (std::size_t n = 1; n <= calls.size(); ++n)
      if (calls[n - 1].find(" open ") != std::string::npos &&
          calls[n - 1].find("checkpoint.tmp") != std::string::npos && --nth == 0)
        return std::to_string(n);
    return "0";
  }
  ProgramResult resume(const std::string& options = "") const {
    return folder.run("run config.yaml --output run --resume -q " + options);
  }
  void clear() const {
    for (const char* name : {"run", "run.away"}) std::filesystem::remove_all(folder / name);
  }
  /// Returns the calls of the last disturbed run.
  std::vector<std::string> calls_so_far() const { return logged_calls(folder); }
  /// Expects that the draws are bitwise equal to those of `as`.
  void expect_the_same_draws(const std::string& what, const std::string& as = "whole") const {
    const auto expected = read_chains(folder / as), chains = read_chains(folder / "run");
    ASSERT_EQ(chains.size(), expected.size()) << what;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      EXPECT_EQ(chains[c].steps, expected[c].steps) << what;
      for (const auto values :
           {&ChainDraws::log_prior, &ChainDraws::log_likelihood, &ChainDraws::parameters}) {
        const auto &x = chains[c].*values, &y = expected[c].*values;
        ASSERT_EQ(x.size(), y.size()) << what;
        EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(double)), 0) << what << ", chain " << c;
      }
      EXPECT_EQ(chains[c].accepted, expected[c].accepted) << what;
      EXPECT_EQ(chains[c].proposed, expected[c].proposed) << what;
      EXPECT_EQ(chains[c].bytes_ignored, 0) << what;
    }
    EXPECT_TRUE(folder.exists("run/summary.csv")) << what;
    EXPECT_EQ(folder.exists("run/draws.nc"), folder.exists("whole/draws.nc")) << what;
  }

  ProgramFolder folder;
  std::vector<std::string> calls;  ///< calls of the undisturbed run
};

inline const char* const kComponentWise =
    "likelihood: {components: 2}\nsampler: {chains: 2, warmup: 60, draws: 50, seed: 3,\n"
    "  proposal: {kind: component_wise}}\n";
inline const char* const kRandomWalk =
    "likelihood: {components: 2}\nsampler: {chains: 3, warmup: 80, draws: 20, thin: 2, seed: 4,\n"
    "  proposal: {kind: random_walk, shape: dense}}\n";
inline const char* const kEnsemble =
    "likelihood: {components: 1}\nsampler: {chains: 8, warmup: 40, draws: 60, seed: 5,\n"
    "  proposal: {kind: differential_evolution}}\n";
inline const char* const kKeptWarmup =
    "likelihood: {components: 2}\nsampler: {chains: 2, warmup: 70, draws: 30, seed: 6}\n"
    "output: {keep_warmup: true}\n";

}  // namespace emomc::testing
