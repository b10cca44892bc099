#include "model_config_keys.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <stdexcept>

#include "emomc/posterior/model_priors.hpp"
#include "emomc/posterior/text_table.hpp"
#include "run_config.hpp"
#include "run_config_prior.hpp"

namespace emomc::app {
namespace {

/// Returns "a", "a and b" or "a, b and c".
std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::vector<const ModelInfo*> models_where(const std::function<bool(const ModelInfo&)>& condition) {
  std::vector<const ModelInfo*> models;
  for (const ModelInfo& model : known_models())
    if (condition(model)) models.push_back(&model);
  return models;
}

bool has_covariances(const ModelInfo& model) { return covariance_names(model.name).size() > 1; }

std::string with_description(const std::string& name, const std::string& description) {
  return description.empty() ? name : name + " (" + description + ")";
}

std::string model_comment() {
  std::string text;
  for (const std::string& name : model_names()) {
    const ModelInfo& first = model_info(name, covariance_names(name).front());
    text += (text.empty() ? "" : " | ") + with_description(name, first.description);
  }
  return text;
}

std::string covariance_comment() {
  std::string text;
  std::vector<std::string> listed;
  for (const ModelInfo* model : models_where(has_covariances)) {
    if (std::find(listed.begin(), listed.end(), model->covariance) != listed.end()) continue;
    listed.push_back(model->covariance);
    // The description of the first model with a name describes all models with that name.
    const bool is_first = covariance_names(model->name).front() == model->covariance;
    text +=
        (text.empty() ? "" : " | ") + with_description(model->covariance, is_first ? "" : model->description);
  }
  return text;
}

/// The covariance of another model is not kept: each model begins with its first covariance.
void read_model(const YamlValue& value, RunConfig& config) {
  config.likelihood.model = value.choice(model_names());
  config.likelihood.covariance = covariance_names(config.likelihood.model).front();
}

void read_covariance(const YamlValue& value, RunConfig& config) {
  config.likelihood.covariance = value.choice(covariance_names(config.likelihood.model));
}

/// Returns a text such as "normal {mean, sd}" or "half_normal sd".
std::string family_text(const std::string& name, Domain domain) {
  const std::optional<PriorFamily> family = family_from_name(name);
  if (!family) throw std::logic_error("no prior family " + name);
  if (domain == Domain::correlation && *family == PriorFamily::fixed) return name + " matrix";
  const std::vector<std::string>& arguments = argument_names(*family);
  return name + " " + (arguments.size() == 1 ? arguments[0] : "{" + joined(arguments) + "}");
}

/// Returns the name of the first of `parts` with that domain, or an empty text.
std::string first_with(std::span<const SharedPart> parts, Domain domain) {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const SharedPart& shared) { return shared.part.domain == domain; });
  return found == parts.end() ? "" : found->part.name;
}

/// Returns the families of a domain, or a reference to the earlier key that has the same families.
std::string families_text(Domain domain, std::span<const SharedPart> earlier) {
  if (const std::string same = first_with(earlier, domain); !same.empty()) return "as " + same;
  std::vector<std::string> families = families_for(domain);
  std::string end;
  if (const std::string real = first_with(earlier, Domain::real);
      domain == Domain::positive && !real.empty()) {
    for (const std::string& family : families_for(Domain::real)) std::erase(families, family);
    end = ", or as " + real + " from 0";
  }
  std::string text;
  for (const std::string& family : families)
    text += (text.empty() ? "" : " | ") + family_text(family, domain);
  return text + end;
}

/// Returns "model NAME: " or "covariance A and B: " if only these have the part.
std::string users_text(const std::vector<const ModelInfo*>& models) {
  const std::string& usual = known_models().front().name;
  std::vector<std::string> names, covariances;
  for (const ModelInfo* model : models) {
    if (model->name == usual) covariances.push_back(model->covariance);
    if (names.empty() || names.back() != model->name) names.push_back(model->name);
  }
  if (covariances.empty()) return "model " + in_words(names) + ": ";
  if (covariances.size() == covariance_names(usual).size()) return "";
  return "covariance " + in_words(covariances) + ": ";
}

