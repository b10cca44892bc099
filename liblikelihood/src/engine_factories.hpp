// One factory per backend; engines.cpp chooses among them.
#pragma once

#include <memory>

#include "emomc/likelihood/engines.hpp"

namespace emomc {

template <class Model>
std::unique_ptr<LikelihoodEngine> make_reference_engine(const Model& model, const DataSet& data,
                                                        Device& device);
template <class Model>
std::unique_ptr<LikelihoodEngine> make_cpu_engine(const Model& model, Precision precision,
                                                  const DataSet& data, Device& device, int num_threads);
/// Throws InputError in a build without CUDA (src/no_cuda).
template <class Model>
std::unique_ptr<LikelihoodEngine> make_cuda_engine(const Model& model, Precision precision,
                                                   const DataSet& data, Device& device);

/// Parameter blocks of `model` with their sizes filled in.
template <class Model>
ParameterLayout layout_of(const Model& model) {
  ParameterLayout layout;
  for (const auto& description : Model::blocks) {
    ParameterBlock block;
    block.name = description.name;
    block.support = description.support;
    block.unit = description.unit;
    block.influence = description.influence;
    for (int axis = 0; axis < description.num_axes; ++axis) {
      const bool component = description.axes[axis] == device::Axis::component;
      int& first = component ? block.component_axis : block.feature_axis;
      if (first < 0) first = axis;
      block.shape.push_back(component ? model.shape().num_components : model.shape().dim);
    }
    layout.blocks.push_back(block);
  }
  return layout;
}

}  // namespace emomc
