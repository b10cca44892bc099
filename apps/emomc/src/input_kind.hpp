// Says what a file or directory of the wrong kind is, and what to do with it.
#pragma once

#include <filesystem>
#include <string>

#include "yaml_reader.hpp"

namespace emomc::app {

/// What an argument of the program can be.
enum class InputKind {
  run,                ///< directory of emomc run
  evaluation,         ///< directory of emomc evaluate, of one seed or of several
  model,              ///< directory of emomc train
  folder,             ///< another directory
  run_config,         ///< YAML of run, check and fit
  evaluation_config,  ///< YAML of evaluate and train
  simulation_config,  ///< YAML of simulate
  unknown_config,     ///< YAML without a key that tells
  file_of_run,        ///< a chain file, a manifest or a checkpoint
  recording,          ///< audio
  draws,              ///< netCDF, CSV of Stan, a table that starts with chain,draw
  table,              ///< CSV or .npy
  parameters,         ///< JSON
  other               ///< something else, or not there
};

/// The kind of a path, from its first bytes, its name and, for a directory, its manifest. Never throws.
InputKind kind_of(const std::filesystem::path& path);

/// Throws InputError if `path`, which should be a run directory or a file of draws, is of another known kind.
void refuse_if_no_run(const std::filesystem::path& path);
/// The same where it should be a configuration.
void refuse_if_no_config(const std::filesystem::path& path);
/// The same where it should be the directory of a model.
void refuse_if_no_model(const std::filesystem::path& path);

/// Throws InputError if the configuration in `root` is of another group of commands than `wanted`:
/// run_config, evaluation_config or simulation_config.
void refuse_other_config(const YamlNode& root, InputKind wanted);

}  // namespace emomc::app
