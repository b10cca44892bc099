#include "emomc/posterior/run_devices.hpp"

#include <algorithm>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/likelihood/device_table.hpp"
#include "emomc/posterior/row_team.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {
namespace {

// The GPUs of config.devices, or all that are like the first one.
std::vector<int> devices_of(const RunConfig& config) {
  const std::vector<CudaDeviceInfo> found = list_cuda_devices();
  const auto is_like = [&](int device, int other) {
    const auto &a = found[static_cast<std::size_t>(device)], &b = found[static_cast<std::size_t>(other)];
    return a.name == b.name && a.compute_major == b.compute_major && a.compute_minor == b.compute_minor;
  };
  std::vector<int> devices = config.devices;
  if (devices.empty())
    for (int i = 0; i < static_cast<int>(found.size()); ++i)
      if (is_like(i, 0)) devices.push_back(i);
  for (const int device : config.devices) {
    if (device >= static_cast<int>(found.size()))
      throw InputError("devices: there is no GPU " + std::to_string(device) + "; this machine has " +
                       counted(found.size(), "GPU") + ", numbered from 0 (emomc devices lists them)");
    if (!is_like(device, config.devices[0]))
      throw InputError("devices: GPUs " + std::to_string(config.devices[0]) + " and " +
                       std::to_string(device) +
                       " are of different kinds, on which draws differ; allowed: GPUs of one kind");
  }
  return devices;
}

}  // namespace

std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend, const DataSet& data) {
  if (data.on_device) {
    const int gpu = data.on_device->table->gpu();
    if (std::any_of(config.devices.begin(), config.devices.end(), [&](int device) { return device != gpu; }))
      throw InputError("devices: the data are in the memory of GPU " + std::to_string(gpu) +
                       ", which alone samples them; allowed: " + std::to_string(gpu) +
                       ", or a copy of the data in the host's memory");
    return make_cuda_device(gpu);
  }
  return first_device(config, backend);
}

std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend) {
  if (backend != Backend::cuda || config.devices.empty()) return make_device(backend);
  return make_cuda_device(devices_of(config).front());
}

void make_engines(const RunConfig& config, const DataSet& data, Communicator* ranks, const EngineMaker& make,
                  SampledChains& chains) {
  chains.device = first_device(config, chains.backend, data);
  std::vector<int> devices;
  if (chains.backend == Backend::cuda && config.shard == Shard::rows && !ranks && !data.on_device)
    devices = devices_of(config);
  if (devices.size() > 1) {
    const std::string problem = nccl_problem();
    if (problem.empty()) {
      std::vector<std::unique_ptr<Device>> further;
      for (std::size_t i = 1; i < devices.size(); ++i) further.push_back(make_cuda_device(devices[i]));
      chains.engine =
          std::make_unique<RowTeam>(*chains.device, std::move(further),
                                    [&](Device& device, Communicator& of) { return make(device, &of); });
      return;
    }
    chains.why_one_device = "rows are divided among GPUs of one process by NCCL, and " + problem +
                            "; without it mpirun -n " + std::to_string(devices.size()) +
                            " starts a process for each GPU";
    if (!config.devices.empty())
      throw InputError("devices: " + chains.why_one_device + "; allowed here: one GPU");
  }
  chains.engine = make(*chains.device, ranks);
}

int num_row_devices(const SampledChains& chains) {
  const auto* team = dynamic_cast<const RowTeam*>(chains.engine.get());
  return team ? team->size() : 1;
}

void add_further_devices(const RunConfig& config, const DataSet& data, SampledChains& chains) {
  const std::size_t num_chains = tempered_plans(chains.plans, chains.options.tempering).size();
  const bool is_stated = !config.devices.empty();
  if (chains.backend != Backend::cuda) {
    if (is_stated && config.devices.size() > 1)
      throw InputError("devices: several GPUs are named and the backend is " + backend_name(chains.backend) +
                       "; allowed: all, or backend: cuda");
    return;
  }
  if (data.on_device) {
    if (!is_stated && list_cuda_devices().size() > 1) chains.why_one_device = "the data are in its memory";
    return;
  }
  if (config.shard == Shard::rows) return;
  std::vector<int> devices = devices_of(config);
  if (devices.size() == 1) return;
  const bool spreads_chains = !proposal_use(chains.proposal.kind).other_chains;
  std::string why_not;
  if (proposal_use(chains.proposal.kind).other_chains)
    why_not = "proposal " + chains.proposal.kind + " moves chains by the state of others at every step";
  else if (devices.size() > num_chains)
    why_not = counted(num_chains, "chain") + " cannot be spread over " + counted(devices.size(), "GPU");
  if (!why_not.empty() && is_stated)
    throw InputError("devices: " + why_not + "; allowed here: " +
                     (spreads_chains ? std::to_string(num_chains) + " or fewer" : "one GPU"));
  if (!why_not.empty()) {
    devices.resize(spreads_chains ? num_chains : 1);
    chains.why_one_device = why_not;
  }
  for (std::size_t i = 1; i < devices.size(); ++i) {
    SampledChains::FurtherDevice& further = chains.further.emplace_back();
    further.device = make_cuda_device(devices[i]);
    further.engine = chains.row_model
                         ? make_engine(chains.backend, chains.row_model, config.likelihood.precision, data,
                                       *further.device, config.threads)
                         : make_engine(chains.backend, chains.model, config.likelihood.precision, data,
                                       *further.device, config.threads);
  }
}

}  // namespace emomc
