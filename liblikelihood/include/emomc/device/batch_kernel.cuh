// Log likelihoods of many parameter vectors on rows that stay in registers: a block takes a part of a tile
// and goes through its chains. Compiled at run time, with numbers of components and columns as constants; the
// same bits as the kernels that are compiled ahead of time (mixture_kernels.cuh).
#ifndef EMOMC_DEVICE_BATCH_KERNEL_CUH
#define EMOMC_DEVICE_BATCH_KERNEL_CUH

#include "emomc/device/batch_layout.hpp"
#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/kept_sums.cuh"
#include "emomc/device/row_sums.cuh"
#include "emomc/device/rows_ahead.cuh"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/tied_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

namespace emomc::device {

enum class BatchWork {
  full,       ///< all components
  component,  ///< one component differs: sums of the others from where they are kept
};

/// How rows come to the threads.
enum class BatchRows {
  loaded,  ///< when their turn comes: other blocks work meanwhile
  ahead,   ///< through shared memory while those before are worked on; for chains that are uniform
};

template <class Model_, class Real_, int kComponents, int kDim, int kRows, bool kUniform, BatchWork kWork,
          BatchRows kComing = BatchRows::loaded>
struct BatchConfig {
  using Model = Model_;
  using Real = Real_;
  static constexpr int components = kComponents, dim = kDim;
  static constexpr int rows = kRows;         ///< neighbouring rows of a thread
  static constexpr bool uniform = kUniform;  ///< all chains read all tiles, as one segment
  static constexpr BatchWork work = kWork;
  static constexpr bool ahead = kComing == BatchRows::ahead;
  static_assert(kUniform || !ahead);
  static constexpr int threads = kBatchThreads;
  static constexpr int part_rows = rows * threads;
  static constexpr int parts = kBatchTile / part_rows;  ///< of a tile
  static_assert(parts * part_rows == kBatchTile);

  static __device__ auto shape() {
    Model model{};
    model.num_components = components;
    model.dim = dim;
    return model.shape();
  }
};

// Waiting for the kernels ahead, and letting the next one begin (cuda_launch.cuh).
__device__ inline void wait_for_kernels_ahead() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void let_next_kernel_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

/// Where the kept sums of a chain are, and what is to be done with them; worked out once for all its rows.
template <class Config>
struct KeptOfChain {
  using Real = typename Config::Real;
  using Shape = decltype(Config::shape());
  using Sums = KeptSums<Shape, Real, KeptKinds::pairs_and_blocks>;

  FreshSums<Real> fresh;  ///< of the data's first row, where is_fresh
  Real* first;            ///< likewise
  bool is_fresh;
  int changed;
  StaleSums stale;

  static __device__ KeptOfChain of(const BatchView& view, int chain) {
    const Shape shape = Config::shape();
    const i64 num_slots = kKeptOfBlock<KeptKinds::pairs_and_blocks> * shape.num_blocks();
    const Sums sums{shape, static_cast<Real*>(view.kept) + chain * num_slots * view.slot_size, view.slot_size,
                    static_cast<const StaleSums*>(view.stale)[chain]};
    const int changed = view.component[chain];
    const bool is_fresh = sums.is_fresh(changed);
    return {is_fresh ? sums.fresh(changed) : FreshSums<Real>{}, sums.first, is_fresh, changed, sums.stale};
  }

  /// Sums over components of the rows from `offset` on.
  template <int R, class Row>
  __device__ void add(const BatchView& view, const Real* coefficients, i64 offset, const Row& row,
                      Real (&sum)[R]) const {
    const Shape shape = Config::shape();
    // What is read from shared memory could point anywhere, and would be followed more slowly.
    const auto in_device_memory = [](auto* pointer) {
      __builtin_assume(__isGlobal(pointer));
      return pointer;
    };
    if (Sums::kReadsEarly && is_fresh) {
      const FreshSums<Real> sums{in_device_memory(fresh.of_block), in_device_memory(fresh.elsewhere),
                                 fresh.pair};
      Sums::add_fresh(shape, coefficients, sums, offset, view.slot_size, row, sum);
    } else {
      const Sums sums{shape, first + offset, view.slot_size, stale};
      sums.add_stale(coefficients, changed, row, sum);
    }
  }
};

template <class Config>
struct BatchBlock {
  using Real = typename Config::Real;
  static constexpr int kRows = Config::rows, kWarps = Config::threads / 32;

  const BatchView& view;
  Real x[Config::dim][kRows];  ///< the thread's rows, constant indices only

