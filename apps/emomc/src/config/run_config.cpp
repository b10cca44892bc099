#include "run_config.hpp"

#include <glob.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"
#include "emomc/posterior/model_priors.hpp"
#include "expression_config.hpp"
#include "input_kind.hpp"
#include "run_config_keys.hpp"
#include "run_config_prior.hpp"
#include "yaml_reader.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

/// Requires data.standardize next to priors of locations and scales, whose meaning depends on the units of
/// the columns.
void require_written_units(const YamlNode& root) {
  if (find_value(root, "data.standardize") != nullptr) return;
  // An order, and scale_floor, which is a share of the column's sd, mean the same in all units.
  for (const SharedPart& shared : all_prior_parts()) {
    const std::string key = "prior." + shared.part.name;
    if (shared.part.unit == DataUnit::none || find_value(root, key) == nullptr) continue;
    refuse_at(
        key_place(root, key), key,
        "a prior of your own needs data.standardize, which sets the units of the prior; write standardize: "
        "true under data for columns with mean 0 and sd 1, or false for the data's own units");
  }
}

void require_data_file(const YamlNode& root) {
  if (find_value(root, "data.file") != nullptr) return;
  const bool has_section = find_value(root, "data") != nullptr;
  const YamlPlace place = has_section ? key_place(root, "data") : YamlPlace{root.place.source, 0};
  refuse_at(place, "data.file",
            "this key is missing; write the data to sample, as in data: {file: features/sad.csv}");
}

/// Reads the priors of the parameters of a likelihood of the user's own. Each parameter needs a prior.
void read_priors_of_expression(const YamlNode& root, RunConfig& config) {
  for (const ExpressionParameter& parameter : parameters_of(config.likelihood.expression))
    if (parameter.order != ListOrder::none) config.prior.list_orders[parameter.name] = parameter.order;
  for (const ExpressionParameter& parameter : parameters_of(config.likelihood.expression)) {
    const std::string key = "prior." + parameter.name;
    if (const YamlNode* value = find_value(root, key)) {
      read_prior({*value, key}, parameter.name, config);
      continue;
    }
    const YamlNode* section = find_value(root, "prior");
    refuse_at(section ? key_place(root, "prior") : YamlPlace{root.place.source, 0}, key,
              "this key is missing; each parameter of a likelihood of your own needs a prior, such as " +
                  parameter.name + ": " +
                  prior_part(config.likelihood.expression, parameter.name).default_prior);
  }
}

/// Sets defaults that depend on the likelihood and on the kind of proposal, which have been read already.
void set_model_defaults(RunConfig& config) {
  set_likelihood_defaults(config);
  set_proposal_defaults(config);
}

std::filesystem::path default_directory(const std::string& name) {
  const std::filesystem::path stem = std::filesystem::path(name).stem();
  return std::filesystem::path("runs") / (stem.empty() ? std::filesystem::path("emomc") : stem);
}

void check_column_count(const YamlNode& root, const RunConfig& config) {
  if (config.likelihood.is_expression()) return;
  const std::size_t count = config.data.columns.size();
  const ModelInfo& model = info_of(config.likelihood);
  if (model.fixed_dim == 0 || count <= static_cast<std::size_t>(model.fixed_dim)) return;
  YamlValue(*find_value(root, "data.columns"), "data.columns")
      .refuse(std::to_string(count) + " columns; model " + model.name + " allows " +
              (model.fixed_dim == 1 ? "one" : std::to_string(model.fixed_dim)));
}

// This check comes last, because until.max_draws may lower the number of draws.
void check_step_count(const YamlNode& root, const RunConfig& config) {
  constexpr std::int64_t kMostSteps = 1'000'000'000'000;
  if (config.sampler.draws > kMostSteps / config.sampler.thin)
    YamlValue(*find_value(root, "sampler.thin"), "sampler.thin")
        .refuse_range("draws * thin up to " + std::to_string(kMostSteps));
}

}  // namespace

