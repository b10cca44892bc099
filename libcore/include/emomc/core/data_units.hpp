// Conversion of parameters between the data's own units and the sampler's units (standardised columns).
#pragma once

#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"

namespace emomc {

/// The affine map of each column into the sampler's units, z[j] = (x[j] - mean[j]) / sd[j]. Empty vectors:
/// the identity.
struct ColumnUnits {
  std::vector<double> mean, sd;
  bool is_identity() const { return sd.empty(); }
};

/// Converts theta [layout.dim()] from the sampler's units to the data's in place, by the DataUnit of each
/// block. Throws std::invalid_argument where theta has another size, or where columns of one shared scale
/// have different sds.
void to_data_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta);

/// The same map for many draws; the factor and shift of each element are computed once.
class DataUnitMap {
 public:
  DataUnitMap(const ParameterLayout& layout, const ColumnUnits& units);
  /// theta and result [layout.dim()]; the same bits as from to_data_units.
  void apply(std::span<const double> theta, std::span<double> result) const;

 private:
  std::vector<double> factor_, shift_;  ///< the value is factor x + shift, except
  std::vector<std::size_t> rates_;      ///< for these elements: x / factor
};

/// The inverse of to_data_units, in place.
void to_sampler_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta);
/// The constant to add to a log likelihood of `num_rows` rows in the sampler's units to get that in the
/// data's units: -num_rows * sum_j log sd[j].
double log_likelihood_offset(const ColumnUnits& units, std::size_t num_rows);

}  // namespace emomc
