// Kernels over (chain, tile) pairs: a block takes one tile of rows for a few chains, the last block of a
// chain to finish sums the chain's tiles. The arithmetic is in emomc/device, shared with the host.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "block_sums.cuh"
#include "chain_work.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/kept_sums.cuh"
#include "emomc/device/prepare_mixture.hpp"

namespace emomc {

/// Sums of components kept per chain (kept_sums.cuh); slots are of padded rows.
template <class Real>
struct KeptSumsView {
  Real* values;              ///< num_chains x num_blocks x kKeptOfBlock<kKept> x slot_size
  device::StaleSums* stale;  ///< [num_chains]
  int* pending;  ///< [num_chains] component that was evaluated, kWeightsOnly for all of them without
                 ///< keeping any, kNothingPending
  std::size_t slot_size;
};
inline constexpr int kNothingPending = -2;
inline constexpr auto kKept = device::KeptKinds::pairs_and_blocks;

/// Shape of a model's mixtures.
template <class Model>
using ShapeOf = decltype(Model().shape());

/// Arguments of the tile kernel; all pointers are device memory.
template <class Shape, class Real>
struct EvaluationView {
  Shape shape;
  const Real* data;      ///< TiledData::values, never written
  const int* tile_rows;  ///< [num_tiles]
  ChainWorkView work;
  ActiveSet active;
  int chains_per_block;
  Real* coefficients;     ///< num_chains x num_coefficients
  double* common;         ///< [num_chains]
  double* tile_sums;      ///< num_chains x work.max_tiles x kSumsPerTile, the first num_tiles x kParts in use
  double* segment_sums;   ///< num_chains x work.max_segments
  unsigned* num_arrived;  ///< [num_chains], 0 between launches
  double* log_likelihood;  ///< [num_chains]; null: tile_sums are what is wanted
  double* rows;            ///< num_tiles x kTileRows; null: not wanted
  const int* component;    ///< [num_chains], of a component evaluation
  bool is_component;       ///< also where the kernel computes in full
  KeptSumsView<Real> cache;
};

/// Threads of a block of tile_kernel.
inline constexpr int kTileThreads = 256;
/// A tile may be shared by this many blocks; their sums are nodes of the tile's tree.
inline constexpr int kMaxParts = 4;
/// Places for sums that a tile has; the batch kernel's parts are up to so many.
inline constexpr int kSumsPerTile = 8;

enum class TileWork {
  full,       ///< all components
  component,  ///< one component differs: sums of the others from where they are kept
};

/// Rows that a thread takes at once: 16 bytes of a column, fewer where a tile is shared by several blocks.
template <class Real, int kParts>
inline constexpr int kRowsAtOnce = kTileRows / kParts / kTileThreads < static_cast<int>(16 / sizeof(Real))
                                       ? kTileRows / kParts / kTileThreads
                                       : static_cast<int>(16 / sizeof(Real));

/// The rows of one thread, `row` and following of the tile: their sums over components by the kind of work.
/// `rows`: their values in column 0; the next column is kStride further.
template <TileWork kWork, int kStride, class Shape, class Real, int R>
__device__ void add_rows(const EvaluationView<Shape, Real>& view, int chain, int tile,
                         const Real* coefficients, const Real* rows, int row, Real (&sum)[R]) {
  const Shape& shape = view.shape;
  const auto load = [rows](int j, Real(&x)[R]) { device::load_rows(rows + j * kStride, x); };
  if constexpr (kWork == TileWork::full) return device::add_components(shape, coefficients, load, sum);
  const int num_slots = shape.num_blocks() * device::kKeptOfBlock<kKept>;
  Real* kept = view.cache.values + static_cast<std::size_t>(chain) * num_slots * view.cache.slot_size +
               static_cast<std::size_t>(tile) * kTileRows + row;
  const device::KeptSums<Shape, Real, kKept> sums{shape, kept, static_cast<device::i64>(view.cache.slot_size),
                                                  view.cache.stale[chain]};
  sums.add_stale(coefficients, view.component[chain], load, sum);
}

/// What a block does for one chain. In shared memory: kept in registers over the loop over rows it would be
/// spilled there.
struct TileTask {
  int chain, list, num_tiles, tile, num_rows;
  double common;
  bool is_last;
};

/// A number in shared memory, read here: not kept from before, not read ahead.
template <class T>
__device__ T read_again(const T& x) {
  return *static_cast<const volatile T*>(&x);
}

/// Sum over the rows of part `part` of a tile of their base-2 log densities without the common part; thread 0
/// gets it. `values`: the part's rows, [column][kStride].
template <TileWork kWork, int kParts, int kStride, class Shape, class Real>
__device__ double sum_part(const EvaluationView<Shape, Real>& view, const TileTask& task, int part,
                           const Real* coefficients, const Real* values, double* scratch) {
  constexpr int R = kRowsAtOnce<Real, kParts>;
  constexpr int kPartRows = kTileRows / kParts;
  constexpr int kPasses = kPartRows / (kTileThreads * R);
  static_assert(kPasses * kTileThreads * R == kPartRows);
  __shared__ double passes[kPasses];  // of thread 0
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    const int begin = (pass * kTileThreads + static_cast<int>(threadIdx.x)) * R;
    const int row = part * kPartRows + begin;
    Real row_sums[R];
#pragma unroll
    for (int r = 0; r < R; ++r) row_sums[r] = 1;
    if (row < task.num_rows)
      add_rows<kWork, kStride>(view, task.chain, task.tile, coefficients, values + begin, row, row_sums);
    const int num_rows = read_again(task.num_rows);
    if (view.rows && row < num_rows) {
      double log2_density[R];
      device::log2_of_rows(view.shape, coefficients, values + begin, kStride, row_sums, log2_density);
      for (int r = 0; r < R && row + r < num_rows; ++r)
        view.rows[static_cast<std::size_t>(task.tile) * kTileRows + row + r] = log2_density[r];
    }
    const double own = device::log2_sum(view.shape, coefficients,
                                        device::RowsInMemory<Real>{values + begin, kStride, num_rows - row},
                                        false, row_sums);
    const double sum = sum_over_threads<kTileThreads>(own, scratch);
    if (threadIdx.x == 0) passes[pass] = sum;
  }
  if (threadIdx.x != 0) return 0;
  double sums[kPasses];
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) sums[pass] = read_again(passes[pass]);
  return device::sum_in_registers(sums);
}

