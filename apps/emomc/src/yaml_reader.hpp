// A small strict reader over yaml-cpp: a tree that knows where each value was written. No tags, anchors,
// aliases, duplicate keys or second documents.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emomc::app {

/// Where something was written: a file's name and line, or a `--set` argument (line 0).
struct YamlPlace {
  std::shared_ptr<const std::string> source;
  int line = 0;
  std::string text() const;  ///< "configs/sad.yaml:12" or "--set threads=2"
};

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  YamlPlace place;
  std::string scalar;           ///< of a scalar, and of a null as written
  bool quoted = false;          ///< scalar in quotes or a block scalar: never a number or a bool
  std::vector<YamlNode> keys;   ///< of a map: scalars, one for each item
  std::vector<YamlNode> items;  ///< of a list or a map

  /// The value of a map's key, or nullptr.
  const YamlNode* find(std::string_view key) const;
  YamlNode* find(std::string_view key);
};

/// `text` on one line of at most 80 characters, for messages.
std::string excerpt(std::string_view text);

/// "a, b, c".
std::string joined(std::span<const std::string> names);

/// "PLACE: KEY: WHY" on one line, thrown as InputError; KEY is left out where empty.
[[noreturn]] void refuse_at(const YamlPlace& place, const std::string& key, const std::string& why);

/// Parses one document of at most 1 MiB, 32 levels and 1,000 keys in a map; a text without a document is a
/// null node. `place` is line 1 of a file or a --set argument. Throws InputError.
YamlNode parse_yaml(const std::string& text, const YamlPlace& place);

/// Applies `key.path=value` of --set, the value parsed as YAML. It replaces what is there, a map
/// included; maps on the way are made where they are missing.
void apply_override(YamlNode& root, const std::string& assignment);

}  // namespace emomc::app
