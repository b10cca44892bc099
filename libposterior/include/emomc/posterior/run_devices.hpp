// Selects the GPUs on which this process samples, and makes engines on them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// The device of a resolved backend. For `cuda`, this is the first GPU that config.devices names, or the
/// machine's first GPU. Throws InputError if a GPU does not exist, or if the GPUs are of different kinds.
std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend);
/// The device for `data`: the GPU whose memory holds the data, or else the device that the other
/// first_device() returns. Throws InputError if the data are on a GPU and config.devices names another one.
std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend, const DataSet& data);

/// Makes an engine on a device, with all rows or with the rows of one rank.
using EngineMaker = std::function<std::unique_ptr<LikelihoodEngine>(Device&, Communicator*)>;

/// Makes chains.device, which is first_device(), and chains.engine for the resolved chains.backend. `data`
/// are the data for which `make` makes engines; data in GPU memory are not divided. `ranks` are processes
/// that divide the rows; nullptr: none. If config.shard is rows, there are several GPUs and `ranks` is
/// nullptr, the engine is a RowTeam of these GPUs. Throws InputError as first_device() does, and if
/// config.devices names several GPUs that cannot divide the rows; if config.devices is empty in that case,
/// chains.why_one_device receives the reason.
void make_engines(const RunConfig& config, const DataSet& data, Communicator* ranks, const EngineMaker& make,
                  SampledChains& chains);

/// The number of GPUs of this process that divide the rows of `chains`; 1: the rows are not divided.
int num_row_devices(const SampledChains& chains);

/// The number of GPUs of this process among which `chains` are divided; 1: they are not, or their threads on
/// the CPU have chains of their own.
std::size_t num_chain_devices(const SampledChains& chains);

/// The GPUs that config.devices names, or else all GPUs of the same kind as the first one. Throws InputError
/// if a GPU does not exist, or if the GPUs are of different kinds.
std::vector<int> gpus_of(const RunConfig& config);
/// Throws InputError if config.devices names several GPUs and the resolved backend is not cuda.
void refuse_gpus_without_cuda(const RunConfig& config, Backend backend);

/// The number of GPUs, out of `num_gpus`, that take a part of `chains`; chains.engine must exist. Chains that
/// move by the states of other chains use one GPU if `no_nccl`, which is nccl_problem(), is not empty. Unless
/// config.devices names the GPUs (`named`), they also use one GPU if their evaluations are short compared
/// with gathers (docs/decisions/clusters.md). If the result is smaller than `num_gpus`, chains.why_one_device
/// receives the reason, or, with `named`, InputError is thrown.
std::size_t num_chain_gpus(SampledChains& chains, std::size_t num_gpus, bool named,
                           const std::string& no_nccl);

/// Makes chains.further on `devices`, and connects them with chains.device if the chains move by the states
/// of other chains. chains.engine and chains.proposal must be set. Throws the exceptions of `make` and
/// connect_devices().
void add_devices(std::vector<std::unique_ptr<Device>> devices, const EngineMaker& make,
                 SampledChains& chains);

/// Makes engines of `data` on the other GPUs of this process, which take a part of the chains; does nothing
/// if the GPUs divide the rows. chains.backend, plans, proposal, options.tempering and the likelihood must be
/// set. Throws InputError if config.devices names several GPUs that cannot divide these chains; if
/// config.devices is empty in that case, chains.why_one_device receives the reason.
void add_further_devices(const RunConfig& config, const DataSet& data, SampledChains& chains);

/// Gives each thread of the cpu backend chains of its own, and an engine with one thread, if chains do not
/// move by the states of other chains and an evaluation of `data` takes less time than threads take to meet.
/// All threads evaluate each step together otherwise. Draws do not depend on this choice. The same members
/// must be set as for add_further_devices().
void add_threads(const RunConfig& config, const DataSet& data, SampledChains& chains);

}  // namespace emomc