/// By the last block of a chain: parts of tiles to segments to the total.
template <int kParts, class Shape, class Real>
__device__ void finish_chain(const EvaluationView<Shape, Real>& view, const TileTask& task, double* scratch) {
  const ChainWorkView& work = view.work;
  double* sums = view.tile_sums + static_cast<std::size_t>(task.chain) * work.max_tiles * kSumsPerTile;
  double sum = 0;
  if (work.max_segments <= 1) {
    sum = sum_over_array<kTileThreads>(sums, task.num_tiles * kParts, scratch);
  } else {
    double* segment_sums = view.segment_sums + static_cast<std::size_t>(task.chain) * work.max_segments;
    const int first = work.first_segment[task.list], last = work.first_segment[task.list + 1] - 1;
    for (int s = first; s < last; ++s) {
      const int begin = work.segment_first[s];
      sum = sum_over_array<kTileThreads>(sums + begin * kParts, (work.segment_first[s + 1] - begin) * kParts,
                                         scratch);
      if (threadIdx.x == 0) segment_sums[s - first] = sum;
    }
    __syncthreads();
    sum = sum_over_array<kTileThreads>(segment_sums, last - first, scratch);
  }
  const double rows = work.uniform ? work.uniform_rows : work.num_rows[task.list];
  if (threadIdx.x == 0) view.log_likelihood[task.chain] = device::kLn2 * EMOMC_FMA(rows, task.common, sum);
}

/// Where a block finds coefficients and rows; the bits are the same.
enum class TileMemory {
  fused,   ///< it computes the coefficients itself, into shared memory, and copies the tile there
  staged,  ///< it copies both to shared memory; the coefficients are prepare_kernel's
  direct,  ///< in global memory; the coefficients are prepare_kernel's
};

/// Blocks of the fused kernel that share a multiprocessor: as many are launched at most, since more would be
/// a second wave.
inline constexpr int kFusedBlocksAtOnce = 2;

/// Blocks that share a multiprocessor; registers are rationed by it.
template <class Shape, class Real, TileMemory kMemory>
inline constexpr int kBlocksAtOnce = kMemory == TileMemory::fused                         ? kFusedBlocksAtOnce
                                     : kMemory == TileMemory::direct || sizeof(Real) == 8 ? 1
                                     : device::kIsAxisAligned<Shape>                      ? 3
                                                                                          : 2;

/// Places in dynamic shared memory: coefficients, prepare_mixture's scratch, theta, tile.
template <class Shape, class Real>
struct TileMemoryLayout {
  std::size_t scratch, theta, tile, size;

  EMOMC_HD TileMemoryLayout(const Shape& shape, int num_parameters, TileMemory memory, int parts)
      : scratch(rounded(static_cast<std::size_t>(shape.num_coefficients()) * sizeof(Real))),
        theta(scratch + static_cast<std::size_t>(shape.num_scratch()) * sizeof(double)),
        tile(memory == TileMemory::fused
                 ? rounded(theta + static_cast<std::size_t>(num_parameters) * sizeof(double))
                 : scratch),
        size(memory == TileMemory::direct ? 0 : tile + tile_bytes(shape) / static_cast<std::size_t>(parts)) {}

 private:
  EMOMC_HD static std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
  EMOMC_HD static std::size_t tile_bytes(const Shape& shape) {
    return static_cast<std::size_t>(shape.dim) * kTileRows * sizeof(Real);
  }
};

