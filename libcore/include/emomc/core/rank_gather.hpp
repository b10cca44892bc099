// Gathers of all ranks' values in the memory of a device, as a part of its enqueued work.
#pragma once

#include <functional>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {

/// Rank r owns bytes[r] bytes of an array in device memory, in the order of ranks. enqueue() makes the array
/// the same on all ranks. All ranks run the same enqueued work in the same order. The object must outlive
/// that work.
class RankGather {
 public:
  /// `device` and `ranks` must outlive the object.
  RankGather(Device& device, Communicator& ranks, std::vector<std::size_t> bytes);
  ~RankGather();
  RankGather(const RankGather&) = delete;
  RankGather& operator=(const RankGather&) = delete;

  /// Enqueues on device.stream() the gather of `all`, device memory, always the same array.
  void enqueue(void* all);

 private:
  Device& device_;
  Communicator& ranks_;
  std::vector<std::size_t> bytes_;
  std::size_t total_ = 0, first_ = 0, own_ = 0;
  std::byte* host_ = nullptr;  ///< of a device with memory of its own: a copy that its copies can access
  std::byte* all_ = nullptr;   ///< in host memory
  std::function<void()> gather_;
};

}  // namespace emomc
