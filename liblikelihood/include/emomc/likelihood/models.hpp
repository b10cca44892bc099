// The list of models. A new model needs a header under emomc/device, its line here and a test.
#pragma once

#include <string>
#include <type_traits>

#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/tied_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

namespace emomc {

/// Whether the components of a model have a Cholesky factor, factor(theta, k, i, j), instead of an sd for
/// each column, scale(theta, k, j).
template <class Model>
inline constexpr bool has_factor = requires(const Model& model, const double* theta) {
  model.factor(theta, 0, 0, 0);
};

}  // namespace emomc

#define EMOMC_MODELS(X) \
  X(GaussianMixture)    \
  X(SphericalMixture)   \
  X(TiedMixture)        \
  X(FullMixture)        \
  X(TwoGaussian)

namespace emomc {

/// The C++ name of a model's type.
template <class Model>
std::string model_type_name() {
#define EMOMC_TYPE_NAME(M) \
  if (std::is_same_v<Model, device::M>) return "emomc::device::" #M;
  EMOMC_MODELS(EMOMC_TYPE_NAME)
#undef EMOMC_TYPE_NAME
  return {};
}

}  // namespace emomc
