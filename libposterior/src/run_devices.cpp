#include "emomc/posterior/run_devices.hpp"

#include <algorithm>
#include <future>
#include <span>
#include <system_error>
#include <thread>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/likelihood/device_table.hpp"
#include "emomc/posterior/row_team.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {
namespace {

// The least work of a step of all chains, in units of DeviceLikelihood::cost_of_row, for which chains that
// gather are divided among GPUs. An H100 or H200 does 2e13 units a second (docs/performance.md: 256 chains on
// 100,000 rows), and this amount in 200 microseconds. Two GPUs save half of this time, and wait for two
// gathers of about 20 microseconds each by NCCL. The time of gathers is an assumption of
// bench/cluster_model.py; the bound therefore has a margin.
constexpr double kWorthGathers = 4e9;

// Rows times parameters, for which threads that evaluate a step together spend much of their time waiting for
// each other.
constexpr double kShortEvaluation = 30'000;

double work_of_step(const DeviceLikelihood& likelihood, const std::vector<ChainPlan>& chains) {
  double rows = 0;
  for (const ChainPlan& chain : chains)
    for (const int segment : chain.segments)
      rows += static_cast<double>(likelihood.segment_rows.at(static_cast<std::size_t>(segment)));
  return rows * likelihood.cost_of_row * (likelihood.real == "double" ? 2 : 1);
}

// The reason why `what` is not divided among `num_gpus` GPUs.
std::string why_not_by_nccl(const std::string& what, const std::string& no_nccl, std::size_t num_gpus) {
  return what + " among GPUs of one process by NCCL, and " + no_nccl + "; without it mpirun -n " +
         std::to_string(num_gpus) + " starts a process for each GPU";
}

std::vector<std::unique_ptr<Device>> make_gpus(std::span<const int> numbers) {
  std::vector<std::unique_ptr<Device>> gpus;
  for (const int number : numbers) gpus.push_back(make_cuda_device(number));
  return gpus;
}

// The number of threads that the system lets this process have at the same time, at most `wanted`, with the
// calling thread.
std::size_t available_threads(std::size_t wanted) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < wanted) threads.emplace_back([ended] { ended.wait(); });
  } catch (const std::system_error&) {
    // The threads that have started are as many as there can be.
  }
  end.set_value();
  for (std::thread& thread : threads) thread.join();
  return threads.size() + 1;
}

std::unique_ptr<LikelihoodEngine> engine_on(Device& device, const RunConfig& config, const DataSet& data,
                                            const SampledChains& chains, int num_threads,
                                            Communicator* ranks) {
  return chains.row_model ? make_engine(chains.backend, chains.row_model, config.likelihood.precision, data,
                                        device, num_threads, ranks)
                          : make_engine(chains.backend, chains.model, config.likelihood.precision, data,
                                        device, num_threads, ranks);
}

}  // namespace

std::vector<int> gpus_of(const RunConfig& config) {
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

void refuse_gpus_without_cuda(const RunConfig& config, Backend backend) {
  if (backend != Backend::cuda && config.devices.size() > 1)
    throw InputError("devices: several GPUs are named and the backend is " + backend_name(backend) +
                     "; allowed: all, or backend: cuda");
}

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
  return make_cuda_device(gpus_of(config).front());
}

void make_engines(const RunConfig& config, const DataSet& data, Communicator* ranks, const EngineMaker& make,
                  SampledChains& chains) {
  chains.device = first_device(config, chains.backend, data);
  std::vector<int> devices;
  if (chains.backend == Backend::cuda && config.shard == Shard::rows && !ranks && !data.on_device)
    devices = gpus_of(config);
  if (devices.size() > 1) {
    const std::string problem = nccl_problem();
    if (problem.empty()) {
      chains.engine =
          std::make_unique<RowTeam>(*chains.device, make_gpus(std::span(devices).subspan(1)),
                                    [&](Device& device, Communicator& of) { return make(device, &of); });
      return;
    }
    chains.why_one_device = why_not_by_nccl("rows are divided", problem, devices.size());
    if (!config.devices.empty())
      throw InputError("devices: " + chains.why_one_device + "; allowed here: one GPU");
  }
  chains.engine = make(*chains.device, ranks);
}

