#include "emomc/likelihood/engines.hpp"

#include <stdexcept>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/models.hpp"
#include "cpu_kernel.hpp"
#include "engine_factories.hpp"

namespace emomc {
namespace {

constexpr int kMaxComponents = 4096;

// Calls f(model) with the model of `spec` for data of `dim` columns.
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
    model.num_components = Model::fixed_components ? Model::fixed_components : spec.components;
    model.dim = dim;
    return f(model);
  };
#define EMOMC_TRY(Model) \
  if (spec.name == device::Model::name) return checked(device::Model{});
  EMOMC_MODELS(EMOMC_TRY)
#undef EMOMC_TRY
  std::string known;
  for (const auto& name : model_names()) known += (known.empty() ? "" : ", ") + name;
  throw InputError("likelihood.model: " + spec.name + " is not known; allowed: " + known);
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
#define EMOMC_NAME(Model) names.emplace_back(device::Model::name);
  EMOMC_MODELS(EMOMC_NAME)
#undef EMOMC_NAME
  return names;
}

ParameterLayout model_layout(const ModelSpec& spec, int dim) {
  return with_model(spec, dim, [](const auto& model) { return layout_of(model); });
}

Backend resolve_backend(Backend asked, const ModelSpec& spec, const DataSet& data, int num_chains) {
  if (asked != Backend::automatic) return asked;
  if (list_cuda_devices().empty()) return Backend::cpu;
  const double components = with_model(
      spec, data.dim, [](const auto& model) { return static_cast<double>(model.shape().num_components); });
  const double work = static_cast<double>(data.num_rows) * components * data.dim * num_chains;
  return work > kCudaWorthwhileWork ? Backend::cuda : Backend::cpu;
}

std::unique_ptr<Device> make_device(Backend backend) {
  if (backend == Backend::automatic) throw std::invalid_argument("make_device: resolve the backend first");
  return backend == Backend::cuda ? make_cuda_device() : make_host_device();
}

std::string cpu_simd_name() { return simd_target_name(); }

std::unique_ptr<LikelihoodEngine> make_engine(Backend backend, const ModelSpec& spec, Precision precision,
                                              const DataSet& data, Device& device, int num_threads) {
  return with_model(spec, data.dim, [&](const auto& model) -> std::unique_ptr<LikelihoodEngine> {
    switch (backend) {
      case Backend::reference:
        return make_reference_engine(model, data, device);
      case Backend::cpu:
        return make_cpu_engine(model, precision, data, device, num_threads);
      case Backend::cuda:
        return make_cuda_engine(model, precision, data, device);
      case Backend::automatic:
        break;
    }
    throw std::invalid_argument("make_engine: resolve the backend first");
  });
}

}  // namespace emomc
