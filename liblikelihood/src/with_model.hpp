// The only function that maps a model's name to its type.
#pragma once

#include <cstdint>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

inline constexpr int kMaxComponents = 4096;
inline constexpr int kMaxParameters = 1 << 23;  // of a block; chain files allow twice this number

/// Calls f(model) with the model of `spec` for data of `dim` columns. Throws InputError where the model does
/// not exist or does not support these sizes.
template <class F>
auto with_model(const ModelSpec& spec, int dim, F f) {
  if (dim < 1) throw InputError("data: there are no columns");
  const auto checked = [&](auto model) {
    using Model = decltype(model);
    if (Model::fixed_dim && dim != Model::fixed_dim)
      throw InputError("likelihood.model " + spec.name + ": the data have " + std::to_string(dim) +
                       " columns; it takes " + std::to_string(Model::fixed_dim));
    if (!Model::fixed_components && (spec.components < 1 || spec.components > kMaxComponents))
      throw InputError("likelihood.components: " + std::to_string(spec.components) +
                       " is out of range; allowed: 1 to " + std::to_string(kMaxComponents));
    const double K = Model::fixed_components ? Model::fixed_components : spec.components, d = dim;
    const double matrices = has_factor<Model> ? d * d : d;
    if (K * matrices > kMaxParameters)
      throw InputError("likelihood: " + std::to_string(static_cast<std::int64_t>(K)) + " components of " +
                       std::to_string(dim) + " columns have more than " + std::to_string(kMaxParameters) +
                       " parameters");
    model.num_components = Model::fixed_components ? Model::fixed_components : spec.components;
    model.dim = dim;
    return f(model);
  };
#define EMOMC_TRY(Model, Shape)                                                         \
  if (spec.name == device::Model::name && spec.covariance == device::Model::covariance) \
    return checked(device::Model{});
  EMOMC_MODELS(EMOMC_TRY)
#undef EMOMC_TRY
  std::string known, covariances;
#define EMOMC_KNOWN(Model, Shape)       \
  if (spec.name == device::Model::name) \
    covariances += (covariances.empty() ? "" : ", ") + std::string(device::Model::covariance);
  EMOMC_MODELS(EMOMC_KNOWN)
#undef EMOMC_KNOWN
  if (!covariances.empty())
    throw InputError("likelihood.covariance: " + spec.covariance + " is not known for model " + spec.name +
                     "; allowed: " + covariances);
  for (const auto& name : model_names()) known += (known.empty() ? "" : ", ") + name;
  throw InputError("likelihood.model: " + spec.name + " is not known; allowed: " + known);
}

}  // namespace emomc
