// Draws from the joint distribution in docs/statistics.md by its definition: parameters from their prior,
// rows from the model. The file uses none of the library's prior tables, transforms or simulations, so that
// calibration compares these with an independent implementation.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/cauchy.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/distributions/uniform.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc::testing {

/// A model of rows with `num_columns` columns, and its prior. The sds of columns to which scale_floor refers
/// are 1.
struct GenerativeModel {
  ModelSpec model;
  int num_columns = 1;
  PriorSet prior;

  /// Returns the blocks of the likelihood, followed by those of sampled arguments.
  ParameterLayout layout() const { return with_sampled_arguments(model_layout(model, num_columns), prior); }
};

class Simulator {
 public:
  Simulator(GenerativeModel model, std::uint64_t seed)
      : model_(std::move(model)), layout_(model_.layout()), random_(seed) {}

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  /// Draws theta [layout().dim()]. An order restricts the prior: parameters are drawn until they are in
  /// order.
  std::vector<double> parameters() {
    for (;;) {
      values_.clear();
      // The arguments on which the likelihood's blocks depend follow these blocks.
      for (std::size_t b = layout_.blocks.size(); b-- > 0;) draw_block(layout_.blocks[b]);
      if (is_ordered()) break;
    }
    std::vector<double> theta;
    for (const auto& block : layout_.blocks) {
      const auto& values = values_.at(block.name);
      theta.insert(theta.end(), values.begin(), values.end());
    }
    return theta;
  }

  /// Draws rows, num_rows x num_columns, given the last parameters.
  std::vector<double> rows(std::size_t num_rows) {
    std::vector<double> result;
    const bool is_mixture = values_.contains("weights");
    const auto& weights = is_mixture ? values_.at("weights") : values_.at("fraction");
    const auto d = static_cast<std::size_t>(model_.num_columns);
    std::normal_distribution<double> normal;
    for (std::size_t row = 0; row < num_rows; ++row) {
      std::size_t k = 0;
      for (double u = uniform(); k < (is_mixture ? weights.size() - 1 : 1) && u >= weights[k]; ++k)
        u -= weights[k];
      std::vector<double> z(d);
      for (double& value : z) value = normal(random_);
      if (values_.contains("degrees_of_freedom")) {  // a vector of t: divided by the root of a mean square
        const double freedom = values_.at("degrees_of_freedom")[k];
        const double chi_square = std::gamma_distribution<double>(0.5 * freedom, 2)(random_);
        for (double& value : z) value /= std::sqrt(chi_square / freedom);
      }
      for (std::size_t j = 0; j < d; ++j) {
        const double mean = is_mixture ? values_.at("means")[k * d + j] : values_.at("mean")[0];
        result.push_back(mean + deviation(k, j, z));
      }
    }
    return result;
  }

 private:
  double deviation(std::size_t k, std::size_t j, const std::vector<double>& z) const {
    const std::string& covariance = model_.model.covariance;
    const std::size_t d = z.size(), triangle = d * (d + 1) / 2;
    if (model_.model.name == "two_gaussian") return values_.at("sigma")[k] * z[j];
    if (covariance == "diagonal") return values_.at("scales")[k * d + j] * z[j];
    if (covariance == "spherical") return values_.at("scales")[k] * z[j];
    const auto& factors = values_.at(covariance == "tied" ? "covariance" : "covariances");
    const std::size_t row = (covariance == "tied" ? 0 : k * triangle) + j * (j + 1) / 2;
    double sum = 0;
    for (std::size_t i = 0; i <= j; ++i) sum += factors[row + i] * z[i];
    return sum;
  }

  bool is_ordered() const {
    if (model_.prior.order.empty()) return true;
    const auto& values = values_.at(model_.prior.order);
    const std::size_t stride = model_.prior.order == "means" ? static_cast<std::size_t>(model_.num_columns)
                               : model_.model.covariance == "diagonal" && model_.prior.order == "scales"
                                   ? static_cast<std::size_t>(model_.num_columns)
                                   : 1;
    for (std::size_t i = stride; i < values.size(); i += stride)
      if (!(values[i] > values[i - stride])) return false;
    return true;
  }

  void draw_block(const ParameterBlock& block) {
    if (block.support == Support::covariance) {
      draw_covariances(block);
      return;
    }
    const bool is_argument = block.name.find('.') != std::string::npos;
    const double lower = block.support == Support::real                  ? -kInfinity
                         : block.unit == DataUnit::scale && !is_argument ? model_.prior.scale_floor
                                                                         : 0;
    auto& values = values_[block.name];
    for (int i = 0; i < block.size(); ++i) values.push_back(draw_element(block, i, lower));
    if (block.support != Support::simplex || model_.prior.blocks.at(block.name).family == PriorFamily::fixed)
      return;
    // A Dirichlet draw is a normalised set of gammas. Their logarithms are used here, since small arguments
    // make gammas tiny.
    const double top = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (double& value : values) sum += value = std::exp(value - top);
    for (double& value : values) value /= sum;
  }

