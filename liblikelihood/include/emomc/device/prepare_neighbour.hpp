// prepare_mixture() for a parameter vector that differs in one block from a prepared vector. The results have
// the same bits; only the parts that change are computed.
#ifndef EMOMC_DEVICE_PREPARE_NEIGHBOUR_HPP
#define EMOMC_DEVICE_PREPARE_NEIGHBOUR_HPP

#include "emomc/device/prepare_mixture.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc::device {

template <class Team>
EMOMC_HD void copy_words(const Team& team, const void* from, void* to, int bytes) {
  EMOMC_ROLLED
  for (int i = team.rank(); i < bytes / 8; i += team.size())
    static_cast<double*>(to)[i] = static_cast<const double*>(from)[i];
}

/// Writes the coefficients and the terms of `theta`; the terms are HeightTerms in one array. `from` belongs
/// to a parameter vector that defines a mixture. `scratch`: shape.num_scratch() doubles that the team shares.
/// A sync must follow before other members read the coefficients.
template <class Real, class Team, class Model>
EMOMC_HD void prepare_neighbour_coefficients(const Team& team, const Model& model, const double* theta,
                                             const ParameterChange& change, const PreparedPoint<Real>& from,
                                             const PreparedPoint<Real>& to, double* scratch) {
  const auto shape = model.shape();
  const int K = shape.num_components, d = shape.dim;
  const HeightTerms terms = HeightTerms::in(to.terms, K, d);
  double* rest = scratch + shape.num_terms();
  if (change.influence == Influence::everything) {
    prepare_terms(team, model, theta, to.coefficients, terms, rest);
    prepare_shifts(team, shape, terms, heights_of(team, shape, terms), to.coefficients);
    return;
  }
  static_assert(kCoefficientAlignment % sizeof(double) == 0);
  copy_words(team, from.coefficients, to.coefficients,
             shape.num_coefficients() * static_cast<int>(sizeof(Real)));
  copy_words(team, from.terms, to.terms, shape.num_terms() * static_cast<int>(sizeof(double)));
  if (change.influence == Influence::nothing) return;
  team.sync();
  if (change.keeps_heights) {
    move_component(team, model, shape, theta, change.component, to.coefficients);
    return;
  }
  if (change.influence == Influence::weights)
    prepare_weights(team, model, theta, 0, terms);
  else
    prepare_distances(team, model, shape, theta, {change.component, 1}, to.coefficients, terms.log2_slope,
                      rest);
  team.sync();
  prepare_shifts(team, shape, terms, heights_of(team, shape, terms), to.coefficients);
}

/// `common` of `theta`, whose coefficients and terms have been written; the calling member may read all of
/// them or at least those that it has written itself.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_neighbour_common(const Team& team, const Model& model, const double* theta,
                                         const ParameterChange& change, const PreparedPoint<Real>& from,
                                         const PreparedPoint<Real>& to) {
  const auto shape = model.shape();
  if (change.influence == Influence::nothing) return from.common;
  if (change.keeps_heights)
    return team.any(!has_finite_offsets(team, shape, change.component, to.coefficients)) ? not_a_number()
                                                                                         : from.common;
  const HeightTerms terms = HeightTerms::in(to.terms, shape.num_components, shape.dim);
  return prepare_common<Real>(team, model, theta, terms, heights_of(team, shape, terms));
}

/// Writes the coefficients and terms and returns `common`; all members may read the coefficients afterwards.
/// `to.common` is not written.
template <class Real, class Team, class Model>
EMOMC_HD double prepare_neighbour(const Team& team, const Model& model, const double* theta,
                                  const ParameterChange& change, const PreparedPoint<Real>& from,
                                  const PreparedPoint<Real>& to, double* scratch) {
  prepare_neighbour_coefficients(team, model, theta, change, from, to, scratch);
  const double common = prepare_neighbour_common(team, model, theta, change, from, to);
  team.sync();
  return common;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PREPARE_NEIGHBOUR_HPP
