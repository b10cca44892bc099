#include "emomc/likelihood/model_info.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {
namespace {

using device::Axis;
using device::BlockDescription;

template <class Model>
ModelInfo info_of() {
  return {
      Model::name,   Model::covariance, Model::description, Model::fixed_components,        Model::fixed_dim,
      Model::blocks, Model::ordered_by, Model::init,        Model::has_gaussian_components, Model::has_em};
}

bool has_axes(const BlockDescription& block, std::initializer_list<Axis> axes) {
  return block.num_axes == static_cast<int>(axes.size()) &&
         std::equal(axes.begin(), axes.end(), std::begin(block.axes));
}

bool is_simplex_of_components(const BlockDescription& block) {
  return block.support == Support::simplex && has_axes(block, {Axis::component});
}

bool is_location_by_component(const BlockDescription& block) {
  return block.support == Support::real && block.unit == DataUnit::location &&
         has_axes(block, {Axis::component, Axis::feature});
}

bool is_spread(const BlockDescription& block) {
  if (block.unit != DataUnit::scale) return false;
  if (block.support == Support::positive)
    return has_axes(block, {Axis::component}) || has_axes(block, {Axis::component, Axis::feature});
  return block.support == Support::covariance;
}

bool is_same_block(const BlockDescription& a, const BlockDescription& b) {
  return std::string_view(a.name) == b.name && a.support == b.support && a.num_axes == b.num_axes &&
         std::equal(std::begin(a.axes), std::begin(a.axes) + a.num_axes, std::begin(b.axes));
}

// Whether a block is a sampled argument of a prior, such as "means.sd", which is no parameter of the model.
bool is_argument(const ParameterBlock& block) { return block.name.find('.') != std::string::npos; }

bool has_blocks_of(const ParameterLayout& layout, const ModelInfo& model) {
  const auto own = std::count_if(layout.blocks.begin(), layout.blocks.end(),
                                 [](const ParameterBlock& block) { return !is_argument(block); });
  return static_cast<std::size_t>(own) == model.blocks.size() &&
         std::equal(model.blocks.begin(), model.blocks.end(), layout.blocks.begin(),
                    [](const BlockDescription& known, const ParameterBlock& block) {
                      return block.name == known.name && block.support == known.support &&
                             block.shape.size() == static_cast<std::size_t>(known.num_axes);
                    });
}

// The number of components that the shapes of `layout`, whose first blocks are those of `model`, state.
int components_of(const ParameterLayout& layout, const ModelInfo& model) {
  if (model.fixed_components) return model.fixed_components;
  for (std::size_t b = 0; b < model.blocks.size(); ++b)
    for (int axis = 0; axis < model.blocks[b].num_axes; ++axis)
      if (model.blocks[b].axes[axis] == Axis::component)
        return layout.blocks[b].shape[static_cast<std::size_t>(axis)];
  return 1;
}

}  // namespace

std::span<const ModelInfo> known_models() {
#define EMOMC_INFO(Model, Shape) info_of<device::Model>(),
  static const std::vector<ModelInfo> models{EMOMC_MODELS(EMOMC_INFO)};
#undef EMOMC_INFO
  return models;
}

const ModelInfo& model_info(const std::string& name, const std::string& covariance) {
  for (const ModelInfo& model : known_models())
    if (model.name == name && model.covariance == covariance) return model;
  model_layout({name, 1, covariance}, 1);  // throws InputError, which lists the known names
  throw std::logic_error("model_info: " + name + " has a layout but is not listed");
}

const ModelInfo& model_info(const ModelSpec& spec) { return model_info(spec.name, spec.covariance); }

std::vector<std::string> covariance_names(const std::string& model) {
  std::vector<std::string> names;
  for (const ModelInfo& known : known_models())
    if (known.name == model) names.push_back(known.covariance);
  return names;
}

std::vector<std::string> covariance_names() {
  std::vector<std::string> names;
  for (const ModelInfo& known : known_models())
    if (std::find(names.begin(), names.end(), known.covariance) == names.end())
      names.push_back(known.covariance);
  return names;
}

ModelSpec model_of(const ParameterLayout& layout) {
  if (layout.blocks.empty()) throw InputError("the chains have no parameters");
  for (const ModelInfo& model : known_models())
    if (has_blocks_of(layout, model)) return {model.name, components_of(layout, model), model.covariance};
  std::string known;
  for (const auto& name : model_names()) known += (known.empty() ? "" : ", ") + name;
  throw InputError("the parameters of the chains are those of no known model; known: " + known);
}

bool is_mixture(const ModelInfo& model) {
  return model.blocks.size() > kSpread && model.fixed_components == 0 &&
         is_simplex_of_components(model.blocks[kWeights]) && is_location_by_component(model.blocks[kMeans]) &&
         is_spread(model.blocks[kSpread]);
}

bool has_scales_by_column(const ModelInfo& model) {
  return is_mixture(model) && model.blocks[kSpread].support == Support::positive &&
         model.blocks[kSpread].num_axes == 2;
}

bool is_pair(const ModelInfo& model) {
  const auto& blocks = model.blocks;
  return blocks.size() == 3 && model.fixed_components == 2 && model.fixed_dim == 1 &&
         blocks[0].support == Support::unit_interval && blocks[0].influence == Influence::weights &&
         blocks[0].num_axes == 0 && blocks[1].unit == DataUnit::location && blocks[1].num_axes == 0 &&
         blocks[2].unit == DataUnit::scale && has_axes(blocks[2], {Axis::component});
}

const ModelInfo* model_of_starts(const ModelInfo& model, std::span<const ModelInfo> models) {
  if (model.has_em) return &model;
  if (!is_mixture(model)) return nullptr;
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelInfo& other) {
    return other.has_em && other.blocks.size() <= model.blocks.size() &&
           std::equal(other.blocks.begin(), other.blocks.end(), model.blocks.begin(), is_same_block);
  });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace emomc
