#include "emomc/likelihood/parameter_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "table_file.hpp"

namespace emomc {
namespace {

using Json = nlohmann::json;
// Parsed JSON takes up to 32 times as much memory.
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr int kMaxDepth = 8;
constexpr double kMaxAsymmetry = 1e-9;

Json parse_json(const std::string& text, const std::string& name) {
  if (text.size() > kMaxBytes) throw InputError(name + ": larger than 16 MiB, which no parameter file is");
  try {
    std::vector<std::set<std::string>> keys;  // of the objects that are open; the parser keeps the last value
    const auto checked = [&](int depth, Json::parse_event_t event, Json& value) {
      // The depth is limited before it can exhaust the stack.
      if (depth > kMaxDepth) throw InputError(name + ": nested deeper than any parameter is");
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end) keys.pop_back();
      if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
        throw InputError(name + ": the key " + value.dump() + " is there twice; remove one");
      return true;
    };
    Json json = Json::parse(text, checked);
    if (!json.is_object()) throw InputError(name + ": a JSON object {\"name\": value, ...} is needed");
    return json;
  } catch (const Json::exception& error) {
    std::string why = error.what();
    const auto colon = why.find("parse error");
    if (colon != std::string::npos) why = why.substr(colon);
    for (char& c : why)
      if (c == '\n') c = ' ';
    throw InputError(name + ": no valid JSON: " + why);
  }
}

std::string shape_text(const std::vector<int>& shape) {
  if (shape.empty()) return "one number";
  std::string text;
  for (int extent : shape) text += "[" + std::to_string(extent) + "]";
  return text;
}

void read_block(const Json& value, const ParameterBlock& block, std::size_t axis, const std::string& place,
                const std::string& path, std::vector<double>& out) {
  if (axis < block.shape.size()) {
    const auto extent = static_cast<std::size_t>(block.shape[axis]);
    if (!value.is_array() || value.size() != extent)
      throw InputError(place + path + ": " +
                       (value.is_array() ? std::to_string(value.size()) + " entries" : "no list") + "; " +
                       block.name + " has shape " + shape_text(block.shape));
    for (std::size_t i = 0; i < extent; ++i)
      read_block(value[i], block, axis + 1, place, path + "[" + std::to_string(i) + "]", out);
    return;
  }
  if (!value.is_number())
    throw InputError(place + path + ": not a number; " + block.name + " has shape " +
                     shape_text(block.shape));
  const double x = value.get<double>();
  const auto refuse = [&](const std::string& allowed) {
    throw InputError(place + path + ": " + value.dump() + " is out of range; allowed: " + allowed);
  };
  if (!std::isfinite(x)) refuse("finite numbers");
  if (block.support == Support::positive && !(x > 0)) refuse("above 0");
  if (block.support == Support::unit_interval && !(x >= 0 && x <= 1)) refuse("0 to 1");
  if (block.support == Support::simplex && x < 0) refuse("0 or more");
  if (block.support == Support::circular && !(std::abs(x) <= std::numbers::pi))
    refuse("-pi to pi, in radians");
  out.push_back(x);
}

// Keeps only the lower triangles of the [d][d] matrices in `out` from `begin` on.
void keep_lower_triangles(const ParameterBlock& block, const std::string& place, std::size_t begin,
                          std::vector<double>& out) {
  const auto d = static_cast<std::size_t>(block.matrix_dim());
  const std::vector<double> matrices(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
  out.resize(begin);
  for (std::size_t matrix = 0; matrix < matrices.size(); matrix += d * d)
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const double x = matrices[matrix + i * d + j], transposed = matrices[matrix + j * d + i];
        if (!(std::abs(x - transposed) <= kMaxAsymmetry * std::abs(x)))
          throw InputError(place + ": entries [" + std::to_string(i) + "][" + std::to_string(j) + "] and [" +
                           std::to_string(j) + "][" + std::to_string(i) +
                           "] of a matrix differ; a covariance is symmetric");
        out.push_back(x);
      }
}

Json matrix_to_json(int d, const double* triangle) {
  Json matrix = Json::array();
  for (int i = 0; i < d; ++i) {
    Json row = Json::array();
    for (int j = 0; j < d; ++j)
      row.push_back(triangle[std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j)]);
    matrix.push_back(row);
  }
  return matrix;
}

Json block_to_json(const ParameterBlock& block, std::size_t axis, const double*& at) {
  if (block.support == Support::covariance && axis + 2 == block.shape.size()) {
    const int d = block.matrix_dim();
    Json matrix = matrix_to_json(d, at);
    at += d * (d + 1) / 2;
    return matrix;
  }
  if (axis == block.shape.size()) return *at++;
  Json list = Json::array();
  for (int i = 0; i < block.shape[axis]; ++i) list.push_back(block_to_json(block, axis + 1, at));
  return list;
}

