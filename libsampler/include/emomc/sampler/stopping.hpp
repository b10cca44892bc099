// Rules for a run that chooses its own length: the numbers of draws at which the run checks for convergence,
// and the decision after each check. A decision is a function of the draws, so interruptions do not change a
// run. See docs/decisions/stopping.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/convergence.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// Requirements of the user in addition to convergence.
struct StoppingRule {
  /// The bulk and tail ESS that every quantity must have, in addition to what judge_convergence requires.
  double ess = 0;
  std::int64_t thin = 1;  ///< steps between kept draws
  /// Upper limit of the length of a warm-up, in steps.
  std::int64_t most_warmup = 0;
};

/// Lengths in steps of the first and of the longest warm-up of a run that chooses its length.
inline constexpr std::int64_t kFirstWarmup = 1000, kLongestWarmup = 8000;

/// Returns the numbers of draws per chain, below `most`, at which a run checks for convergence: 250, then a
/// quarter more each time, so that all checks together cost at most five times the last one.
std::vector<std::int64_t> looks_below(std::int64_t most);

/// Returns `enough` if the draws have converged, every judged ESS and R-hat has reached its target
/// (judge_convergence) and every ESS has reached that of the rule. Returns `longer_warmup` if chains have not
/// settled: the R-hat of a quantity that does not depend on labels is above 1.1 or NaN at the first check
/// after at least `warmup` sampling steps, where `warmup` is the length of the last warm-up, and twice that
/// length is within the rule's limit. Otherwise returns `more_draws`.
Decision decide(const StoppingRule& rule, const DrawDiagnostics& run, std::int64_t warmup);

/// Returns the most important reason why draws are not accepted, e.g. "R-hat of log_density is 1.23, at most
/// 1.01 is allowed"; empty if there is none. `ess` is required in addition to the requirements of
/// judge_convergence.
std::string worst_of(const DrawDiagnostics& run, double ess);
/// Returns the reason with other names of the quantities, `names` [draws.num_quantities()].
std::string worst_of(const DrawDiagnostics& run, double ess, const std::vector<std::string>& names);

}  // namespace emomc
