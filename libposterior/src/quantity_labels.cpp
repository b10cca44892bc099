#include "emomc/posterior/quantity_labels.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace emomc {
namespace {

// Whether the name of a column can stand for an index. Names that would not be read as a single index cannot.
bool is_usable(const std::string& column) {
  constexpr std::size_t kLongest = 40;
  return !column.empty() && column.size() <= kLongest &&
         std::none_of(column.begin(), column.end(), [](char c) {
           return c == ',' || c == '[' || c == ']' || std::iscntrl(static_cast<unsigned char>(c)) != 0;
         });
}

// The indices of `name[i,j]` as texts; empty if the name has none.
std::vector<std::string> indices_of(const std::string& name) {
  const std::size_t open = name.find('[');
  if (open == std::string::npos || name.back() != ']') return {};
  std::vector<std::string> indices;
  for (std::size_t begin = open + 1; begin < name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size() - 1);
    indices.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return indices;
}

std::string label_of(const std::string& name, std::span<const int> feature_axes,
                     std::span<const std::string> columns) {
  std::vector<std::string> indices = indices_of(name);
  bool has_column = false;
  for (const int axis : feature_axes) {
    const auto a = static_cast<std::size_t>(axis);
    if (a >= indices.size()) continue;
    std::size_t column = 0;
    const std::string& text = indices[a];
    const auto read = std::from_chars(text.data(), text.data() + text.size(), column);
    if (read.ec != std::errc() || column >= columns.size() || !is_usable(columns[column])) continue;
    indices[a] = columns[column];
    has_column = true;
  }
  if (!has_column) return name;
  std::string label = name.substr(0, name.find('[') + 1);
  for (std::size_t i = 0; i < indices.size(); ++i) label += (i > 0 ? ", " : "") + indices[i];
  return label + "]";
}

std::string without_blanks_after_commas(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' || out.empty() || out.back() != ',') out += c;
  return out;
}

std::string with_literal_brackets(const std::string& pattern) {
  std::string out;
  for (const char c : pattern) out += c == '[' ? std::string("\\[") : std::string(1, c);
  return out;
}

bool matches(const std::string& pattern, const std::string& name) {
  // Names such as means[0] are compared literally before they are interpreted as patterns.
  return name == pattern || fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         fnmatch(with_literal_brackets(pattern).c_str(), name.c_str(), 0) == 0;
}

}  // namespace

std::vector<std::string> labels_of(const DrawSet& draws, std::size_t first_label_free,
                                   std::span<const std::string> columns) {
  std::vector<std::string> labels = draws.names;
  if (columns.empty() || draws.layout.blocks.empty()) return labels;
  std::size_t q = draws.num_log_densities;
  for (const ParameterBlock& block : draws.layout.blocks) {
    const auto axes = static_cast<int>(block.shape.size());
    std::vector<int> feature_axes;
    if (block.support == Support::covariance)
      feature_axes = {axes - 2, axes - 1};
    else if (block.feature_axis >= 0)
      feature_axes = {block.feature_axis};
    for (int i = 0; i < block.size() && q < labels.size(); ++i, ++q)
      labels[q] = label_of(labels[q], feature_axes, columns);
  }
  const int first_axis = 0;
  for (q = first_label_free; q < labels.size(); ++q)
    if (labels[q].starts_with("mixture_")) labels[q] = label_of(labels[q], {&first_axis, 1}, columns);
  return labels;
}

std::string numbering_label(const std::string& numbered_by, std::span<const std::string> names,
                            std::span<const std::string> labels) {
  const std::size_t k = numbered_by.find("[k");
  if (k == std::string::npos) return numbered_by;
  std::string of_first = numbered_by;
  of_first[k + 1] = '0';
  const auto found = std::find(names.begin(), names.end(), of_first);
  if (found == names.end()) return numbered_by;
  std::string label = labels[static_cast<std::size_t>(found - names.begin())];
  if (label.compare(k, 2, "[0") != 0) return numbered_by;
  label[k + 1] = 'k';
  return label;
}

bool is_selected(const std::string& name, const std::string& label, std::span<const std::string> patterns) {
  const std::string short_label = without_blanks_after_commas(label);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& written) {
    const std::string pattern = without_blanks_after_commas(written);
    return matches(pattern, name) || matches(pattern, short_label);
  });
}

}  // namespace emomc
