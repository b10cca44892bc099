// Computes the gradient of a mixture's log likelihood with respect to theta from sums over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/device/models.hpp"
#include "emomc/likelihood/models.hpp"
#include "gradient_sums.hpp"

namespace emomc {

/// Coefficients of Gaussians give sqrt(log2(e) / 2) times the standardised residuals; this factor converts
/// them back.
inline const double kResidualUnit = std::sqrt(2 * std::numbers::ln2);

template <class Model>
void add_axis_aligned_gradient(const Model& model, const double* theta, const GradientSums& place,
                               const double* sums, double* gradient) {
  for (int k = 0; k < place.num_components; ++k)
    for (int j = 0; j < place.dim; ++j) {
      const double scale = model.scale(theta, k, j);
      double first = kResidualUnit * sums[place.first(k, j)];
      double square = kResidualUnit * kResidualUnit * sums[place.square(k, j)];
      if constexpr (requires { model.degrees_of_freedom(theta, k); }) {
        const double freedom = model.degrees_of_freedom(theta, k), force = freedom + place.dim;
        first = force / std::sqrt(freedom) * sums[place.first(k, j)];
        square = force * sums[place.square(k, j)];
      }
      gradient[model.mean_index(k, j)] += first / scale;
      gradient[model.scale_index(k, j)] += (square - sums[k]) / scale;
    }
}

/// Adds L'^-1 (sum of r z) to the gradient of the means, and the lower triangle of L'^-1 (sum of r z z')
/// minus the sum of r divided by L_ii on the diagonal, to the gradient of the factors.
template <class Model>
void add_triangular_gradient(const Model& model, const double* theta, const GradientSums& place,
                             const double* sums, double* gradient) {
  const int d = place.dim;
  std::vector<double> v(static_cast<std::size_t>(d));
  // Replaces v by L'^-1 v in the places from `end` on.
  const auto solve = [&](int k, int end) {
    for (int i = d - 1; i >= end; --i) {
      double& own = v[static_cast<std::size_t>(i)];
      for (int j = i + 1; j < d; ++j) own -= model.factor(theta, k, j, i) * v[static_cast<std::size_t>(j)];
      own /= model.factor(theta, k, i, i);
    }
  };
  for (int k = 0; k < place.num_components; ++k) {
    for (int i = 0; i < d; ++i) v[static_cast<std::size_t>(i)] = kResidualUnit * sums[place.first(k, i)];
    solve(k, 0);
    for (int i = 0; i < d; ++i) gradient[model.mean_index(k, i)] += v[static_cast<std::size_t>(i)];
  }
  for (int k = 0; k < place.num_matrices; ++k) {
    double weight = sums[k];
    if (place.num_matrices == 1)
      for (int other = 1; other < place.num_components; ++other) weight += sums[other];
    for (int j = 0; j < d; ++j) {
      for (int i = j; i < d; ++i)
        v[static_cast<std::size_t>(i)] = kResidualUnit * kResidualUnit * sums[place.product(k, i, j)];
      solve(k, j);
      for (int i = j; i < d; ++i) gradient[model.factor_index(k, i, j)] += v[static_cast<std::size_t>(i)];
      gradient[model.factor_index(k, j, j)] -= weight / model.factor(theta, k, j, j);
    }
  }
}

/// Writes the gradient [num_parameters] at theta from the sums of gradient_sums(model.shape()). A component
/// whose sum of responsibilities is 0 adds nothing to the gradient of the weight.
template <class Model>
void write_mixture_gradient(const Model& model, const double* theta, const double* sums, double* gradient) {
  const GradientSums place = gradient_sums(model.shape());
  std::fill_n(gradient, model.num_parameters(), 0.0);
  for (int k = 0; k < place.num_components; ++k)
    if (sums[k] != 0)
      gradient[model.weight_index(k)] += model.weight_slope(k) * sums[k] / model.weight(theta, k);
  if constexpr (has_factor<Model>)
    add_triangular_gradient(model, theta, place, sums, gradient);
  else
    add_axis_aligned_gradient(model, theta, place, sums, gradient);
  if constexpr (requires { model.degrees_of_freedom(theta, 0); })
    for (int k = 0; k < place.num_components; ++k) {
      const double freedom = model.degrees_of_freedom(theta, k);
      gradient[model.freedom_index(k)] =
          0.5 * (sums[place.tail(k) + 1] * place.dim / freedom - sums[place.tail(k)] -
                 sums[k] * device::digamma_deficit(0.5 * freedom, place.dim));
    }
}

}  // namespace emomc
