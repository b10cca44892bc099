// The keys of `emomc evaluate` and `emomc train` that `emomc run` does not have, one table row for each.
#pragma once

#include <string>
#include <vector>

#include "evaluation_config.hpp"
#include "run_config_keys.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

struct EvaluationKey {
  std::string name;     ///< name with dots, such as "corpus.kind"
  std::string comment;  ///< what the key means and which values are allowed
  void (*read)(const YamlValue& value, EvaluationConfig& config);
  std::string (*write)(const EvaluationConfig& config);
  /// Whether a configuration uses the key. The result may depend on earlier rows of the table, which have
  /// been read by then.
  bool (*is_used)(const EvaluationConfig& config) = [](const EvaluationConfig&) { return true; };
  std::string used_by = {};  ///< what uses the key, for messages, such as "corpora of recordings"
};

/// Returns the keys in the order in which they are read and written; the keys of a section are consecutive.
const std::vector<EvaluationKey>& evaluation_keys();

/// Returns all keys that `config` uses, including those of `emomc run`.
std::vector<WrittenKey> written_keys(const EvaluationConfig& config);

}  // namespace emomc::app
