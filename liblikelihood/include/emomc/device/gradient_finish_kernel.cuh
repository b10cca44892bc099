// Kernels that finish an evaluation with gradients, after gradient_kernel.cuh: they add the sums of groups
// and write gradients and log likelihoods.
#ifndef EMOMC_DEVICE_GRADIENT_FINISH_KERNEL_CUH
#define EMOMC_DEVICE_GRADIENT_FINISH_KERNEL_CUH

#include "emomc/device/block_team.cuh"
#include "emomc/device/cluster.cuh"
#include "emomc/device/gradient_config.cuh"
#include "emomc/device/overlap.cuh"
#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Tree sum of values[0 .. count) in device memory, which other blocks have written, by a warp; overwrites
/// the beginning of `values`. Every lane gets the sum.
__device__ inline double sum_any_by_warp(double* values, int count) {
  const auto load = [](const double* from) { return __ldcg(from); };
#pragma unroll 1
  while (count > kMostSummedByWarp) {
    int num_sums = 0;
#pragma unroll 1
    for (int begin = 0; begin < count; begin += kMostSummedByWarp, ++num_sums) {
      const double sum = sum_by_warp(
          values + begin, count - begin < kMostSummedByWarp ? count - begin : kMostSummedByWarp, load);
      __syncwarp();
      if (threadIdx.x % 32 == 0) __stcg(values + num_sums, sum);
      __syncwarp();
    }
    count = num_sums;
  }
  return count <= 32 ? sum_few_by_warp(values, count, load) : sum_by_warp(values, count, load);
}

/// Number of blocks that share the groups of a list; groups are those of the rows of all ranks.
template <class Config>
__device__ __forceinline__ int finish_blocks_of(const GradientKernelView& view, int list) {
  const int num_tiles = view.tiles_of_all ? view.tiles_of_all[list]
                                          : view.work.first_tile[list + 1] - view.work.first_tile[list];
  return gradient_finish_blocks(num_gradient_groups(num_tiles * Config::parts), Config::slots);
}

/// Adds a slot's sums of group `first` and of every `stride`-th group after it to `sum`, in this order; sums
/// of the same slot are kSlots apart. Loads do not wait for each other, whatever the number of groups.
template <int kSlots>
__device__ __forceinline__ void add_sums_of_groups(const double* groups, int first, int stride,
                                                   int num_groups, double& sum) {
#pragma unroll 1
  for (; first < num_groups; first += kGroupsAtOnce * stride) {
    double of_groups[kGroupsAtOnce];
#pragma unroll
    for (int i = 0; i < kGroupsAtOnce; ++i) {
      const int g = first + i * stride;
      of_groups[i] = g < num_groups ? __ldcg(groups + static_cast<i64>(g) * kSlots) : 0.0;
    }
#pragma unroll
    for (int i = 0; i < kGroupsAtOnce; ++i)
      if (first + i * stride < num_groups) sum += of_groups[i];
  }
}

/// For rows that are divided over ranks: adds this rank's sums of groups to those of earlier ranks, in the
/// order in which gradient_finish_kernel adds the sums of a single rank. One block for each active chain.
template <class Config>
__global__ void __launch_bounds__(kGradientFinishThreads)
    gradient_shares_kernel(const __grid_constant__ GradientKernelView view) {
  begin_overlapped();
  const int chain = view.active.chains ? view.active.chains[blockIdx.x] : static_cast<int>(blockIdx.x);
  if (view.wanted && view.wanted[chain] == 0) return;
  const int list = Config::uniform ? 0 : view.work.list_of_chain[chain];
  const int num_parts = (view.work.first_tile[list + 1] - view.work.first_tile[list]) * Config::parts;
  const int each = gradient_parts_of_group(view.tiles_of_all[list] * Config::parts);
  const int num_groups = (num_parts + each - 1) / each;
  const int num_shares = gradient_threads_of_slot(Config::slots) * finish_blocks_of<Config>(view, list);
  const int first_group = view.first_group[list] % num_shares;
  const double* groups = view.group_sums + static_cast<i64>(chain) * view.max_groups * Config::slots;
  double* shares = view.shares + static_cast<i64>(blockIdx.x) * view.ld_shares;
#pragma unroll 1
  for (int at = static_cast<int>(threadIdx.x); at < num_shares * Config::slots;
       at += kGradientFinishThreads) {
    const int share = at / Config::slots, slot = at % Config::slots;
    double own = view.continues ? shares[at] : 0.0;
    add_sums_of_groups<Config::slots>(groups + slot, (share + num_shares - first_group) % num_shares,
                                      num_shares, num_groups, own);
    shares[at] = own;
  }
}

