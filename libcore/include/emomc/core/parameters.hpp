// Names, shapes and supports of a model's parameters, and their layout in one flat vector.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/device/block_description.hpp"

namespace emomc {

using device::DataUnit;
using device::Influence;
using device::Support;

/// One named array of parameters, row-major; `shape` is empty for a scalar. Only the lower triangle of a
/// covariance matrix is stored, row by row: theta holds that of its Cholesky factor L, Sigma = L L', and
/// files hold that of the matrix itself (to_written, from_written).
struct ParameterBlock {
  std::string name;
  std::vector<int> shape;
  Support support = Support::real;
  DataUnit unit = DataUnit::none;
  Influence influence = Influence::everything;
  int component_axis = -1;  ///< axis over mixture components; -1: none
  /// Axis over the data's columns; -1: none, and `unit` refers to column 0.
  int feature_axis = -1;

  int size() const {
    int n = 1;
    for (int extent : shape) n *= extent;
    return support == Support::covariance ? n / matrix_dim() * (matrix_dim() + 1) / 2 : n;
  }
  /// Number of rows of each matrix of a covariance block.
  int matrix_dim() const { return shape.back(); }
  bool operator==(const ParameterBlock&) const = default;
};

/// The blocks of a model, in the order of theta.
struct ParameterLayout {
  std::vector<ParameterBlock> blocks;

  int dim() const {
    int n = 0;
    for (const auto& block : blocks) n += block.size();
    return n;
  }
  int offset(std::size_t block) const {
    int n = 0;
    for (std::size_t b = 0; b < block; ++b) n += blocks[b].size();
    return n;
  }
  bool operator==(const ParameterLayout&) const = default;
};

/// Replaces Cholesky factors in theta [layout.dim()] by the covariances that files hold. In place.
void to_written(const ParameterLayout& layout, std::span<double> theta);
/// The inverse of to_written, in place. Throws InputError, naming the parameter, if a matrix is not positive
/// definite.
void from_written(const ParameterLayout& layout, std::span<double> theta);

/// Reorders the components of theta [layout.dim()]: component k of the result is component order[k] of theta.
/// A fraction (the weight of the first of two components) becomes one minus itself if the two change places.
/// Other blocks without a component axis are unchanged.
std::vector<double> permute_components(const ParameterLayout& layout, std::span<const int> order,
                                       std::span<const double> theta);

/// `name[i,j]` for each element of theta, with indices from 0; a scalar block has its bare name, and a
/// covariance block has the names of the elements of its lower triangles.
std::vector<std::string> element_names(const ParameterLayout& layout);

}  // namespace emomc
