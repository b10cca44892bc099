// The posterior of a linear regression with a Gaussian prior on its weights, in closed form.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "emomc/speech/regression_scores.hpp"
#include "rotated_rows.hpp"

namespace emomc {

/// The model of one number y of a row x (docs/regression.md):
///
///     y = b + x . w + e,   e ~ normal(0, sigma),   w ~ normal(0, s sigma),   p(b, log sigma) constant,
///
/// which is conjugate: given the rows, 1 / sigma^2 is gamma, (b, w) normal given sigma, and y of another row
/// Student's t with n - 1 degrees of freedom (Gelman et al. 2013, "Bayesian data analysis", 14.2, with the
/// prior of the weights as further rows of data, 14.8; Bishop 2006, exercises 3.12 and 3.13). The principal
/// axes of the rows serve every s and every number.
class RidgePosterior {
 public:
  /// `x`: n x r, `y`: n x numbers, n at least 4.
  RidgePosterior(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y);

  /// Rows in the directions of the axes, with the squared length of what is in none of the r directions.
  struct Turned {
    Eigen::MatrixXd x;        ///< m x r, about the mean of the training rows
    Eigen::VectorXd outside;  ///< [m]
  };
  /// `outside`: [m] that length, not squared; empty: nothing is outside.
  Turned turned(const Eigen::MatrixXd& x, const Eigen::VectorXd& outside = {}) const;

  /// [r] of the weights' posterior mean along the axes. `number` is an index into the columns of y.
  Eigen::VectorXd weights(Eigen::Index number, double prior_sd) const;
  /// The scale of sigma's posterior: sigma^2 is this squared times (n - 1) / chi^2 with n - 1 degrees of
  /// freedom.
  double noise_sd(Eigen::Index number, double prior_sd) const;
  /// The predictive distributions of rows.
  std::vector<PredictiveT> predict(const Turned& rows, Eigen::Index number, double prior_sd) const;

  double freedom() const { return num_rows_ - 1; }
  double mean(Eigen::Index number) const { return mean_y_(number); }
  const Eigen::RowVectorXd& centre() const { return mean_x_; }  ///< [r] before the rotation to the axes
  const Eigen::MatrixXd& axes() const { return axes_; }         ///< r x r
  const Eigen::VectorXd& eigenvalues() const { return eigenvalues_; }  ///< [r]

 private:
  double num_rows_;
  Eigen::RowVectorXd mean_x_, mean_y_;
  Eigen::MatrixXd axes_;
  Eigen::VectorXd eigenvalues_;  // of the rows' sums of squares and products about their mean
  Eigen::MatrixXd products_;     // r x numbers: of the rows along the axes with y
  Eigen::VectorXd residual_;     // [numbers] sum of squares of what no weights explain
};

/// The factor by which the variance of a prediction exceeds sigma^2: 1 + 1/n, that of the weights along the
/// axes, and that of the prior in other directions. `row`: [r] along the axes, about the centre; `outside`:
/// squared.
double variance_factor(const Eigen::VectorXd& row, double outside, const Eigen::VectorXd& eigenvalues,
                       double num_rows, double prior_sd);

}  // namespace emomc
