// Computes maximum likelihood estimates and posterior modes by EM (Dempster, Laird and Rubin 1977), for every
// model with EM and on every backend.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// A function of theta.
using ThetaFunction = std::function<double(std::span<const double> theta)>;

struct FitOptions {
  int max_rounds = 10000;
  /// EM ends after a round that raises the objective by less than this times the number of rows.
  double tolerance = 1e-10;
  /// [columns] lower bounds of the standard deviations, for maximum likelihood only; empty: 0.
  std::vector<double> smallest_scale;
  std::function<void()> on_round;  ///< called after each round; an exception ends the fit; empty: none

  // For a posterior mode (generalised EM): the term that is added to the log likelihood, and a step that
  // returns a theta with a higher `expected` + log_prior, where `expected` is the expected complete-data log
  // likelihood. Both must be set, or neither.
  ThetaFunction log_prior;
  std::function<std::vector<double>(std::span<const double> theta, const ThetaFunction& expected)> raise;
};

struct FitResult {
  std::vector<double> theta;
  double log_likelihood = 0;  ///< log likelihood at theta
  double objective = 0;       ///< log_likelihood, plus log_prior for a posterior mode
  int rounds = 0;
  /// Whether the last round raised the objective by no more than the tolerance and lowered it by no more than
  /// rounding errors can.
  bool converged = false;
};

/// Fits one model to one data set from any number of starts. Backend::reference uses the implementation of
/// cpu.
class MixtureFitter {
 public:
  virtual ~MixtureFitter() = default;
  /// Runs EM from theta (the model's layout, in the units of the data set; more parameters may follow, for
  /// log_prior). Each round raises the objective, except where a scale is held at its lower bound. Throws
  /// InputError where the objective is not finite at theta.
  virtual FitResult fit(std::span<const double> theta, const FitOptions& options) = 0;
};

/// `device` must outlive the fitter and be of the kind that make_device(backend) returns; `data` is copied.
/// Computes in float64. `num_threads` applies to cpu only; 0 uses all processors. Throws InputError where the
/// model has no EM.
std::unique_ptr<MixtureFitter> make_fitter(Backend backend, const ModelSpec& model, const DataSet& data,
                                           Device& device, int num_threads = 0);

}  // namespace emomc
