// The ways in which connect_devices() connects the devices of ranks.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "emomc/core/rank_gather.hpp"

namespace emomc {

/// A device whose queue waits for other ranks; a CudaDevice is one.
class DeviceOfRank {
 public:
  virtual ~DeviceOfRank() = default;
  /// From now on the host repeats work: bodies of conditional graph nodes take neither functions of the host
  /// nor all that NCCL enqueues.
  virtual void repeat_by_host() noexcept = 0;
  /// Makes the next call that waits throw this; any thread may call it.
  virtual void fail(std::exception_ptr thrown) noexcept = 0;
};

/// Names the GPU of `device` among those of all hosts; empty for the host.
std::string name_among_gpus(Device& device);

/// Collective. Throws InputError in a build without NCCL, MachineError where it fails, PeerError where
/// another rank fails meanwhile.
std::shared_ptr<DeviceRanks> connect_by_nccl(Device& device, Communicator& ranks);

}  // namespace emomc
