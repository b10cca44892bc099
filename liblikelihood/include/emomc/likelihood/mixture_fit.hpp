// Maximum likelihood and posterior modes by EM (Dempster, Laird and Rubin 1977), for every model and backend.
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
  /// A round that raises the log likelihood by less than this a row is the last one.
  double tolerance = 1e-10;
  /// [columns] standard deviations are held above; empty: 0. Maximum likelihood only.
  std::vector<double> smallest_scale;

  // A posterior mode: what is added to the log likelihood, and a step that raises `expected` + log_prior,
  // `expected` being the expected log likelihood of rows with known components (generalised EM). Both, or
  // neither.
  ThetaFunction log_prior;
  std::function<std::vector<double>(std::span<const double> theta, const ThetaFunction& expected)> raise;
};

struct FitResult {
  std::vector<double> theta;
  double log_likelihood = 0;  ///< at theta
  double objective = 0;       ///< log_likelihood, with log_prior where there is one
  int rounds = 0;
  bool converged = false;
};

/// Fits one model to one data set from any number of starts. `reference` is the cpu's.
class MixtureFitter {
 public:
  virtual ~MixtureFitter() = default;
  /// EM from theta (the model's layout, the data's units). Each round raises the objective, but where a
  /// scale is held. Throws InputError where it is not finite at theta.
  virtual FitResult fit(std::span<const double> theta, const FitOptions& options) = 0;
};

/// `device` must outlive the fitter and be of make_device(backend)'s kind; data are copied. float64
/// throughout. `num_threads` (cpu only): 0 takes all.
std::unique_ptr<MixtureFitter> make_fitter(Backend backend, const ModelSpec& model, const DataSet& data,
                                           Device& device, int num_threads = 0);

}  // namespace emomc
