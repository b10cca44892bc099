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

// Wide blocks finish a tile soonest; narrow ones, more of them on a multiprocessor, have the higher rate.
inline constexpr int kWideThreads = 256;
template <class Real>
inline constexpr int kNarrowThreads = sizeof(Real) == 8 ? 256 : 128;

enum class TileWork {
  full,       ///< all components
  component,  ///< one component's distances anew, the others' from the cache
  distances,  ///< fills the cache, no sums
};

/// R neighbouring rows of a column as one access.
template <class Real, int R>
struct RowVector;
template <>
struct RowVector<float, 2> {
  using type = float2;
};
template <>
struct RowVector<float, 4> {
  using type = float4;
};
template <>
struct RowVector<double, 2> {
  using type = double2;
};

template <class Real, int R>
__device__ void load_rows(const Real* from, Real (&x)[R]) {
  const auto v = *reinterpret_cast<const typename RowVector<Real, R>::type*>(from);
  memcpy(x, &v, sizeof v);
}
template <class Real, int R>
__device__ void store_rows(const Real (&x)[R], Real* to) {
  typename RowVector<Real, R>::type v;
  memcpy(&v, x, sizeof v);
  *reinterpret_cast<typename RowVector<Real, R>::type*>(to) = v;
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

/// Sum over one tile's rows of their base-2 log densities without the common part; thread 0 gets it.
/// `values`: the tile, [column][kTileRows].
template <TileWork kWork, int Threads, int R, class Real>
__device__ double sum_tile(const EvaluationView<Real>& view, int chain, int tile, int num_rows,
                           const Real* coefficients, const Real* values, double* scratch) {
  constexpr int kPasses = kTileRows / (Threads * R);
  static_assert(kPasses * Threads * R == kTileRows);
  __shared__ double passes[kPasses];  // of thread 0
  // Chosen so that no register is spilled.
  constexpr int kUnrolled = 4;
#pragma unroll kUnrolled
  for (int pass = 0; pass < kPasses; ++pass) {
    const int row = (pass * Threads + static_cast<int>(threadIdx.x)) * R;
    double log2_density[R] = {};
    if (row < num_rows) {
      device::LogSum<Real> total[R];
      add_rows<kWork>(view, chain, tile, coefficients, values + row, row, total);
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (row + r < num_rows) {
          log2_density[r] = log2_value(total[r]);
          if (view.rows) view.rows[static_cast<std::size_t>(tile) * kTileRows + row + r] = log2_density[r];
        }
    }
    if constexpr (kWork == TileWork::distances) continue;
    const double sum = sum_over_threads<Threads>(sum_in_registers(log2_density), scratch);
    if (threadIdx.x == 0) passes[pass] = sum;
  }
  if (threadIdx.x != 0) return 0;
  return sum_in_registers(passes);
}

/// By the last block of a chain: tiles to segments to the total.
template <int Threads, class Real>
__device__ void finish_chain(const EvaluationView<Real>& view, int chain, int list, int num_tiles,
                             double common, double* scratch) {
  const ChainWorkView& work = view.work;
  double* tile_sums = view.tile_sums + static_cast<std::size_t>(chain) * work.max_tiles;
  double sum = 0;
  if (work.max_segments <= 1) {
    sum = sum_over_array<Threads>(tile_sums, num_tiles, scratch);
  } else {
    double* segment_sums = view.segment_sums + static_cast<std::size_t>(chain) * work.max_segments;
    const int first = work.first_segment[list], last = work.first_segment[list + 1] - 1;
    for (int s = first; s < last; ++s) {
      const int begin = work.segment_first[s];
      sum = sum_over_array<Threads>(tile_sums + begin, work.segment_first[s + 1] - begin, scratch);
      if (threadIdx.x == 0) segment_sums[s - first] = sum;
    }
    __syncthreads();
    sum = sum_over_array<Threads>(segment_sums, last - first, scratch);
  }
  const double rows = work.uniform ? work.uniform_rows : work.num_rows[list];
  if (threadIdx.x == 0) view.log_likelihood[chain] = device::kLn2 * EMOMC_FMA(rows, common, sum);
}

/// Copies a tile to shared memory; each thread its own rows, which it may read after wait_for_rows.
template <int Threads, int R, class Real>
__device__ void stage_rows(const Real* values, int dim, int num_rows, Real* staged) {
  for (int row = static_cast<int>(threadIdx.x) * R; row < num_rows; row += Threads * R)
    for (int j = 0; j < dim; ++j)
      __pipeline_memcpy_async(staged + j * kTileRows + row, values + j * kTileRows + row, R * sizeof(Real));
  __pipeline_commit();
}
__device__ inline void wait_for_rows() { __pipeline_wait_prior(0); }

/// Dynamic shared memory of a fused tile kernel: the coefficients, prepare_mixture's scratch, the tile.
template <class Real>
struct FusedMemory {
  std::size_t scratch, tile, size;

  EMOMC_HD explicit FusedMemory(const device::MixtureShape& shape)
      : scratch(rounded(static_cast<std::size_t>(shape.num_coefficients()) * sizeof(Real))),
        tile(rounded(scratch + static_cast<std::size_t>(shape.num_scratch()) * sizeof(double))),
        size(tile + static_cast<std::size_t>(shape.dim) * kTileRows * sizeof(Real)) {}
  EMOMC_HD static std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
};

/// One tile for active chain `i`. Everything that the loop over rows does not need is read again after it:
/// kept in registers it would be spilled there.
template <class Model, class Real, TileWork kWork, int Threads, int R, bool kFused>
__device__ void evaluate_tile(const EvaluationView<Real>& view, const Model& model, const double* theta,
                              int ld, int i) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double
      scratch[Threads / 32 > device::BlockTeam::kScratch ? Threads / 32 : device::BlockTeam::kScratch];
  __shared__ double common;
  __shared__ int chain, list, num_tiles, tile, num_rows;
  __shared__ bool is_last;
  const int position = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) {
    chain = view.active.chains ? view.active.chains[i] : i;
    list = 0;
    num_tiles = view.work.max_tiles;
    tile = position;
    if (!view.work.uniform) {
      list = view.work.list_of_chain[chain];
      num_tiles = view.work.first_tile[list + 1] - view.work.first_tile[list];
      if (position < num_tiles) tile = view.work.tiles[view.work.first_tile[list] + position];
    }
    num_rows = position < num_tiles ? view.tile_rows[tile] : 0;
    is_last = false;
  }
  __syncthreads();
  const Real* values = view.data + static_cast<std::size_t>(tile) * view.shape.dim * kTileRows;
  const Real* coefficients;
  if constexpr (kFused) {
    const FusedMemory<Real> places(view.shape);
    Real* staged = reinterpret_cast<Real*>(memory + places.tile);
    stage_rows<Threads, R>(values, view.shape.dim, num_rows, staged);
    begin_overlapped();
    if (position < num_tiles) {
      Real* own = reinterpret_cast<Real*>(memory);
      const double value = device::prepare_mixture(device::BlockTeam{scratch}, model,
                                                   theta + static_cast<std::size_t>(chain) * ld, own,
                                                   reinterpret_cast<double*>(memory + places.scratch));
      if (threadIdx.x == 0) common = value;
      coefficients = own;
    }
    values = staged;
    wait_for_rows();
  } else {
    if (threadIdx.x == 0) common = view.common[chain];
    coefficients = view.coefficients + static_cast<std::size_t>(chain) * view.shape.num_coefficients();
  }
  if (position >= num_tiles) {
    if (position == 0 && threadIdx.x == 0 && view.log_likelihood) view.log_likelihood[chain] = 0;
    return;
  }
  const double sum = sum_tile<kWork, Threads, R>(view, chain, tile, num_rows, coefficients, values, scratch);
  if constexpr (kWork == TileWork::distances) return;
  if (threadIdx.x == 0) {
    view.tile_sums[static_cast<std::size_t>(chain) * view.work.max_tiles + position] = sum;
    if (kWork == TileWork::component && position == 0) view.cache.pending[chain] = view.component[chain];
    if (view.log_likelihood) {
      __threadfence();
      is_last = atomicAdd(view.num_arrived + chain, 1u) == static_cast<unsigned>(num_tiles) - 1;
    }
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  finish_chain<Threads>(view, chain, list, num_tiles, common, scratch);
  if (threadIdx.x == 0) view.num_arrived[chain] = 0;
}

/// Grid: work.max_tiles x groups of chains_per_block active chains. With kFused each block computes the
/// coefficients itself and works on a copy of the tile, in dynamic shared memory (FusedMemory), instead of
/// reading those of prepare_kernel; the bits are the same. With kOneChain, chains_per_block is 1.
template <class Model, class Real, TileWork kWork, int Threads, int R, bool kFused, bool kOneChain>
__global__ void __launch_bounds__(Threads, kOneChain || sizeof(Real) == 8 ? 1 : 7) tile_kernel(const __grid_constant__ EvaluationView<Real> view,
                                                       const Model model, const double* theta, int ld) {
  if constexpr (!kFused) begin_overlapped();
  if constexpr (kOneChain) {
    evaluate_tile<Model, Real, kWork, Threads, R, kFused>(view, model, theta, ld,
                                                          static_cast<int>(blockIdx.y));
  } else {
    const int first = static_cast<int>(blockIdx.y) * view.chains_per_block;
    const int last = min(first + view.chains_per_block, view.active.count);
    for (int i = first; i < last; ++i) {
      evaluate_tile<Model, Real, kWork, Threads, R, kFused>(view, model, theta, ld, i);
      __syncthreads();  // shared memory is written again
    }
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
