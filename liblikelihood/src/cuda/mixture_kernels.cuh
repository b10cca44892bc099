// Kernels over (chain, tile) pairs: a block takes one tile of rows for a few chains, the last block of a
// chain to finish sums the chain's tiles. The arithmetic is in emomc/device, shared with the host.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "block_sums.cuh"
#include "chain_work.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/prepare_mixture.hpp"

namespace emomc {

/// Distances of rows to components, kept per chain in num_components + 1 slots of padded rows.
template <class Real>
struct DistanceCacheView {
  Real* values;  ///< num_chains x (K + 1) x slot_size
  int* slot;     ///< num_chains x (K + 1): slot of component k; the last is spare
  int* pending;  ///< [num_chains] component in the spare slot, kWeightsOnly for none
  std::size_t slot_size;
};

/// Arguments of the tile kernel; all pointers are device memory.
template <class Real>
struct EvaluationView {
  device::MixtureShape shape;
  const Real* data;      ///< TiledData::values, never written
  const int* tile_rows;  ///< [num_tiles]
  ChainWorkView work;
  ActiveSet active;
  int chains_per_block;
  Real* coefficients;      ///< num_chains x num_coefficients
  double* common;          ///< [num_chains]
  double* tile_sums;       ///< num_chains x work.max_tiles
  double* segment_sums;    ///< num_chains x work.max_segments
  unsigned* num_arrived;   ///< [num_chains], 0 between launches
  double* log_likelihood;  ///< [num_chains]; null: tile_sums are what is wanted
  double* rows;            ///< num_tiles x kTileRows; null: not wanted
  const int* component;    ///< [num_chains], of a component evaluation
  DistanceCacheView<Real> cache;
};

/// Threads of a block of tile_kernel.
inline constexpr int kTileThreads = 256;

enum class TileWork {
  full,       ///< all components
  component,  ///< one component's distances anew, the others' from the cache
  distances,  ///< fills the cache, no sums
};

/// Neighbouring rows of a column as one access of 16 bytes; a thread takes these rows.
template <class Real>
struct RowVector;
template <>
struct RowVector<float> {
  static constexpr int size = 4;
  using type = float4;
};
template <>
struct RowVector<double> {
  static constexpr int size = 2;
  using type = double2;
};

template <class Real, int R>
__device__ void load_rows(const Real* from, Real (&x)[R]) {
  const auto v = *reinterpret_cast<const typename RowVector<Real>::type*>(from);
  memcpy(x, &v, sizeof v);
}
template <class Real, int R>
__device__ void store_rows(const Real (&x)[R], Real* to) {
  typename RowVector<Real>::type v;
  memcpy(&v, x, sizeof v);
  *reinterpret_cast<typename RowVector<Real>::type*>(to) = v;
}

/// log2 of the sum, as float64.
template <class Real>
__device__ double log2_value(const device::LogSum<Real>& total) {
  const Real rest = total.sum > 0 ? device::real_log2(total.sum) : static_cast<Real>(-device::kInfinity);
  return static_cast<double>(total.largest) + static_cast<double>(rest);
}

/// The rows of one thread: their sums over components by the kind of work.
template <TileWork kWork, class Real, int R>
__device__ void add_rows(const EvaluationView<Real>& view, int chain, int tile, const Real* coefficients,
                         const Real* rows, int row, device::LogSum<Real> (&total)[R]) {
  const device::MixtureShape& shape = view.shape;
  const auto load = [rows](int j, Real(&x)[R]) { load_rows(rows + j * kTileRows, x); };
  if constexpr (kWork == TileWork::full) {
    device::add_components(shape, coefficients, load, total);
    return;
  }
  const int K = shape.num_components;
  const int* slots = view.cache.slot + static_cast<std::size_t>(chain) * (K + 1);
  Real* values = view.cache.values + static_cast<std::size_t>(chain) * (K + 1) * view.cache.slot_size +
                 static_cast<std::size_t>(tile) * kTileRows + row;
  Real distance[R];
  if constexpr (kWork == TileWork::distances) {
    for (int k = 0; k < K; ++k) {
      device::accumulate_component(shape, coefficients, k, load, distance);
      store_rows(distance, values + slots[k] * view.cache.slot_size);
    }
    return;
  }
  const int changed = view.component[chain];
  if (changed != kWeightsOnly) {
    device::accumulate_component(shape, coefficients, changed, load, distance);
    store_rows(distance, values + slots[K] * view.cache.slot_size);
  }
  device::add_kept_components(
      shape, coefficients,
      [&](int k, Real(&q)[R]) { load_rows(values + slots[k == changed ? K : k] * view.cache.slot_size, q); },
      total);
}

/// What a block does for one chain. In shared memory: kept in registers over the loop over rows it would be
/// spilled there.
struct TileTask {
  int chain, list, num_tiles, tile, num_rows;
  double common;
  bool is_last;
};

/// A number in shared memory, read here and not kept from before.
__device__ inline int read_again(const int& x) { return *static_cast<const volatile int*>(&x); }

/// Sum over one tile's rows of their base-2 log densities without the common part; thread 0 gets it.
/// `values`: the tile, [column][kTileRows].
template <TileWork kWork, class Real>
__device__ double sum_tile(const EvaluationView<Real>& view, const TileTask& task, const Real* coefficients,
                           const Real* values, double* scratch) {
  constexpr int R = RowVector<Real>::size;
  constexpr int kPasses = kTileRows / (kTileThreads * R);
  static_assert(kPasses * kTileThreads * R == kTileRows);
  __shared__ double passes[kPasses];  // of thread 0
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    const int row = (pass * kTileThreads + static_cast<int>(threadIdx.x)) * R;
    double log2_density[R] = {};
    if (row < task.num_rows) {
      device::LogSum<Real> total[R];
      add_rows<kWork>(view, task.chain, task.tile, coefficients, values + row, row, total);
      const int num_rows = read_again(task.num_rows);
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (row + r < num_rows) {
          log2_density[r] = log2_value(total[r]);
          if (view.rows)
            view.rows[static_cast<std::size_t>(task.tile) * kTileRows + row + r] = log2_density[r];
        }
    }
    if constexpr (kWork == TileWork::distances) continue;
    const double sum = sum_over_threads<kTileThreads>(sum_in_registers(log2_density), scratch);
    if (threadIdx.x == 0) passes[pass] = sum;
  }
  if (threadIdx.x != 0) return 0;
  return sum_in_registers(passes);
}

