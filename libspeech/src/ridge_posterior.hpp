// Computes the posterior of a linear regression with a Gaussian prior on its weights, in closed form.
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
/// which is conjugate: given the rows, 1 / sigma^2 has a gamma distribution, (b, w) is normal given sigma,
/// and y of a new row has Student's t distribution with n - 1 degrees of freedom (Gelman et al. 2013,
/// "Bayesian data analysis", 14.2, with the prior of the weights as additional rows of data, 14.8; Bishop
/// 2006, exercises 3.12 and 3.13). The principal axes of the rows are computed once for all s and all
/// numbers.
class RidgePosterior {
 public:
  /// `x`: n x r, `y`: n x numbers, n at least 4.
  RidgePosterior(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y);

  /// Rows along the axes, and the squared length of their part outside the r directions.
  struct Turned {
    Eigen::MatrixXd x;        ///< m x r, about the mean of the training rows
    Eigen::VectorXd outside;  ///< [m]
  };
  /// Rotates rows. `outside` [m] is the length, not squared, of the part outside the r directions; empty: 0.
  Turned turned(const Eigen::MatrixXd& x, const Eigen::VectorXd& outside = {}) const;

  /// [r] The posterior mean of the weights along the axes. `number` is an index into the columns of y.
  Eigen::VectorXd weights(Eigen::Index number, double prior_sd) const;
  /// The scale of sigma's posterior: sigma^2 is distributed as the squared scale times (n - 1) / chi^2, with
  /// n - 1 degrees of freedom.
  double noise_sd(Eigen::Index number, double prior_sd) const;
  /// The predictive distributions of rows.
  std::vector<PredictiveT> predict(const Turned& rows, Eigen::Index number, double prior_sd) const;

  double freedom() const { return num_rows_ - 1; }
  double mean(Eigen::Index number) const { return mean_y_(number); }
  /// [r] mean of the rows before the rotation to the axes.
  const Eigen::RowVectorXd& centre() const { return mean_x_; }
  const Eigen::MatrixXd& axes() const { return axes_; }                ///< r x r
  const Eigen::VectorXd& eigenvalues() const { return eigenvalues_; }  ///< [r]

 private:
  double num_rows_;
  Eigen::RowVectorXd mean_x_, mean_y_;
  Eigen::MatrixXd axes_;
  Eigen::VectorXd eigenvalues_;  // eigenvalues of the rows' sums of squares and products about their mean
  Eigen::MatrixXd products_;     // r x numbers: products of the rows along the axes with y
  Eigen::VectorXd residual_;     // [numbers] residual sum of squares of least squares
};

/// The factor by which the variance of a prediction exceeds sigma^2. It is the sum of 1 + 1/n, the variance
/// of the weights along the axes, and the prior's variance in other directions. `row` [r] is along the axes,
/// about the centre; `outside` is the squared length of the part outside the axes.
double variance_factor(const Eigen::VectorXd& row, double outside, const Eigen::VectorXd& eigenvalues,
                       double num_rows, double prior_sd);

}  // namespace emomc
