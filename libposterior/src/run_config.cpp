#include "emomc/posterior/run_config.hpp"

#include "emomc/posterior/prior_rules.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

const ModelInfo& info_of(const LikelihoodConfig& likelihood) {
  return model_info(likelihood.model, likelihood.covariance);
}

ModelSpec model_of(const LikelihoodConfig& likelihood) {
  return {likelihood.model, likelihood.components, likelihood.covariance};
}

void set_proposal_defaults(RunConfig& config) {
  ProposalConfig& proposal = config.sampler.proposal;
  if (proposal.kind == kAutomatic) return;
  proposal.shape = config.likelihood.is_expression() ? "dense" : "diagonal";
  proposal.target_acceptance = default_target_acceptance(proposal.kind);
}

void set_likelihood_defaults(RunConfig& config) {
  if (!config.likelihood.is_expression()) {
    config.prior = default_prior(config.likelihood);
    config.sampler.init = info_of(config.likelihood).init;
    return;
  }
  config.data.standardize = false;
  config.likelihood.precision = Precision::float64;
  config.prior.scale_floor = 0;
  config.sampler.init = "prior";
}

std::vector<std::string> starts_of_likelihood(const LikelihoodConfig& likelihood) {
  std::vector<std::string> starts{"prior"};
  if (likelihood.is_expression()) return starts;
  const ModelInfo& model = info_of(likelihood);
  const bool has_starts = model_of_starts(model) != nullptr;
  if (has_starts) starts.emplace_back("kmeans");
  if (model.has_em) starts.emplace_back("em");
  if (has_starts) starts.emplace_back("clusters");
  return starts;
}

}  // namespace emomc
