// A small strict YAML reader based on yaml-cpp. It builds a tree that records where each value was written.
// Tags, anchors, aliases, duplicate keys and second documents are refused.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emomc/posterior/excerpt.hpp"

namespace emomc::app {

/// A place in the input: a file's name and a line, or a `--set` argument (line 0).
struct YamlPlace {
  std::shared_ptr<const std::string> source;
  int line = 0;
  std::string text() const;  ///< Returns "configs/sad.yaml:12" or "--set threads=2".
};

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  YamlPlace place;
  std::string scalar;           ///< the text of a scalar; empty for a null
  bool quoted = false;          ///< whether it is in quotes or a block scalar: never a number or a bool
  std::vector<YamlNode> keys;   ///< keys of a map: scalars, one for each item
  std::vector<YamlNode> items;  ///< the values of a list or a map

  /// Returns the value of a map's key; nullptr if the key is missing.
  const YamlNode* find(std::string_view key) const;
  YamlNode* find(std::string_view key);
};

/// Throws an InputError with "PLACE: KEY: WHY" on one line; an empty KEY is left out.
[[noreturn]] void refuse_at(const YamlPlace& place, const std::string& key, const std::string& why);

/// Parses one document of at most 1 MiB, 32 levels and 1,000 keys in a map; a text without a document gives a
/// null node. `place` is line 1 of a file or a --set argument. Throws InputError.
YamlNode parse_yaml(const std::string& text, const YamlPlace& place);

/// Applies an assignment `key.path=value` of --set; the value is parsed as YAML. The value replaces an
/// existing one, even a map, and missing maps on the path are created. Throws InputError.
void apply_override(YamlNode& root, const std::string& assignment);

}  // namespace emomc::app
