#include "name_list.hpp"

#include <algorithm>

#include "run_config_keys.hpp"

namespace emomc::app {

Names read_list(const YamlValue& value, const std::string& wanted) {
  if (value.node().kind != YamlNode::Kind::list) value.refuse_type("a list of " + wanted);
  Names names;
  for (const YamlNode& item : value.node().items) {
    names.push_back(YamlValue(item, value.key()).text(wanted));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1)
      value.refuse(excerpt(names.back()) + " is listed twice; remove one");
  }
  return names;
}

Names read_some(const YamlValue& value, const std::string& wanted, const std::string& one) {
  Names names = read_list(value, wanted);
  if (names.empty()) value.refuse("an empty list; name a " + one);
  return names;
}

std::string write_list(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + yaml_text(name);
  return "[" + text + "]";
}

}  // namespace emomc::app
