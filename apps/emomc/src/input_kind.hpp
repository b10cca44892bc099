// Recognises a file or directory of the wrong kind, so that messages can say what it is and what to do with
// it.
#pragma once

#include <filesystem>
#include <string>

#include "yaml_reader.hpp"

namespace emomc::app {

/// What an argument of the program can be.
enum class InputKind {
  run,                ///< directory that emomc run has written
  evaluation,         ///< directory that emomc evaluate has written, for one seed or for several
  model,              ///< directory that emomc train has written
  folder,             ///< another directory
  run_config,         ///< YAML configuration of run, check and fit
  evaluation_config,  ///< YAML configuration of evaluate and train
  simulation_config,  ///< YAML configuration of simulate
  unknown_config,     ///< YAML configuration without a key that tells for which commands
  file_of_run,        ///< a chain file, a manifest or a checkpoint
  recording,          ///< audio file
  draws,              ///< netCDF file, CSV file of Stan, or table that starts with chain,draw
  table,              ///< CSV or .npy table
  parameters,         ///< JSON parameter file
  other               ///< anything else, or no such file
};

/// Returns the kind of a path, judged by its first bytes, its name and, for a directory, its manifest. Throws
/// MachineError if reading fails, and no other exception.
InputKind kind_of(const std::filesystem::path& path);

/// Whether a file is netCDF, by its first bytes or by the ending .nc.
bool is_netcdf(const std::filesystem::path& file);

/// Throws InputError if `path`, which should be a run directory or a file of draws, is of another known kind.
void refuse_if_no_run(const std::filesystem::path& path);
/// Throws InputError if `path`, which should be a configuration, is of another known kind.
void refuse_if_no_config(const std::filesystem::path& path);
/// Throws InputError if `path`, which should be the directory of a model, is of another known kind.
void refuse_if_no_model(const std::filesystem::path& path);

/// Throws InputError if the configuration in `root` belongs to other commands than `wanted`, which is
/// run_config, evaluation_config or simulation_config.
void refuse_other_config(const YamlNode& root, InputKind wanted);

}  // namespace emomc::app
