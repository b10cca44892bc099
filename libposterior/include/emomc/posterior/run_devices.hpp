// The GPUs of this process that sample.
#pragma once

#include <functional>
#include <memory>

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

/// Engines of `data` on the other GPUs of this process, which take their part of the chains, unless they have
/// one of the rows: chains.backend,
/// plans, proposal, options.tempering and the likelihood are there already. Throws InputError where
/// config.devices names several GPUs that cannot divide these chains; where it does not, why_one_device has
/// the reason.
void add_further_devices(const RunConfig& config, const DataSet& data, SampledChains& chains);

}  // namespace emomc
