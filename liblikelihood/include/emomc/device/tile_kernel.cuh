// A kernel for log likelihoods. Each block evaluates one tile of rows, or a part of a tile, for a few chains;
// the block of a chain that finishes last sums the chain's tiles.
#ifndef EMOMC_DEVICE_TILE_KERNEL_CUH
#define EMOMC_DEVICE_TILE_KERNEL_CUH

#include "emomc/device/block_sums.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/math.hpp"
#include "emomc/device/overlap.cuh"
#include "emomc/device/rows_ahead.cuh"
#include "emomc/device/tile_layout.hpp"

namespace emomc::device {

/// Number of rows that a thread evaluates at once: 16 bytes of a column, or fewer where several blocks share
/// a tile.
template <class Real, int kParts>
inline constexpr int kRowsAtOnce = kTileRows / kParts / kTileThreads < static_cast<int>(16 / sizeof(Real))
                                       ? kTileRows / kParts / kTileThreads
                                       : static_cast<int>(16 / sizeof(Real));

/// Writes the numbers of evaluate() for R rows of a tile from `row` on, by the kind of work. `rows` points to
/// the values of these rows in column 0; columns are kStride apart.
template <TileWork kWork, int kStride, class L, class Real, int R>
__device__ void evaluate_thread_rows(const L likelihood, const EvaluationView<Real>& view, int chain,
                                     int tile, const Real* coefficients, const Real* rows, int row,
                                     Real (&value)[R]) {
  const auto load = [rows](int j, Real(&x)[R]) { load_rows(rows + j * kStride, x); };
  if constexpr (kWork == TileWork::component && L::kKeeps) {
    Real* kept = static_cast<Real*>(view.kept.values) +
                 static_cast<i64>(chain) * likelihood.sizes().num_kept * view.kept.slot_size +
                 static_cast<i64>(tile) * kTileRows + row;
    likelihood.evaluate_stale(kept, view.kept.slot_size,
                              static_cast<const typename L::KeptState*>(view.kept.states)[chain],
                              view.component[chain], coefficients, load, value);
  } else {
    likelihood.evaluate(coefficients, load, value);
  }
}

/// The work of a block for one chain. It is in shared memory, since registers would be spilled in the loop
/// over rows.
struct TileTask {
  int chain, list, num_tiles, tile, num_rows;
  double common;
  bool is_last;
};

/// A number in shared memory, loaded at this point: the volatile access prevents the compiler from keeping or
/// preloading it.
template <class T>
__device__ T read_again(const T& x) {
  return *static_cast<const volatile T*>(&x);
}

/// The sum of the log densities, without `common`, of the rows of part `part` of a tile; thread 0 gets the
/// sum. `values` are the part's rows, [column][kStride].
template <TileWork kWork, int kParts, int kStride, class L, class Real>
__device__ double sum_part(const L likelihood, const EvaluationView<Real>& view, const TileTask& task,
                           int part, const Real* coefficients, const Real* values, double* scratch) {
  constexpr int R = kRowsAtOnce<Real, kParts>;
  constexpr int kPartRows = kTileRows / kParts;
  constexpr int kPasses = kPartRows / (kTileThreads * R);
  static_assert(kPasses * kTileThreads * R == kPartRows);
  __shared__ double passes[kPasses];  // written and read by thread 0
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    const int begin = (pass * kTileThreads + static_cast<int>(threadIdx.x)) * R;
    const int row = part * kPartRows + begin;
    Real row_values[R];
#pragma unroll
    for (int r = 0; r < R; ++r) row_values[r] = 1;
    if (row < task.num_rows)
      evaluate_thread_rows<kWork, kStride>(likelihood, view, task.chain, task.tile, coefficients,
                                           values + begin, row, row_values);
    const int num_rows = read_again(task.num_rows);
    if (view.rows && row < num_rows) {
      double log_density[R];
      likelihood.log_densities(coefficients, values + begin, kStride, row_values, log_density);
      for (int r = 0; r < R && row + r < num_rows; ++r)
        view.rows[static_cast<i64>(task.tile) * kTileRows + row + r] = log_density[r];
    }
    const double own = likelihood.sum(
        coefficients, RowsInMemory<Real>{values + begin, kStride, num_rows - row}, false, row_values);
    const double sum = sum_over_threads<kTileThreads>(own, scratch);
    if (threadIdx.x == 0) passes[pass] = sum;
  }
  if (threadIdx.x != 0) return 0;
  double sums[kPasses];
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) sums[pass] = read_again(passes[pass]);
  return sum_in_registers(sums);
}

