// Gives access to a value of the configuration by the type that its key requires; errors name the place and
// the key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/prior.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {

/// A node with its dotted key. Every reading function throws InputError with place, key, value and the
/// allowed values if the node does not have the required type.
class YamlValue {
 public:
  YamlValue(const YamlNode& node, std::string key) : node_(&node), key_(std::move(key)) {}

  const YamlNode& node() const { return *node_; }
  const std::string& key() const { return key_; }

  [[noreturn]] void refuse(const std::string& why) const { refuse_at(node_->place, key_, why); }
  /// Refuses the value with "expected WANTED, not VALUE".
  [[noreturn]] void refuse_type(const std::string& wanted) const;
  /// Refuses the value with "VALUE is out of range; allowed: ALLOWED".
  [[noreturn]] void refuse_range(const std::string& allowed) const;

  /// Reads true or false; yes, no, on and off of YAML 1.1 are refused.
  bool boolean() const;
  /// Reads decimal digits with an optional sign; both bounds are allowed values.
  std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  std::uint64_t unsigned_integer() const;
  /// Reads a finite number.
  double number() const;
  /// Reads a text that is not empty and has no control characters; `wanted` describes the text in messages.
  std::string text(const std::string& wanted) const;
  /// Reads one of `names`; the message of a refusal suggests the nearest name.
  std::string choice(std::span<const std::string> names) const;
  std::string choice(std::initializer_list<std::string> names) const {
    return choice(std::span<const std::string>(names.begin(), names.size()));
  }
  /// Returns whether the value is the word `auto`.
  bool is_auto() const { return node_->kind == YamlNode::Kind::scalar && node_->scalar == "auto"; }
  /// Reads a finite number, or nested lists of such numbers with equal lengths.
  ArrayArgument array() const;

 private:
  const YamlNode* node_;
  std::string key_;
};

/// Reads a number that `accept` accepts; `allowed` describes such numbers in messages.
template <typename Accept>
double number_where(const YamlValue& value, const std::string& allowed, Accept accept) {
  const double number = value.number();
  if (!accept(number)) value.refuse_range(allowed);
  return number;
}

}  // namespace emomc::app
