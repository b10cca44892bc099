// The GPUs of this process that sample.
#pragma once

#include <memory>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// The device of a resolved backend: of `cuda` the first GPU that config.devices names, or the first one.
/// Throws InputError for a GPU that there is not, or GPUs of different kinds.
std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend);
/// The same for `data`; where they are on a GPU, that one. Throws InputError where config.devices names
/// another one.
std::unique_ptr<Device> first_device(const RunConfig& config, Backend backend, const DataSet& data);

/// Engines of `data` on the other GPUs of this process, which take their part of the chains: chains.backend,
/// plans, proposal, options.tempering and the likelihood are there already. Throws InputError where
/// config.devices names several GPUs that cannot divide these chains; where it does not, why_one_device has
/// the reason.
void add_further_devices(const RunConfig& config, const DataSet& data, SampledChains& chains);

}  // namespace emomc
