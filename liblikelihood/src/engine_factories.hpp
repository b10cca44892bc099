// One factory for each backend; engines.cpp chooses among them. `ranks`: the ranks over which rows are
// divided; null: the engine has all rows.
#pragma once

#include <memory>

#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/row_model.hpp"

namespace emomc {

std::unique_ptr<LikelihoodEngine> make_reference_engine(std::shared_ptr<const RowModel> model,
                                                        const DataSet& data, Device& device);
std::unique_ptr<LikelihoodEngine> make_cpu_engine(std::shared_ptr<const RowModel> model, Precision precision,
                                                  const DataSet& data, Device& device, int num_threads,
                                                  Communicator* ranks);
/// Makes an engine with kernels that are compiled at run time. Throws InputError in a build without CUDA
/// (src/no_cuda).
std::unique_ptr<LikelihoodEngine> make_cuda_engine(const std::shared_ptr<const RowModel>& model,
                                                   Precision precision, const DataSet& data, Device& device,
                                                   Communicator* ranks);
/// Makes an engine with kernels for any sizes, which are compiled ahead of time. Throws InputError in a build
/// without CUDA.
template <class Model>
std::unique_ptr<LikelihoodEngine> make_mixture_cuda_engine(const Model& model, Precision precision,
                                                           const DataSet& data, Device& device,
                                                           Communicator* ranks);

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