/// Sums parts of tiles to segments and segments to the log likelihood; the block of a chain that finishes
/// last calls this function.
template <int kParts, class L, class Real>
__device__ void finish_chain(const L likelihood, const EvaluationView<Real>& view, const TileTask& task,
                             double* scratch) {
  const ChainWorkView& work = view.work;
  double* sums = view.tile_sums + static_cast<i64>(task.chain) * work.max_tiles * kSumsPerTile;
  double sum = 0;
  if (work.max_segments <= 1) {
    sum = sum_over_array<kTileThreads>(sums, task.num_tiles * kParts, scratch);
  } else {
    double* segment_sums = view.segment_sums + static_cast<i64>(task.chain) * work.max_segments;
    const ListSegments segments = segments_of_list(work.first_segment, work.segment_first, task.list);
    sum_segments(
        segments, {0, 1, threadIdx.x == 0}, segment_sums,
        [sums, scratch](int begin, int end) {
          return sum_over_array<kTileThreads>(sums + begin * kParts, (end - begin) * kParts, scratch);
        },
        [] { __syncthreads(); });
    sum = sum_over_array<kTileThreads>(segment_sums, segments.count, scratch);
  }
  const double rows = work.uniform ? work.uniform_rows : work.num_rows[task.list];
  if (threadIdx.x == 0) view.log_likelihood[task.chain] = likelihood.log_likelihood(rows, task.common, sum);
}

/// Number of blocks that share a multiprocessor, which limits the registers of a thread.
template <class L, class Real, TileMemory kMemory>
inline constexpr int kBlocksAtOnce = kMemory == TileMemory::fused                         ? kFusedBlocksAtOnce
                                     : kMemory == TileMemory::direct || sizeof(Real) == 8 ? 1
                                     : L::kLeavesRegisters                                ? 3
                                                                                          : 2;

/// Begins to copy a part of a tile to shared memory. Each thread copies only rows that no other thread reads;
/// the rows may be read after wait_for_copies().
template <int kParts, class Real>
__device__ void stage_rows(const EvaluationView<Real>& view, int num_columns, int tile, int part,
                           int num_rows, Real* staged) {
  constexpr int R = kRowsAtOnce<Real, kParts>;
  constexpr int kPartRows = kTileRows / kParts;
  const Real* values = view.data + static_cast<i64>(tile) * num_columns * kTileRows + part * kPartRows;
  for (int row = static_cast<int>(threadIdx.x) * R; row < kPartRows && part * kPartRows + row < num_rows;
       row += kTileThreads * R)
    for (int j = 0; j < num_columns; ++j)
      begin_copy<R* static_cast<int>(sizeof(Real))>(staged + j * kPartRows + row,
                                                    values + j * kTileRows + row);
  end_copies();
}

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

/// Writes the part's sum; the block of the chain that finishes last sums all parts.
template <TileWork kWork, int kParts, class L, class Real>
__device__ void hand_in(const L likelihood, const EvaluationView<Real>& view, TileTask& task, int place,
                        double sum, double* scratch) {
  if (threadIdx.x == 0) {
    view.tile_sums[static_cast<i64>(task.chain) * view.work.max_tiles * kSumsPerTile + place] = sum;
    if (view.is_component && place == 0)
      view.kept.pending[task.chain] =
          kWork == TileWork::component ? view.component[task.chain] : kAllComponents;
    if (view.log_likelihood) {
      // The fences and the barrier below order the writes of all blocks before the reads of the last block.
      const int num_blocks = task.num_tiles * kParts;
      __threadfence();
      task.is_last = num_blocks == 1 ||
                     atomicAdd(view.num_arrived + task.chain, 1u) == static_cast<unsigned>(num_blocks) - 1;
      __threadfence();
    }
  }
  __syncthreads();
  if (!task.is_last) return;
  finish_chain<kParts>(likelihood, view, task, scratch);
  if (threadIdx.x == 0) view.num_arrived[task.chain] = 0;
}

