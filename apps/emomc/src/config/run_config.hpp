// Reads the configuration of `emomc run` from YAML, and writes it. Code that uses the values never reads
// YAML.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/posterior/run_config.hpp"

namespace emomc::app {

/// Reads and validates a configuration. `overrides` are the `key.path=value` of --set, applied before
/// validation. Throws InputError with file, line, key, the allowed values and the nearest known name.
RunConfig load_run_config(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});

/// The same for a text; `name` is the file's name in messages.
RunConfig parse_run_config(const std::string& yaml, const std::string& name,
                           const std::vector<std::string>& overrides = {});

/// YAML with every key written out; parse_run_config of this text gives an equal value.
/// YamlComments::explained adds the meaning and the allowed values of each key; for a default value this
/// gives configs/all_keys.yaml.
enum class YamlComments { none, explained };
std::string to_yaml(const RunConfig& config, YamlComments comments = YamlComments::none);

/// The configuration of a file that contains only `data: {file: features/sad.csv}`; see
/// YamlComments::explained.
RunConfig default_run_config();

/// The text of a configuration file. At most 1 MiB plus one byte are read, and parse_yaml refuses texts
/// longer than 1 MiB. Throws InputError if the file is missing or cannot be read.
std::string read_config_text(const std::filesystem::path& file);

/// Throws InputError if `path` (a file, a folder or a glob in the configuration file `config`, at `key`) is
/// not there from the working directory, but is beside the configuration.
void refuse_path_beside(const std::filesystem::path& config, const std::string& key, const std::string& path);

/// The prior of a block as the configuration spells it: "{normal: {mean: 0, sd: 10}}".
std::string to_yaml(const PriorSet& priors, const std::string& block);

}  // namespace emomc::app
