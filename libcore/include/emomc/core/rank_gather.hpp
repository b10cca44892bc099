// Gathers of all ranks' values in the memory of their devices, as a part of enqueued work.
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
  /// What a RankGather enqueues.
  class Gather {
   public:
    virtual ~Gather() = default;
    virtual void enqueue(void* all, std::span<const std::size_t> bytes) = 0;
  };

  DeviceRanks(Device& device, Communicator& ranks) : device_(device), ranks_(ranks) {}
  virtual ~DeviceRanks() = default;
  DeviceRanks(const DeviceRanks&) = delete;
  DeviceRanks& operator=(const DeviceRanks&) = delete;

  Device& device() const { return device_; }
  Communicator& ranks() const { return ranks_; }
  /// For people: "NCCL", or "memory of the host".
  virtual std::string way() const = 0;
  /// `bytes`: the most of all ranks together.
  virtual std::unique_ptr<Gather> make_gather(std::size_t bytes) = 0;

 private:
  Device& device_;
  Communicator& ranks_;
};

/// Connects the devices of all ranks; collective. GPUs of one host, each of a rank of its own, are connected
/// by NCCL where there is one; other ranks by the memory of their hosts. Throws InputError where two ranks of
/// this process have GPUs and NCCL cannot connect them: a function of the host that one GPU's queue waits in
/// may keep the driver from calling that of another queue. `device` and `ranks` must outlive the result.
std::shared_ptr<DeviceRanks> connect_devices(Device& device, Communicator& ranks);

/// Why NCCL cannot be used; empty where it can.
std::string nccl_problem();

/// Rank r owns bytes[r] bytes of an array in device memory, in the order of ranks. enqueue() makes the array
/// the same on all ranks. All ranks run the same enqueued work in the same order. Where another rank fails,
/// the next call that waits for the device throws PeerError. The object must outlive the enqueued work.
class RankGather {
 public:
  /// `most`: of enqueue()'s `count`.
  RankGather(std::shared_ptr<DeviceRanks> devices, std::vector<std::size_t> bytes, std::size_t most = 1);
  ~RankGather();
  RankGather(const RankGather&) = delete;
  RankGather& operator=(const RankGather&) = delete;

  /// Enqueues on device.stream() the gather of `all`, device memory, always the same array. `count`: of an
  /// array in which each rank has that many times its bytes.
  void enqueue(void* all, std::size_t count = 1);

 private:
  std::shared_ptr<DeviceRanks> devices_;
  std::vector<std::size_t> bytes_, scaled_;
  std::size_t most_;
  std::unique_ptr<DeviceRanks::Gather> gather_;
};

}  // namespace emomc
