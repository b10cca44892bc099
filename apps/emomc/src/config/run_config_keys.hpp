// The table of configuration keys. Each row has a key's meaning, its users, and the functions that read and
// write the key. Validation, reading, to_yaml and configs/all_keys.yaml are all based on this table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emomc/likelihood/model_info.hpp"
#include "run_config.hpp"
#include "yaml_reader.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

struct ConfigKey {
  std::string name;     ///< name with dots, such as "sampler.proposal.kind"
  std::string comment;  ///< what the key means and which values are allowed
  /// Checks the value and stores it; earlier rows of the table have been read by then. nullptr: this version
  /// does not support the key, and the comment gives the reason.
  std::function<void(const YamlValue& value, RunConfig& config)> read;
  std::function<std::string(const RunConfig& config)> write;
  std::vector<const ModelInfo*> models = {};  ///< the only models that use the key; empty: all
  enum class Users { all, models, expressions };
  Users used_by = Users::all;  ///< `expressions`: only likelihoods of the user's own use it
};

/// Returns whether a likelihood uses the key, or whether a configuration does (judged by its likelihood, its
/// kind of proposal and sampler.draws).
bool is_used(const ConfigKey& key, const LikelihoodConfig& likelihood);
bool is_used(const ConfigKey& key, const RunConfig& config);

/// Returns whether the key, if it is written, is the prior of a parameter of the user's own. Such a parameter
/// may have the name of a model's parameter.
bool is_prior_of_own(const ConfigKey& key, const LikelihoodConfig& likelihood);

/// Returns the keys in the order in which they are read and written; the keys of a section are consecutive.
const std::vector<ConfigKey>& config_keys();

/// Returns the value at a dotted key; nullptr if the key is missing.
const YamlNode* find_value(const YamlNode& root, const std::string& name);

/// Returns the place at which the key itself was written. The key must exist.
YamlPlace key_place(const YamlNode& root, const std::string& name);

/// Refuses keys that are not in the table, with the nearest known key, and scalars or lists in place of a
/// section. The keys of priors are those of `likelihood`.
void refuse_unknown_keys(const YamlNode& root, const LikelihoodConfig& likelihood);
/// Refuses keys that are not among `names`, with the nearest known key, and scalars or lists in place of a
/// section.
void refuse_unknown_keys(const YamlNode& root, std::span<const std::string> names);

/// Refuses the keys of likelihoods of the user's own if `likelihood` is a model.
void refuse_keys_of_expressions(const YamlNode& root, const LikelihoodConfig& likelihood);

/// Refuses keys that only another model, covariance or proposal uses, and keys that this version does not
/// support.
void refuse_unused_keys(const YamlNode& root, const RunConfig& config);

/// A key as to_yaml writes it: with its value, and commented out if it is not used.
struct WrittenKey {
  std::string name, value, comment;
  bool used = true;
};
/// Returns the keys as nested YAML sections, with their comments if `comments` requires that. The keys of a
/// section must be consecutive.
std::string yaml_lines(std::span<const WrittenKey> keys, YamlComments comments);

/// Returns the keys that `config` uses.
std::vector<WrittenKey> written_keys(const RunConfig& config);

/// Reads the configuration in `root`, a map that has no keys besides those of `emomc run`; `name` is the
/// file's name in messages.
RunConfig run_config_of(const YamlNode& root, const std::string& name,
                        const std::string& default_kind = kAutomatic);

/// Returns `text` as a YAML scalar, in quotes if needed.
std::string yaml_text(const std::string& text);

}  // namespace emomc::app
