// When a run that chooses its own length looks at its draws, and what it does then. A decision is a function
// of the draws, so a run is the same however often it was interrupted. docs/decisions/stopping.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/convergence.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

struct StoppingRule {
  /// The bulk and tail ESS of every quantity that is judged, beside what judge_convergence asks for.
  double ess = 0;
  std::int64_t thin = 1;
  /// No warm-up is made longer than this many steps.
  std::int64_t most_warmup = 0;
};

/// Warm-up of a run that chooses its length: the first one, and the longest.
inline constexpr std::int64_t kFirstWarmup = 1000, kLongestWarmup = 8000;

/// Numbers of draws of a chain, below `most`, after which a run looks at them: 250, and then a quarter more
/// each time, so that all looks together cost five times the last one.
std::vector<std::int64_t> looks_below(std::int64_t most);

/// `enough` where the draws have converged, every ESS that is judged has reached its target
/// (judge_convergence), and every quantity has the rule's. `longer_warmup`, at the first look after at least
/// as many steps as the warm-up of `warmup` steps had, where the R-hat of a quantity that does not depend on
/// labels is above 1.1: chains are still on their way.
Decision decide(const StoppingRule& rule, const DrawDiagnostics& run, std::int64_t warmup);

/// What keeps a run from being trusted most, "R-hat of log_density is 1.23, at most 1.01 is allowed"; empty
/// where nothing does. `ess`: asked for beside what judge_convergence asks for.
std::string worst_of(const DrawDiagnostics& run, double ess);

}  // namespace emomc
