// The GPUs of this process that sample.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// The device of a resolved backend: of `cuda` the first GPU that config.devices names, or the first one.
/// Throws InputError for a GPU that there is not, or GPUs of different kinds.
std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend);
/// The same for `data`; where they are on a GPU, that one. Throws InputError where config.devices names
/// another one.
std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend, const DataSet& data);

/// An engine on a device, of all rows or of the part of a rank.
using EngineMaker = std::function<std::unique_ptr<LikelihoodEngine>(Device&, Communicator*)>;

/// Makes chains.device, which is first_device(), and chains.engine of the resolved chains.backend. `data`:
/// what `make` makes engines of, which a GPU that has them does not divide. `ranks`: processes that divide
/// the rows; nullptr: none. Where config.shard is rows, there are no such processes, and several GPUs, the
/// engine is a RowTeam of them. Throws InputError as first_device() does, and where config.devices names
/// several GPUs that cannot divide the rows; where it does not, why_one_device has the reason.
void make_engines(const RunConfig& config, const DataSet& data, Communicator* ranks, const EngineMaker& make,
                  SampledChains& chains);

/// The number of GPUs of this process that divide the rows of `chains`; 1: they are not divided.
int num_row_devices(const SampledChains& chains);

/// The GPUs that config.devices names, or all that are like the first one. Throws InputError for a GPU that
/// there is not, or GPUs of different kinds.
std::vector<int> gpus_of(const RunConfig& config);
/// Throws InputError where config.devices names several GPUs and the resolved backend is another than cuda.
void refuse_gpus_without_cuda(const RunConfig& config, Backend backend);

/// The number of GPUs, of `num_gpus`, that take a part of `chains`, whose engine is there. Where it is
/// smaller and they are not `named` by config.devices, chains.why_one_device has the reason; where they are,
/// this throws InputError. Chains that move by the state of others stay on one GPU that is not named
/// where `no_nccl`, which is nccl_problem(), is not empty, and where their evaluations are short beside
/// gathers (docs/decisions/clusters.md).
std::size_t num_chain_gpus(SampledChains& chains, std::size_t num_gpus, bool named,
                           const std::string& no_nccl);

/// Makes chains.further of `devices`, and connects them with chains.device where the chains move by the state
/// of others: chains.engine and chains.proposal are there already. Throws what `make` and connect_devices()
/// throw.
void add_devices(std::vector<std::unique_ptr<Device>> devices, const EngineMaker& make,
                 SampledChains& chains);

/// Engines of `data` on the other GPUs of this process, which take their part of the chains, unless they have
/// one of the rows: chains.backend, plans, proposal, options.tempering and the likelihood are there already.
/// Throws InputError where config.devices names several GPUs that cannot divide these chains; where it does
/// not, why_one_device has the reason.
void add_further_devices(const RunConfig& config, const DataSet& data, SampledChains& chains);

}  // namespace emomc
