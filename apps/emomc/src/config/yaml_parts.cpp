#include "yaml_parts.hpp"

#include <algorithm>

#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc::app {

std::string place_of(const YamlValue& value) { return value.node().place.text() + ": " + value.key(); }

void for_each_named(const YamlValue& value, const std::string& wanted,
                    const std::function<void(const std::string&, const YamlValue&)>& read) {
  const YamlNode& node = value.node();
  if (node.kind == YamlNode::Kind::null) return;
  if (node.kind != YamlNode::Kind::map) value.refuse_type(wanted);
  for (std::size_t i = 0; i < node.keys.size(); ++i)
    read(node.keys[i].scalar, YamlValue(node.items[i], value.key() + "." + node.keys[i].scalar));
}

void refuse_other_keys(const YamlValue& value, std::span<const std::string> allowed) {
  const YamlNode& node = value.node();
  for (const YamlNode& key : node.keys)
    if (std::find(allowed.begin(), allowed.end(), key.scalar) == allowed.end())
      refuse_at(
          key.place, value.key() + "." + excerpt(key.scalar),
          "unknown key; " + did_you_mean(nearest_name(key.scalar, allowed)) + "allowed: " + joined(allowed));
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (letter == '\n')
      result += "\\n";
    else if (letter == '\t')
      result += "\\t";
    else
      result += letter;
  }
  return result + "\"";
}

}  // namespace emomc::app
