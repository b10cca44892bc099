#include "emomc/sampler/stacking.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

using Densities = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Returns the densities of each point under all models, divided by the largest of them.
Densities scaled_densities(std::span<const double> elpd, std::size_t num_models) {
  const std::size_t num_points = elpd.size() / num_models;
  Densities densities(static_cast<Eigen::Index>(num_points), static_cast<Eigen::Index>(num_models));
  for (std::size_t i = 0; i < num_points; ++i) {
    const auto of_point = elpd.subspan(i * num_models, num_models);
    for (const double value : of_point)
      if (std::isnan(value) || value == std::numeric_limits<double>::infinity())
        throw InputError("stacking: a log density is not a number, or infinite");
    const double top = *std::max_element(of_point.begin(), of_point.end());
    if (!std::isfinite(top))
      throw InputError("stacking: point " + std::to_string(i) + " has a density of 0 by all of the " +
                       std::to_string(num_models) + " models");
    for (std::size_t k = 0; k < num_models; ++k)
      densities(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = std::exp(of_point[k] - top);
  }
  return densities;
}

// The problem is stated without the condition on the sum of w: w >= 0 is to minimise
//   f(w) = -mean over points of log(densities w) - a sum of log w + (1 + a K) sum of w,
// with a = (concentration - 1) / num_points. Where the gradient is 0, w . gradient = 0 implies that the
// weights sum to 1. The solver is a primal-dual interior point method (Nocedal and Wright 2006, "Numerical
// Optimization", section 19.3): `prices` z of the conditions w >= 0 satisfy w z = mu, and mu decreases to a,
// the coefficient of the prior's term.
class InteriorPoint {
 public:
  InteriorPoint(Densities densities, double concentration)
      : densities_(std::move(densities)),
        num_points_(static_cast<double>(densities_.rows())),
        target_(std::max((concentration - 1) / num_points_, kLeastBarrier)),
        price_of_sum_(1 + (concentration - 1) / num_points_ * static_cast<double>(densities_.cols())) {}

  Eigen::VectorXd solve() {
    const Eigen::Index K = densities_.cols();
    Eigen::VectorXd w = Eigen::VectorXd::Constant(K, 1.0 / static_cast<double>(K));
    Eigen::VectorXd z = Eigen::VectorXd::Ones(K);
    for (int round = 0; round < kMostRounds; ++round) {
      const double complementarity = w.dot(z) / static_cast<double>(K);
      const double mu = std::max(target_, 0.1 * complementarity);
      const Densities share = scaled(w);
      const Eigen::VectorXd gradient = gradient_of(share);
      const double residual = (gradient - z).cwiseAbs().maxCoeff();
      if (residual < kTolerance &&
          (w.cwiseProduct(z).array() - target_).abs().maxCoeff() < kTolerance * target_)
        break;
      Eigen::MatrixXd system = share.transpose() * share / num_points_;
      system.diagonal() += z.cwiseQuotient(w);
      const Eigen::VectorXd towards = (mu / w.array()).matrix() - gradient;
      const Eigen::VectorXd dw = system.ldlt().solve(towards);
      const Eigen::VectorXd dz = (mu - z.array() * (w + dw).array()) / w.array();
      if (!dw.allFinite()) break;
      w += step(w, dw) * dw;
      z += step(z, dz) * dz;
    }
    return w / w.sum();
  }

  // Returns the densities divided by the mixture's density at each point.
  Densities scaled(const Eigen::VectorXd& w) const {
    const Eigen::VectorXd mixture = densities_ * w;
    return mixture.cwiseInverse().asDiagonal() * densities_;
  }

 private:
  static constexpr int kMostRounds = 200;
  static constexpr double kLeastBarrier = 1e-14, kTolerance = 1e-9;

  Eigen::VectorXd gradient_of(const Densities& share) const {
    return price_of_sum_ - (share.colwise().sum().transpose() / num_points_).array();
  }
  // The largest share of the step, at most 1, that keeps x above 0.
  static double step(const Eigen::VectorXd& x, const Eigen::VectorXd& dx) {
    constexpr double kOfTheWay = 0.99;
    double most = 1;
    for (Eigen::Index k = 0; k < x.size(); ++k)
      if (dx[k] < 0) most = std::min(most, -kOfTheWay * x[k] / dx[k]);
    return most;
  }

  Densities densities_;
  double num_points_, target_, price_of_sum_;
};

}  // namespace

StackingWeights stacking_weights(std::span<const double> elpd, std::size_t num_models, double concentration) {
  if (num_models == 0 || elpd.empty() || elpd.size() % num_models != 0)
    throw InputError("stacking: " + std::to_string(elpd.size()) + " values of " + std::to_string(num_models) +
                     " models; allowed: as many of each model, one or more");
  if (!(concentration >= 1) || !std::isfinite(concentration))
    throw InputError("stacking: a concentration of " + std::to_string(concentration) +
                     "; allowed: 1 or more");
  const Densities densities = scaled_densities(elpd, num_models);
  InteriorPoint problem(densities, concentration);
  const Eigen::VectorXd w = problem.solve();
  StackingWeights result;
  result.weights.assign(w.data(), w.data() + w.size());
  const Eigen::VectorXd mixture = densities * w;
  for (Eigen::Index i = 0; i < densities.rows(); ++i) {
    const auto of_point = elpd.subspan(static_cast<std::size_t>(i) * num_models, num_models);
    result.elpd += std::log(mixture[i]) + *std::max_element(of_point.begin(), of_point.end());
  }
  // A concave function lies below its tangent plane, whose maximum over the simplex is at a corner.
  const Eigen::VectorXd rise = problem.scaled(w).colwise().sum().transpose();
  const double of_prior = concentration - 1;
  Eigen::VectorXd slopes = rise;
  if (of_prior > 0) slopes.array() += of_prior / w.array();
  result.gap = std::max(0.0, slopes.maxCoeff() - slopes.dot(w));
  return result;
}

}  // namespace emomc
