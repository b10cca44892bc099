// The log density of a row under a mixture (models.hpp) and the gradient by textbook formulas, for the
// reference engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/device/models.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

/// The log density of a row and its gradient, in float64.
template <class Model>
class MixtureReference {
 public:
  explicit MixtureReference(const Model& model) : model_(model) {}

  double log_density(const double* theta, const double* x) const {
    const std::vector<double> terms = terms_of(theta, x);
    return log_sum(terms, largest_of(terms));
  }

  /// Returns log_density(theta, x) and writes its gradient [num_parameters]. With the responsibilities r_k =
  /// w_k f_k / f the gradient is sum_k r_k d log f_k / d theta, and f_k / f for the weights.
  double gradient(const double* theta, const double* x, double* gradient) const {
    const std::vector<double> terms = terms_of(theta, x);
    const double largest = largest_of(terms);
    double sum = 0;
    for (double term : terms) sum += std::exp(term - largest);
    std::fill_n(gradient, model_.num_parameters(), 0.0);
    for (int k = 0; k < model_.shape().num_components; ++k) {
      // The largest term is subtracted first: where a row is far from all components, log f itself has no
      // digits left for a ratio.
      const double r = std::exp(terms[static_cast<std::size_t>(k)] - largest) / sum;
      const double weight = model_.weight(theta, k);
      const double ratio = weight > 0 ? r / weight : std::exp(log_component(theta, k, x) - largest) / sum;
      gradient[model_.weight_index(k)] += model_.weight_slope(k) * ratio;
      if (r == 0) continue;  // the gradient of such a component may be anything, even infinite
      if constexpr (requires { model_.degrees_of_freedom(theta, k); })
        add_student_t(theta, k, x, r, gradient);
      else if constexpr (has_factor<Model>)
        add_correlated(theta, k, x, r, gradient);
      else
        add_gaussian(theta, k, x, r, gradient);
    }
    return log_sum(terms, largest);
  }

 private:
  // Logarithms of the components' weighted densities.
  std::vector<double> terms_of(const double* theta, const double* x) const {
    std::vector<double> terms(static_cast<std::size_t>(model_.shape().num_components));
    for (int k = 0; k < model_.shape().num_components; ++k)
      terms[static_cast<std::size_t>(k)] = std::log(model_.weight(theta, k)) + log_component(theta, k, x);
    return terms;
  }
  // The largest term; NaN if one of the terms is NaN.
  static double largest_of(const std::vector<double>& terms) {
    for (double term : terms)
      if (std::isnan(term)) return term;
    return *std::max_element(terms.begin(), terms.end());
  }
  static double log_sum(const std::vector<double>& terms, double largest) {
    if (!std::isfinite(largest)) return largest;
    double sum = 0;
    for (double term : terms) sum += std::exp(term - largest);
    return largest + std::log(sum);
  }

  // Log density of one component: a Gaussian, or a t distribution if the model has degrees of freedom.
  double log_component(const double* theta, int k, const double* x) const {
    const int d = model_.shape().dim;
    if constexpr (requires { model_.degrees_of_freedom(theta, k); }) {
      const double freedom = model_.degrees_of_freedom(theta, k);
      // In 64 bits or more, since the two logarithms cancel where there are many degrees of freedom.
      const long double half = 0.5L * static_cast<long double>(freedom);
      double sum = static_cast<double>(std::lgamma(half + 0.5L * d) - std::lgamma(half)) -
                   0.5 * d * std::log(freedom * std::numbers::pi);
      double square = 0;
      for (int j = 0; j < d; ++j) {
        const double scale = model_.scale(theta, k, j), z = (x[j] - model_.mean(theta, k, j)) / scale;
        sum -= std::log(scale);
        square += z * z;
      }
      return sum - 0.5 * (freedom + d) * std::log1p(square / freedom);
    } else {
      static_assert(Model::has_gaussian_components, "the textbook density of the components belongs here");
      return log_gaussian(theta, k, x);
    }
  }

