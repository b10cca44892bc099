// The evidence (marginal likelihood) of a model from the rungs of a run with tempering: log Z = log of the
// mean of the likelihood over the prior. The prior is the one that the run samples, with its order and scale
// floor, normalised. All labellings of a mixture's components are part of it: no factor of K! is missing.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

struct EvidenceEstimate {
  double value = 0;           ///< log Z
  double standard_error = 0;  ///< Monte Carlo, from the autocorrelation of the chains' draws
};

struct Evidence {
  /// Stepping stones (Xie, Lewis, Fan, Kuo and Chen 2011, "Improving marginal likelihood estimation for
  /// Bayesian phylogenetic model selection"): the sum over neighbours of log E_hot[L^(beta_cold - beta_hot)].
  /// No error of discretisation.
  EvidenceEstimate stepping_stones;
  /// Thermodynamic integration: the integral of E_beta[log L] over beta by the trapezoidal rule with the
  /// derivatives at the ends, which are variances (Friel, Hurn and Wyse 2014, "Improving power posterior
  /// estimation of statistical evidence"), but for the stretch next to the prior, over which the variance may
  /// be infinite, and stretches on which the derivatives are too large for a correction.
  EvidenceEstimate thermodynamic;
  /// What the rule may be wrong by, beside the standard error: the sum over stretches of the size of the
  /// correction, or, without one, of half of the stretch times the rise of the mean, which is a bound.
  double rule_error = 0;
  /// Sums of the smaller and of the larger mean of each stretch, between which the integral lies, because the
  /// mean increases with beta; what these bounds leave open is the rule's, not the chains'.
  double lower = 0, upper = 0;
  /// Share of the prior's draws with a finite density, which is a factor of Z; both estimates have it.
  double finite_share = 1;
  std::vector<double> mean_log_likelihood;  ///< [rungs]
  std::vector<double> ess;                  ///< [rungs] effective draws of the log likelihood
  /// What speaks against the estimates, a sentence each; empty: nothing.
  std::vector<std::string> doubts;
};

/// Throws InputError where the last rung is not the prior, or where there are fewer than 100 draws of each
/// chain.
Evidence estimate_evidence(const RungDraws& draws);

/// Posterior probabilities of models with these log evidences and prior probabilities, which need not sum
/// to 1.
std::vector<double> model_probabilities(const std::vector<double>& log_evidence,
                                        const std::vector<double>& prior);

}  // namespace emomc