/// By the last block of a chain: tiles to segments to the total.
template <class Real>
__device__ void finish_chain(const EvaluationView<Real>& view, int chain, int list, int num_tiles,
                             double common, double* scratch) {
  const ChainWorkView& work = view.work;
  double* tile_sums = view.tile_sums + static_cast<std::size_t>(chain) * work.max_tiles;
  double sum = 0;
  if (work.max_segments <= 1) {
    sum = sum_over_array<kTileThreads>(tile_sums, num_tiles, scratch);
  } else {
    double* segment_sums = view.segment_sums + static_cast<std::size_t>(chain) * work.max_segments;
    const int first = work.first_segment[list], last = work.first_segment[list + 1] - 1;
    for (int s = first; s < last; ++s) {
      const int begin = work.segment_first[s];
      sum = sum_over_array<kTileThreads>(tile_sums + begin, work.segment_first[s + 1] - begin, scratch);
      if (threadIdx.x == 0) segment_sums[s - first] = sum;
    }
    __syncthreads();
    sum = sum_over_array<kTileThreads>(segment_sums, last - first, scratch);
  }
  const double rows = work.uniform ? work.uniform_rows : work.num_rows[list];
  if (threadIdx.x == 0) view.log_likelihood[chain] = device::kLn2 * EMOMC_FMA(rows, common, sum);
}

/// Where a block finds coefficients and rows; the bits are the same.
enum class TileMemory {
  fused,   ///< it computes the coefficients itself, into shared memory, and copies the tile there
  staged,  ///< it copies both to shared memory; the coefficients are prepare_kernel's
  direct,  ///< in global memory; the coefficients are prepare_kernel's
};

/// Places in dynamic shared memory: coefficients, prepare_mixture's scratch, theta, tile.
template <class Real>
struct TileMemoryLayout {
  std::size_t scratch, theta, tile, size;

