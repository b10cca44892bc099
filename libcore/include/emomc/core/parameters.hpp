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

/// One named array of parameters, row-major. `shape` is empty for a scalar. Of covariance matrices the lower
/// triangles alone are stored, row after row: as their Cholesky factors L, Sigma = L L', in theta, and as
/// they are in files (to_written, from_written).
struct ParameterBlock {
  std::string name;
  std::vector<int> shape;
  Support support = Support::real;
  DataUnit unit = DataUnit::none;
  Influence influence = Influence::everything;
  int component_axis = -1;  ///< axis that counts mixture components, -1 without one
  int feature_axis = -1;    ///< axis that counts the data's columns; -1: column 0 where `unit` needs one

  int size() const {
    int n = 1;
    for (int extent : shape) n *= extent;
    return support == Support::covariance ? n / matrix_dim() * (matrix_dim() + 1) / 2 : n;
  }
  /// Rows of each matrix of a covariance block.
  int matrix_dim() const { return shape.back(); }
  bool operator==(const ParameterBlock&) const = default;
};

/// The blocks of a model in the order in which they lie in theta.
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

/// In place: theta [layout.dim()] with covariances in place of their Cholesky factors, as in files.
void to_written(const ParameterLayout& layout, std::span<double> theta);
/// The inverse. Throws InputError, naming the parameter, where a matrix is not positive definite.
void from_written(const ParameterLayout& layout, std::span<double> theta);

/// theta with its components reordered: component k becomes component order[k] of the old one. Applies to
/// blocks with a component axis.
std::vector<double> permute_components(const ParameterLayout& layout, std::span<const int> order,
                                       std::span<const double> theta);

/// `name[i,j]` for each element of theta, indices from 0; a scalar block gives its bare name, a
/// covariance block the names of its lower triangles.
std::vector<std::string> element_names(const ParameterLayout& layout);

}  // namespace emomc
