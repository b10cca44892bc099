// The two objects between which match_components alternates: a reference, one weighted Gaussian for each
// number, and the components of each draw that are matched to it.
#pragma once

#include <Eigen/Dense>
#include <limits>
#include <vector>

#include "mixture_reader.hpp"

namespace emomc::matching {

struct Draw {
  Mixture mixture;
  std::vector<Eigen::MatrixXd> covariances;  // empty for diagonal covariances
  bool is_finite = true;
};

// Returns powers of two [d] that scale the columns so that their largest sd is between 1 and 2. Squares then
// neither overflow nor underflow, whatever the data's units, and the scaling of means and sds is exact.
Eigen::VectorXd column_factors(const MixtureReader& reader, int num_columns);

// A set of `count` equidistant draws, with columns multiplied by `factors`. The draws are stored in memory if
// `is_kept` is set, and otherwise read at each access.
class Sample {
 public:
  Sample(const MixtureReader& reader, int num_components, const Eigen::VectorXd& factors, std::size_t count,
         bool is_kept);

  std::size_t size() const { return count_; }
  const Draw& get(std::size_t i, Draw& scratch) const {
    if (!kept_.empty()) return kept_[i];
    read(i, scratch);
    return scratch;
  }

 private:
  void read(std::size_t i, Draw& draw) const;

  const MixtureReader& reader_;
  int num_components_;
  const Eigen::VectorXd& factors_;
  std::size_t count_;
  std::vector<Draw> kept_;
};

// The reference: weighted Gaussians, in the form from which costs are computed.
struct Reference {
  Eigen::VectorXd offsets;                 // [K], -log W + log|V| / 2
  Eigen::MatrixXd means, precisions;       // d x K; precisions: 1 / V for diagonal V
  std::vector<Eigen::MatrixXd> precision;  // V^-1 for full V
  // Sum of W (-log W + log|V| / 2): the loss of the draws from which the reference was computed, up to a
  // constant.
  double objective = std::numeric_limits<double>::infinity();
};

// Sums over draws of w, w x, w x x' and w S for each number, where x = m - shift.
class Sums {
 public:
  void clear(Eigen::Index num_components, Eigen::Index num_columns, bool has_covariances);
  // `permutation` [K] is the component of each number; `shift` is d x K and close to the means.
  void add(const Draw& draw, const int* permutation, const Eigen::MatrixXd& shift);
  void add(const Sums& other);
  // Computes the reference of these sums; its objective is infinite if the reference does not exist.
  Reference reference(const Eigen::MatrixXd& shift) const;

 private:
  Eigen::VectorXd weights_;
  Eigen::MatrixXd first_, second_, spread_;  // d x K
  std::vector<Eigen::MatrixXd> full_;        // sums of w (S + x x')
};

using Costs = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
// Computes the cost of each component (row) as each number (column).
void find_costs(const Draw& draw, const Reference& reference, Costs& costs);
// Finds the component of each number in the assignment with the least total cost.
void match(const Costs& costs, int* permutation);

}  // namespace emomc::matching
