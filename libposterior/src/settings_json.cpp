#include "emomc/posterior/settings_json.hpp"

#include <nlohmann/json.hpp>

#include "emomc/posterior/expression_json.hpp"

namespace emomc {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const PriorSpec& prior) {
  ordered_json arguments = ordered_json::array();
  for (const ArrayArgument& a : prior.arguments)
    arguments.push_back(a.is_sampled ? ordered_json("sampled")
                                     : ordered_json{{"shape", a.shape}, {"values", a.values}});
  return ordered_json::array({family_name(prior.family), std::move(arguments)});
}

ordered_json json_of(const PriorSet& priors) {
  ordered_json json;
  for (const auto& [block, prior] : priors.blocks) json["of"][block] = json_of(prior);
  json["scale_floor"] = priors.scale_floor;
  json["order"] = priors.order;
  for (const auto& [block, order] : priors.list_orders)
    json["list_orders"][block] = order == ListOrder::increasing   ? "increasing"
                                 : order == ListOrder::decreasing ? "decreasing"
                                                                  : "none";
  return json;
}

ordered_json json_of(const LikelihoodConfig& likelihood) {
  ordered_json json;
  if (likelihood.is_expression())
    json = to_json(likelihood.expression);
  else
    json = {{"model", likelihood.model},
            {"components", likelihood.components},
            {"covariance", likelihood.covariance}};
  json["precision"] = likelihood.precision == Precision::mixed ? "mixed" : "float64";
  return json;
}

ordered_json json_of(const SamplerConfig& sampler) {
  return {{"chains", sampler.chains},
          {"warmup", sampler.chooses_warmup ? ordered_json("auto") : ordered_json(sampler.warmup)},
          {"draws", sampler.chooses_draws ? ordered_json("auto") : ordered_json(sampler.draws)},
          {"thin", sampler.thin},
          {"seed", sampler.seed},
          {"init", sampler.init},
          {"init_tries", sampler.init_tries},
          {"superchains", sampler.superchains},
          {"max_nan_share", sampler.max_nan_share},
          {"proposal",
           {{"kind", sampler.proposal.kind},
            {"shape", sampler.proposal.shape},
            {"target_acceptance", sampler.proposal.target_acceptance}}}};
}

void append_lines(const ordered_json& json, const std::string& name, std::string& text) {
  if (!json.is_object()) {
    std::string value = json.is_string() ? json.get<std::string>() : json.dump();
    if (value.find('\n') != std::string::npos) value = json.dump();
    text += name + ": " + value + "\n";
    return;
  }
  for (const auto& [key, value] : json.items())
    append_lines(value, name.empty() ? key : name + "." + key, text);
}

}  // namespace

ordered_json settings_json(const RunConfig& config) {
  return {{"data", {{"columns", config.data.columns}, {"standardize", config.data.standardize}}},
          {"likelihood", json_of(config.likelihood)},
          {"prior", json_of(config.prior)},
          {"sampler", json_of(config.sampler)},
          {"output", {{"keep_warmup", config.output.keep_warmup}}}};
}

std::string flat_lines(const ordered_json& json) {
  std::string text;
  append_lines(json, "", text);
  return text;
}

}  // namespace emomc