// The number of axes of nested lists of numbers; -1 where the innermost value is no number.
int num_axes_of(const Json& value) {
  int axes = 0;
  const Json* at = &value;
  for (; at->is_array() && !at->empty(); at = &at->front()) ++axes;
  return at->is_number() ? axes : -1;
}

// How well the file's parameters agree with the blocks of the model. A block of the right rank counts for
// more than its name alone: scales [K] belong to a spherical mixture, [K][d] to a diagonal one.
int agreement_with(const Json& json, const ModelInfo& model) {
  constexpr int kName = 2, kRank = 1;
  int agreement = 0;
  for (const auto& block : model.blocks)
    if (const auto found = json.find(block.name); found != json.end())
      agreement += kName + (num_axes_of(*found) == block.num_axes ? kRank : 0);
  return agreement;
}

// The number of components in the file: the length of the first block by component; 1 where there is none.
int components_in(const Json& json, const std::string& name, const ModelInfo& model) {
  if (model.fixed_components) return model.fixed_components;
  for (const auto& block : model.blocks) {
    if (block.num_axes == 0 || block.axes[0] != device::Axis::component) continue;
    const auto found = json.find(block.name);
    if (found == json.end()) break;
    if (!found->is_array() || found->empty())
      throw InputError(name + ": " + block.name + ": a list of numbers is needed");
    return static_cast<int>(std::min<std::size_t>(found->size(), 1u << 20));
  }
  return 1;
}

}  // namespace

std::vector<double> parse_parameters(const std::string& text, const std::string& name,
                                     const ParameterLayout& layout) {
  const Json json = parse_json(text, name);
  std::vector<std::string> known;
  for (const auto& block : layout.blocks) known.push_back(block.name);
  // A draw may include sampled prior arguments, such as "means.sd"; only the likelihood's own parameters are
  // read.
  const auto is_argument = [](const std::string& key) {
    static const std::vector<std::string> names{"mean",    "sd",    "location", "scale",
                                                "meanlog", "sdlog", "rate"};
    const auto dot = key.find('.');
    return dot != std::string::npos &&
           std::find(names.begin(), names.end(), key.substr(dot + 1)) != names.end();
  };
  for (const auto& [key, _] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end() && !is_argument(key)) {
      std::string all;
      for (const auto& k : known) all += (all.empty() ? "" : ", ") + k;
      throw InputError(name + ": " + key + ": unknown parameter; " + did_you_mean(nearest_name(key, known)) +
                       "allowed: " + all);
    }
  std::vector<double> theta;
  for (const auto& block : layout.blocks) {
    const auto found = json.find(block.name);
    if (found == json.end())
      throw InputError(name + ": " + block.name + " is missing; it has shape " + shape_text(block.shape));
    const std::size_t begin = theta.size();
    read_block(*found, block, 0, name + ": ", block.name, theta);
    if (block.support == Support::covariance)
      keep_lower_triangles(block, name + ": " + block.name, begin, theta);
    if (block.support != Support::simplex) continue;
    double sum = 0;
    for (std::size_t i = begin; i < theta.size(); ++i) sum += theta[i];
    if (std::abs(sum - 1) > 1e-6)
      throw InputError(name + ": " + block.name + ": the entries sum to " + Json(sum).dump() +
                       "; they must sum to 1");
  }
  try {
    from_written(layout, theta);
  } catch (const InputError& error) {
    throw InputError(name + ": " + error.what());
  }
  return theta;
}

std::vector<double> read_parameter_file(const std::filesystem::path& file, const ParameterLayout& layout) {
  return parse_parameters(read_whole_file(file, kMaxBytes), file.string(), layout);
}

ModelSpec model_of_parameters(const std::string& text, const std::string& name, const std::string& model) {
  const Json json = parse_json(text, name);
  const ModelInfo* best = nullptr;
  int most = -1;
  for (const ModelInfo& known : known_models()) {
    if (known.name != model) continue;
    const int agreement = agreement_with(json, known);
    if (agreement > most) best = &known;
    most = std::max(most, agreement);
  }
  if (best == nullptr) return {model, 1};  // model_layout throws InputError for an unknown name
  return {model, components_in(json, name, *best), best->covariance};
}

std::string parameters_to_json(const ParameterLayout& layout, std::span<const double> theta) {
  std::vector<double> written(theta.begin(), theta.end());
  to_written(layout, written);
  return written_to_json(layout, written);
}

std::string written_to_json(const ParameterLayout& layout, std::span<const double> written) {
  nlohmann::ordered_json json;
  const double* at = written.data();
  for (const auto& block : layout.blocks) json[block.name] = block_to_json(block, 0, at);
  return json.dump(1) + "\n";
}

}  // namespace emomc
