// Estimates the evidence (marginal likelihood) of a model from the rungs of a run with tempering: log Z = log
// of the mean of the likelihood over the prior. The prior is the one that the run samples, with its order and
// scale floor, normalised. All labellings of a mixture's components are included, so that no factor of K! is
// missing.
#pragma once

#include <string>
#include <vector>

#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

struct EvidenceEstimate {
  double value = 0;           ///< log Z
  double standard_error = 0;  ///< Monte Carlo standard error, from the autocorrelation of the chains' draws
};

struct Evidence {
  /// Stepping-stone estimate (Xie, Lewis, Fan, Kuo and Chen 2011, "Improving marginal likelihood estimation
  /// for Bayesian phylogenetic model selection"): the sum over neighbouring rungs of log E_hot[L^(beta_cold -
  /// beta_hot)]. The estimate has no discretisation error.
  EvidenceEstimate stepping_stones;
  /// Thermodynamic integration: the integral of E_beta[log L] over beta by the trapezoidal rule, corrected by
  /// the derivatives at the ends, which are variances (Friel, Hurn and Wyse 2014, "Improving power posterior
  /// estimation of statistical evidence"). The correction is omitted in the interval next to the prior, where
  /// the variance may be infinite, and in intervals in which the derivatives are too large for a correction.
  EvidenceEstimate thermodynamic;
  /// Possible error of the trapezoidal rule, in addition to the standard error: the sum over intervals of the
  /// size of the correction or, without a correction, of half the interval times the rise of the mean, which
  /// is a bound.
  double rule_error = 0;
  /// Sums of the smaller and of the larger mean of each interval. The integral lies between the two, because
  /// the mean increases with beta; the distance of these bounds is due to the rule, not to the chains.
  double lower = 0, upper = 0;
  /// Share of the prior's draws with a finite density; this share is a factor of Z and is included in both
  /// estimates.
  double finite_share = 1;
  std::vector<double> mean_log_likelihood;  ///< [rungs]
  std::vector<double> ess;                  ///< [rungs] ESS of the log likelihood
  /// Reasons to doubt the estimates, a sentence each; empty: none.
  std::vector<std::string> doubts;
};

/// Computes both estimates. Throws InputError if the last rung is not the prior, or if there are fewer than
/// 100 draws of each chain.
Evidence estimate_evidence(const RungDraws& draws);

/// Returns posterior probabilities of models from their log evidences and prior probabilities, which need not
/// sum to 1.
std::vector<double> model_probabilities(const std::vector<double>& log_evidence,
                                        const std::vector<double>& prior);

}  // namespace emomc
