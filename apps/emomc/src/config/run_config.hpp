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

/// Reads and validates a configuration from a text; `name` is the file's name in messages.
RunConfig parse_run_config(const std::string& yaml, const std::string& name,
                           const std::vector<std::string>& overrides = {});

/// Returns YAML with every key written out; parse_run_config of this text gives an equal value.
/// YamlComments::explained adds the meaning and the allowed values of each key. With it, default_run_config()
/// gives configs/all_keys.yaml.
enum class YamlComments { none, explained };
std::string to_yaml(const RunConfig& config, YamlComments comments = YamlComments::none);

/// Returns the configuration of a file that contains only `data: {file: features/sad.csv}`.
RunConfig default_run_config();

/// Returns the text of a configuration file. At most 1 MiB plus one byte are read, and parse_yaml refuses
/// texts longer than 1 MiB. Throws InputError if the file is missing or cannot be read.
std::string read_config_text(const std::filesystem::path& file);

/// Throws InputError if `path` does not exist relative to the working directory, but exists relative to the
/// folder of the configuration file `config`. `path` is a file, a folder or a glob that stands at `key`.
void refuse_path_beside(const std::filesystem::path& config, const std::string& key, const std::string& path);

/// Returns the prior of a block as the configuration spells it: "{normal: {mean: 0, sd: 10}}".
std::string to_yaml(const PriorSet& priors, const std::string& block);

}  // namespace emomc::app
