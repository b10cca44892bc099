// Reads the configuration of `emomc evaluate` and `emomc train` from YAML, and writes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/emotion/evaluation_config.hpp"
#include "run_config.hpp"

namespace emomc::app {

/// Reads and validates a configuration; `overrides` are `key.path=value` of --set. Throws InputError with
/// file, line, key, the allowed values and the nearest known name.
EvaluationConfig load_evaluation_config(const std::filesystem::path& file,
                                        const std::vector<std::string>& overrides = {});
EvaluationConfig parse_evaluation_config(const std::string& yaml, const std::string& name,
                                         const std::vector<std::string>& overrides = {});

/// Returns YAML with every key written out; parse_evaluation_config of this text gives an equal value.
std::string to_yaml(const EvaluationConfig& config, YamlComments comments = YamlComments::none);
/// Returns the configuration of a file that contains only `corpus: {path: features}`. With
/// YamlComments::explained, to_yaml makes configs/all_evaluation_keys.yaml of it.
EvaluationConfig default_evaluation_config();

}  // namespace emomc::app
