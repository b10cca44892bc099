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
  double slab_scale = 2;    ///< of the slab, a Student's t of kSlabDf degrees of freedom
};

inline constexpr double kSlabDf = 4;

/// The prior in which a share of the columns is expected to matter, of a problem whose columns are
/// `column_sd` times standardised ones; `slab_scale` is that of weights of standardised columns.
HorseshoePrior horseshoe_prior(const SoftmaxProblem& problem, double relevant_share, double slab_scale,
                               double column_sd);

/// The log density of the posterior, up to a constant. A point is a column of numbers that have a density on
/// all of the real line: d x (K - 1) standard normal ones, column-major, of which the prior's scales make the
/// weights; then the logs of the d - 1 columns' local scales, of the global scale and of the slab's, each
/// relative to the scale of its prior. The precisions of the problem are not used.
class HorseshoeDensity {
 public:
  HorseshoeDensity(const SoftmaxProblem& problem, const HorseshoePrior& prior);
  HorseshoeDensity(const HorseshoeDensity&) = delete;
  HorseshoeDensity& operator=(const HorseshoeDensity&) = delete;

  Eigen::Index dim() const { return d_ * m_ + num_scales(); }
  Eigen::Index num_scales() const { return d_ + 1; }  ///< the last numbers of a point
  /// `points`: dim() x number of points. Writes the log density of each and the gradients.
  void evaluate(const Eigen::MatrixXd& points, Eigen::VectorXd& log_density, Eigen::MatrixXd& gradient) const;
  /// [d] The prior sd of the weights of each column at a point, the intercept's last.
  Eigen::VectorXd weight_sds(const Eigen::VectorXd& point) const;
  /// d x (K - 1)
  Eigen::MatrixXd weights(const Eigen::VectorXd& point) const;

 private:
  SoftmaxProblem problem_;  // without a prior
  SoftmaxDensity likelihood_;
  HorseshoePrior prior_;
  Eigen::Index d_, m_;
};

/// Hamiltonian Monte Carlo over weights and scales together: calls `keep` with each draw, a point of the
/// density, dim() x 1, and returns the mean acceptance.
double sample_horseshoe(const HorseshoeDensity& density, const HmcSampling& sampling, const HmcDraw& keep,
                        const std::function<void()>& after_step = {});
/// The weights of such draws.
SoftmaxDraws sample_horseshoe(const SoftmaxProblem& problem, const HorseshoePrior& prior,
                              const HmcSampling& sampling, const std::function<void()>& after_step = {});

}  // namespace emomc