std::string prior_comment(const SharedPart& shared, std::span<const SharedPart> earlier) {
  const PriorPart& part = shared.part;
  const bool is_first = first_with(earlier, part.domain).empty();
  const bool is_sd = part.domain == Domain::positive && part.unit == DataUnit::scale;
  return users_text(shared.models) + (is_sd && is_first ? "standard deviations: " : "") +
         families_text(part.domain, earlier);
}

/// Returns the prior of a part, or its default if the model of `config` has no such part.
std::string write_prior(const RunConfig& config, const std::string& part, const ModelInfo& first_user) {
  if (config.prior.blocks.contains(part)) return to_yaml(config.prior, part);
  return to_yaml(default_prior({.model = first_user.name, .covariance = first_user.covariance}), part);
}

/// Returns the allowed values of prior.order for each model.
std::string order_comment() {
  std::string text, listed;
  for (const std::string& name : model_names()) {
    const ModelInfo& model = model_info(name, covariance_names(name).front());
    if (model.ordered_by.empty() || listed == model.ordered_by) continue;
    if (!text.empty()) text += "; model " + name + ": ";
    text += "none | " + order_key(model);
    if (order_key(model) != model.ordered_by)
      text += ", or " + model.ordered_by + ".NAME of the first column (components in the order of these " +
              model.ordered_by + ")";
    if (listed.empty()) listed = model.ordered_by;
  }
  return text;
}

std::string write_order(const RunConfig& config) {
  if (config.prior.order.empty()) return "none";
  if (!config.order_column.empty()) return yaml_text(config.prior.order + "." + config.order_column);
  return order_key(info_of(config.likelihood));
}

}  // namespace

std::vector<ConfigKey> likelihood_keys() {
  return {
      {"likelihood.model",
       model_comment(),
       read_model,
       [](const RunConfig& c) { return c.likelihood.model; },
       {},
       ConfigKey::Users::models},
      {"likelihood.components", "1 to 4096",
       [](const YamlValue& v, RunConfig& c) {
         c.likelihood.components = static_cast<int>(v.integer(1, 4096));
       },
       [](const RunConfig& c) { return std::to_string(c.likelihood.components); },
       models_where([](const ModelInfo& model) { return model.fixed_components == 0; })},
      {"likelihood.covariance", covariance_comment(), read_covariance,
       [](const RunConfig& c) { return c.likelihood.covariance; }, models_where(has_covariances)},
      {"likelihood.precision", "mixed (float32 terms, float64 sums) | double",
       [](const YamlValue& v, RunConfig& c) {
         static const std::array<std::string, 2> names{"mixed", "double"};
         c.likelihood.precision = v.choice(names) == names[0] ? Precision::mixed : Precision::float64;
       },
       [](const RunConfig& c) {
         return std::string(c.likelihood.precision == Precision::mixed ? "mixed" : "double");
       }},
  };
}

std::vector<ConfigKey> prior_keys() {
  std::vector<ConfigKey> keys;
  const std::vector<SharedPart> parts = all_prior_parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& name = parts[i].part.name;
    const ModelInfo* first_user = parts[i].models.front();
    keys.push_back({"prior." + name, prior_comment(parts[i], {parts.data(), i}),
                    [name](const YamlValue& v, RunConfig& c) { read_prior(v, name, c); },
                    [name, first_user](const RunConfig& c) { return write_prior(c, name, *first_user); },
                    parts[i].models});
  }
  keys.push_back({"prior.order",
                  order_comment(),
                  [](const YamlValue& v, RunConfig& c) { c.prior.order = read_order(v, c); },
                  write_order,
                  {},
                  ConfigKey::Users::models});
  keys.push_back({"prior.scale_floor",
                  "smallest scale, as a share of the column's sd; 0: none; below 1",
                  [](const YamlValue& v, RunConfig& c) {
                    c.prior.scale_floor = number_where(v, "0 to 1, without 1",
                                                       [](double share) { return share >= 0 && share < 1; });
                  },
                  [](const RunConfig& c) { return shortest_text(c.prior.scale_floor); },
                  {},
                  ConfigKey::Users::models});
  return keys;
}

}  // namespace emomc::app
