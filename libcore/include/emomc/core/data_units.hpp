// Parameters between the data's own units and those the sampler sees (standardised columns).
#pragma once

#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"

namespace emomc {

/// The affine map of each column, x_seen = (x - mean[j]) / sd[j]. Empty vectors: the identity.
struct ColumnUnits {
  std::vector<double> mean, sd;
  bool is_identity() const { return sd.empty(); }
};

/// In place: theta [layout.dim()] from the sampler's units to the data's, by each block's DataUnit.
void to_data_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta);

/// The same for many draws: what each element takes is worked out once.
class DataUnitMap {
 public:
  DataUnitMap(const ParameterLayout& layout, const ColumnUnits& units);
  /// theta and result [layout.dim()]; the same bits as to_data_units gives.
  void apply(std::span<const double> theta, std::span<double> result) const;

 private:
  std::vector<double> factor_, shift_;  ///< of each element: factor x + shift, or
  std::vector<std::size_t> rates_;      ///< of these, x / factor
};

/// The inverse.
void to_sampler_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta);
/// What is added to a log likelihood of `num_rows` rows in the sampler's units to have it in the data's:
/// -num_rows * sum_j log sd[j].
double log_likelihood_offset(const ColumnUnits& units, std::size_t num_rows);

}  // namespace emomc
