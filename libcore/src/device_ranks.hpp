// Interfaces behind connect_devices(): devices whose queues wait for other ranks, and their connection by
// NCCL.
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
  /// Makes the host repeat work from now on: bodies of conditional graph nodes can contain neither host
  /// functions nor all the work that NCCL enqueues.
  virtual void repeat_by_host() noexcept = 0;
  /// Makes the next call that waits throw `thrown`; any thread may call this.
  virtual void fail(std::exception_ptr thrown) noexcept = 0;
};

/// Returns a name of the GPU of `device` that is unique among those of all hosts; empty for the host.
std::string name_among_gpus(Device& device);

/// Connects the devices of all ranks by NCCL; collective. Throws InputError in a build without NCCL,
/// MachineError if NCCL fails, PeerError if another rank fails meanwhile.
std::shared_ptr<DeviceRanks> connect_by_nccl(Device& device, Communicator& ranks);

}  // namespace emomc
