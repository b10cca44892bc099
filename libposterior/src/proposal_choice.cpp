#include "emomc/posterior/proposal_choice.hpp"

namespace emomc {
namespace {

// The maximum number of parameters whose dense metric a warm-up of the default length can learn.
constexpr int kMostDense = 100;
// The maximum number of parameters for which crank_nicolson fits a covariance.
constexpr int kMostFitted = 2000;

struct Kind {
  std::string name, why;
};

Kind choose_kind(const RunConfig& config, const RunSetup& setup) {
  const bool is_fitted =
      config.likelihood.is_expression() && setup.target->dim_unconstrained() <= kMostFitted;
  const std::string walk = is_fitted ? "crank_nicolson" : "component_wise";
  if (const std::string why_not = why_no_gradient(setup); !why_not.empty())
    return {walk, "the likelihood has no gradient (" + why_not + ")"};
  // A chain that starts far out needs a much shorter step size than all other chains, and may never move.
  if (config.sampler.init == "prior")
    return {walk, "chains start at draws from the prior, too far apart for a common step size of nuts"};
  // With a step size that suits a tail of such a prior, a chain never enters the region where the density is
  // steep (docs/proposals.md).
  if (setup.target->reaches_edge_of_support())
    return {walk, "a prior reaches the edge of its support, which no single step size of nuts suits"};
  return {"nuts", "the likelihood has gradients, and chains start near modes"};
}

std::string choose_shape(const std::string& kind, const RunSetup& setup) {
  if (kind == "nuts") return setup.target->dim_unconstrained() <= kMostDense ? "dense" : "diagonal";
  return kind == "crank_nicolson" ? "dense" : "diagonal";
}

}  // namespace

ProposalChoice choose_proposal(const RunConfig& config, const RunSetup& setup,
                               const std::optional<KeptProposal>& kept) {
  const ProposalConfig& asked = config.sampler.proposal;
  if (asked.kind != kAutomatic)
    return {{asked.kind, shape_of_name(asked.shape), asked.target_acceptance}, ""};
  const auto of_kind = [&](const std::string& kind, const std::string& shape, std::string why) {
    const std::string& its_shape = asked.shape == kAutomatic ? shape : asked.shape;
    return ProposalChoice{{kind, shape_of_name(its_shape), default_target_acceptance(kind)}, std::move(why)};
  };
  if (kept) return of_kind(kept->kind, kept->shape, "the run began with it");
  const Kind kind = choose_kind(config, setup);
  return of_kind(kind.name, choose_shape(kind.name, setup), kind.why);
}

}  // namespace emomc
