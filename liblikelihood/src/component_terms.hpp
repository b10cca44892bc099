// Computes the terms of a mixture's density for many rows at a time, for EM and for the probabilities of
// components.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Log densities of rows under each weighted component, prepared for one theta. Squares are expanded, so rows
/// should be centred: a column far from 0 loses the digits of its distance.
template <class Model>
class ComponentTerms {
  using Columns = Eigen::MatrixXd;

 public:
  ComponentTerms(const Model& model, const double* theta)
      : K_(model.shape().num_components), d_(model.shape().dim) {
    constant_.resize(K_);
    means_.resize(K_, d_);
    for (int k = 0; k < K_; ++k) {
      constant_[k] = std::log(model.weight(theta, k)) - 0.5 * d_ * std::log(2 * std::numbers::pi);
      for (int j = 0; j < d_; ++j) means_(k, j) = model.mean(theta, k, j);
    }
    if constexpr (has_factor<Model>) {
      for (int k = 0; k < K_; ++k) {
        if (is_shared && k > 0) {
          constant_[k] += log_det_;
          continue;
        }
        Columns factor = Columns::Zero(d_, d_);
        for (int i = 0; i < d_; ++i)
          for (int j = 0; j <= i; ++j) factor(i, j) = model.factor(theta, k, i, j);
        log_det_ = -factor.diagonal().array().log().sum();
        constant_[k] += log_det_;
        inverses_.push_back(factor.template triangularView<Eigen::Lower>().solve(Columns::Identity(d_, d_)));
      }
      if (is_shared) means_ = (means_ * inverses_[0].transpose()).eval();
    } else {
      precision_.resize(K_, d_);
      for (int k = 0; k < K_; ++k)
        for (int j = 0; j < d_; ++j) {
          const double scale = model.scale(theta, k, j);
          precision_(k, j) = 1 / (scale * scale);
          constant_[k] -= std::log(scale) + 0.5 * means_(k, j) * means_(k, j) * precision_(k, j);
        }
      linear_ = (means_.array() * precision_.array()).matrix().transpose();
      quadratic_ = -0.5 * precision_.transpose();
    }
    if constexpr (has_freedom) prepare_tails(model, theta);
  }

  /// Computes terms [rows x K] for x [rows x d].
  template <class X>
  void operator()(const X& x, Columns& terms) const {
    if constexpr (has_factor<Model>) {
      terms.resize(x.rows(), K_);
      Columns z;
      if (is_shared) z.noalias() = x * inverses_[0].transpose();
      for (int k = 0; k < K_; ++k) {
        if (is_shared) {
          terms.col(k) = (z.rowwise() - means_.row(k)).rowwise().squaredNorm();
          continue;
        }
        z.noalias() = (x.rowwise() - means_.row(k)) * inverses_[static_cast<std::size_t>(k)].transpose();
        terms.col(k) = z.rowwise().squaredNorm();
      }
      terms *= -0.5;
    } else {
      terms.noalias() = x * linear_;
      terms.noalias() += x.cwiseAbs2() * quadratic_;
    }
    if constexpr (has_freedom) {
      // So far the terms are -1/2 of the squared distances, without the parts that depend on the component
      // alone.
      for (int k = 0; k < K_; ++k)
        terms.col(k) = -0.5 * (freedom_[k] + d_) *
                       ((-2 * (terms.col(k).array() + half_squares_[k])).max(0.0) / freedom_[k]).log1p();
    }
    terms.rowwise() += constant_.transpose();
  }

  /// Computes the probabilities of the components r [rows x K] for x [rows x d] and returns the log
  /// likelihood of the rows.
  template <class X>
  double probabilities(const X& x, Columns& r) const {
    (*this)(x, r);
    const Eigen::VectorXd top = r.rowwise().maxCoeff();
    r = (r.colwise() - top).array().exp();
    const Eigen::VectorXd sum = r.rowwise().sum();
    r = sum.cwiseInverse().asDiagonal() * r;
    return (top.array() + sum.array().log()).sum();
  }

 private:
  static constexpr bool is_shared = [] {
    if constexpr (has_factor<Model>) return decltype(Model().shape())::is_shared;
    return false;
  }();
  static constexpr bool has_freedom = requires(const Model& model, const double* theta) {
    model.degrees_of_freedom(theta, 0);
  };

  // Prepares Student t components; emomc/device/student_t_mixture.hpp has the density.
  void prepare_tails(const Model& model, const double* theta) {
    freedom_.resize(K_);
    half_squares_.resize(K_);
    for (int k = 0; k < K_; ++k) {
      const double freedom = freedom_[k] = model.degrees_of_freedom(theta, k);
      half_squares_[k] = -0.5 * means_.row(k).cwiseAbs2().dot(precision_.row(k));
      constant_[k] = std::log(model.weight(theta, k)) + device::log_gamma_ratio(0.5 * freedom, 0.5 * d_) -
                     0.5 * d_ * std::log(freedom * std::numbers::pi);
      for (int j = 0; j < d_; ++j) constant_[k] -= std::log(model.scale(theta, k, j));
    }
  }

  int K_, d_;
  Eigen::VectorXd constant_;
  RowMajorMatrix means_;  ///< multiplied by W = L^-1 where the covariance is shared
  double log_det_ = 0;
  std::vector<Columns> inverses_;
  RowMajorMatrix precision_;
  Columns linear_, quadratic_;
  Eigen::VectorXd freedom_, half_squares_;  ///< for Student t components
};

}  // namespace emomc
