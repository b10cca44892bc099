#include "cuda_graphs.hpp"

#include <vector>

#include "emomc/core/cuda_check.hpp"
#include "repetition.hpp"

namespace emomc {
namespace {

// The functions of these names have other parameters in CUDA 13 than in CUDA 12.
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeParams* parameters) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(node, graph, nullptr, nullptr, 0, parameters);
#else
  return cudaGraphAddNode(node, graph, nullptr, 0, parameters);
#endif
}
cudaError_t get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                      std::size_t* count) {
#if CUDART_VERSION >= 13000
  return cudaGraphGetEdges(graph, from, to, data, count);
#else
  return cudaGraphGetEdges_v2(graph, from, to, data, count);
#endif
}
cudaError_t remove_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, cudaGraphEdgeData data) {
#if CUDART_VERSION >= 13000
  return cudaGraphRemoveDependencies(graph, &from, &to, &data, 1);
#else
  return cudaGraphRemoveDependencies_v2(graph, &from, &to, &data, 1);
#endif
}
// Adds an edge to a node that begins after the other node has ended.
cudaError_t add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
#else
  return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}

// Makes kernels that were launched with Overlap::yes begin only after the preceding kernel has ended, because
// CUDA's documentation of the bodies of conditional nodes does not mention edges of other kinds. Returns
// whether this succeeded.
bool remove_overlaps(cudaGraph_t graph) {
  std::size_t num_nodes = 0;
  if (cudaGraphGetNodes(graph, nullptr, &num_nodes) != cudaSuccess) return false;
  // This is the largest possible number: a query of the actual number may fail if some edges are of another
  // kind.
  std::size_t count = num_nodes * num_nodes / 2;
  if (count == 0) return true;
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  if (get_edges(graph, from.data(), to.data(), data.data(), &count) != cudaSuccess) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (data[i].type != cudaGraphDependencyTypeDefault &&
        (remove_edge(graph, from[i], to[i], data[i]) != cudaSuccess ||
         add_edge(graph, from[i], to[i]) != cudaSuccess))
      return false;
  return true;
}

// Ends a capture that has begun, after `enqueue` has enqueued the work, and returns its graph. `owned`:
// whether the caller owns the graph; otherwise another graph owns it.
cudaGraph_t end_of_capture(Stream stream, const std::function<void()>& enqueue, bool owned) {
  cudaGraph_t recorded = nullptr;
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(stream, &recorded);
    if (recorded && owned) cudaGraphDestroy(recorded);
    cudaGetLastError();
    throw;
  }
  EMOMC_CUDA_CHECK(cudaStreamEndCapture(stream, &recorded));
  return recorded;
}

bool driver_has_conditional_nodes() {
  constexpr int kFirst = 12040;
  int version = 0;
  EMOMC_CUDA_CHECK(cudaDriverGetVersion(&version));
  return version >= kFirst;
}

// Adds a conditional node as the only node of `graph`; its body is empty and is run at least once. Returns
// whether this succeeded.
bool add_while_node(cudaGraph_t graph, cudaGraphConditionalHandle& handle, cudaGraph_t& body) {
  if (cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault) != cudaSuccess)
    return false;
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  if (add_node(&node, graph, &parameters) != cudaSuccess) return false;
  body = parameters.conditional.phGraph_out[0];
  return true;
}

}  // namespace

RecordedWork::RecordedWork() { EMOMC_CUDA_CHECK(cudaGraphCreate(&graph_, 0)); }

RecordedWork::RecordedWork(Stream stream, const std::function<void()>& enqueue) {
  EMOMC_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  graph_ = end_of_capture(stream, enqueue, true);
}

CudaGraph::CudaGraph(const RecordedWork& work) {
  EMOMC_CUDA_CHECK(cudaGraphInstantiate(&handle_, work.get(), 0));
}

void CudaGraph::launch(Stream stream) { EMOMC_CUDA_CHECK(cudaGraphLaunch(handle_, stream)); }

std::unique_ptr<Graph> repeated_by_device(Stream stream, const std::function<void()>& body, Flags flags) {
  if (!driver_has_conditional_nodes()) return nullptr;
  const RecordedWork whole;
  cudaGraphConditionalHandle handle{};
  cudaGraph_t repeated = nullptr;
  cudaGraphExec_t executable = nullptr;
  bool done = add_while_node(whole.get(), handle, repeated);
  if (done) {
    EMOMC_CUDA_CHECK(cudaStreamBeginCaptureToGraph(stream, repeated, nullptr, nullptr, 0,
                                                   cudaStreamCaptureModeThreadLocal));
    end_of_capture(
        stream,
        [&] {
          body();
          enqueue_condition(flags, handle, stream);
        },
        false);
    done = remove_overlaps(repeated) && cudaGraphInstantiate(&executable, whole.get(), 0) == cudaSuccess;
  }
  if (!done) {
    cudaGetLastError();
    return nullptr;
  }
  return std::make_unique<CudaGraph>(executable);
}

RepeatedGraph::RepeatedGraph(Device& device, DeviceArray<int> again, const std::function<void()>& body,
                             Flags flags)
    : CudaGraph(RecordedWork(device.stream(),
                             [&] {
                               body();
                               enqueue_condition(flags, again.data(), device.stream());
                             })),
      device_(device),
      again_(std::move(again)),
      seen_(static_cast<int*>(device.allocate_host(sizeof(int)))) {}

void RepeatedGraph::launch(Stream stream) {
  do {
    CudaGraph::launch(stream);
    device_.copy(seen_, again_.data(), sizeof(int));
    device_.synchronize();
  } while (*seen_ != 0);
}

}  // namespace emomc
