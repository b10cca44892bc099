// Gathers values of all ranks in the memory of their devices, as a part of enqueued work.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// How the devices of a group of ranks exchange arrays.
class DeviceRanks {
 public:
  /// The part of a RankGather that enqueues the exchange.
  class Gather {
   public:
    virtual ~Gather() = default;
    /// Enqueues the gather of `all`, device memory, of which rank r owns bytes[r] bytes.
    virtual void enqueue(void* all, std::span<const std::size_t> bytes) = 0;
  };

  DeviceRanks(Device& device, Communicator& ranks) : device_(device), ranks_(ranks) {}
  virtual ~DeviceRanks() = default;
  DeviceRanks(const DeviceRanks&) = delete;
  DeviceRanks& operator=(const DeviceRanks&) = delete;

  Device& device() const { return device_; }
  Communicator& ranks() const { return ranks_; }
  /// How data travel, for messages: "NCCL" or "memory of the host".
  virtual std::string way() const = 0;
  /// Makes a gather of at most `bytes` bytes, counted over all ranks.
  virtual std::unique_ptr<Gather> make_gather(std::size_t bytes) = 0;

 private:
  Device& device_;
  Communicator& ranks_;
};

/// Connects the devices of all ranks; collective. GPUs of one host that each belong to a different rank are
/// connected by NCCL if it is available; other ranks exchange data through host memory. Throws InputError if
/// two ranks of this process have GPUs and NCCL cannot connect them: a host function in which one GPU's queue
/// waits may keep the driver from calling the host function of another queue. `device` and `ranks` must
/// outlive the result.
std::shared_ptr<DeviceRanks> connect_devices(Device& device, Communicator& ranks);

/// The reason why NCCL cannot be used; empty if it can.
std::string nccl_problem();

/// Makes an array in device memory the same on all ranks. Rank r owns bytes[r] bytes of the array, in rank
/// order. All ranks must run the same enqueued work in the same order. If another rank fails, the next call
/// that waits for the device throws PeerError. The object must outlive the enqueued work.
class RankGather {
 public:
  /// `most`: the largest `count` that enqueue() will be called with.
  RankGather(std::shared_ptr<DeviceRanks> devices, std::vector<std::size_t> bytes, std::size_t most = 1);
  ~RankGather();
  RankGather(const RankGather&) = delete;
  RankGather& operator=(const RankGather&) = delete;

  /// Enqueues the gather of `all` on device.stream(). `all` is device memory, and must be the same array in
  /// each call. Rank r owns count * bytes[r] bytes of this array.
  void enqueue(void* all, std::size_t count = 1);

 private:
  std::shared_ptr<DeviceRanks> devices_;
  std::vector<std::size_t> bytes_, scaled_;
  std::size_t most_;
  std::unique_ptr<DeviceRanks::Gather> gather_;
};

}  // namespace emomc
