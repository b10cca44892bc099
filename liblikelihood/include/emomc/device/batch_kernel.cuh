// A kernel for log likelihoods of many parameter vectors on rows that stay in registers: a block loads a part
// of a tile and goes through its chains. The kernel is compiled at run time, with numbers of components and
// columns as constants; results have the bits of tile_kernel.cuh.
#ifndef EMOMC_DEVICE_BATCH_KERNEL_CUH
#define EMOMC_DEVICE_BATCH_KERNEL_CUH

#include "emomc/device/batch_layout.hpp"
#include "emomc/device/overlap.cuh"
#include "emomc/device/rows_ahead.cuh"
#include "emomc/device/streamed_rows.cuh"

namespace emomc::device {

/// Constants of a kernel. `Sized_`: a Sized (row_likelihood.hpp), named by DeviceCode. `kTogether`: chains
/// whose rows a thread evaluates together, more than one if the likelihood has evaluate_chains(); 0: one
/// chain after the other.
template <class Sized_, class Real_, int kColumns, int kRows, bool kUniform, BatchWork kWork,
          BatchRows kComing = BatchRows::loaded, int kTogether = 0>
struct BatchConfig {
  using Likelihood = typename Sized_::Likelihood;
  using Real = Real_;
  static constexpr int dim = kColumns;
  static constexpr int rows = kRows;         ///< neighbouring rows of a thread
  static constexpr bool uniform = kUniform;  ///< whether all chains read all tiles as one segment
  static constexpr BatchWork work = kWork;
  static constexpr bool ahead = kComing == BatchRows::ahead;
  static constexpr bool streamed = kComing == BatchRows::streamed;
  static_assert(kUniform || !ahead);
  static constexpr bool together = kTogether > 0;
  static constexpr int at_once = together ? kTogether : 1;
  static_assert(!together || (kUniform && kWork == BatchWork::full));
  static_assert(!streamed || kTogether == kStreamedAtOnce);
  /// The largest number of chains of a block.
  static constexpr int chains = at_once > 1 && !streamed ? kBatchChainsTogether : kBatchChains;
  /// Groups of sums that a warp adds up at once; with segments there are registers for one group only.
  static constexpr int groups_at_once = uniform ? kBatchGroupsAtOnce : 1;
  static constexpr int blocks =
      streamed ? kStreamedBatchBlocks<sizeof(Real)> : kBatchBlocks;  ///< blocks that share a multiprocessor
  static constexpr int threads = kBatchThreads;
  static constexpr int part_rows = rows * threads;
  static constexpr int parts = kTileRows / part_rows;  ///< parts of a tile
  static_assert(parts * part_rows == kTileRows);

  static __device__ Likelihood likelihood() { return Sized_::likelihood(); }
};

template <class Config>
struct BatchBlock {
  using Real = typename Config::Real;
  static constexpr int kRows = Config::rows, kWarps = Config::threads / 32;

  const BatchView& view;
  Real x[Config::streamed ? 1 : Config::dim][kRows];  ///< the thread's rows; all indices must be constants
  const Real* first;  ///< address of the thread's first row, for streamed rows
  Real* streamed;     ///< shared memory for streamed rows

  /// The thread's first row of a part.
  __device__ const Real* rows_of(int tile, int part) const {
    return static_cast<const Real*>(view.rows) + static_cast<i64>(tile) * Config::dim * kTileRows +
           part * Config::part_rows + static_cast<int>(threadIdx.x) * kRows;
  }
  __device__ void load(int tile, int part) {
    if constexpr (Config::streamed) {
      first = rows_of(tile, part);
    } else {
      const Real* values = rows_of(tile, part);
#pragma unroll
      for (int j = 0; j < Config::dim; ++j) load_rows(values + j * kTileRows, x[j]);
    }
  }

  __device__ auto own_rows() const {
    if constexpr (Config::streamed) {
      return StreamedRows<Real, kRows, Config::threads>{first, streamed};
    } else {
      return [this](int j, Real(&values)[kRows]) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) values[r] = x[j][r];
      };
    }
  }

  /// The sum over the thread's rows; only the first `num_rows` rows of the block count.
  __device__ double own_sum(const Real* coefficients, const Real (&sum)[kRows], int tile, int part,
                            int num_rows) const {
    const int count = num_rows - own_thread() * kRows;
    return Config::likelihood().sum(coefficients, RowsInMemory<Real>{rows_of(tile, part), kTileRows, count},
                                    num_rows >= Config::part_rows, sum);
  }
};

