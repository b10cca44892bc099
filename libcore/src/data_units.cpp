#include "emomc/core/data_units.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace emomc {
namespace {

// Calls f(unit, value, column) for each element of a block that has a unit.
template <class F>
void for_each_with_unit(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta,
                        F f) {
  if (theta.size() != static_cast<std::size_t>(layout.dim()))
    throw std::invalid_argument("data units: theta has " + std::to_string(theta.size()) + " elements, not " +
                                std::to_string(layout.dim()));
  std::size_t offset = 0;
  for (const auto& block : layout.blocks) {
    const auto size = static_cast<std::size_t>(block.size());
    if (block.unit != DataUnit::none) {
      // Stride and extent of the feature axis; a block without that axis has a single column.
      std::size_t stride = 1, extent = 1;
      if (block.feature_axis >= 0) {
        for (std::size_t a = static_cast<std::size_t>(block.feature_axis) + 1; a < block.shape.size(); ++a)
          stride *= static_cast<std::size_t>(block.shape[a]);
        extent = static_cast<std::size_t>(block.shape[static_cast<std::size_t>(block.feature_axis)]);
      }
      // A scale that applies to all columns has a unit only if the columns share one sd.
      if (block.feature_axis < 0 && block.unit != DataUnit::location &&
          std::any_of(units.sd.begin(), units.sd.end(), [&](double sd) { return sd != units.sd[0]; }))
        throw std::invalid_argument("data units: " + block.name + " needs columns of one sd");
      if (block.support == Support::covariance) {
        for (std::size_t i = 0; i < size;)
          for (std::size_t row = 0; row < extent; ++row)
            for (std::size_t column = 0; column <= row; ++column) f(block.unit, theta[offset + i++], row);
      } else {
        for (std::size_t i = 0; i < size; ++i) f(block.unit, theta[offset + i], i / stride % extent);
      }
    }
    offset += size;
  }
}

}  // namespace

DataUnitMap::DataUnitMap(const ParameterLayout& layout, const ColumnUnits& units)
    : factor_(static_cast<std::size_t>(layout.dim()), 1.0),
      // Adding -0.0 keeps the sign of zero.
      shift_(static_cast<std::size_t>(layout.dim()), -0.0) {
  if (units.is_identity()) return;
  for_each_with_unit(layout, units, factor_, [&](DataUnit unit, double& factor, std::size_t column) {
    const auto element = static_cast<std::size_t>(&factor - factor_.data());
    const double sd = units.sd[column];
    if (unit == DataUnit::log_scale)
      shift_[element] = std::log(sd);
    else
      factor = sd;
    if (unit == DataUnit::location) shift_[element] = units.mean[column];
    if (unit == DataUnit::rate) rates_.push_back(element);
  });
}

void DataUnitMap::apply(std::span<const double> theta, std::span<double> result) const {
  for (std::size_t i = 0; i < factor_.size(); ++i) result[i] = theta[i] * factor_[i] + shift_[i];
  for (const std::size_t i : rates_) result[i] = theta[i] / factor_[i];
}

void to_data_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta) {
  if (units.is_identity()) return;
  const std::vector<double> given(theta.begin(), theta.end());
  DataUnitMap(layout, units).apply(given, theta);
}

void to_sampler_units(const ParameterLayout& layout, const ColumnUnits& units, std::span<double> theta) {
  if (units.is_identity()) return;
  for_each_with_unit(layout, units, theta, [&](DataUnit unit, double& value, std::size_t column) {
    const double sd = units.sd[column];
    if (unit == DataUnit::location) value -= units.mean[column];
    if (unit == DataUnit::log_scale)
      value -= std::log(sd);
    else
      value = unit == DataUnit::rate ? value * sd : value / sd;
  });
}

double log_likelihood_offset(const ColumnUnits& units, std::size_t num_rows) {
  double sum = 0;
  for (double sd : units.sd) sum += std::log(sd);
  return -static_cast<double>(num_rows) * sum;
}

}  // namespace emomc
