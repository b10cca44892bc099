// Describes each model to host code: sizes, blocks, defaults and abilities. All of it comes from the models'
// own headers, so that no program compares with a model's name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// The static members of a model's header, under the names that they have there.
struct ModelInfo {
  std::string name;
  std::string covariance;  ///< kind of covariance, which selects among models of one name
  /// A few words for a list of models, which add to the name; for the second and later models of one name
  /// they add to `covariance`. May be empty.
  std::string description;
  int fixed_components = 0;  ///< number of components; 0: any
  int fixed_dim = 0;         ///< number of columns; 0: any
  std::span<const device::BlockDescription> blocks;
  /// The block by which prior.order may number the components; empty: the components cannot be ordered.
  std::string ordered_by;
  std::string init;  ///< default of sampler.init
  /// Whether the components are Gaussians. If so, data can be simulated, and densities and sds follow from
  /// the blocks.
  bool has_gaussian_components = false;
  bool has_em = false;  ///< whether mixture_fit.cpp has a round of EM for the model, so that `fit` and
                        ///< sampler.init: em accept it
};

/// All models of this build, in the order of EMOMC_MODELS; the first is the default. References that the
/// functions below return point into this list, which lives as long as the program.
std::span<const ModelInfo> known_models();
/// The entry of one model. Throws InputError, as model_layout does, where there is no such model.
const ModelInfo& model_info(const std::string& name, const std::string& covariance);
const ModelInfo& model_info(const ModelSpec& spec);

/// The covariances of the models of this name, or of all models.
std::vector<std::string> covariance_names(const std::string& model);
std::vector<std::string> covariance_names();

/// The model whose parameters a chain has, with its number of components. Sampled arguments of priors may
/// follow the model's blocks in `layout`. Compares names, ranks and supports of the blocks; throws InputError
/// where no known model has such blocks.
ModelSpec model_of(const ParameterLayout& layout);

// A mixture is recognised by the supports, units and axes of its blocks. The first three blocks of a mixture
// are these:
inline constexpr std::size_t kWeights = 0;  ///< a simplex [K]
inline constexpr std::size_t kMeans = 1;    ///< real numbers [K][d]
inline constexpr std::size_t kSpread = 2;   ///< sds [K] or [K][d], or covariances [d][d] or [K][d][d]

/// Whether the model is a mixture with these blocks; further blocks may follow.
bool is_mixture(const ModelInfo& model);
/// Whether the mixture has an sd for each component and column: kSpread is [K][d].
bool has_scales_by_column(const ModelInfo& model);
/// Whether the model is a pair of components with one mean and one column: its blocks are the weight of the
/// first component, the mean, and an sd for each component.
bool is_pair(const ModelInfo& model);

/// The model whose EM finds starts for `model`: `model` itself where it has EM; for another mixture the first
/// of `models` with EM whose blocks are the first blocks of `model`. nullptr: there is none, and chains
/// cannot start at clusters.
const ModelInfo* model_of_starts(const ModelInfo& model, std::span<const ModelInfo> models = known_models());

}  // namespace emomc
