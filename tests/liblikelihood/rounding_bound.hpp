// Bounds, from rounding, on the difference between a row's log density and that of `reference`.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "random_shape.hpp"

namespace emomc::testing {

/// Bounds on the log density of rows under a mixture, computed in numbers of `unit_roundoff` u (2^-24 or
/// 2^-53), compared with a reference in float64.
///
/// The term of component k is a_k = log w_k - sum_i log L_ii - z' z / 2 + ..., with z = L^-1 (x - mean) = W x
/// + h. If x, W and h are rounded to u and the products are summed in order, the error of z_i is at most
///  e_i = (i + 4) u (sum_j |W_ij| (|x_j| + |mean_j|)) + 2 i u sum_j (|W| |L| |W|)_ij |x_j - mean_j|,
/// with the second part if W itself was computed in u; the reference always does so, in float64. The squares
/// and their sum, which begins with the shift of k, add (d + 4) u (|shift| + z' z / 2); the rounding of the
/// shift adds the spacing of typical distances, (d + 3 sqrt(2 d)) 2^-22, and u |shift|, only with float32.
/// The error of a logarithm of a sum of K powers is at most (K + 16) u, and 4 u of the logarithm itself
/// within 2^+-90, where a GPU computes it by one instruction (PTX: lg2.approx, a relative error of 2^-22).
/// Hence a_k is within E_k, and the row's log density is between the log sums of a_k - E_k and of a_k + E_k.
class RoundingBound {
 public:
  RoundingBound(const RandomShape& shape, bool mixed) : d_(shape.data.dim), mixed_(mixed) {
    const std::string& covariance = shape.model.covariance;
    const bool two = shape.model.name == "two_gaussian";
    const int K = shape.model.components;
    const double* theta = shape.theta.data();
    for (int k = 0; k < K; ++k) {
      Component c;
      c.log_weight = std::log(two ? (k == 0 ? theta[0] : 1 - theta[0]) : theta[k]);
      c.mean = two ? Eigen::VectorXd::Constant(1, theta[1])
                   : Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(theta + K + k * d_, d_));
      const double* scales = theta + (two ? 2 + k : K + K * d_);
      c.is_diagonal = two || covariance == "diagonal" || covariance == "spherical";
      if (c.is_diagonal) {
        c.inverse_scale = Eigen::VectorXd(d_);
        for (int j = 0; j < d_; ++j)
          c.inverse_scale[j] = 1 / (two                         ? scales[0]
                                    : covariance == "spherical" ? scales[k]
                                                                : scales[k * d_ + j]);
        c.log_scales = -c.inverse_scale.array().log().sum();
      } else {
        Eigen::MatrixXd L = Eigen::MatrixXd::Zero(d_, d_);
        const double* next = scales + (covariance == "full" ? k * (d_ * (d_ + 1) / 2) : 0);
        for (int i = 0; i < d_; ++i)
          for (int j = 0; j <= i; ++j) L(i, j) = *next++;
        c.W = L.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(d_, d_));
        c.spread = c.W.cwiseAbs() * L.cwiseAbs() * c.W.cwiseAbs();
        c.log_scales = L.diagonal().array().log().sum();
      }
      components_.push_back(std::move(c));
    }
  }

  /// Returns the larger of the distances to the two ends of this interval.
  double operator()(const double* row) const {
    const Eigen::Map<const Eigen::VectorXd> x(row, d_);
    const double u = mixed_ ? kFloat : kDouble;
    const double K = static_cast<double>(components_.size());
    std::vector<double> low, middle, high;
    for (const Component& c : components_) {
      if (!std::isfinite(c.log_weight)) continue;
      const Eigen::VectorXd distance = x - c.mean;
      Eigen::VectorXd z, error;
      const Eigen::VectorXd reach = x.cwiseAbs() + c.mean.cwiseAbs();
      Eigen::ArrayXd steps = Eigen::ArrayXd::Constant(d_, 4);
      if (!c.is_diagonal) steps += Eigen::ArrayXd::LinSpaced(d_, 0, d_ - 1);
      if (c.is_diagonal) {
        z = c.inverse_scale.cwiseProduct(distance);
        error = (steps * u) * c.inverse_scale.array() * reach.array();
      } else {
        z = c.W * distance;
        error = (steps * u) * (c.W.cwiseAbs() * reach).array() +
                2 * kDouble * d_ * (c.spread * distance.cwiseAbs()).array();
      }
      const double square = 0.5 * z.squaredNorm();
      const double term = c.log_weight - c.log_scales - square;
      const double shift = std::abs(c.log_weight - c.log_scales - kReference * d_);
      double bound = z.cwiseAbs().dot(error) + 0.5 * error.squaredNorm() + (d_ + 4) * u * square;
      bound += (d_ + 4) * kDouble * (std::abs(c.log_weight) + std::abs(c.log_scales) + d_);
      if (mixed_) bound += (d_ + 3 * std::sqrt(2.0 * d_)) * 4 * kFloat + (d_ + 5) * u * shift;
      middle.push_back(term);
      low.push_back(term - bound);
      high.push_back(term + bound);
    }
    const double at = log_sum(middle);
    const double plain = mixed_ ? std::min(std::abs(at - kReference * d_), 90 * std::numbers::ln2) : 0;
    return std::max(log_sum(high) - at, at - log_sum(low)) + (K + 16 + 4 * plain) * u +
           4 * kDouble * std::abs(at);
  }

 private:
  static constexpr double kFloat = 0x1p-24, kDouble = 0x1p-53;
  // Shifts are stored relative to this value for a column of a typical row, in the unit of log_scales.
  static constexpr double kReference = -0.5;
  struct Component {
    double log_weight = 0, log_scales = 0;
    bool is_diagonal = true;
    Eigen::VectorXd mean, inverse_scale;
    Eigen::MatrixXd W, spread;
  };

  static double log_sum(const std::vector<double>& terms) {
    const double largest = *std::max_element(terms.begin(), terms.end());
    double sum = 0;
    for (const double term : terms) sum += std::exp(term - largest);
    return largest + std::log(sum);
  }

  int d_;
  bool mixed_;
  std::vector<Component> components_;
};

}  // namespace emomc::testing
