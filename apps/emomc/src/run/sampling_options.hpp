// Command-line options that several commands with a configuration share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"

namespace emomc::app {

/// Options that stand for keys of the configuration.
struct KeyOptions {
  std::string output, backend, seed, threads, devices;
  std::vector<std::string> set;

  /// Returns the assignments of --set and those for which the other options stand, as `key.path=value`.
  std::vector<std::string> overrides() const;
};

/// The options of run, evaluate and train.
struct SamplingOptions : KeyOptions {
  std::string config;
  bool resume = false, force = false, quiet = false, verbose = false;

  Verbosity verbosity() const;
  ExistingRun policy() const;
  /// Returns the shell command that resumes the run: "emomc run CONFIG --output DIR --set KEY=VALUE
  /// --resume". `more` is inserted before --resume.
  std::string command_to_go_on(const std::string& command, const std::string& more = "") const;
};

/// Adds --set, --backend, --seed and --threads to a command. `options` must outlive the command. Returns the
/// option --seed.
CLI::Option* add_key_options(CLI::App& command, KeyOptions& options);
/// Adds all options of run, evaluate and train except --output to a command. `options` must outlive the
/// command. Returns the option --seed.
CLI::Option* add_sampling_options(CLI::App& command, SamplingOptions& options);

/// Returns `text` as a word of the shell, quoted if needed.
std::string shell_word(const std::string& text);

/// Returns `text` as a YAML scalar in single quotes.
std::string yaml_quoted(const std::string& text);

}  // namespace emomc::app
