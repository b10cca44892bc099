// Provides the layout and priors of a small mixture posterior, for tests of the sampler.
#pragma once

#include <algorithm>
#include <string>

#include "emomc/sampler/run_chains.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc::testing {

inline ArrayArgument number(double x) { return {{}, {x}}; }

inline ParameterLayout mixture_layout(int K, int d) {
  ParameterLayout layout;
  layout.blocks.push_back({"weights", {K}, Support::simplex, DataUnit::none, Influence::weights, 0, -1});
  layout.blocks.push_back({"means", {K, d}, Support::real, DataUnit::location, Influence::component, 0, 1});
  layout.blocks.push_back({"scales", {K, d}, Support::positive, DataUnit::scale, Influence::component, 0, 1});
  return layout;
}

inline PriorSet mixture_prior() {
  PriorSet prior;
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(2.0)}};
  prior.blocks["means"] = {PriorFamily::normal, {number(0.5), number(2.0)}};
  prior.blocks["scales"] = {PriorFamily::half_normal, {number(1.5)}};
  prior.scale_floor = 0.05;
  return prior;
}

/// Returns whether a kind of proposal runs on an engine: gradient samplers need its gradients.
inline bool runs_on(const LikelihoodEngine& engine, const std::string& kind) {
  const auto kinds = proposal_names(engine);
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace emomc::testing
