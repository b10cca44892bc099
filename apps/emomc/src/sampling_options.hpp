// The options that all commands have which sample: run, evaluate, train.
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

  /// --set, and what the other options say, as `key.path=value`.
  std::vector<std::string> overrides() const;
  Verbosity verbosity() const;
  ExistingRun policy() const;
  /// The shell's command that goes on with the run: "emomc run CONFIG --output DIR --set KEY=VALUE --resume";
  /// `more` are further options of it.
  std::string command_to_go_on(const std::string& command, const std::string& more = "") const;
};

/// Adds them to a command, but for its output. `options` must live as long as it. Returns --seed's option.
CLI::Option* add_sampling_options(CLI::App& command, SamplingOptions& options);

/// `text` in single quotes, as YAML reads it back.
std::string yaml_quoted(const std::string& text);

}  // namespace emomc::app
