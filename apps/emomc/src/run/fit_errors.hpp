// Newton's method and standard errors for `emomc fit`.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"
#include "run_config.hpp"

namespace emomc::app {

/// The function that `fit` maximises, in coordinates without bounds: the log likelihood, or with the log
/// prior density of theta (without a Jacobian).
class FitObjective {
 public:
  /// Both references must outlive the object.
  FitObjective(const RunConfig& config, const RunSetup& setup, bool with_prior);
  /// theta [model layout's dim()], in the sampler's units, moved uphill by Newton's method; theta itself
  /// where the objective does not increase.
  std::vector<double> polished(const std::vector<double>& theta);

  struct Errors {
    std::vector<double> standard_errors;  ///< [model layout's dim()], as to_written has them, in the data's
                                          ///< units; empty: none
    std::string why_none;                 ///< a clause that says why; empty where there are some
  };
  /// Square roots of the diagonal of J H^-1 J^T, where H is the negative Hessian of the objective in the
  /// unbounded coordinates, by finite differences, and J the Jacobian of theta. At a maximum this is the
  /// inverse of the observed information in theta (Pawitan 2001, "In All Likelihood", chapter 2). There are
  /// none where H is not positive definite, or where H would take more evaluations than `most_work` allows
  /// (0: no limit).
  Errors errors_at(const std::vector<double>& theta, double most_work);

 private:
  double at(std::span<const double> u);

  const RunSetup& setup_;
  std::unique_ptr<Device> host_;
  std::unique_ptr<LikelihoodEngine> engine_;  ///< float64: finite differences need all digits
  std::unique_ptr<Target> flat_;              ///< has the transforms where there is no prior
  const Target* target_;
  bool with_prior_;
  std::vector<double> theta_, sums_;
};

/// Work of a Hessian that nobody minds waiting for: evaluations times rows times parameters, about ten
/// seconds of a core.
inline constexpr double kWorkOfErrors = 2e10;

}  // namespace emomc::app
