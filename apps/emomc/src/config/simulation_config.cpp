#include "simulation_config.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/posterior/text_table.hpp"
#include "input_kind.hpp"
#include "run_config.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kLongestName = 100;

// A map whose keys are checked against `allowed`.
class Section {
 public:
  Section(const YamlNode& node, std::string name, const std::vector<std::string>& allowed)
      : node_(node), name_(std::move(name)) {
    if (node.kind != YamlNode::Kind::map)
      YamlValue(node, name_).refuse_type("a map with keys: " + joined(allowed));
    for (const YamlNode& key : node.keys)
      if (std::find(allowed.begin(), allowed.end(), key.scalar) == allowed.end())
        refuse_at(key.place, path(excerpt(key.scalar)),
                  "unknown key; " + did_you_mean(nearest_name(key.scalar, allowed)) +
                      "allowed: " + joined(allowed));
  }

  bool has(const std::string& key) const { return node_.find(key) != nullptr; }
  YamlValue at(const std::string& key) const {
    const YamlNode* value = node_.find(key);
    if (value == nullptr) refuse_at(node_.place, path(key), "this key is missing");
    return {*value, path(key)};
  }
  std::string path(const std::string& key) const { return name_.empty() ? key : name_ + "." + key; }

 private:
  const YamlNode& node_;
  std::string name_;
};

std::vector<std::string> read_list(const YamlValue& value, const std::string& wanted) {
  if (value.node().kind != YamlNode::Kind::list || value.node().items.empty())
    value.refuse_type("a list of " + wanted);
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const YamlNode& item : value.node().items) {
    const std::string name = YamlValue(item, value.key()).text(wanted);
    if (!seen.insert(name).second) value.refuse(excerpt(name) + " is listed twice; remove one");
    names.push_back(name);
  }
  return names;
}

// Names become parts of file names.
void check_file_name(const YamlValue& value, const std::string& name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  if (name.empty() || name.size() > kLongestName || name.find('/') != std::string::npos || name[0] == '.' ||
      std::any_of(name.begin(), name.end(), is_control))
    value.refuse(excerpt(name) + ": allowed: a name without / that does not begin with a dot, up to " +
                 std::to_string(kLongestName) + " bytes");
}

// The files of a corpus are named EMOTION_SPEAKER.csv, and a name with _ would make these names ambiguous.
void check_label(const YamlValue& value, const std::string& name) {
  check_file_name(value, name);
  if (name.find('_') != std::string::npos)
    value.refuse(excerpt(name) + ": files are named EMOTION_SPEAKER.csv; allowed: names without _");
}

nlohmann::json to_json(const YamlNode& node, const std::string& key) {
  if (node.kind == YamlNode::Kind::list) {
    auto list = nlohmann::json::array();
    for (const YamlNode& item : node.items) list.push_back(to_json(item, key));
    return list;
  }
  return YamlValue(node, key).number();
}

std::vector<double> read_numbers(const YamlValue& value, std::size_t size, const std::string& wanted) {
  const ArrayArgument array = value.array();
  if (array.shape.size() != 1 || array.values.size() != size)
    value.refuse("expected " + wanted + ": a list of " + std::to_string(size) + " numbers");
  return array.values;
}

void read_parameters(const YamlValue& value, SimulationConfig& config) {
  if (value.node().kind != YamlNode::Kind::map)
    value.refuse_type("a map of the model's parameters, as in a parameter file");
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t i = 0; i < value.node().keys.size(); ++i) {
    const std::string& name = value.node().keys[i].scalar;
    json[name] = to_json(value.node().items[i], value.key() + "." + name);
  }
  const std::string place = value.node().place.text() + ": " + value.key();
  config.model = model_of_parameters(json.dump(), place, config.model.name);
  // The number of columns is the extent of the feature axis of the first block that has such an axis, or else
  // 1.
  for (const auto& block : model_layout(config.model, 1).blocks) {
    if (block.feature_axis < 0 || !json.contains(block.name)) continue;
    const nlohmann::json* entry = &json[block.name];
    for (int axis = 0; axis < block.feature_axis && entry->is_array() && !entry->empty(); ++axis)
      entry = &(*entry)[0];
    if (entry->is_array() && !entry->empty()) config.dim = static_cast<int>(entry->size());
    break;
  }
  config.theta = parse_parameters(json.dump(), place, model_layout(config.model, config.dim));
}

EmotionConfig read_emotion(const YamlNode& node, const std::string& key, const SimulationConfig& config) {
  const std::string weights_key = model_info(config.model).blocks[kWeights].name;
  const Section section(node, key, {weights_key, "shift", "spread"});
  const auto K = static_cast<std::size_t>(config.model.components);
  const auto d = static_cast<std::size_t>(config.dim);
  const ParameterLayout layout = model_layout(config.model, config.dim);
  const auto begin_of = [&](std::size_t block) { return static_cast<std::size_t>(layout.offset(block)); };
  EmotionConfig emotion{"", config.theta};
  if (section.has(weights_key)) {
    const YamlValue value = section.at(weights_key);
    const auto weights = read_numbers(value, K, "a weight for each component");
    double sum = 0;
    for (double w : weights) {
      if (!(w >= 0)) value.refuse_range("weights of 0 or more");
      sum += w;
    }
    if (std::abs(sum - 1) > 1e-6) value.refuse("the weights sum to " + shortest_text(sum) + "; allowed: 1");
    for (std::size_t k = 0; k < K; ++k) emotion.theta[begin_of(kWeights) + k] = weights[k] / sum;
  }
  if (section.has("shift")) {
    const auto shift = read_numbers(section.at("shift"), d, "an offset for each column");
    for (std::size_t i = 0; i < K * d; ++i) emotion.theta[begin_of(kMeans) + i] += shift[i % d];
  }
  if (section.has("spread")) {
    const YamlValue value = section.at("spread");
    const double spread = value.number();
    if (!(spread > 0)) value.refuse_range("above 0");
    for (std::size_t i = 0; i < K * d; ++i) emotion.theta[begin_of(kSpread) + i] *= spread;
  }
  return emotion;
}