  EMOMC_HD TileMemoryLayout(const device::MixtureShape& shape, int num_parameters, TileMemory memory)
      : scratch(rounded(static_cast<std::size_t>(shape.num_coefficients()) * sizeof(Real))),
        theta(scratch + static_cast<std::size_t>(shape.num_scratch()) * sizeof(double)),
        tile(memory == TileMemory::fused
                 ? rounded(theta + static_cast<std::size_t>(num_parameters) * sizeof(double))
                 : scratch),
        size(memory == TileMemory::direct ? 0 : tile + tile_bytes(shape)) {}

 private:
  EMOMC_HD static std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
  EMOMC_HD static std::size_t tile_bytes(const device::MixtureShape& shape) {
    return static_cast<std::size_t>(shape.dim) * kTileRows * sizeof(Real);
  }
};

/// Copies a tile to shared memory; each thread the rows that it alone reads, after wait_for_rows.
template <class Real>
__device__ void stage_rows(const EvaluationView<Real>& view, int tile, int num_rows, Real* staged) {
  constexpr int R = RowVector<Real>::size;
  const Real* values = view.data + static_cast<std::size_t>(tile) * view.shape.dim * kTileRows;
  for (int row = static_cast<int>(threadIdx.x) * R; row < num_rows; row += kTileThreads * R)
    for (int j = 0; j < view.shape.dim; ++j)
      __pipeline_memcpy_async(staged + j * kTileRows + row, values + j * kTileRows + row, R * sizeof(Real));
  __pipeline_commit();
}
__device__ inline void wait_for_rows() { __pipeline_wait_prior(0); }

inline constexpr int kNoChain = -1;

template <class Real>
__device__ TileTask find_task(const EvaluationView<Real>& view, int i, int position, int num_rows) {
  TileTask task{};
  task.chain = view.active.chains ? view.active.chains[i] : i;
  task.num_tiles = view.work.max_tiles;
  task.tile = position;
  if (!view.work.uniform) {
    task.list = view.work.list_of_chain[task.chain];
    const int first = view.work.first_tile[task.list];
    task.num_tiles = view.work.first_tile[task.list + 1] - first;
    if (position < task.num_tiles) task.tile = view.work.tiles[first + position];
  }
  task.num_rows = num_rows > 0 || position >= task.num_tiles ? num_rows : view.tile_rows[task.tile];
  return task;
}

/// Hands in the tile's sum; the last block of the chain sums them all.
template <TileWork kWork, class Real>
__device__ void hand_in(const EvaluationView<Real>& view, TileTask& task, int position, double sum,
                        double* scratch) {
  if (threadIdx.x == 0) {
    view.tile_sums[static_cast<std::size_t>(task.chain) * view.work.max_tiles + position] = sum;
    if (kWork == TileWork::component && position == 0)
      view.cache.pending[task.chain] = view.component[task.chain];
    if (view.log_likelihood) {
      __threadfence();
      task.is_last = task.num_tiles == 1 || atomicAdd(view.num_arrived + task.chain, 1u) ==
                                                static_cast<unsigned>(task.num_tiles) - 1;
    }
  }
  __syncthreads();
  if (!task.is_last) return;
  __threadfence();
  finish_chain(view, task.chain, task.list, task.num_tiles, task.common, scratch);
  if (threadIdx.x == 0) view.num_arrived[task.chain] = 0;
}

/// Grid: work.max_tiles x groups of chains_per_block active chains.
template <class Model, class Real, TileWork kWork, TileMemory kMemory>
__global__ void __launch_bounds__(kTileThreads, sizeof(Real) == 4 && kMemory == TileMemory::staged ? 3 : 1)
    tile_kernel(const __grid_constant__ EvaluationView<Real> view, const Model model, const double* theta,
                int ld) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double scratch[device::BlockTeam::kScratch];
  __shared__ TileTask task;
  __shared__ int next;  // active chain
  const int position = static_cast<int>(blockIdx.x);
  const TileMemoryLayout<Real> places(view.shape, model.num_parameters(), kMemory);
  Real* own = reinterpret_cast<Real*>(memory);
  Real* staged = reinterpret_cast<Real*>(memory + places.tile);
  int num_rows = 0;
  if (kMemory != TileMemory::direct && view.work.uniform) {  // while the kernel ahead still runs
    num_rows = view.tile_rows[position];
    stage_rows(view, position, num_rows, staged);
  }
  begin_overlapped();

  if (threadIdx.x == 0) next = static_cast<int>(blockIdx.y) * view.chains_per_block;