/// A chain's list of rows, as gradient_finish_kernel reads it.
struct FinishedList {
  int index, num_tiles, num_groups;
  double num_rows;
};

/// Writes the log likelihood of a chain from the sums of its steps, by a warp. `common` is that of the chain.
template <class Config>
__device__ __forceinline__ void write_log_likelihood(const GradientKernelView& view, int chain,
                                                     const FinishedList& list, double common) {
  double sum = 0;
  if constexpr (Config::uniform) {
    sum = sum_any_by_warp(view.step_sums + static_cast<i64>(chain) * view.max_groups, list.num_groups);
  } else {
    double* steps = view.step_sums + static_cast<i64>(chain) * view.work.max_tiles * Config::steps;
    double* segment_sums = view.segment_sums + static_cast<i64>(chain) * view.work.max_segments;
    const ListSegments segments =
        segments_of_list(view.work.first_segment, view.work.segment_first, list.index);
    sum_segments(segments, static_cast<int>(threadIdx.x) % 32, segment_sums, [steps](int begin, int end) {
      return sum_any_by_warp(steps + begin * Config::steps, (end - begin) * Config::steps);
    });
    sum = sum_any_by_warp(segment_sums, segments.count);
  }
  if (threadIdx.x % 32 == 0)
    view.log_likelihood[chain] =
        list.num_tiles == 0 ? 0 : Config::likelihood().log_likelihood(list.num_rows, common, sum);
}

