// Reads the mixture of one draw from a draw set.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {

struct Mixture {
  Eigen::VectorXd weights;  // [K]
  Eigen::MatrixXd means;    // d x K
  Eigen::MatrixXd sds;      // d x K, marginal sd of each column
};

class MixtureReader {
 public:
  MixtureReader(const DrawSet& set, const MixtureNames& names)
      : set_(set), names_(names), num_draws_(set.num_chains() * set.num_draws) {}

  std::size_t num_draws() const { return num_draws_; }
  bool has_covariances() const {
    return names_.spread == MixtureNames::Spread::tied || names_.spread == MixtureNames::Spread::full;
  }

  // Reads the mixture of a draw; `draw` counts over all chains, chain after chain.
  void read(std::size_t draw, Mixture& m) const {
    const int K = names_.num_components, d = names_.num_columns;
    m.weights.resize(K);
    m.means.resize(d, K);
    m.sds.resize(d, K);
    for (int k = 0; k < K; ++k) {
      m.weights[k] = weight(k, draw);
      for (int j = 0; j < d; ++j) m.means(j, k) = value(mean_of(names_, k, j), draw);
      for (int j = 0; j < d; ++j) m.sds(j, k) = sd(k, j, draw);
    }
  }

  // Reads the covariance of component k, d x d; only if has_covariances().
  void read_covariance(std::size_t draw, int k, Eigen::MatrixXd& covariance) const {
    const int d = names_.num_columns;
    std::size_t q = first_of_covariance(k);
    covariance.resize(d, d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j <= i; ++j) covariance(i, j) = covariance(j, i) = value(q++, draw);
  }

  // Returns the index of the quantity that is the mean of component k in column j.
  static std::size_t mean_of(const MixtureNames& names, int k, int j) {
    return names.means + (names.is_pair ? 0 : static_cast<std::size_t>(k * names.num_columns + j));
  }

 private:
  double value(std::size_t q, std::size_t draw) const { return set_.values[q * num_draws_ + draw]; }

  double weight(int k, std::size_t draw) const {
    if (!names_.is_pair) return value(names_.weights + static_cast<std::size_t>(k), draw);
    const double fraction = value(names_.weights, draw);
    return k == 0 ? fraction : 1 - fraction;
  }

  double sd(int k, int j, std::size_t draw) const {
    switch (names_.spread) {
      case MixtureNames::Spread::scales:
        return value(names_.scales + static_cast<std::size_t>(k * names_.num_columns + j), draw);
      case MixtureNames::Spread::spherical:
        return value(names_.scales + static_cast<std::size_t>(k), draw);
      case MixtureNames::Spread::tied:
      case MixtureNames::Spread::full:
        break;
    }
    // the rows of the lower triangle are stored one after the other
    const int diagonal = j * (j + 1) / 2 + j;
    return std::sqrt(value(first_of_covariance(k) + static_cast<std::size_t>(diagonal), draw));
  }

  std::size_t first_of_covariance(int k) const {
    const int d = names_.num_columns;
    return names_.scales +
           static_cast<std::size_t>(names_.spread == MixtureNames::Spread::tied ? 0 : k * (d * (d + 1) / 2));
  }

  const DrawSet& set_;
  const MixtureNames& names_;
  std::size_t num_draws_;
};

// Returns the properties by which components can be ordered; each is a list of quantity indices, one for each
// component. The means come first, column by column, then scales and any other blocks, then weights.
std::vector<std::vector<std::size_t>> component_keys(const DrawSet& set, const MixtureNames& names);

}  // namespace emomc