// Returns the names of the models of which a corpus can be made.
std::string names_of_mixtures() {
  std::vector<std::string> names;
  for (const ModelInfo& model : known_models())
    if (has_scales_by_column(model) && model.has_gaussian_components &&
        (names.empty() || names.back() != model.name))
      names.push_back(model.name);
  return joined(names);
}

SimulatedCorpus read_corpus(const YamlValue& value, const SimulationConfig& config) {
  const Section section(value.node(), value.key(),
                        {"speakers", "utterances", "frames", "persistence", "speaker_sd", "emotions"});
  const ModelInfo& model = model_info(config.model);
  if (!is_mixture(model)) value.refuse("a corpus is made from model " + names_of_mixtures() + " only");
  if (!has_scales_by_column(model))
    value.refuse("a corpus is made from a " + covariance_names(model.name).front() +
                 " mixture, whose scales have one list per component");
  SimulatedCorpus corpus;
  corpus.speakers = read_list(section.at("speakers"), "speakers' names");
  for (const auto& name : corpus.speakers) check_label(section.at("speakers"), name);
  if (section.has("utterances"))
    corpus.utterances = static_cast<int>(section.at("utterances").integer(1, 1'000'000));
  if (section.has("frames")) corpus.frames = static_cast<int>(section.at("frames").integer(1, 1'000'000));
  if (section.has("persistence")) {
    corpus.persistence = section.at("persistence").number();
    if (!(corpus.persistence >= 0 && corpus.persistence < 1))
      section.at("persistence").refuse_range("0 to 1, without 1");
  }
  if (section.has("speaker_sd")) {
    corpus.speaker_sd = section.at("speaker_sd").number();
    if (!(corpus.speaker_sd >= 0)) section.at("speaker_sd").refuse_range("0 or more");
  }
  const YamlValue emotions = section.at("emotions");
  if (emotions.node().kind != YamlNode::Kind::map || emotions.node().items.empty())
    emotions.refuse_type("a map from an emotion's name to {weights, shift, spread}");
  for (std::size_t i = 0; i < emotions.node().keys.size(); ++i) {
    const std::string& name = emotions.node().keys[i].scalar;
    check_label(emotions, name);
    corpus.emotions.push_back(read_emotion(emotions.node().items[i], emotions.key() + "." + name, config));
    corpus.emotions.back().name = name;
  }
  return corpus;
}

void require_simulated(const Section& top, const std::string& name) {
  std::vector<std::string> names;
  for (const ModelInfo& model : known_models())
    if (model.has_gaussian_components && (names.empty() || names.back() != model.name))
      names.push_back(model.name);
  if (std::find(names.begin(), names.end(), name) == names.end())
    top.at("model").refuse("no rows can be simulated of model " + name + "; allowed: " + joined(names));
}

}  // namespace

SimulationConfig load_simulation_config(const std::filesystem::path& file) {
  const auto source = std::make_shared<const std::string>(file.string());
  const YamlNode root = parse_yaml(read_config_text(file), {source, 1});
  if (root.kind == YamlNode::Kind::null)
    refuse_at({source, 0}, "",
              "empty; write at least parameters and rows, as in configs/two_gaussian_events.yaml");
  refuse_other_config(root, InputKind::simulation_config);
  const Section top(root, "", {"model", "parameters", "columns", "seed", "rows", "file", "corpus"});
  SimulationConfig config;
  const auto models = model_names();
  if (top.has("model")) config.model.name = top.at("model").choice(models);
  require_simulated(top, config.model.name);
  read_parameters(top.at("parameters"), config);
  if (top.has("seed")) config.seed = top.at("seed").unsigned_integer();
  for (int j = 0; j < config.dim; ++j) config.columns.push_back("c" + std::to_string(j));
  if (top.has("columns")) {
    config.columns = read_list(top.at("columns"), "columns");
    if (config.columns.size() != static_cast<std::size_t>(config.dim))
      top.at("columns").refuse(std::to_string(config.columns.size()) + " columns; the parameters have " +
                               std::to_string(config.dim));
    for (const auto& name : config.columns)
      if (name.find_first_of(",\"") != std::string::npos)
        top.at("columns").refuse(excerpt(name) + ": a column's name has no comma and no quote");
  }
  if (top.has("corpus")) {
    for (const char* key : {"rows", "file"})
      if (top.has(key)) top.at(key).refuse("a corpus has its own numbers of rows and files; remove this key");
    config.corpus.push_back(read_corpus(top.at("corpus"), config));
    return config;
  }
  config.rows = static_cast<std::size_t>(top.at("rows").integer(1, 10'000'000'000));
  if (top.has("file")) {
    config.file = top.at("file").text("a file name that ends in .csv");
    check_file_name(top.at("file"), config.file);
    if (config.file.size() < 5 || config.file.substr(config.file.size() - 4) != ".csv")
      top.at("file").refuse(excerpt(config.file) + ": allowed: a file name that ends in .csv");
  }
  return config;
}

}  // namespace emomc::app