  // Draws diag(s) R diag(s), where the prior of R is proportional to det(R)^(eta - 1): uniform correlations
  // are accepted with this probability.
  void draw_covariances(const ParameterBlock& block) {
    const int d = block.matrix_dim(), count = block.size() / (d * (d + 1) / 2);
    const ParameterBlock scales_block = prior_blocks(block).at(0);
    const PriorSpec& correlations = model_.prior.blocks.at("correlations");
    auto& values = values_[block.name];
    for (int k = 0; k < count; ++k) {
      Eigen::MatrixXd R = Eigen::MatrixXd::Identity(d, d);
      if (correlations.family == PriorFamily::fixed) {
        for (int i = 0; i < d * d; ++i)
          R(i / d, i % d) = correlations.arguments[0].values[static_cast<std::size_t>(i)];
      } else {
        const double eta = correlations.arguments[0].values[0];
        if (eta < 1) throw std::logic_error("LKJ below 1 has no bounded density");
        for (;;) {
          for (int i = 0; i < d; ++i)
            for (int j = 0; j < i; ++j) R(i, j) = R(j, i) = 2 * uniform() - 1;
          const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(R);
          if (solver.eigenvalues().minCoeff() > 0 && uniform() < std::pow(R.determinant(), eta - 1)) break;
        }
      }
      Eigen::VectorXd s(d);
      for (int i = 0; i < d; ++i) s[i] = draw_element(scales_block, k * d + i, model_.prior.scale_floor);
      const Eigen::MatrixXd covariance = s.asDiagonal() * R * s.asDiagonal();
      const Eigen::MatrixXd factor = covariance.llt().matrixL();
      for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) values.push_back(factor(i, j));
    }
  }

  // Returns argument `a` of element i: a number, one of the numbers for each column, or the value drawn from
  // its own prior.
  double argument(const ParameterBlock& block, const PriorSpec& spec, std::size_t a, int i) const {
    const ArrayArgument& given = spec.arguments[a];
    const auto column = static_cast<std::size_t>(block.feature_axis >= 0 ? i % model_.num_columns : 0);
    if (given.is_sampled) return values_.at(block.name + "." + argument_names(spec.family)[a])[column];
    if (given.shape.empty()) return given.values[0];
    return given
        .values[given.values.size() == static_cast<std::size_t>(block.size()) ? static_cast<std::size_t>(i)
                                                                              : column];
  }

  template <class Distribution>
  double above(const Distribution& distribution, double lower) {
    const double mass = lower > -kInfinity ? cdf(complement(distribution, lower)) : 1;
    return quantile(complement(distribution, mass * uniform()));
  }

  // Uses the inverse of the distribution function. Below 1e-20 its first term x^a / Gamma(a + 1) is exact
  // enough.
  double log_gamma(double a) {
    const double p = uniform(), log_x = (std::log(p) + std::lgamma(a + 1)) / a;
    return log_x < -46 ? log_x : std::log(quantile(boost::math::gamma_distribution<>(a, 1), p));
  }

  double draw_element(const ParameterBlock& block, int i, double lower) {
    namespace math = boost::math;
    const PriorSpec& spec = model_.prior.blocks.at(block.name);
    std::vector<double> a;
    for (std::size_t index = 0; index < spec.arguments.size(); ++index)
      a.push_back(argument(block, spec, index, i));
    switch (spec.family) {
      case PriorFamily::normal:
        return above(math::normal(a[0], a[1]), lower);
      case PriorFamily::half_normal:
        return above(math::normal(0, a[0]), lower);
      case PriorFamily::student_t:
        return a[1] + a[2] * above(math::students_t(a[0]), (lower - a[1]) / a[2]);
      case PriorFamily::cauchy:
        return above(math::cauchy(a[0], a[1]), lower);
      case PriorFamily::lognormal:
        return above(math::lognormal(a[0], a[1]), lower);
      case PriorFamily::gamma:
        return above(math::gamma_distribution<>(a[0], 1 / a[1]), lower);
      case PriorFamily::inverse_gamma:
        return above(math::inverse_gamma(a[0], a[1]), lower);
      case PriorFamily::exponential:
        return above(math::exponential(a[0]), lower);
      case PriorFamily::uniform:
        return above(math::uniform(a[0], a[1]), std::max(lower, a[0]));
      case PriorFamily::beta:
        return above(math::beta_distribution<>(a[0], a[1]), 0);
      case PriorFamily::dirichlet:
        return log_gamma(a[0]);
      case PriorFamily::fixed:
        return a[0];
      case PriorFamily::von_mises:  // no scenario has an angle
      case PriorFamily::lkj:
        break;
    }
    throw std::logic_error("no element has this family");
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  GenerativeModel model_;
  ParameterLayout layout_;
  std::map<std::string, std::vector<double>> values_;  ///< values of the last draw, by block
  std::mt19937_64 random_;
};

}  // namespace emomc::testing