  double log_gaussian(const double* theta, int k, const double* x) const {
    const int d = model_.shape().dim;
    double sum = -0.5 * d * std::log(2 * std::numbers::pi);
    if constexpr (has_factor<Model>) {
      const std::vector<double> z = residuals(theta, k, x);
      for (int i = 0; i < d; ++i)
        sum += -0.5 * z[static_cast<std::size_t>(i)] * z[static_cast<std::size_t>(i)] -
               std::log(model_.factor(theta, k, i, i));
    } else {
      for (int j = 0; j < d; ++j) {
        const double sd = model_.scale(theta, k, j);
        const double z = (x[j] - model_.mean(theta, k, j)) / sd;
        sum += -0.5 * z * z - std::log(sd);
      }
    }
    return sum;
  }

  // This function and the next two add r times the gradient of a component's log density.
  void add_gaussian(const double* theta, int k, const double* x, double r, double* gradient) const {
    for (int j = 0; j < model_.shape().dim; ++j) {
      const double sd = model_.scale(theta, k, j), z = (x[j] - model_.mean(theta, k, j)) / sd;
      gradient[model_.mean_index(k, j)] += r * z / sd;
      gradient[model_.scale_index(k, j)] += r * (z * z - 1) / sd;
    }
  }

  // With q = sum_j z_j^2, the derivative with respect to means and scales is -(nu + d) / (nu + q) z_j d z_j
  // and the term of the scale in the normaliser; with respect to nu it is
  //   (psi((nu + d) / 2) - psi(nu / 2) - d / nu - log(1 + q / nu) + (nu + d) / nu q / (nu + q)) / 2.
  void add_student_t(const double* theta, int k, const double* x, double r, double* gradient) const {
    const int d = model_.shape().dim;
    const double freedom = model_.degrees_of_freedom(theta, k);
    double square = 0;
    for (int j = 0; j < d; ++j) {
      const double z = (x[j] - model_.mean(theta, k, j)) / model_.scale(theta, k, j);
      square += z * z;
    }
    const double force = (freedom + d) / (freedom + square);
    for (int j = 0; j < d; ++j) {
      const double scale = model_.scale(theta, k, j), z = (x[j] - model_.mean(theta, k, j)) / scale;
      gradient[model_.mean_index(k, j)] += r * force * z / scale;
      gradient[model_.scale_index(k, j)] += r * (force * z * z - 1) / scale;
    }
    // In 64 bits or more, since the logarithm and the share cancel where there are many degrees of freedom.
    const long double ratio = static_cast<long double>(square) / freedom, share = ratio / (1 + ratio);
    const auto excess = static_cast<double>(std::log1p(ratio) - share);
    gradient[model_.freedom_index(k)] +=
        0.5 * r *
        (static_cast<double>(share) * d / freedom - excess - device::digamma_deficit(0.5 * freedom, d));
  }

  // With z = L^-1 (x - mean) and v = L'^-1 z, the derivative with respect to the mean is v, and with respect
  // to L_ij it is v_i z_j - (i == j) / L_ii.
  void add_correlated(const double* theta, int k, const double* x, double r, double* gradient) const {
    const int d = model_.shape().dim;
    std::vector<double> z = residuals(theta, k, x), v = z;
    for (int i = d - 1; i >= 0; --i) {
      double& own = v[static_cast<std::size_t>(i)];
      for (int j = i + 1; j < d; ++j) own -= model_.factor(theta, k, j, i) * v[static_cast<std::size_t>(j)];
      own /= model_.factor(theta, k, i, i);
    }
    for (int i = 0; i < d; ++i) {
      const double own = v[static_cast<std::size_t>(i)];
      gradient[model_.mean_index(k, i)] += r * own;
      for (int j = 0; j <= i; ++j)
        gradient[model_.factor_index(k, i, j)] += r * own * z[static_cast<std::size_t>(j)];
      gradient[model_.factor_index(k, i, i)] -= r / model_.factor(theta, k, i, i);
    }
  }

  // Forward substitution: z = L^-1 (x - mean), row by row.
  std::vector<double> residuals(const double* theta, int k, const double* x) const {
    const int d = model_.shape().dim;
    std::vector<double> z(static_cast<std::size_t>(d));
    for (int i = 0; i < d; ++i) {
      double rest = x[i] - model_.mean(theta, k, i);
      for (int j = 0; j < i; ++j) rest -= model_.factor(theta, k, i, j) * z[static_cast<std::size_t>(j)];
      z[static_cast<std::size_t>(i)] = rest / model_.factor(theta, k, i, i);
    }
    return z;
  }

  Model model_;
};

}  // namespace emomc
