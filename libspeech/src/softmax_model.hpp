// Multinomial logistic (softmax) regression with a Gaussian prior: its density, its mode and draws from its
// posterior. docs/softmax.md has the formulas.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "hmc_chains.hpp"

namespace emomc {

/// The precision (1 / variance) of an intercept's prior.
inline constexpr double kInterceptPrecision = 0.04;

/// The training rows, and the prior. Weights refer to K - 1 orthonormal contrasts of the K classes, because
/// adding a number to the weights of all classes changes no probability. A row of contrasts() maps the
/// weights to a class.
struct SoftmaxProblem {
  Eigen::MatrixXd x;           ///< n x d; the last column is 1, for the intercept
  std::vector<int> truth;      ///< [n]
  Eigen::VectorXd row_weight;  ///< [n] weight of each row in the log likelihood
  int num_classes = 0;
  double precision = 1;  ///< 1 / variance of the prior of each weight, except those of the last column
  double last_precision = kInterceptPrecision;
};

/// num_classes x (num_classes - 1), with orthonormal columns that sum to 0.
Eigen::MatrixXd contrasts(int num_classes);

/// Evaluates the log density, up to a constant, of several sets of weights at a time.
class SoftmaxDensity {
 public:
  /// `problem` must outlive the object.
  explicit SoftmaxDensity(const SoftmaxProblem& problem);
  int rows() const { return static_cast<int>(problem_.x.cols()); }
  int cols() const { return problem_.num_classes - 1; }
  /// `weights`: d x (number of sets times K - 1). Writes the log density of each set, and the gradients in
  /// the shape of `weights`.
  void evaluate(const Eigen::MatrixXd& weights, Eigen::VectorXd& log_density,
                Eigen::MatrixXd& gradient) const;
  /// The negative Hessian at the point of `probability` (n x K), times `direction` (d x (K - 1)).
  Eigen::MatrixXd curvature_times(const Eigen::MatrixXd& probability, const Eigen::MatrixXd& direction) const;
  /// The class probabilities under `weights`: n x K.
  Eigen::MatrixXd probabilities(const Eigen::MatrixXd& weights) const;
  /// [d] The precisions of the prior.
  const Eigen::VectorXd& precisions() const { return precisions_; }

 private:
  const SoftmaxProblem& problem_;
  Eigen::MatrixXd contrasts_, transposed_;
  Eigen::VectorXd precisions_;
};

/// The mode of the posterior, d x (K - 1), by Newton's method with conjugate gradients from `start`, until
/// the squared Newton decrement is below 1e-8. Throws std::runtime_error if that is not reached after 200
/// steps.
Eigen::MatrixXd softmax_mode(const SoftmaxProblem& problem, const Eigen::MatrixXd& start);

struct SoftmaxDraws {
  std::vector<Eigen::MatrixXd> weights;  ///< [num_chains * draws], one chain after another; d x (K - 1)
  double acceptance = 0;                 ///< mean over all steps after warm-up
};

/// Hamiltonian Monte Carlo from points around `mode`, along the axes of the curvature at the mode. The mass
/// is this curvature.
SoftmaxDraws sample_softmax(const SoftmaxProblem& problem, const Eigen::MatrixXd& mode,
                            const HmcSampling& sampling, const std::function<void()>& after_step = {});

}  // namespace emomc
