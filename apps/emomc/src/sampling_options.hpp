// The command-line options that all sampling commands share: run, evaluate and train.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"

namespace emomc::app {

struct SamplingOptions {
  std::string config, output, backend, seed;
  std::vector<std::string> set;
  bool resume = false, force = false, quiet = false, verbose = false;

  /// The assignments of --set and those that the other options stand for, as `key.path=value`.
  std::vector<std::string> overrides() const;
  Verbosity verbosity() const;
  ExistingRun policy() const;
  /// The shell command that resumes the run: "emomc run CONFIG --output DIR --set KEY=VALUE --resume". `more`
  /// is inserted before --resume.
  std::string command_to_go_on(const std::string& command, const std::string& more = "") const;
};

/// Adds the options, except --output, to a command. `options` must outlive the command. Returns the option
/// --seed.
CLI::Option* add_sampling_options(CLI::App& command, SamplingOptions& options);

/// `text` as a YAML scalar in single quotes.
std::string yaml_quoted(const std::string& text);

}  // namespace emomc::app
