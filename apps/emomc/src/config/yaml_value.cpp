#include "yaml_value.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>

#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc::app {
namespace {

/// Returns a description of the node for messages.
std::string described(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::list:
      return node.items.empty() ? "an empty list" : "a list";
    case YamlNode::Kind::map:
      return node.items.empty() ? "an empty map" : "a map";
    case YamlNode::Kind::scalar:
      break;
  }
  return node.quoted ? "the text \"" + excerpt(node.scalar) + "\"" : excerpt(node.scalar);
}

/// Returns the text of a plain scalar without its plus sign, which std::from_chars does not accept.
std::string_view number_text(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar || node.quoted) return {};
  std::string_view text = node.scalar;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <typename Integer>
Integer read_integer(const YamlValue& value, Integer lowest, Integer highest) {
  const std::string allowed = std::to_string(lowest) + " to " + std::to_string(highest);
  const std::string_view text = number_text(value.node());
  const std::string_view digits = text.substr(!text.empty() && text[0] == '-' ? 1 : 0);
  const bool octal_looking = digits.size() > 1 && digits[0] == '0';  // octal in YAML 1.1, decimal in YAML 1.2
  if (digits.empty() || octal_looking || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    value.refuse_type("a whole number from " + allowed);
  }
  Integer number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool complete = error == std::errc{} && end == text.data() + text.size();
  if (!complete || number < lowest || number > highest) value.refuse_range(allowed);
  return number;
}

/// Appends the numbers below `value`, which is at `level` of the array. `first` is true while the shape is
/// not yet known.
void collect(const YamlValue& value, std::size_t level, bool first, ArrayArgument& array) {
  const YamlNode& node = value.node();
  if (node.kind != YamlNode::Kind::list) {
    if (level < array.shape.size()) value.refuse("a number is given, but the entries beside it are lists");
    array.values.push_back(value.number());
    return;
  }
  if (node.items.empty()) value.refuse_type("a number or a list of numbers, without empty lists");
  const int length = static_cast<int>(node.items.size());
  if (first) array.shape.push_back(length);
  if (level >= array.shape.size())
    value.refuse("a list is given where a number is expected, as in the rows before");
  if (array.shape[level] != length) {
    value.refuse("a ragged list: " + std::to_string(length) + " entries here, " +
                 std::to_string(array.shape[level]) + " before");
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    collect(YamlValue(node.items[i], value.key()), level + 1, first && i == 0, array);
  }
}

}  // namespace

void YamlValue::refuse_type(const std::string& wanted) const {
  refuse("expected " + wanted + ", not " + described(*node_));
}

void YamlValue::refuse_range(const std::string& allowed) const {
  refuse(described(*node_) + " is out of range; allowed: " + allowed);
}

bool YamlValue::boolean() const {
  const bool plain = node_->kind == YamlNode::Kind::scalar && !node_->quoted;
  const std::string& text = node_->scalar;
  if (plain && (text == "true" || text == "True" || text == "TRUE")) return true;
  if (plain && (text == "false" || text == "False" || text == "FALSE")) return false;
  refuse_type("true or false");
}

std::int64_t YamlValue::integer(std::int64_t lowest, std::int64_t highest) const {
  return read_integer(*this, lowest, highest);
}

std::uint64_t YamlValue::unsigned_integer() const {
  return read_integer<std::uint64_t>(*this, 0, std::numeric_limits<std::uint64_t>::max());
}

double YamlValue::number() const {
  const std::string_view text = number_text(*node_);
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) {
    refuse_type("a finite number");
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) refuse_range("numbers that a double can hold");
  if (error != std::errc{} || end != text.data() + text.size()) refuse_type("a finite number");
  return number;
}

std::string YamlValue::text(const std::string& wanted) const {
  if (node_->kind != YamlNode::Kind::scalar || node_->scalar.empty()) refuse_type(wanted);
  const bool control = std::any_of(node_->scalar.begin(), node_->scalar.end(), [](char letter) {
    const auto code = static_cast<unsigned char>(letter);
    return code < 0x20 || code == 0x7f;
  });
  if (control) refuse_type(wanted + " without control characters");
  return node_->scalar;
}

std::string YamlValue::choice(std::span<const std::string> names) const {
  std::string name = text("one of " + joined(names));
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  refuse(excerpt(name) + " is unknown; " + did_you_mean(nearest_name(name, names)) +
         "allowed: " + joined(names));
}

ArrayArgument YamlValue::array() const {
  ArrayArgument array;
  collect(*this, 0, true, array);
  return array;
}

}  // namespace emomc::app