/// Copies a part of a tile to shared memory; each thread the rows that it alone reads, after wait_for_rows.
template <int kParts, class Shape, class Real>
__device__ void stage_rows(const EvaluationView<Shape, Real>& view, int tile, int part, int num_rows,
                           Real* staged) {
  constexpr int R = kRowsAtOnce<Real, kParts>;
  constexpr int kPartRows = kTileRows / kParts;
  const Real* values =
      view.data + static_cast<std::size_t>(tile) * view.shape.dim * kTileRows + part * kPartRows;
  for (int row = static_cast<int>(threadIdx.x) * R; row < kPartRows && part * kPartRows + row < num_rows;
       row += kTileThreads * R)
    for (int j = 0; j < view.shape.dim; ++j)
      __pipeline_memcpy_async(staged + j * kPartRows + row, values + j * kTileRows + row, R * sizeof(Real));
  __pipeline_commit();
}
__device__ inline void wait_for_rows() { __pipeline_wait_prior(0); }

inline constexpr int kNoChain = -1;

template <class Shape, class Real>
__device__ TileTask find_task(const EvaluationView<Shape, Real>& view, int i, int position, int num_rows) {
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

/// Hands in the part's sum; the last block of the chain sums them all.
template <TileWork kWork, int kParts, class Shape, class Real>
__device__ void hand_in(const EvaluationView<Shape, Real>& view, TileTask& task, int place, double sum,
                        double* scratch) {
  if (threadIdx.x == 0) {
    view.tile_sums[static_cast<std::size_t>(task.chain) * view.work.max_tiles * kSumsPerTile + place] = sum;
    if (view.is_component && place == 0)
      view.cache.pending[task.chain] =
          kWork == TileWork::component ? view.component[task.chain] : kWeightsOnly;
    if (view.log_likelihood) {
      // The fences order the sums of all blocks before the last one's reading, through the barrier below.
      const int num_blocks = task.num_tiles * kParts;
      __threadfence();
      task.is_last = num_blocks == 1 ||
                     atomicAdd(view.num_arrived + task.chain, 1u) == static_cast<unsigned>(num_blocks) - 1;
      __threadfence();
    }
  }
  __syncthreads();
  if (!task.is_last) return;
  finish_chain<kParts>(view, task, scratch);
  if (threadIdx.x == 0) view.num_arrived[task.chain] = 0;
}

/// Grid: work.max_tiles x kParts, then groups of chains_per_block active chains.
template <class Model, class Real, TileWork kWork, TileMemory kMemory, int kParts>
__global__ void __launch_bounds__(kTileThreads, kBlocksAtOnce<ShapeOf<Model>, Real, kMemory>)
    tile_kernel(const __grid_constant__ EvaluationView<ShapeOf<Model>, Real> view, const Model model,
                const double* theta, int ld) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double scratch[device::BlockTeam::kScratch];
  __shared__ TileTask task;
  __shared__ int next;  // active chain
  const int position = static_cast<int>(blockIdx.x) / kParts, part = static_cast<int>(blockIdx.x) % kParts;
  const TileMemoryLayout<ShapeOf<Model>, Real> places(view.shape, model.num_parameters(), kMemory, kParts);
  Real* own = reinterpret_cast<Real*>(memory);
  Real* staged = reinterpret_cast<Real*>(memory + places.tile);
  int num_rows = 0;
  if (kMemory != TileMemory::direct && view.work.uniform) {  // while the kernel ahead still runs
    num_rows = view.tile_rows[position];
    stage_rows<kParts>(view, position, part, num_rows, staged);
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
      if (blockIdx.x == 0 && threadIdx.x == 0 && view.log_likelihood) view.log_likelihood[task.chain] = 0;
      __syncthreads();
      continue;
    }
    if (kMemory != TileMemory::direct && !view.work.uniform)
      stage_rows<kParts>(view, task.tile, part, task.num_rows, staged);
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
      static_assert(kParts == 1);
      sum = sum_part<kWork, 1, kTileRows>(
          view, task, 0, prepared,
          view.data + static_cast<std::size_t>(task.tile) * view.shape.dim * kTileRows, scratch);
    } else {
      wait_for_rows();
      sum = sum_part<kWork, kParts, kTileRows / kParts>(view, task, part, own, staged, scratch);
    }
    hand_in<kWork, kParts>(view, task, static_cast<int>(blockIdx.x), sum, scratch);
    __syncthreads();  // shared memory is written again
  }
}

/// What has become stale of the kept sums. One thread per active chain.
template <class Real>
__global__ void commit_kernel(KeptSumsView<Real> cache, const std::uint8_t* accepted, ActiveSet active) {
  begin_overlapped();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= active.count) return;
  const int chain = active.chains ? active.chains[i] : i;
  const int changed = cache.pending[chain];
  if (changed == kNothingPending) return;
  cache.stale[chain] = cache.stale[chain].after(changed, accepted[chain] != 0);
  cache.pending[chain] = kNothingPending;
}

/// All kept sums are stale. One thread per active chain.
template <class Real>
__global__ void forget_kernel(KeptSumsView<Real> cache, ActiveSet active) {
  begin_overlapped();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= active.count) return;
  const int chain = active.chains ? active.chains[i] : i;
  cache.stale[chain] = {device::StaleSums::kAll, device::StaleSums::kAll};
  cache.pending[chain] = kNothingPending;
}

}  // namespace emomc
