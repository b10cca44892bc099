// The keys of `emomc evaluate` and `emomc train` that `emomc run` has not, one row for each.
#pragma once

#include <string>
#include <vector>

#include "evaluation_config.hpp"
#include "run_config_keys.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

struct EvaluationKey {
  std::string name;     ///< dotted
  std::string comment;  ///< what it means and what is allowed
  void (*read)(const YamlValue& value, EvaluationConfig& config);
  std::string (*write)(const EvaluationConfig& config);
  /// By rows above, which are read by then.
  bool (*is_used)(const EvaluationConfig& config) = [](const EvaluationConfig&) { return true; };
  std::string used_by = {};  ///< who does: "corpora of recordings"
};

/// In the order in which they are read and written; sections are contiguous.
const std::vector<EvaluationKey>& evaluation_keys();

/// The keys that `config` uses, those of `emomc run` among them.
std::vector<WrittenKey> written_keys(const EvaluationConfig& config);

}  // namespace emomc::app