/// A cluster of `kBlocks` blocks of kGradientFinishBlock threads for each active chain. All blocks add sums
/// of groups; the first block adds the sums of all blocks and writes the gradient, and the last warp of the
/// last block writes the log likelihood. kBlocks is at least gradient_finish_blocks() of every list, or 1,
/// where one block does the work of a cluster. Dynamic shared memory of a block: FinishMemory. The host lets
/// this kernel begin early only behind gradient_kernel, so that it may read before the wait what kernels
/// ahead of that one have written.
template <class Config, int kBlocks>
__global__ void EMOMC_CLUSTER(kBlocks) __launch_bounds__(kGradientFinishBlock)
    gradient_finish_kernel(const __grid_constant__ GradientKernelView view) {
  using Gradient = typename Config::Gradient;
  constexpr int kSlots = Config::slots, kWide = gradient_slots_of_finish(kSlots),
                kShares = gradient_threads_of_slot(kSlots);
  extern __shared__ __align__(16) double finish_memory[];
  __shared__ double scratch[BlockTeam::kScratch];
  const int nth = static_cast<int>(blockIdx.x) / kBlocks, rank = static_cast<int>(blockIdx.x) % kBlocks;
  const int thread = static_cast<int>(threadIdx.x);
  const bool adds = thread < kGradientFinishThreads;
  const FinishMemory places(gradient_sizes<Gradient>(), Config::num_columns);
  double *slots = finish_memory, *sums = slots + places.sums, *work = slots + places.work,
         *parts = slots + places.parts, *shift = slots + places.shift, *theta = slots + places.theta;

  const int chain = view.active.chains ? __ldcg(view.active.chains + nth) : nth;
  const bool is_wanted = !view.wanted || __ldcg(view.wanted + chain) != 0;
  FinishedList list;
  list.index = Config::uniform ? 0 : __ldcg(view.work.list_of_chain + chain);
  list.num_tiles = view.work.first_tile[list.index + 1] - view.work.first_tile[list.index];
  list.num_groups = num_gradient_groups(list.num_tiles * Config::parts);
  list.num_rows = view.work.num_rows[list.index];
  const int num_blocks = finish_blocks_of<Config>(view, list.index);
  const int only_slot = Gradient::only_slot(thread);
  double common = 0;
  if (adds && rank == 0 && is_wanted) {
    const double* from = view.theta + static_cast<i64>(chain) * view.ld;
    for (int i = thread; i < Config::likelihood().num_parameters(); i += kGradientFinishThreads)
      theta[i] = __ldcg(from + i);
    if constexpr (Gradient::has_shift)
      for (int j = thread; j < Config::num_columns; j += kGradientFinishThreads)
        shift[j] = static_cast<double>(static_cast<const typename Config::Real*>(view.shift)[j]);
  }
  if constexpr (!Config::Likelihood::kCopiesParameters)
    if (!adds && is_wanted) common = __ldcg(view.common + chain);
  if constexpr (kBlocks > 1) sync_cluster();  // All blocks have begun, so that their memory may be written.
  begin_overlapped();

  if (!is_wanted) return;
  constexpr int kTurns = (kSlots + kWide - 1) / kWide;
  if (!adds) {
    if constexpr (kBlocks > 1) arrive_at_cluster();
    if (rank == kBlocks - 1 && view.log_likelihood) write_log_likelihood<Config>(view, chain, list, common);
    if constexpr (kBlocks > 1) {
      wait_for_cluster();
      for (int turn = 1; turn < kTurns; ++turn) {
        sync_cluster();
        sync_cluster();
      }
    }
    return;
  }
  const BlockTeam team{scratch};
  const int num_groups = view.shares ? 0 : list.num_groups;
  const double* groups = view.group_sums + static_cast<i64>(chain) * view.max_groups * kSlots;
  // The sums that the threads of `block` add up of slot `first` + thread % kWide; for some threads, zero.
  const auto sum_of_thread = [&](int first, int block) {
    const int slot = first + thread % kWide, share = thread / kWide * num_blocks + block;
    double own = 0;
    if (slot < kSlots) {
      if (view.shares) own = view.shares[static_cast<i64>(nth) * view.ld_shares + share * kSlots + slot];
      add_sums_of_groups<kSlots>(groups + slot, share, kShares * num_blocks, num_groups, own);
    }
    return own;
  };
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    const int first = turn * kWide;
    if constexpr (kBlocks > 1) {
      if (turn > 0) sync_cluster();  // The first block has read the sums of the turn before.
      if (rank < num_blocks) {
        double* part = parts + rank * kGradientFinishThreads + thread;
        const double own = sum_of_thread(first, rank);
        if (rank == 0)
          *part = own;
        else
          store_in_block(part, 0, own);
      }
      sync_cluster();
    } else {
      if (turn > 0) team.sync();
#pragma unroll 1
      for (int block = 0; block < num_blocks; ++block)
        parts[block * kGradientFinishThreads + thread] = sum_of_thread(first, block);
      team.sync();
    }
    if (rank == 0 && thread < kWide && first + thread < kSlots) {
      const auto sum_of_block = [&](int block) {
        double sum = 0;
#pragma unroll
        for (int share = 0; share < kShares; ++share)
          sum += parts[block * kGradientFinishThreads + share * kWide + thread];
        return sum;
      };
      double sum = sum_of_block(0);
      constexpr int kUnrolled = kShares <= 4 ? kMostFinishBlocks : 1;
#pragma unroll kUnrolled
      for (int block = 1; block < kMostFinishBlocks; ++block)
        if (block < num_blocks) sum += sum_of_block(block);
      slots[first + thread] = sum;
    }
  }
  if (rank != 0) return;
  team.sync();
  Gradient::write(team, theta, list.num_rows, slots, only_slot, shift, sums, work,
                  view.gradient + static_cast<i64>(chain) * view.ld_gradient);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_FINISH_KERNEL_CUH