/// Synchronises the calling warp (`warps` 1) or the whole block.
template <int warps>
__device__ __forceinline__ void sync_warps() {
  if (warps > 1)
    __syncthreads();
  else
    __syncwarp();
}

/// Tree sum of values[0 .. count) in device memory, which other blocks have written, by one warp (`warps` 1)
/// or by the whole block; a warp loads kAtOnce groups before it waits for them. `groups`: kBatchWarpGroups or
/// kBatchGroups doubles in shared memory.
template <int warps, int kAtOnce>
__device__ __noinline__ double sum_written(const double* values, int count, double* groups) {
  constexpr int kRuns = kBatchGroup / 32;  // runs of 32 neighbours, one for each lane
  const int warp = warps > 1 ? static_cast<int>(threadIdx.x) / 32 : 0;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // Sums the lanes of all runs at once, then the runs of each group; a lane gets the sum of group `first +
  // tree_of_lane<kGroups>()`.
  const auto sum_of = [&]<int kGroups>(int first) {
    double own[kGroups * kRuns];
#pragma unroll
    for (int i = 0; i < kGroups * kRuns; ++i) {
      const int at = first * kBatchGroup + 32 * i + lane;
      own[i] = at < count ? __ldcg(values + at) : 0.0;
    }
    double sum = sum_each_over_lanes(own);
#pragma unroll
    for (int distance = kGroups * kRuns / 2; distance >= kGroups; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
  };
  const int num_groups = (count + kBatchGroup - 1) / kBatchGroup;
  if (num_groups <= 1) return sum_of.template operator()<1>(0);
  sync_warps<warps>();  // `groups` may still be read
#pragma unroll 1
  for (int first = warp * kAtOnce; first < num_groups; first += warps * kAtOnce) {
    const double sum = sum_of.template operator()<kAtOnce>(first);
    const int group = first + tree_of_lane<kAtOnce>();
    if (lane < kAtOnce && group < num_groups) groups[group] = sum;
  }
  sync_warps<warps>();
  return sum_by_warp(groups, num_groups);
}

/// `common`, the part of the log density that all rows of a chain share.
template <class Config>
__device__ __forceinline__ double common_of(const BatchView& view, int chain) {
  if constexpr (Config::Likelihood::kCopiesParameters)
    return 0;
  else
    return view.common[chain];
}

/// Number of sums that are written for the parts of a chain's tiles.
template <class Config>
__device__ int num_batch_sums(const BatchView& view, int num_tiles) {
  const int parts = num_tiles * Config::parts;
  return Config::ahead ? (parts + (1 << view.log2_run) - 1) >> view.log2_run : parts;
}

/// Writes the chain's log likelihood after the sums of all parts have been written; by one warp or the whole
/// block, as in sum_written.
template <class Config, int warps>
__device__ void finish_batch_chain(const BatchView& view, int chain, int list, int num_tiles,
                                   double* groups) {
  const double* sums = view.tile_sums + static_cast<i64>(chain) * view.sums_per_chain;
  double sum;
  if (Config::uniform || view.max_segments <= 1) {
    sum = sum_written<warps, Config::groups_at_once>(sums, num_batch_sums<Config>(view, num_tiles), groups);
  } else {
    double* segment_sums = groups + (warps > 1 ? kBatchGroups : kBatchWarpGroups);
    const ListSegments segments = segments_of_list(view.first_segment, view.segment_first, list);
    sum_segments(
        segments, {0, 1, threadIdx.x % (32 * warps) == 0}, segment_sums,
        [sums, groups](int begin, int end) {
          return sum_written<warps, Config::groups_at_once>(sums + begin * Config::parts,
                                                            (end - begin) * Config::parts, groups);
        },
        sync_warps<warps>);
    sum = sum_by_warp(segment_sums, segments.count);
  }
  if (threadIdx.x % (32 * warps) == 0) {
    view.log_likelihood[chain] =
        Config::likelihood().log_likelihood(view.num_rows[list], common_of<Config>(view, chain), sum);
    view.num_arrived[chain] = 0;
  }
}

/// Grid: blocks that share the parts of all positions, then groups of chains_per_block active chains. Dynamic
/// shared memory: the coefficients of chains_per_block chains (rounded up to a multiple of Config::at_once),
/// at least kBatchFinishBytes. For rows that are copied ahead or streamed, view.ahead_at bytes, which begin
/// with the coefficients, are followed by a part of a tile or by StreamedRows::kBytes.
template <class Config>
__global__ void __launch_bounds__(Config::threads, Config::blocks)
    batch_kernel(const __grid_constant__ BatchView view) {
  using Real = typename Config::Real;
  using Block = BatchBlock<Config>;
  extern __shared__ __align__(16) unsigned char batch_memory[];
  // Two buffers, for parts with even and odd numbers, where a part takes only one barrier.
  constexpr int kMostChains = Config::chains;
  __shared__ double sums[Config::together ? 2 : 1][kMostChains][Block::kWarps];
  __shared__ double run_sums[Config::ahead ? kMostChains : 1][Config::ahead ? kBatchRun : 1];
  __shared__ int finished[kMostChains];
  using Kept = typename Config::Likelihood::template Kept<Real>;
  __shared__ Kept kept[Config::work == BatchWork::component ? kMostChains : 1];
  Real* coefficients = reinterpret_cast<Real*>(batch_memory);
  const int first = static_cast<int>(blockIdx.y) * view.chains_per_block;
  const int count = min(view.chains_per_block, view.num_active - first);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const auto likelihood = Config::likelihood();
  const int size = likelihood.sizes().num_coefficients;
  const auto chain_of = [&](int i) { return view.active ? view.active[first + i] : first + i; };
  const auto list_of = [&](int chain) { return Config::uniform ? 0 : view.list_of_chain[chain]; };

  Block block{view};
  if constexpr (Config::streamed) block.streamed = reinterpret_cast<Real*>(batch_memory + view.ahead_at);
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
  const Coming coming{reinterpret_cast<Real*>(batch_memory + view.ahead_at)};
  const auto begin_part = [&](int n) {
    const int which = nth_part(n);
    if (which >= num_parts) return;
    const Real* from = block.rows_of(which / Config::parts, which % Config::parts);
    if constexpr (Config::work == BatchWork::component) {
      coming.begin(from, kTileRows);
    } else {
      // The parts that stay in the cache are spread over all parts, so that blocks wait for memory about
      // equally long.
      constexpr unsigned kGoldenRatio = 0x9E3779B1u;  // the golden ratio's fraction of 2^32
      const auto place = static_cast<int>(static_cast<unsigned>(which) * kGoldenRatio >> 27);
      coming.begin(from, kTileRows,
                   cache_policy(place < view.staying_of_32 ? CacheLine::stays : CacheLine::passes));
    }
  };
  // The first rows are loaded while the previous kernel still runs.
  if constexpr (Config::ahead) {
    begin_part(0);
  } else if constexpr (Config::uniform) {
    load(static_cast<int>(blockIdx.x) / Config::parts, static_cast<int>(blockIdx.x) % Config::parts);
  }
  wait_for_kernels_ahead();
  let_next_kernel_begin();

  if constexpr (Config::work == BatchWork::component)
    if (static_cast<int>(threadIdx.x) < count) {
      const int chain = chain_of(static_cast<int>(threadIdx.x));
      kept[threadIdx.x] = likelihood.template kept_of_chain<Real>(view.kept, view.slot_size, chain,
                                                                  view.component[chain], view.stale);
    }
  // The coefficients of all chains are loaded at once, so that the block waits for memory only once; by a
  // plain loop where the loaded rows leave few registers.
  if constexpr (Config::Likelihood::kCopiesParameters) {
#pragma unroll 4
    for (int p = static_cast<int>(threadIdx.x); p < count * size; p += Config::threads) {
      const int i = p / size;
      coefficients[p] = Config::Likelihood::template coefficient<Real>(
          view.theta + static_cast<i64>(chain_of(i)) * view.ld_theta, p - i * size);
    }
  } else if constexpr (Config::Likelihood::kLeavesRegisters) {
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
  int num_done = 0;  // parts of chain i for which thread i < count has written sums
  // A thread for each chain calls this: adds the sums of the warps, and writes the sum of a part or of a run
  // of parts.
  const auto keep_sum = [&](const double(&of_warps)[kMostChains][Block::kWarps], int position, int at) {
    const int i = static_cast<int>(threadIdx.x), chain = chain_of(i), list = list_of(chain);
    if (position < view.first_tile[list + 1] - view.first_tile[list]) {
      double own[Block::kWarps];
#pragma unroll
      for (int w = 0; w < Block::kWarps; ++w) own[w] = of_warps[i][w];
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
  };
  // Loads the thread's rows of part n, which is part `part` of the tile at `position`.
  const auto take_rows = [&](int n, int position, int part) {
    if constexpr (Config::ahead) {
      coming.take(block.x);
      num_rows = view.tile_rows[position] - part * Config::part_rows;
      loaded = position;
    } else if constexpr (Config::uniform) {
      if (n > 0) load(position, part);
    } else {
      loaded = kNoTile;
    }
  };
  if constexpr (Config::together) {
    // The sums of a part are written while all threads go on with the next part, so that a part takes one
    // barrier.
    const auto keep_part = [&](int n) {
      if (static_cast<int>(threadIdx.x) >= count) return;
      const int at = nth_part(n);
      keep_sum(sums[n % 2], at / Config::parts, at);
    };
    constexpr int kChains = Config::at_once;
    int n = 0;
#pragma unroll 1
    for (int at = nth_part(0); at < num_parts; at = nth_part(++n)) {
      const int part = at % Config::parts;
      take_rows(n, at / Config::parts, part);
      __syncthreads();
      if (n > 0) keep_part(n - 1);
      if constexpr (Config::ahead) begin_part(n + 1);
#pragma unroll 1
      for (int i = 0; i < count; i += kChains) {
        Real values[kChains][Config::rows];
        if constexpr (kChains == 1)
          likelihood.evaluate(coefficients + i * size, block.own_rows(), values[0]);
        else
          likelihood.evaluate_chains(coefficients + i * size, size, block.own_rows(), values);
        double own[kChains];
#pragma unroll
        for (int c = 0; c < kChains; ++c)
          own[c] = block.own_sum(coefficients + (i + c) * size, values[c], loaded, part, num_rows);
        const double sum = sum_each_over_lanes(own);
        const int chain = i + tree_of_lane<kChains>();
        if (lane < kChains && chain < count) sums[n % 2][chain][warp] = sum;
      }
    }
    __syncthreads();
    if (n > 0) keep_part(n - 1);
  } else {
    // `own` is the thread's sum for chain i; two chains are summed over the warp's lanes together.
    double held = 0;
    const auto hand_in = [&](int i, double own) {
      const bool is_second = i % 2 != 0;
      if (is_second || i + 1 == count) {
        const double sum = sum_two_over_lanes(is_second ? held : own, is_second ? own : 0.0);
        if (lane < 1 + i % 2) sums[0][i - i % 2 + lane][warp] = sum;
      }
      held = own;
    };
#pragma unroll 1
    for (int n = 0, at = nth_part(0); at < num_parts; at = nth_part(++n)) {
      const int position = at / Config::parts, part = at % Config::parts;
      take_rows(n, position, part);
      __syncthreads();
      if constexpr (Config::ahead) begin_part(n + 1);
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
          likelihood.evaluate_kept(kept[i], view.slot_size, coefficients + i * size,
                                   static_cast<i64>(loaded) * kTileRows + part * Config::part_rows +
                                       static_cast<int>(threadIdx.x) * Config::rows,
                                   block.own_rows(), rows_sum);
        } else {
          likelihood.evaluate(coefficients + i * size, block.own_rows(), rows_sum);
        }
        hand_in(i, block.own_sum(coefficients + i * size, rows_sum, loaded, part, num_rows));
      }
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < count) keep_sum(sums[0], position, at);
    }
  }

  // The block that writes a chain's last part finishes the chain.
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
    } else if (num_tiles == 0 && blockIdx.x == 0 && view.log_likelihood) {
      view.log_likelihood[chain] = 0;
    }
  }
  __syncthreads();
  if (!view.log_likelihood) {  // only the sums of parts are wanted
    const int i = static_cast<int>(threadIdx.x);
    if (i < count && finished[i]) view.num_arrived[chain_of(i)] = 0;
    return;
  }
  // Each warp finishes a chain; if there is much to sum for few chains, all warps together finish one chain
  // after the other.
  double* groups = reinterpret_cast<double*>(batch_memory);  // the coefficients are not needed any more
  const int num_sums = num_batch_sums<Config>(view, view.num_positions);
  const bool together = (num_sums > kBatchSumsOfWarp && (!Config::uniform || count < Block::kWarps)) ||
                        num_sums > kBatchWarpGroups * kBatchGroup || view.max_segments > kBatchWarpGroups;
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
