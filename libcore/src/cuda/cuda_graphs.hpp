// CUDA graphs of captured work, including work that is repeated as long as flags are set.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "emomc/core/execution.hpp"

namespace emomc {

/// A graph that has not been instantiated.
class RecordedWork {
 public:
  RecordedWork();
  /// Records the work that `enqueue` enqueues on `stream`.
  RecordedWork(Stream stream, const std::function<void()>& enqueue);
  ~RecordedWork() {
    if (graph_) cudaGraphDestroy(graph_);
  }
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;

  cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

class CudaGraph : public Graph {
 public:
  explicit CudaGraph(const RecordedWork& work);
  /// Takes ownership of a graph that has been instantiated.
  explicit CudaGraph(cudaGraphExec_t handle) : handle_(handle) {}
  ~CudaGraph() override {
    if (handle_) cudaGraphExecDestroy(handle_);
  }
  virtual void launch(Stream stream);

 private:
  cudaGraphExec_t handle_ = nullptr;
};

/// Makes the graph of Device::capture_while(), repeated by a conditional node; nullptr if the driver does not
/// support such nodes.
std::unique_ptr<Graph> repeated_by_device(Stream stream, const std::function<void()>& body, Flags flags);

/// The graph of Device::capture_while(), repeated by the host: launch() waits for each repetition.
class RepeatedGraph final : public CudaGraph {
 public:
  RepeatedGraph(Device& device, const std::function<void()>& body, Flags flags)
      : RepeatedGraph(device, DeviceArray<int>(device, 1), body, flags) {}
  ~RepeatedGraph() override { device_.release_host(seen_); }
  void launch(Stream stream) override;
  bool is_repeated_by_host() const override { return true; }

 private:
  RepeatedGraph(Device& device, DeviceArray<int> again, const std::function<void()>& body, Flags flags);

  Device& device_;
  DeviceArray<int> again_;
  int* seen_;  ///< copy of again_ in host memory
};

}  // namespace emomc
