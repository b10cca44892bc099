// Rules for a run that chooses its own length: at which numbers of draws it checks for convergence, and what
// it does then. A decision is a function of the draws, so interruptions do not change a run.
// docs/decisions/stopping.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/convergence.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// What the user asks for in addition to convergence.
struct StoppingRule {
  /// The bulk and tail ESS that every quantity must have, in addition to what judge_convergence requires.
  double ess = 0;
  std::int64_t thin = 1;  ///< steps between kept draws
  /// Upper limit of the length of a warm-up, in steps.
  std::int64_t most_warmup = 0;
};

/// Steps of the first and of the longest warm-up of a run that chooses its length.
inline constexpr std::int64_t kFirstWarmup = 1000, kLongestWarmup = 8000;

/// The numbers of draws per chain, below `most`, at which a run checks for convergence: 250, then a quarter
/// more each time, so that all checks together cost at most five times the last one.
std::vector<std::int64_t> looks_below(std::int64_t most);

/// `enough` where the draws have converged, every judged ESS and R-hat has reached its target
/// (judge_convergence) and every ESS that of the rule. `longer_warmup` where chains have not settled: the
/// R-hat of a quantity that does not depend on labels is above 1.1 or NaN at the first check after at least
/// `warmup` sampling steps, `warmup` being the length of the last warm-up, and twice that length is within
/// the rule's limit. Otherwise `more_draws`.
Decision decide(const StoppingRule& rule, const DrawDiagnostics& run, std::int64_t warmup);

/// The most important reason why draws are not accepted, e.g. "R-hat of log_density is 1.23, at most 1.01 is
/// allowed"; empty where there is none. `ess` is required in addition to what judge_convergence requires.
std::string worst_of(const DrawDiagnostics& run, double ess);
/// The same with other names of the quantities, [draws.num_quantities()].
std::string worst_of(const DrawDiagnostics& run, double ess, const std::vector<std::string>& names);

}  // namespace emomc
