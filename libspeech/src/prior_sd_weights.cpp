#include "prior_sd_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "emomc/device/random.hpp"

namespace emomc {

std::vector<double> posterior_weights(const Eigen::MatrixXd& log_density) {
  constexpr unsigned kBootstraps = 1000;
  const Eigen::Index speakers = log_density.rows(), posteriors = log_density.cols();
  if (speakers == 0 || posteriors == 0) throw std::invalid_argument("posterior_weights: nothing to weight");
  if (!log_density.allFinite()) throw std::invalid_argument("posterior_weights: a log density is not finite");
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(posteriors);
  for (unsigned b = 0; b < kBootstraps; ++b) {
    const device::RandomSource random{0, b, 0};
    // Exponential variates divided by their sum have a flat Dirichlet distribution.
    Eigen::VectorXd share(speakers);
    for (Eigen::Index s = 0; s < speakers; ++s)
      share(s) = -std::log(random.uniform(device::Purpose::simulation, static_cast<unsigned>(s)));
    share *= static_cast<double>(speakers) / share.sum();
    const Eigen::VectorXd total = log_density.transpose() * share;
    const Eigen::VectorXd density = (total.array() - total.maxCoeff()).exp();
    mean += density / density.sum();
  }
  mean /= mean.sum();
  // The largest weight is kept in any case.
  const double least = std::min(kLeastPosteriorWeight, mean.maxCoeff());
  std::vector<double> weights(mean.begin(), mean.end());
  for (double& weight : weights)
    if (weight < least) weight = 0;
  const double kept = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= kept;
  return weights;
}

}  // namespace emomc