#pragma unroll 1
  while (true) {
    if (threadIdx.x == 0) {
      const int last = (static_cast<int>(blockIdx.y) + 1) * view.chains_per_block;
      task.chain = kNoChain;
      if (next < last && next < view.active.count) task = find_task(view, next++, position, num_rows);
    }
    __syncthreads();
    if (task.chain == kNoChain) return;
    if (position >= task.num_tiles) {
      if (position == 0 && threadIdx.x == 0 && view.log_likelihood) view.log_likelihood[task.chain] = 0;
      __syncthreads();
      continue;
    }
    if (kMemory != TileMemory::direct && !view.work.uniform)
      stage_rows(view, task.tile, task.num_rows, staged);
    const Real* prepared =
        view.coefficients + static_cast<std::size_t>(task.chain) * view.shape.num_coefficients();
    if constexpr (kMemory == TileMemory::fused) {
      const device::BlockTeam team{scratch};
      double* near_theta = reinterpret_cast<double*>(memory + places.theta);
      team.fetch(theta + static_cast<std::size_t>(task.chain) * ld, near_theta, model.num_parameters());
      team.finish_fetches();
      __syncthreads();
      const double common = device::prepare_mixture(team, model, near_theta, own,
                                                    reinterpret_cast<double*>(memory + places.scratch));
      if (threadIdx.x == 0) task.common = common;
    } else {
      if (threadIdx.x == 0) task.common = view.common[task.chain];
      if constexpr (kMemory == TileMemory::staged) {
        for (int c = static_cast<int>(threadIdx.x); c < view.shape.num_coefficients(); c += kTileThreads)
          own[c] = prepared[c];
        __syncthreads();
      }
    }
    double sum;
    if constexpr (kMemory == TileMemory::direct) {
      sum = sum_tile<kWork>(view, task, prepared,
                            view.data + static_cast<std::size_t>(task.tile) * view.shape.dim * kTileRows,
                            scratch);
    } else {
      wait_for_rows();
      sum = sum_tile<kWork>(view, task, own, staged, scratch);
    }
    if constexpr (kWork != TileWork::distances) hand_in<kWork>(view, task, position, sum, scratch);
    __syncthreads();  // shared memory is written again
  }
}

/// One block of kTeamLanes threads per active chain; `scratch` is num_chains x num_scratch device doubles.
template <class Model, class Real>
__global__ void __launch_bounds__(device::kTeamLanes)
    prepare_kernel(const Model model, const double* theta, int ld, ActiveSet active, Real* coefficients,
                   double* common, double* scratch) {
  __shared__ double team_scratch[device::BlockTeam::kScratch];
  begin_overlapped();
  const int i = static_cast<int>(blockIdx.x);
  const int chain = active.chains ? active.chains[i] : i;
  const device::MixtureShape shape = model.shape();
  const double value = device::prepare_mixture(
      device::BlockTeam{team_scratch}, model, theta + static_cast<std::size_t>(chain) * ld,
      coefficients + static_cast<std::size_t>(chain) * shape.num_coefficients(),
      scratch + static_cast<std::size_t>(chain) * shape.num_scratch());
  if (threadIdx.x == 0) common[chain] = value;
}

/// Slots change hands where the candidate was accepted. One thread per active chain.
template <class Real>
__global__ void commit_kernel(DistanceCacheView<Real> cache, int num_components, const std::uint8_t* accepted,
                              ActiveSet active) {
  begin_overlapped();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= active.count) return;
  const int chain = active.chains ? active.chains[i] : i;
  const int changed = cache.pending[chain];
  if (!accepted[chain] || changed == kWeightsOnly) return;
  int* slots = cache.slot + static_cast<std::size_t>(chain) * (num_components + 1);
  const int candidate = slots[num_components];
  slots[num_components] = slots[changed];
  slots[changed] = candidate;
  cache.pending[chain] = kWeightsOnly;
}

}  // namespace emomc
