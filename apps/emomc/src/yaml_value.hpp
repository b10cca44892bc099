// A value of the configuration, read as the type that its key takes or refused with its place and key.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emomc/sampler/prior.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {

/// The shortest decimal text that reads back as the same number.
std::string shortest_text(double number);

/// A node with its dotted key. Every reading throws InputError with place, key, value and what is
/// allowed where the node is something else.
class YamlValue {
 public:
  YamlValue(const YamlNode& node, std::string key) : node_(&node), key_(std::move(key)) {}

  const YamlNode& node() const { return *node_; }
  const std::string& key() const { return key_; }

  [[noreturn]] void refuse(const std::string& why) const { refuse_at(node_->place, key_, why); }
  /// "expected WANTED, not VALUE".
  [[noreturn]] void refuse_type(const std::string& wanted) const;
  /// "VALUE is out of range; allowed: ALLOWED".
  [[noreturn]] void refuse_range(const std::string& allowed) const;

  /// true or false; YAML 1.1's yes, no, on and off are refused.
  bool boolean() const;
  /// Decimal digits with a sign, both bounds included.
  std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  std::uint64_t unsigned_integer() const;
  /// A finite number.
  double number() const;
  /// A text that is not empty and has no control characters; `wanted` says what goes here.
  std::string text(const std::string& wanted) const;
  /// One of `names`; the message has the nearest of them.
  std::string choice(std::span<const std::string> names) const;
  /// A finite number, or nested lists of them of equal lengths.
  ArrayArgument array() const;

 private:
  const YamlNode* node_;
  std::string key_;
};

}  // namespace emomc::app
