// Computes Newton steps and standard errors for `emomc fit`.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"
#include "run_config.hpp"

namespace emomc::app {

/// The function that `fit` maximises, in coordinates without bounds: the log likelihood, alone or with the
/// log prior density of theta (without a Jacobian).
class FitObjective {
 public:
  /// Both references must outlive the object.
  FitObjective(const RunConfig& config, const RunSetup& setup, bool with_prior);
  /// Moves theta [model layout's dim()], in the sampler's units, uphill by Newton's method. Returns theta
  /// itself if the objective does not increase.
  std::vector<double> polished(const std::vector<double>& theta);

  struct Errors {
    std::vector<double> standard_errors;  ///< [model layout's dim()] in the data's units, for the values that
                                          ///< to_written returns; empty: none
    std::string why_none;  ///< a clause that gives the reason if there are no standard errors; else empty
  };
  /// Returns the square roots of the diagonal of J H^-1 J^T, where H is the negative Hessian of the objective
  /// in the unbounded coordinates, by finite differences, and J is the Jacobian of theta. At a maximum this
  /// matrix is the inverse of the observed information in theta (Pawitan 2001, "In All Likelihood", chapter
  /// 2). There are no standard errors if H is not positive definite, or if H would take more evaluations than
  /// `most_work` allows (0: no limit).
  Errors errors_at(const std::vector<double>& theta, double most_work);

 private:
  double at(std::span<const double> u);

  const RunSetup& setup_;
  std::unique_ptr<Device> host_;
  std::unique_ptr<LikelihoodEngine> engine_;  ///< float64: finite differences need all digits
  std::unique_ptr<Target> flat_;  ///< provides the transforms for an objective without a prior; else null
  const Target* target_;
  bool with_prior_;
  std::vector<double> theta_, sums_;
};

/// Work of a Hessian that takes about ten seconds on one core, which is an acceptable wait: evaluations times
/// rows times parameters.
inline constexpr double kWorkOfErrors = 2e10;

}  // namespace emomc::app
