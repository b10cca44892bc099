#include "emomc/likelihood/engines.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "cpu_kernel.hpp"
#include "emomc/core/communicator.hpp"
#include "emomc/core/errors.hpp"
#include "engine_factories.hpp"
#include "mixture_model.hpp"
#include "with_model.hpp"

namespace emomc {
std::vector<std::string> model_names() {
  std::vector<std::string> names;
#define EMOMC_NAME(Model, Shape) \
  if (names.empty() || names.back() != device::Model::name) names.emplace_back(device::Model::name);
  EMOMC_MODELS(EMOMC_NAME)
#undef EMOMC_NAME
  return names;
}

ParameterLayout model_layout(const ModelSpec& spec, int dim) {
  return with_model(spec, dim, [](const auto& model) { return layout_of(model); });
}

Backend resolve_backend(Backend asked, const ModelSpec& spec, const DataSet& data, int num_chains) {
  if (asked != Backend::automatic) return asked;
  const double components = with_model(
      spec, data.dim, [](const auto& model) { return static_cast<double>(model.shape().num_components); });
  const double work = static_cast<double>(data.num_rows) * components * data.dim * num_chains;
  return resolve_backend(asked, work);
}

Backend resolve_backend(Backend asked, double work) {
  if (asked != Backend::automatic) return asked;
  return work > kCudaWorthwhileWork && !list_cuda_devices().empty() ? Backend::cuda : Backend::cpu;
}

DeviceCode mixture_device_code(const std::string& model, int components, int dim) {
  return {"emomc::device::Sized<emomc::device::MixtureRows<" + model + ">, " + std::to_string(components) +
              ", " + std::to_string(dim) + ">",
          {"emomc/device/models.hpp", "emomc/device/mixture_rows.cuh"},
          {&likelihood_device_sources()}};
}

std::unique_ptr<Device> make_device(Backend backend) {
  if (backend == Backend::automatic) throw std::invalid_argument("make_device: resolve the backend first");
  return backend == Backend::cuda ? make_cuda_device() : make_host_device();
}

std::string cpu_simd_name() { return simd_target_name(); }

std::unique_ptr<LikelihoodEngine> make_engine(Backend backend, std::shared_ptr<const RowModel> model,
                                              Precision precision, const DataSet& data, Device& device,
                                              int num_threads, Communicator* ranks) {
  if (data.dim != model->num_columns())
    throw InputError("the data have " + std::to_string(data.dim) + " columns; the likelihood takes " +
                     std::to_string(model->num_columns()));
  if (backend != Backend::cuda) check_on_host(data);
  switch (backend) {
    case Backend::reference:
      if (ranks && ranks->size() > 1)
        throw InputError(
            "shard: rows: the backend reference adds rows one after the other, which several ranks "
            "cannot do at a time; choose cpu or cuda");
      return make_reference_engine(std::move(model), data, device);
    case Backend::cpu:
      return make_cpu_engine(std::move(model), precision, data, device, num_threads, ranks);
    case Backend::cuda:
      return make_cuda_engine(model, precision, data, device, ranks);
    case Backend::automatic:
      break;
  }
  throw std::invalid_argument("make_engine: resolve the backend first");
}

std::unique_ptr<LikelihoodEngine> make_engine(Backend backend, const ModelSpec& spec, Precision precision,
                                              const DataSet& data, Device& device, int num_threads,
                                              Communicator* ranks) {
  return with_model(spec, data.dim, [&](const auto& model) -> std::unique_ptr<LikelihoodEngine> {
    if (backend == Backend::cuda) return make_mixture_cuda_engine(model, precision, data, device, ranks);
    using Model = std::remove_cvref_t<decltype(model)>;
    return make_engine(backend, std::make_shared<MixtureModel<Model>>(model), precision, data, device,
                       num_threads, ranks);
  });
}

}  // namespace emomc
