// Names, shapes and supports of a model's parameters, and their layout in one flat vector.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emomc/device/block_description.hpp"

namespace emomc {

using device::DataUnit;
using device::Influence;
using device::Support;

/// One named array of parameters, row-major. `shape` is empty for a scalar.
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
    return n;
  }
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

/// `name[i,j]` for each element of theta, indices from 0; a scalar block gives its bare name.
std::vector<std::string> element_names(const ParameterLayout& layout);

}  // namespace emomc
