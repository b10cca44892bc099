// prepare_mixture of a parameter vector most of which is that of one whose coefficients and terms are there:
// the same bits, from what changed.
#ifndef EMOMC_DEVICE_PREPARE_NEIGHBOUR_HPP
#define EMOMC_DEVICE_PREPARE_NEIGHBOUR_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/prepare_mixture.hpp"

namespace emomc::device {

/// What prepare_mixture makes of a parameter vector.
template <class Real>
struct PreparedMixture {
  Real* coefficients;
  double* terms;  ///< HeightTerms, in one piece
  double common;
};

/// Which parameters differ.
struct MixtureChange {
  Influence influence;
  int component;       ///< with Influence::component
  bool keeps_heights;  ///< locations alone
};

template <class Team>
EMOMC_HD void copy_words(const Team& team, const void* from, void* to, int bytes) {
  EMOMC_ROLLED
  for (int i = team.rank(); i < bytes / 8; i += team.size())
    static_cast<double*>(to)[i] = static_cast<const double*>(from)[i];
}

/// Writes the coefficients and terms of `theta` and returns its `common`. `from` is of a parameter vector
/// that is a mixture. `to.common` is not written. `scratch`: shape.num_scratch() doubles that the team
/// shares.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_neighbour(const Team& team, const Model& model, const double* theta,
                                  const MixtureChange& change, const PreparedMixture<Real>& from,
                                  const PreparedMixture<Real>& to, double* scratch) {
  const auto shape = model.shape();
  const int K = shape.num_components, d = shape.dim;
  const HeightTerms terms = HeightTerms::in(to.terms, K, d);
  double* rest = scratch + shape.num_terms();
  if (change.influence == Influence::everything)
    return prepare_mixture(team, model, theta, to.coefficients, terms, rest);
  static_assert(kCoefficientAlignment % sizeof(double) == 0);
  copy_words(team, from.coefficients, to.coefficients,
             shape.num_coefficients() * static_cast<int>(sizeof(Real)));
  copy_words(team, from.terms, to.terms, shape.num_terms() * static_cast<int>(sizeof(double)));
  if (change.influence == Influence::nothing) return from.common;
  team.sync();
  if (change.keeps_heights) {
    const bool usable = move_component(team, model, shape, theta, change.component, to.coefficients);
    return team.any(!usable) ? not_a_number() : from.common;
  }
  if (change.influence == Influence::weights)
    prepare_weights(team, model, theta, 0, terms);
  else
    prepare_distances(team, model, shape, theta, {change.component, 1}, to.coefficients, terms.log2_slope,
                      rest);
  team.sync();
  return prepare_heights(team, model, theta, terms, to.coefficients);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PREPARE_NEIGHBOUR_HPP
