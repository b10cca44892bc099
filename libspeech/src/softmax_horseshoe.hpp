// Multinomial logistic (softmax) regression with a regularised horseshoe prior (Piironen and Vehtari 2017,
// "Sparsity information and regularization in the horseshoe and other shrinkage priors"): its density and
// draws from its posterior. docs/softmax.md has the formulas.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "hmc_chains.hpp"
#include "softmax_model.hpp"

namespace emomc {

/// Scales of the weights of the columns of a SoftmaxProblem.
struct HorseshoePrior {
  double global_scale = 1;  ///< tau ~ half-Cauchy(0, global_scale)
  double slab_scale = 2;    ///< scale of the slab, a Student's t distribution with kSlabDf degrees of freedom
};

inline constexpr double kSlabDf = 4;

/// The prior that expects the share `relevant_share` of the columns to be relevant. The columns of the
/// problem are `column_sd` times standardised columns; `slab_scale` refers to weights of standardised
/// columns.
HorseshoePrior horseshoe_prior(const SoftmaxProblem& problem, double relevant_share, double slab_scale,
                               double column_sd);

/// The log density of the posterior, up to a constant. A point is a column of real numbers without bounds.
/// The first d x (K - 1) are standard normal, column-major; multiplied by the prior sds they are the weights.
/// Then follow the logs of the local scales of d - 1 columns, of the global scale and of the slab's scale,
/// each relative to the scale of its prior. The precisions of the problem are not used.
class HorseshoeDensity {
 public:
  HorseshoeDensity(const SoftmaxProblem& problem, const HorseshoePrior& prior);
  HorseshoeDensity(const HorseshoeDensity&) = delete;
  HorseshoeDensity& operator=(const HorseshoeDensity&) = delete;

  Eigen::Index dim() const { return d_ * m_ + num_scales(); }
  /// Number of scales, which are the last numbers of a point.
  Eigen::Index num_scales() const { return d_ + 1; }
  /// `points` is dim() x number of points. Writes the log density of each point and the gradients.
  void evaluate(const Eigen::MatrixXd& points, Eigen::VectorXd& log_density, Eigen::MatrixXd& gradient) const;
  /// [d] The prior sd of the weights of each column at a point; the intercept's is the last.
  Eigen::VectorXd weight_sds(const Eigen::VectorXd& point) const;
  /// d x (K - 1): the weights at a point.
  Eigen::MatrixXd weights(const Eigen::VectorXd& point) const;

 private:
  SoftmaxProblem problem_;  // with precisions 0, which means without a prior
  SoftmaxDensity likelihood_;
  HorseshoePrior prior_;
  Eigen::Index d_, m_;
};

/// Hamiltonian Monte Carlo over weights and scales together. Calls `keep` with each draw, a point of the
/// density, dim() x 1, and returns the mean acceptance.
double sample_horseshoe(const HorseshoeDensity& density, const HmcSampling& sampling, const HmcDraw& keep,
                        const std::function<void()>& after_step = {});
/// Samples as above and returns the weights of the draws.
SoftmaxDraws sample_horseshoe(const SoftmaxProblem& problem, const HorseshoePrior& prior,
                              const HmcSampling& sampling, const std::function<void()>& after_step = {});

}  // namespace emomc
