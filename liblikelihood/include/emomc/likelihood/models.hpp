// Traits and device code of the types in the list of models (device/models.hpp), for host code.
#pragma once

#include <string>
#include <type_traits>

#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/models.hpp"

namespace emomc {

/// Whether the components of a model have a Cholesky factor, factor(theta, k, i, j), instead of an sd for
/// each column, scale(theta, k, j).
template <class Model>
inline constexpr bool has_factor = requires(const Model& model, const double* theta) {
  model.factor(theta, 0, 0, 0);
};

/// The C++ name of a model's type.
template <class Model>
std::string model_type_name() {
#define EMOMC_TYPE_NAME(M, Shape) \
  if (std::is_same_v<Model, device::M>) return "emomc::device::" #M;
  EMOMC_MODELS(EMOMC_TYPE_NAME)
#undef EMOMC_TYPE_NAME
  return {};
}

/// The sources of liblikelihood's headers under emomc/device; empty in a build without CUDA.
const DeviceSources& likelihood_device_sources();

/// The code of a mixture, whose type `model` has this qualified C++ name, for kernels that are compiled at
/// run time.
DeviceCode mixture_device_code(const std::string& model, int components, int dim);

}  // namespace emomc
