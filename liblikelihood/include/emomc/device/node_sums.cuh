// Kernels for rows that are divided over ranks: they sum a rank's tiles to nodes of the tree of
// docs/statistics.md, and the nodes of all ranks to log likelihoods (liblikelihood/src/row_share.hpp).
#ifndef EMOMC_DEVICE_NODE_SUMS_CUH
#define EMOMC_DEVICE_NODE_SUMS_CUH

#include "emomc/device/block_sums.cuh"
#include "emomc/device/node_layout.hpp"
#include "emomc/device/overlap.cuh"

namespace emomc::device {

/// Sums this rank's tiles to nodes, one block for each. Grid: the largest number of nodes of a list on this
/// rank, active chains.
template <int kThreads>
__device__ __forceinline__ void sum_own_nodes(const NodeSumsView& view) {
  __shared__ double scratch[kThreads / 32];
  begin_overlapped();
  const int slot = static_cast<int>(blockIdx.y), index = static_cast<int>(blockIdx.x);
  const int chain = view.active.chains ? view.active.chains[slot] : slot;
  const int list = view.tables.list_of_chain[chain];
  const int first = view.tables.first_node[list];
  if (first + index >= view.tables.first_node[list + 1]) return;
  const IntPair node = view.tables.nodes[first + index];
  const int log2 = view.log2_per_tile;
  const auto sums_of = [log2](int tiles) {
    return log2 >= 0 ? tiles << log2 : (tiles + (1 << -log2) - 1) >> -log2;
  };
  const int begin = sums_of(node.first), end = sums_of(node.first + node.second);
  const double sum = sum_over_array<kThreads>(
      view.tile_sums + static_cast<i64>(chain) * view.sums_per_chain + begin, end - begin, scratch);
  if (threadIdx.x == 0)
    view.records[(static_cast<i64>(view.rank) * gridDim.y + slot) * view.tables.width + index] = sum;
}

/// Computes the log likelihood of each chain from the records of all ranks. Grid: active chains. Dynamic
/// shared memory: a double for each place of the longest list.
template <class L>
__device__ __forceinline__ void finish_shared_chain(const L& likelihood, const NodeSumsView& view) {
  extern __shared__ __align__(16) double node_memory[];
  begin_overlapped();
  const int slot = static_cast<int>(blockIdx.x);
  const int chain = view.active.chains ? view.active.chains[slot] : slot;
  const NodeTables& tables = view.tables;
  const int list = tables.list_of_chain[chain];
  const int first = tables.first_place[list], count = tables.first_place[list + 1] - first;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    const IntPair place = tables.places[first + i];
    node_memory[i] =
        place.first < 0
            ? 0.0
            : view.records[(static_cast<i64>(place.first) * gridDim.x + slot) * tables.width + place.second];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const IntPair* adds = tables.adds + tables.first_add[list];
  const int num_adds = tables.first_add[list + 1] - tables.first_add[list];
#pragma unroll 1
  for (int i = 0; i < num_adds; ++i) {
    const IntPair add = adds[i];
    node_memory[add.first] += add.second < 0 ? 0.0 : node_memory[add.second];
  }
  const int result = tables.results[list];
  const double num_rows = tables.num_rows[list];
  view.log_likelihood[chain] =
      num_rows == 0
          ? 0.0
          : likelihood.log_likelihood(num_rows, view.common[chain], result < 0 ? 0.0 : node_memory[result]);
}

/// The kernel for a likelihood whose sizes are known at run time.
template <class L>
__global__ void __launch_bounds__(kNodeThreads)
    finish_shared_kernel(const __grid_constant__ NodeSumsView view, const L likelihood) {
  finish_shared_chain(likelihood, view);
}

/// The kernel for a likelihood whose sizes are known when the kernel is compiled.
template <class SizedL>
__global__ void __launch_bounds__(kNodeThreads)
    sized_finish_shared_kernel(const __grid_constant__ NodeSumsView view) {
  finish_shared_chain(SizedL::likelihood(), view);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_NODE_SUMS_CUH