  /// The thread's first row of a part.
  __device__ const Real* rows_of(int tile, int part) const {
    return static_cast<const Real*>(view.rows) + static_cast<i64>(tile) * Config::dim * kBatchTile +
           part * Config::part_rows + static_cast<int>(threadIdx.x) * kRows;
  }
  __device__ void load(int tile, int part) {
    const Real* values = rows_of(tile, part);
#pragma unroll
    for (int j = 0; j < Config::dim; ++j) load_rows(values + j * kBatchTile, x[j]);
  }

  __device__ auto own_rows() const {
    return [this](int j, Real(&values)[kRows]) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) values[r] = x[j][r];
    };
  }

  /// Over the thread's rows, of which the first `num_rows` of the block's count.
  __device__ double own_sum(const Real* coefficients, const Real (&sum)[kRows], int tile, int part,
                            int num_rows) const {
    const int count = num_rows - own_thread() * kRows;
    return log2_sum(Config::shape(), coefficients, RowsInMemory<Real>{rows_of(tile, part), kBatchTile, count},
                    num_rows >= Config::part_rows, sum);
  }
};

/// Balanced tree over values[0 .. count) in device memory that other blocks have written. By one warp
/// (`warps` 1), or by all of the block. `groups`: kBatchWarpGroups or kBatchGroups doubles in shared memory.
template <int warps>
__device__ __noinline__ double sum_written(const double* values, int count, double* groups) {
  constexpr int kOfLane = kBatchGroup / 32;
  const int warp = warps > 1 ? static_cast<int>(threadIdx.x) / 32 : 0;
  const auto sum_of = [&](int group) {
    const int first = group * kBatchGroup + static_cast<int>(threadIdx.x) % 32 * kOfLane;
    double own[kOfLane];
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) own[i] = first + i < count ? __ldcg(values + first + i) : 0.0;
    return sum_over_lanes(sum_in_registers(own));
  };
  const auto sync = [] {
    if (warps > 1)
      __syncthreads();
    else
      __syncwarp();
  };
  const int num_groups = (count + kBatchGroup - 1) / kBatchGroup;
  if (num_groups <= 1) return sum_of(0);
  sync();  // `groups` may still be read
  for (int group = warp; group < num_groups; group += warps) {
    const double sum = sum_of(group);
    if (threadIdx.x % 32 == 0) groups[group] = sum;
  }
  sync();
  return sum_by_warp(groups, num_groups);
}

/// How many numbers the parts of a chain's tiles leave.
template <class Config>
__device__ int num_batch_sums(const BatchView& view, int num_tiles) {
  const int parts = num_tiles * Config::parts;
  return Config::ahead ? (parts + (1 << view.log2_run) - 1) >> view.log2_run : parts;
}

/// The chain's log likelihood, once all its parts are there; by one warp or all, as in sum_written.
template <class Config, int warps>
__device__ void finish_batch_chain(const BatchView& view, int chain, int list, int num_tiles,
                                   double* groups) {
  const double* sums = view.tile_sums + static_cast<i64>(chain) * view.sums_per_chain;
  double sum;
  if (Config::uniform || view.max_segments <= 1) {
    sum = sum_written<warps>(sums, num_batch_sums<Config>(view, num_tiles), groups);
  } else {
    double* segments = groups + (warps > 1 ? kBatchGroups : kBatchWarpGroups);
    const int first = view.first_segment[list], count = view.first_segment[list + 1] - 1 - first;
    for (int s = 0; s < count; ++s) {
      const int begin = view.segment_first[first + s], end = view.segment_first[first + s + 1];
      const double segment =
          sum_written<warps>(sums + begin * Config::parts, (end - begin) * Config::parts, groups);
      if (threadIdx.x % (32 * warps) == 0) segments[s] = segment;
    }
    if (warps > 1)
      __syncthreads();
    else
      __syncwarp();
    sum = sum_by_warp(segments, count);
  }
  if (threadIdx.x % (32 * warps) == 0) {
    view.log_likelihood[chain] = kLn2 * EMOMC_FMA(view.num_rows[list], view.common[chain], sum);
    view.num_arrived[chain] = 0;
  }
}

