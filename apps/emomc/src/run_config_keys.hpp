// The keys of the configuration: one row for each says what it means, who uses it, and how it is read
// and written. Checking, reading, to_yaml and configs/all_keys.yaml all go through this table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run_config.hpp"
#include "yaml_reader.hpp"
#include "yaml_value.hpp"

namespace emomc::app {

struct ConfigKey {
  std::string name;     ///< dotted, as "sampler.proposal.kind"
  std::string model;    ///< the only model that uses it; empty: every model
  std::string comment;  ///< what it means and what is allowed
  /// Checks the value and stores it. Rows above are already read. nullptr: not in this version, and
  /// the comment says why.
  void (*read)(const YamlValue& value, RunConfig& config);
  std::string (*write)(const RunConfig& config);
  std::vector<std::string> covariances = {};  ///< the only covariances that use it; empty: all
};

/// Whether a likelihood, or a configuration as far as likelihood and kind of proposal go, uses a key.
bool is_used(const ConfigKey& key, const LikelihoodConfig& likelihood);
bool is_used(const ConfigKey& key, const RunConfig& config);

/// In the order in which they are read and written; sections are contiguous.
const std::vector<ConfigKey>& config_keys();

/// The value at a dotted key, or nullptr.
const YamlNode* find_value(const YamlNode& root, const std::string& name);

/// Where the key itself was written; the key must be there.
YamlPlace key_place(const YamlNode& root, const std::string& name);

/// Refuses keys that are not in the table, with the nearest that is, and values where a section goes.
void refuse_unknown_keys(const YamlNode& root);
/// The same with another table's names.
void refuse_unknown_keys(const YamlNode& root, std::span<const std::string> names);

/// Refuses keys that only another model, covariance or proposal uses or that this version does not have.
void refuse_unused_keys(const YamlNode& root, const RunConfig& config);

/// A key as it is written out: its value, or commented out where it is not used.
struct WrittenKey {
  std::string name, value, comment;
  bool used = true;
};
/// Lines of `section: key: value`, sections contiguous, with comments beside them where asked for.
std::string yaml_lines(std::span<const WrittenKey> keys, YamlComments comments);

/// The keys that `config` uses.
std::vector<WrittenKey> written_keys(const RunConfig& config);

/// A configuration without sections that are not `emomc run`'s, as its file has it. `root` is a map.
RunConfig run_config_of(const YamlNode& root, const std::string& name);

/// `text` as a YAML scalar, in quotes where it needs them.
std::string yaml_text(const std::string& text);

}  // namespace emomc::app
