#include "emomc/likelihood/parameter_file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/models.hpp"
#include "table_file.hpp"

namespace emomc {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr int kMaxDepth = 8;

Json parse_json(const std::string& text, const std::string& name) {
  if (text.size() > kMaxBytes) throw InputError(name + ": larger than 64 MiB, which no parameter file is");
  try {
    // The depth is bounded before it can exhaust the stack.
    const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
      if (depth > kMaxDepth) throw InputError(name + ": nested deeper than any parameter is");
      return true;
    };
    Json json = Json::parse(text, shallow);
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
  out.push_back(x);
}

Json block_to_json(const ParameterBlock& block, std::size_t axis, const double*& at) {
  if (axis == block.shape.size()) return *at++;
  Json list = Json::array();
  for (int i = 0; i < block.shape[axis]; ++i) list.push_back(block_to_json(block, axis + 1, at));
  return list;
}

}  // namespace

std::vector<double> parse_parameters(const std::string& text, const std::string& name,
                                     const ParameterLayout& layout) {
  const Json json = parse_json(text, name);
  std::vector<std::string> known;
  for (const auto& block : layout.blocks) known.push_back(block.name);
  for (const auto& [key, _] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end()) {
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
    if (block.support != Support::simplex) continue;
    double sum = 0;
    for (std::size_t i = begin; i < theta.size(); ++i) sum += theta[i];
    if (std::abs(sum - 1) > 1e-6)
      throw InputError(name + ": " + block.name + ": the entries sum to " + Json(sum).dump() +
                       "; they must sum to 1");
  }
  return theta;
}

std::vector<double> read_parameter_file(const std::filesystem::path& file, const ParameterLayout& layout) {
  return parse_parameters(read_whole_file(file), file.string(), layout);
}

ModelSpec model_of_parameters(const std::string& text, const std::string& name, const std::string& model) {
  const Json json = parse_json(text, name);
  ModelSpec spec{model, 1};
  if (const auto weights = json.find("weights"); weights != json.end()) {
    if (!weights->is_array() || weights->empty())
      throw InputError(name + ": weights: a list of numbers is needed");
    spec.components = static_cast<int>(std::min<std::size_t>(weights->size(), 1u << 20));
    // scales [K] are a spherical mixture's, [K][d] a diagonal one's.
    const auto scales = json.find("scales");
    if (model == device::GaussianMixture::name && scales != json.end() && scales->is_array() &&
        !scales->empty() && (*scales)[0].is_number())
      spec.covariance = "spherical";
  }
  return spec;
}

std::string parameters_to_json(const ParameterLayout& layout, std::span<const double> theta) {
  nlohmann::ordered_json json;
  const double* at = theta.data();
  for (const auto& block : layout.blocks) json[block.name] = block_to_json(block, 0, at);
  return json.dump(1) + "\n";
}

}  // namespace emomc