/// Grid: blocks that share the parts of all positions, then groups of chains_per_block active chains. Dynamic
/// shared memory: that many times the coefficients of a chain, at least kBatchFinishBytes; where rows come
/// ahead view.ahead_at bytes, of which the coefficients are in front, and num_places parts.
template <class Config>
__global__ void __launch_bounds__(Config::threads, 4) batch_kernel(const __grid_constant__ BatchView view) {
  using Real = typename Config::Real;
  using Block = BatchBlock<Config>;
  extern __shared__ __align__(16) unsigned char batch_memory[];
  __shared__ double sums[kBatchChains][Block::kWarps];
  __shared__ double run_sums[Config::ahead ? kBatchChains : 1][Config::ahead ? kBatchRun : 1];
  __shared__ int finished[kBatchChains];
  __shared__ KeptOfChain<Config> kept[Config::work == BatchWork::component ? kBatchChains : 1];
  Real* coefficients = reinterpret_cast<Real*>(batch_memory);
  const int first = static_cast<int>(blockIdx.y) * view.chains_per_block;
  const int count = min(view.chains_per_block, view.num_active - first);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int size = Config::shape().num_coefficients();
  const auto chain_of = [&](int i) { return view.active ? view.active[first + i] : first + i; };
  const auto list_of = [&](int chain) { return Config::uniform ? 0 : view.list_of_chain[chain]; };

  Block block{view};
  int loaded = kNoTile, num_rows = 0;
  const auto load = [&](int tile, int part) {
    block.load(tile, part);
    num_rows = view.tile_rows[tile] - part * Config::part_rows;
    loaded = tile;
  };
  const int num_parts = view.num_positions * Config::parts;
  const auto nth_part = [&](int n) {
    const int block_at = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    if constexpr (!Config::ahead) return block_at + n * blocks;
    const int run = n >> view.log2_run;
    return ((block_at + run * blocks) << view.log2_run) + n - (run << view.log2_run);
  };
  using Coming = RowsAhead<Real, Config::dim, Config::rows, Config::threads>;
  const auto coming = [&] {
    return Coming{reinterpret_cast<Real*>(batch_memory + view.ahead_at), view.num_places};
  };
  const auto begin_part = [&](int n) {
    const int which = nth_part(n);
    coming().begin(n,
                   which < num_parts ? block.rows_of(which / Config::parts, which % Config::parts) : nullptr,
                   kBatchTile);
  };
  // While the kernel ahead still runs.
  if constexpr (Config::ahead) {
    for (int n = 0; n < view.num_places; ++n) begin_part(n);
  } else if constexpr (Config::uniform) {
    load(static_cast<int>(blockIdx.x) / Config::parts, static_cast<int>(blockIdx.x) % Config::parts);
  }
  wait_for_kernels_ahead();
  let_next_kernel_begin();

  if constexpr (Config::work == BatchWork::component)
    if (static_cast<int>(threadIdx.x) < count)
      kept[threadIdx.x] = KeptOfChain<Config>::of(view, chain_of(static_cast<int>(threadIdx.x)));
  // All chains' at once, so that they are waited for once; in the plainest way where the rows that have been
  // loaded leave few registers.
  if constexpr (kHasRoomForKept<decltype(Config::shape())>) {
    constexpr int kAtOnce = 16 / static_cast<int>(sizeof(Real));
    const int pieces = size / kAtOnce;
#pragma unroll 4
    for (int p = static_cast<int>(threadIdx.x); p < count * pieces; p += Config::threads) {
      const int i = p / pieces;
      begin_copy<16>(coefficients + p * kAtOnce, static_cast<const Real*>(view.coefficients) +
                                                     static_cast<i64>(chain_of(i)) * size +
                                                     (p - i * pieces) * kAtOnce);
    }
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  } else {
    for (int i = 0; i < count; ++i) {
      const Real* from = static_cast<const Real*>(view.coefficients) + static_cast<i64>(chain_of(i)) * size;
      for (int c = static_cast<int>(threadIdx.x); c < size; c += Config::threads)
        coefficients[i * size + c] = from[c];
    }
  }
  // The thread's sum for chain i; two chains are summed over the warp's lanes together.
  double held = 0;
  const auto hand_in = [&](int i, double own) {
    const bool is_second = i % 2 != 0;
    if (is_second || i + 1 == count) {
      const double sum = sum_two_over_lanes(is_second ? held : own, is_second ? own : 0.0);
      if (lane < 1 + i % 2) sums[i - i % 2 + lane][warp] = sum;
    }
    held = own;
  };
  int num_done = 0;  // parts of the chain that thread i < count hands in for
#pragma unroll 1
  for (int n = 0, at = nth_part(0); at < num_parts; at = nth_part(++n)) {
    const int position = at / Config::parts, part = at % Config::parts;
    if constexpr (Config::ahead) {
      coming().take(n, block.x);
      num_rows = view.tile_rows[position] - part * Config::part_rows;
      loaded = position;
    } else if constexpr (Config::uniform) {
      if (n > 0) load(position, part);
    } else {
      loaded = kNoTile;
    }
    __syncthreads();
    if constexpr (Config::ahead) begin_part(n + view.num_places);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      if constexpr (!Config::uniform) {
        const int list = list_of(chain_of(i)), begin = view.first_tile[list];
        if (position >= view.first_tile[list + 1] - begin) {  // the chain's list is shorter
          hand_in(i, 0.0);
          continue;
        }
        const int tile = view.tiles[begin + position];
        if (tile != loaded) load(tile, part);
      }
      Real rows_sum[Config::rows];
      if constexpr (Config::work == BatchWork::component) {
        kept[i].add(view, coefficients + i * size,
                    static_cast<i64>(loaded) * kBatchTile + part * Config::part_rows +
                        static_cast<int>(threadIdx.x) * Config::rows,
                    block.own_rows(), rows_sum);
      } else {
        add_components(Config::shape(), coefficients + i * size, block.own_rows(), rows_sum);
      }
      hand_in(i, block.own_sum(coefficients + i * size, rows_sum, loaded, part, num_rows));
    }
    __syncthreads();
    // A thread for each chain keeps the part's sum, or that of a run of parts.
    if (static_cast<int>(threadIdx.x) < count) {
      const int i = static_cast<int>(threadIdx.x), chain = chain_of(i), list = list_of(chain);
      if (position < view.first_tile[list + 1] - view.first_tile[list]) {
        double own[Block::kWarps];
#pragma unroll
        for (int w = 0; w < Block::kWarps; ++w) own[w] = sums[i][w];
        double* written = view.tile_sums + static_cast<i64>(chain) * view.sums_per_chain;
        if constexpr (Config::ahead) {
          double* run = run_sums[i];
          const int length = 1 << view.log2_run, last = at & (length - 1);
          run[last] = sum_in_registers(own);
          if (last + 1 == length || at + 1 == num_parts) {
#pragma unroll 1
            for (int p = last + 1; p < length; ++p) run[p] = 0;
#pragma unroll 1
            for (int m = length / 2; m > 0; m /= 2)
#pragma unroll 1
              for (int p = 0; p < m; ++p) run[p] = run[2 * p] + run[2 * p + 1];
            written[at >> view.log2_run] = run[0];
          }
        } else {
          written[at] = sum_in_registers(own);
        }
        ++num_done;
      }
    }
  }

  // The block that hands in a chain's last part finishes the chain.
  if (static_cast<int>(threadIdx.x) < count) {
    const int i = static_cast<int>(threadIdx.x), chain = chain_of(i), list = list_of(chain);
    const int num_tiles = view.first_tile[list + 1] - view.first_tile[list];
    finished[i] = 0;
    if constexpr (Config::work == BatchWork::component)
      if (blockIdx.x == 0) view.pending[chain] = view.component[chain];
    if (num_done > 0) {
      __threadfence();
      finished[i] = atomicAdd(view.num_arrived + chain, static_cast<unsigned>(num_done)) + num_done ==
                    static_cast<unsigned>(num_tiles * Config::parts);
      __threadfence();
    } else if (num_tiles == 0 && blockIdx.x == 0) {
      view.log_likelihood[chain] = 0;
    }
  }
  __syncthreads();
  // Each warp a chain, or where there is much to sum all warps one after the other.
  double* groups = reinterpret_cast<double*>(batch_memory);  // the coefficients have been used
  const bool together = num_batch_sums<Config>(view, view.num_positions) > kMostSummedByWarp ||
                        view.max_segments > kBatchWarpGroups;
#pragma unroll 1
  for (int i = together ? 0 : warp; i < count; i += together ? 1 : Block::kWarps) {
    if (!finished[i]) continue;
    const int chain = chain_of(i), list = list_of(chain);
    const int num_tiles = view.first_tile[list + 1] - view.first_tile[list];
    if (together)
      finish_batch_chain<Config, Block::kWarps>(view, chain, list, num_tiles, groups);
    else
      finish_batch_chain<Config, 1>(view, chain, list, num_tiles, groups + warp * 2 * kBatchWarpGroups);
  }
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BATCH_KERNEL_CUH
