// The table of configuration keys: a row has a key's meaning, its users, and functions that read and write
// it. Validation, reading, to_yaml and configs/all_keys.yaml are all based on this table.
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
  std::string name;     ///< with dots, as "sampler.proposal.kind"
  std::string comment;  ///< what the key means and which values are allowed
  /// Checks the value and stores it; the rows further up have been read by then. nullptr: this version does
  /// not support the key, and the comment gives the reason.
  std::function<void(const YamlValue& value, RunConfig& config)> read;
  std::function<std::string(const RunConfig& config)> write;
  std::vector<const ModelInfo*> models = {};  ///< the only models that use it; empty: all
  enum class Users { all, models, expressions };
  Users used_by = Users::all;  ///< `expressions`: only likelihoods of the user's own use it
};

/// Whether the key is used by a likelihood, or by a configuration (judged by its likelihood, its kind of
/// proposal and sampler.draws).
bool is_used(const ConfigKey& key, const LikelihoodConfig& likelihood);
bool is_used(const ConfigKey& key, const RunConfig& config);

/// Whether the key, if it is written, is that of a parameter of the user's own, which may have the name that
/// a parameter of a model has.
bool is_prior_of_own(const ConfigKey& key, const LikelihoodConfig& likelihood);

/// In the order in which the keys are read and written; the keys of a section are consecutive.
const std::vector<ConfigKey>& config_keys();

/// The value at a dotted key; nullptr if the key is missing.
const YamlNode* find_value(const YamlNode& root, const std::string& name);

/// The place at which the key itself was written. The key must be there.
YamlPlace key_place(const YamlNode& root, const std::string& name);

/// Refuses keys that are not in the table, with the nearest one that is, and scalars or lists in place of a
/// section. The keys of priors are those of `likelihood`.
void refuse_unknown_keys(const YamlNode& root, const LikelihoodConfig& likelihood);
/// The same with the key names of another table.
void refuse_unknown_keys(const YamlNode& root, std::span<const std::string> names);

/// Refuses keys of likelihoods of the user's own where there is none.
void refuse_keys_of_expressions(const YamlNode& root, const LikelihoodConfig& likelihood);

/// Refuses keys that only another model, covariance or proposal uses, and keys that this version does not
/// support.
void refuse_unused_keys(const YamlNode& root, const RunConfig& config);

/// A key as to_yaml writes it: with its value, commented out if it is not used.
struct WrittenKey {
  std::string name, value, comment;
  bool used = true;
};
/// The keys as nested YAML sections, with their comments if asked for. The keys of a section must be
/// consecutive.
std::string yaml_lines(std::span<const WrittenKey> keys, YamlComments comments);

/// The keys that `config` uses.
std::vector<WrittenKey> written_keys(const RunConfig& config);

/// The configuration in `root`, a map that has no keys besides those of `emomc run`; `name` is the file's
/// name in messages.
RunConfig run_config_of(const YamlNode& root, const std::string& name,
                        const std::string& default_kind = kAutomatic);

/// `text` as a YAML scalar, in quotes if it needs them.
std::string yaml_text(const std::string& text);

}  // namespace emomc::app