std::string read_config_text(const std::filesystem::path& file) {
  const std::string name = file.string();
  refuse_link_cycle(file);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw InputError(excerpt(name) + ": no such configuration file");
  refuse_if_no_config(file);
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError(excerpt(name) + ": not a regular file; allowed: a configuration file (YAML)");
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::size_t{1} << 20) + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad())
    throw InputError(excerpt(name) + ": cannot be read; check its permissions");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

RunConfig load_run_config(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  RunConfig config = parse_run_config(read_config_text(file), file.string(), overrides);
  for (const std::string& data : config.data.files) refuse_path_beside(file, "data.file", data);
  if (config.sampler.init.ends_with(".json")) refuse_path_beside(file, "sampler.init", config.sampler.init);
  return config;
}

void refuse_path_beside(const std::filesystem::path& config, const std::string& key,
                        const std::string& path) {
  const auto is_there = [](const std::filesystem::path& pattern) {
    std::error_code error;
    if (std::filesystem::exists(pattern, error)) return true;
    glob_t found{};
    const bool matches = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0;
    ::globfree(&found);
    return matches;
  };
  const std::filesystem::path beside = config.parent_path() / path;
  if (std::filesystem::path(path).is_absolute() || config.parent_path().empty() || is_there(path) ||
      !is_there(beside))
    return;
  throw InputError(config.string() + ": " + key + ": " + path +
                   ": there is no such file in the working directory, but there is " + beside.string() +
                   " beside the configuration; paths are relative to the working directory, so write " + key +
                   ": " + beside.string());
}

RunConfig parse_run_config(const std::string& yaml, const std::string& name,
                           const std::vector<std::string>& overrides) {
  const auto source = std::make_shared<const std::string>(name);
  YamlNode root = parse_yaml(yaml, {source, 1});
  const bool is_empty = root.kind == YamlNode::Kind::null;
  if (root.kind != YamlNode::Kind::null && root.kind != YamlNode::Kind::map) {
    YamlValue(root, "").refuse_type("a map with keys such as data and likelihood");
  }
  for (const std::string& assignment : overrides) apply_override(root, assignment);
  if (is_empty && find_value(root, "data") == nullptr)
    refuse_at({source, 0}, "", "empty; write at least data: {file: features/sad.csv}");
  refuse_other_config(root, InputKind::run_config);
  return run_config_of(root, name);
}

RunConfig run_config_of(const YamlNode& root, const std::string& name, const std::string& default_kind) {
  RunConfig config;
  config.sampler.proposal.kind = default_kind;
  if (states_expression(root))
    read_expression(root, config);
  else
    refuse_keys_of_expressions(root, config.likelihood);
  refuse_unknown_keys(root, config.likelihood);
  config.output.directory = default_directory(name);
  for (const ConfigKey& key : config_keys()) {
    const YamlNode* value = find_value(root, key.name);
    const bool decides = key.name == "likelihood.model" || key.name == "likelihood.covariance" ||
                         key.name == "sampler.proposal.kind";
    if (decides && value != nullptr && is_used(key, config.likelihood)) key.read({*value, key.name}, config);
  }
  set_model_defaults(config);
  refuse_unused_keys(root, config);
  require_data_file(root);
  for (const ConfigKey& key : config_keys()) {
    const YamlNode* value = find_value(root, key.name);
    const bool is_read =
        key.used_by == ConfigKey::Users::expressions || is_prior_of_own(key, config.likelihood);
    if (value != nullptr && !is_read) key.read({*value, key.name}, config);
  }
  if (config.likelihood.is_expression()) {
    read_priors_of_expression(root, config);
    check_step_count(root, config);
    return config;
  }
  check_column_count(root, config);
  check_step_count(root, config);
  require_written_units(root);
  return config;
}

RunConfig default_run_config() {
  return parse_run_config("data: {file: features/sad.csv}", "configs/all_keys.yaml");
}

}  // namespace emomc::app
