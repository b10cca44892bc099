// Joint distributions p(theta) p(y | theta) of parameters and a few rows of data from which exact draws are
// possible, for tests of the whole sampler (Geweke 2004, "Getting it right").
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/sampler/target.hpp"
#include "mixture_target.hpp"

namespace emomc::testing {

struct JointModel {
  std::string name;
  ModelSpec model;
  int columns = 1;
  std::size_t rows = 5;  ///< number of rows of each data set
  PriorSet prior;
  /// Power of the likelihood. It differs from 1 only for one component with fixed scales: then p(y |
  /// theta)^beta is, up to a constant, a Gaussian whose scales are multiplied by 1 / sqrt(beta).
  double beta = 1;

  Target target() const {
    return Target(model_layout(model, columns), prior,
                  std::vector<double>(static_cast<std::size_t>(columns), 1.0));
  }
};

/// Independent pairs (theta, y), one for each chain.
struct JointPairs {
  std::vector<double> theta;  ///< num_chains x dim
  DataSet data;               ///< a segment of JointModel::rows rows for each chain
  std::vector<double> log_prior, log_likelihood;
};

/// Draws parameters [num_chains x dim] from the prior. The result is a function of (seed, first_chain +
/// chain).
inline std::vector<double> draw_parameters(const Target& target, int num_chains, std::uint64_t seed,
                                           std::uint32_t first_chain = 0) {
  std::vector<double> thetas;
  for (int c = 0; c < num_chains; ++c) {
    const auto theta = target.draw_from_prior(seed, first_chain + static_cast<std::uint32_t>(c), 0);
    thetas.insert(thetas.end(), theta.begin(), theta.end());
  }
  return thetas;
}

/// Draws data for the parameters of each chain. The result is a function of (theta, seed, first_chain +
/// chain).
inline DataSet draw_data(const JointModel& joint, const Target& target, const std::vector<double>& thetas,
                         std::uint64_t seed, std::uint32_t first_chain = 0) {
  const auto dim = static_cast<std::size_t>(target.dim());
  std::vector<double> values;
  std::vector<Segment> segments;
  for (std::size_t c = 0; c < thetas.size() / dim; ++c) {
    std::vector<double> theta(thetas.begin() + static_cast<std::ptrdiff_t>(c * dim),
                              thetas.begin() + static_cast<std::ptrdiff_t>((c + 1) * dim));
    if (joint.beta != 1)
      for (std::size_t i = static_cast<std::size_t>(1 + joint.columns); i < dim; ++i)
        theta[i] /= std::sqrt(joint.beta);
    const auto rows = simulate_rows(joint.model, joint.columns, theta, joint.rows, seed,
                                    first_chain + static_cast<std::uint32_t>(c));
    values.insert(values.end(), rows.begin(), rows.end());
    segments.push_back({c * joint.rows, joint.rows});
  }
  DataSet data = DataSet::single_segment(joint.columns, std::move(values));
  data.segments = std::move(segments);
  return data;
}

/// The compared functions of a pair: log densities; for each parameter its value, its square and its product
/// with the mean of the data's first column; and for mixtures the mixture's mean in that column, which does
/// not depend on labels.
class JointFunctions {
 public:
  JointFunctions(const JointModel& joint, const Target& target)
      : joint_(joint), names_(element_names(target.layout())), dim_(static_cast<std::size_t>(target.dim())) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names{"log prior", "log likelihood", "log likelihood squared"};
    for (const auto& name : names_)
      for (const char* suffix : {"", " squared", " x data"}) names.push_back(name + suffix);
    if (is_mixture()) names.insert(names.end(), {"mean of the mixture", "mean of the mixture x data"});
    return names;
  }

  std::vector<double> operator()(const JointPairs& pairs, std::size_t chain) const {
    const double* theta = pairs.theta.data() + chain * dim_;
    const auto columns = static_cast<std::size_t>(joint_.columns);
    double data = 0;
    for (std::size_t i = 0; i < joint_.rows; ++i)
      data += pairs.data.values[(chain * joint_.rows + i) * columns] / static_cast<double>(joint_.rows);
    const double log_likelihood = pairs.log_likelihood[chain];
    std::vector<double> values{pairs.log_prior[chain], log_likelihood, log_likelihood * log_likelihood};
    for (std::size_t i = 0; i < dim_; ++i)
      values.insert(values.end(), {theta[i], theta[i] * theta[i], theta[i] * data});
    if (is_mixture()) {
      const auto K = static_cast<std::size_t>(joint_.model.components);
      double mean = 0;
      for (std::size_t k = 0; k < K; ++k) mean += theta[k] * theta[K + k * columns];
      values.insert(values.end(), {mean, mean * data});
    }
    return values;
  }

 private:
  bool is_mixture() const { return joint_.model.name == "gaussian_mixture"; }

  JointModel joint_;
  std::vector<std::string> names_;
  std::size_t dim_;
};

/// Returns a model of K components in one column.
inline JointModel mixture_in_one_column(int components, const std::string& order = "") {
  JointModel joint{
      "K" + std::to_string(components) + order, {"gaussian_mixture", components}, 1, 5, mixture_prior()};
  joint.prior.order = order;
  return joint;
}

/// Returns a model whose covariances have LKJ priors.
inline JointModel mixture_with_covariances(int components, int columns, const std::string& covariance) {
  JointModel joint{covariance, {"gaussian_mixture", components, covariance}, columns, 4, mixture_prior()};
  joint.prior.blocks["correlations"] = {PriorFamily::lkj, {number(1.5)}};
  return joint;
}

/// Returns a model in which the arguments of the means' and scales' priors are sampled.
inline JointModel hierarchical_mixture() {
  const ArrayArgument sampled{{}, {}, true};
  JointModel joint = mixture_in_one_column(2);
  joint.name = "hierarchical";
  joint.prior.blocks["means"] = {PriorFamily::normal, {sampled, sampled}};
  joint.prior.blocks["means.mean"] = {PriorFamily::normal, {number(0.5), number(1)}};
  joint.prior.blocks["means.sd"] = {PriorFamily::half_normal, {number(2)}};
  joint.prior.blocks["scales"] = {PriorFamily::half_normal, {sampled}};
  joint.prior.blocks["scales.sd"] = {PriorFamily::gamma, {number(4), number(3)}};
  return joint;
}

/// Returns the two-Gaussian model of particle physics, whose fraction is in (0, 1).
inline JointModel two_gaussians() {
  JointModel joint{"two_gaussian", {"two_gaussian", 2}, 1, 5, {}};
  joint.prior.blocks["fraction"] = {PriorFamily::beta, {number(2), number(1.5)}};
  joint.prior.blocks["mean"] = {PriorFamily::normal, {number(0), number(1)}};
  joint.prior.blocks["sigma"] = {PriorFamily::gamma, {number(3), number(2)}};
  joint.prior.scale_floor = 0.05;
  return joint;
}

/// Returns a model of one component with known scales and the likelihood to the power of 0.4.
inline JointModel tempered_normal() {
  JointModel joint{"tempered", {"gaussian_mixture", 1}, 2, 3, mixture_prior(), 0.4};
  joint.prior.blocks["weights"] = {PriorFamily::fixed, {number(1.0)}};
  joint.prior.blocks["scales"] = {PriorFamily::fixed, {{{2}, {0.8, 1.5}}}};
  return joint;
}

}  // namespace emomc::testing
