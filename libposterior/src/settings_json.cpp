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

// The lists of members below do not compile if a member, which may change draws, is added to a struct.

ordered_json json_of(const PriorSet& priors) {
  const auto& [blocks, scale_floor, order, list_orders] = priors;
  ordered_json json;
  for (const auto& [block, prior] : blocks) json["of"][block] = json_of(prior);
  json["scale_floor"] = scale_floor;
  json["order"] = order;
  for (const auto& [block, of_list] : list_orders)
    json["list_orders"][block] = of_list == ListOrder::increasing   ? "increasing"
                                 : of_list == ListOrder::decreasing ? "decreasing"
                                                                    : "none";
  return json;
}

ordered_json json_of(const LikelihoodConfig& likelihood) {
  const auto& [model, components, covariance, precision, expression] = likelihood;
  ordered_json json;
  if (likelihood.is_expression())
    json = to_json(expression);
  else
    json = {{"model", model}, {"components", components}, {"covariance", covariance}};
  json["precision"] = precision == Precision::mixed ? "mixed" : "float64";
  return json;
}

ordered_json json_of(const ProposalConfig& proposal) {
  const auto& [kind, shape, target_acceptance] = proposal;
  return {{"kind", kind}, {"shape", shape}, {"target_acceptance", target_acceptance}};
}

ordered_json json_of(const SamplerConfig& sampler) {
  // sampler.until is left out, since it only ends a run.
  const auto& [chains, chooses_warmup, warmup, chooses_draws, draws, thin, seed, init, init_tries,
               superchains, max_nan_share, until, proposal, tempering] = sampler;
  ordered_json json = {{"chains", chains},
                       {"warmup", chooses_warmup ? ordered_json("auto") : ordered_json(warmup)},
                       {"draws", chooses_draws ? ordered_json("auto") : ordered_json(draws)},
                       {"thin", thin},
                       {"seed", seed},
                       {"init", init},
                       {"init_tries", init_tries},
                       {"superchains", superchains},
                       {"max_nan_share", max_nan_share},
                       {"proposal", json_of(proposal)}};
  // The key is written only for runs with tempering; runs of earlier versions do not have it.
  if (tempering.is_on())
    json["tempering"] = {{"rungs", tempering.rungs}, {"ladder", tempering.betas}, {"every", tempering.every}};
  return json;
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
  const auto& [data, likelihood, prior, order_column, sampler, backend, shard, threads, devices, checkpoint,
               output] = config;
  return {{"data", {{"columns", data.columns}, {"standardize", data.standardize}}},
          {"likelihood", json_of(likelihood)},
          {"prior", json_of(prior)},
          {"sampler", json_of(sampler)},
          {"output", {{"keep_warmup", output.keep_warmup}}}};
}

std::string flat_lines(const ordered_json& json) {
  std::string text;
  append_lines(json, "", text);
  return text;
}

}  // namespace emomc