/// The body of the kernels below. Grid: work.max_tiles x kParts, then groups of chains_per_block active
/// chains.
template <TileWork kWork, TileMemory kMemory, int kParts, class L, class Real>
__device__ __forceinline__ void evaluate_tiles(const L likelihood, const EvaluationView<Real>& view,
                                               const double* theta, int ld) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double scratch[BlockTeam::kScratch];
  __shared__ TileTask task;
  __shared__ int next;  // index of the next active chain
  const int position = static_cast<int>(blockIdx.x) / kParts, part = static_cast<int>(blockIdx.x) % kParts;
  const TileMemoryLayout places(likelihood.sizes(), likelihood.num_parameters(), sizeof(Real), kMemory,
                                kParts);
  Real* own = reinterpret_cast<Real*>(memory);
  Real* staged = reinterpret_cast<Real*>(memory + places.tile);
  int num_rows = 0;
  if (kMemory != TileMemory::direct && view.work.uniform) {  // while the previous kernel still runs
    num_rows = view.tile_rows[position];
    stage_rows<kParts>(view, likelihood.sizes().num_columns, position, part, num_rows, staged);
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
      stage_rows<kParts>(view, likelihood.sizes().num_columns, task.tile, part, task.num_rows, staged);
    const Real* prepared =
        view.coefficients + static_cast<i64>(task.chain) * likelihood.sizes().num_coefficients;
    if constexpr (kMemory == TileMemory::fused) {
      const BlockTeam team{scratch};
      double* near_theta = reinterpret_cast<double*>(memory + places.theta);
      team.fetch(theta + static_cast<i64>(task.chain) * ld, near_theta, likelihood.num_parameters());
      team.finish_fetches();
      __syncthreads();
      const double common =
          likelihood.prepare(team, near_theta, own, reinterpret_cast<double*>(memory + places.scratch));
      if (threadIdx.x == 0) task.common = common;
    } else {
      if (threadIdx.x == 0) task.common = view.common[task.chain];
      if constexpr (kMemory == TileMemory::staged) {
        for (int c = static_cast<int>(threadIdx.x); c < likelihood.sizes().num_coefficients;
             c += kTileThreads)
          own[c] = prepared[c];
        __syncthreads();
      }
    }
    double sum;
    if constexpr (kMemory == TileMemory::direct) {
      static_assert(kParts == 1);
      sum = sum_part<kWork, 1, kTileRows>(
          likelihood, view, task, 0, prepared,
          view.data + static_cast<i64>(task.tile) * likelihood.sizes().num_columns * kTileRows, scratch);
    } else {
      wait_for_copies();
      sum = sum_part<kWork, kParts, kTileRows / kParts>(likelihood, view, task, part, own, staged, scratch);
    }
    hand_in<kWork, kParts>(likelihood, view, task, static_cast<int>(blockIdx.x), sum, scratch);
    __syncthreads();  // shared memory is written again
  }
}

/// The kernel for a likelihood whose sizes are known at run time.
template <class L, class Real, TileWork kWork, TileMemory kMemory, int kParts>
__global__ void __launch_bounds__(kTileThreads, kBlocksAtOnce<L, Real, kMemory>)
    tile_kernel(const __grid_constant__ EvaluationView<Real> view, const L likelihood, const double* theta,
                int ld) {
  evaluate_tiles<kWork, kMemory, kParts>(likelihood, view, theta, ld);
}

/// The kernel for a likelihood whose sizes are known when the kernel is compiled.
template <class SizedL, class Real, TileWork kWork, TileMemory kMemory, int kParts>
__global__ void __launch_bounds__(kTileThreads, kBlocksAtOnce<typename SizedL::Likelihood, Real, kMemory>)
    sized_tile_kernel(const __grid_constant__ EvaluationView<Real> view, const double* theta, int ld) {
  evaluate_tiles<kWork, kMemory, kParts>(SizedL::likelihood(), view, theta, ld);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TILE_KERNEL_CUH
