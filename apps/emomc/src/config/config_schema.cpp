#include "config_schema.hpp"

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

using nlohmann::ordered_json;

/// Returns a configuration that uses the key: with the first such model, or with a likelihood of the user's
/// own if `own` is true.
RunConfig config_for(const ConfigKey& key, bool own) {
  RunConfig config = default_run_config();
  if (own) {
    config.likelihood.expression.log_density.text = "a + b";  // the columns of the lists below
  } else if (!key.models.empty()) {
    config.likelihood.model = key.models[0]->name;
    config.likelihood.covariance = key.models[0]->covariance;
  }
  set_likelihood_defaults(config);
  return config;
}

/// Returns whether the key's reader accepts a value, which is written in YAML, in a configuration that uses
/// the key.
bool accepts(const ConfigKey& key, const std::string& yaml) {
  const YamlNode root = parse_yaml("value: " + yaml + "\n", {std::make_shared<std::string>("schema"), 1});
  for (const bool own : {false, true}) {
    RunConfig config = config_for(key, own);
    if (!is_used(key, config.likelihood)) continue;
    try {
      key.read({*root.find("value"), key.name}, config);
      return true;
    } catch (const InputError&) {  // the other kind of likelihood may accept it
    }
  }
  return false;
}

/// Returns the words of a key's comment that its reader accepts; empty if the reader accepts every word.
std::vector<std::string> words_of(const ConfigKey& key) {
  std::vector<std::string> words;
  std::set<std::string> seen;
  std::string word;
  for (const char c : key.comment + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    const bool is_word = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
                         word != "true" && word != "false" && word != "null";
    if (is_word && seen.insert(word).second && accepts(key, word)) words.push_back(word);
    word.clear();
  }
  return words;
}

/// Returns one schema for each kind of value that the reader accepts.
std::vector<ordered_json> kinds_of(const ConfigKey& key) {
  std::vector<ordered_json> kinds;
  if (accepts(key, "true")) kinds.push_back({{"type", "boolean"}});
  const auto accepts_one_of = [&](std::initializer_list<const char*> values) {
    for (const char* value : values)
      if (accepts(key, value)) return true;
    return false;
  };
  if (accepts_one_of({"0.5", "0.25", "1.5", "1.0e-3"}))
    kinds.push_back({{"type", "number"}});
  else if (accepts_one_of({"0", "1", "2", "4", "100"}))
    kinds.push_back({{"type", "integer"}});
  if (accepts(key, "surely_no_word_of_the_program") || accepts(key, "\"x.json\"")) {
    kinds.push_back({{"type", "string"}});
  } else if (const auto words = words_of(key); !words.empty()) {
    kinds.push_back({{"enum", words}});
  }
  if (accepts_one_of({"[a, b]", "[1, 2]", "[]"})) kinds.push_back({{"type", "array"}});
  if (accepts_one_of({"{}", "{a: {}}", "{a: 1}", "{a: a}", "{a: [b, c]}",
                      "{a: {columns: [x], coefficients: b}}", "{normal: {mean: 0, sd: 1}}",
                      "{half_normal: 1}", "{dirichlet: 1}", "{lkj: 1}", "{beta: {a: 1, b: 1}}"}))
    kinds.push_back({{"type", "object"}});
  return kinds;
}

ordered_json schema_of(const ConfigKey& key) {
  ordered_json schema;
  std::vector<ordered_json> kinds = kinds_of(key);
  // The allowed values of prior.order contain names of columns, which no list of words can name.
  if (key.name == "prior.order") kinds.assign(1, ordered_json{{"type", "string"}});
  if (kinds.size() == 1)
    schema = std::move(kinds[0]);
  else if (kinds.size() > 1)
    schema["anyOf"] = kinds;
  schema["description"] = key.comment;
  return schema;
}

/// Returns the object of the section that contains the key `name`.
ordered_json& section_of(ordered_json& root, const std::string& name, std::string& last) {
  ordered_json* at = &root;
  std::size_t begin = 0;
  for (std::size_t dot = name.find('.'); dot != std::string::npos;
       begin = dot + 1, dot = name.find('.', begin)) {
    ordered_json& section = (*at)["properties"][name.substr(begin, dot - begin)];
    // A section is null in YAML if all its keys are commented out.
    if (section.is_null())
      section = {{"type", ordered_json::array({"object", "null"})},
                 {"additionalProperties", false},
                 {"properties", ordered_json::object()}};
    at = &section;
  }
  last = name.substr(begin);
  return *at;
}

}  // namespace

ordered_json config_schema() {
  ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                         {"title", "A configuration of emomc run, check and fit"},
                         {"type", "object"},
                         {"additionalProperties", false},
                         {"required", ordered_json::array({"data"})},
                         {"properties", ordered_json::object()}};
  for (const ConfigKey& key : config_keys()) {
    if (key.read == nullptr) continue;
    std::string last;
    ordered_json& section = section_of(schema, key.name, last);
    section["properties"][last] = schema_of(key);
  }
  schema["properties"]["data"]["required"] = ordered_json::array({"file"});
  // The priors of a likelihood of the user's own have the names of the likelihood's parameters.
  schema["properties"]["prior"]["additionalProperties"] = {{"type", "object"}};
  return schema;
}

}  // namespace emomc::app
