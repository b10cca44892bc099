// Conversion of parameters between the data's own units and the sampler's units (standardised columns). The
// sampler works in the latter; files and messages use the former.
#pragma once

#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"

namespace emomc {

/// The affine map of each column into the sampler's units, z[j] = (x[j] - mean[j]) / sd[j]. Empty vectors
/// mean the identity.
struct ColumnUnits {
  std::vector<double> mean, sd;
  bool is_identity() const { return sd.empty(); }
};

/// Converts theta [layout.dim()] in place from the sampler's units to the data's, by the DataUnit of each
/// block. Throws std::invalid_argument if theta has another size, or if columns that share one scale have
/// different sds.
void to_data_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta);

/// The map of to_data_units for many draws; the factor and shift of each element are computed once.
class DataUnitMap {
 public:
  DataUnitMap(const ParameterLayout& layout, const ColumnUnits& units);
  /// Writes theta [layout.dim()] in the data's units to result [layout.dim()]; the bits equal those of
  /// to_data_units.
  void apply(std::span<const double> theta, std::span<double> result) const;

 private:
  std::vector<double> factor_, shift_;  ///< [dim]; the result is factor x + shift, except for rates_
  std::vector<std::size_t> rates_;      ///< indices of elements whose result is x / factor
};

/// The inverse of to_data_units, in place.
void to_sampler_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta);
/// The constant to add to a log likelihood of `num_rows` rows in the sampler's units to get that in the
/// data's units: -num_rows * sum_j log sd[j].
double log_likelihood_offset(const ColumnUnits& units, std::size_t num_rows);

}  // namespace emomc