int num_row_devices(const SampledChains& chains) {
  const auto* team = dynamic_cast<const RowTeam*>(chains.engine.get());
  return team ? team->size() : 1;
}

std::size_t num_chain_devices(const SampledChains& chains) {
  return chains.further_are_threads ? 1 : 1 + chains.further.size();
}

std::size_t num_chain_gpus(SampledChains& chains, std::size_t num_gpus, bool named,
                           const std::string& no_nccl) {
  const std::vector<ChainPlan> all = tempered_plans(chains.plans, chains.options.tempering);
  const bool gathers = num_gpus > 1 && proposal_use(chains.proposal.kind).other_chains;
  std::size_t number = num_gpus;
  std::string why;
  if (num_gpus > all.size()) {
    number = all.size();
    why = counted(all.size(), "chain") + " cannot be spread over " + counted(num_gpus, "GPU");
  }
  if (gathers && !no_nccl.empty()) {
    number = 1;
    why = why_not_by_nccl("chains of " + chains.proposal.kind + " are divided", no_nccl, num_gpus);
  } else if (const auto likelihood = chains.engine->device_likelihood();
             gathers && !named && likelihood && work_of_step(*likelihood, all) < kWorthGathers) {
    number = 1;
    why = chains.proposal.kind +
          " gathers log likelihoods at every step, which would take longer than several GPUs save; a list in "
          "devices uses them all the same";
  }
  if (number < num_gpus && named)
    throw InputError("devices: " + why +
                     "; allowed here: " + (number == 1 ? "one GPU" : std::to_string(number) + " or fewer"));
  chains.why_one_device = why;
  return number;
}

void add_devices(std::vector<std::unique_ptr<Device>> devices, const EngineMaker& make,
                 SampledChains& chains) {
  for (auto& device : devices) {
    auto engine = make(*device, nullptr);
    chains.further.push_back({std::move(device), std::move(engine)});
  }
  if (chains.further.empty() || !proposal_use(chains.proposal.kind).other_chains) return;
  chains.connections = std::make_unique<RankTeam<DeviceRanks>>(
      1 + static_cast<int>(chains.further.size()), [&](Communicator& ranks) {
        const auto r = static_cast<std::size_t>(ranks.rank());
        return connect_devices(r == 0 ? *chains.device : *chains.further[r - 1].device, ranks);
      });
}

void add_threads(const RunConfig& config, const DataSet& data, SampledChains& chains) {
  const auto work = static_cast<double>(data.num_rows) * chains.engine->layout().dim();
  if (chains.backend != Backend::cpu || config.shard == Shard::rows || work > kShortEvaluation ||
      proposal_use(chains.proposal.kind).other_chains)
    return;
  const std::size_t num_chains = tempered_plans(chains.plans, chains.options.tempering).size();
  // More threads than processors would wait for each other whenever they meet.
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int wanted = config.threads > 0 ? std::min(config.threads, processors) : processors;
  const std::size_t threads = available_threads(std::min(num_chains, static_cast<std::size_t>(wanted)));
  if (threads == 1) return;
  const auto make = [&](Device& device, Communicator* ranks) {
    return engine_on(device, config, data, chains, 1, ranks);
  };
  chains.engine = make(*chains.device, nullptr);
  std::vector<std::unique_ptr<Device>> hosts;
  while (hosts.size() + 1 < threads) hosts.push_back(make_host_device());
  add_devices(std::move(hosts), make, chains);
  chains.further_are_threads = true;
}

void add_further_devices(const RunConfig& config, const DataSet& data, SampledChains& chains) {
  const bool named = !config.devices.empty();
  refuse_gpus_without_cuda(config, chains.backend);
  if (chains.backend != Backend::cuda) return;
  if (data.on_device) {
    if (!named && list_cuda_devices().size() > 1) chains.why_one_device = "the data are in its memory";
    return;
  }
  if (config.shard == Shard::rows) return;
  const std::vector<int> gpus = gpus_of(config);
  if (gpus.size() == 1) return;
  const std::size_t number = num_chain_gpus(chains, gpus.size(), named, nccl_problem());
  add_devices(
      make_gpus(std::span(gpus).first(number).subspan(1)),
      [&](Device& device, Communicator* ranks) {
        return engine_on(device, config, data, chains, config.threads, ranks);
      },
      chains);
}

}  // namespace emomc
