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
  return sum_by_warp(values, count, load);
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

/// A cluster of `kBlocks` blocks for each active chain. All blocks add sums of groups; the first block writes
/// the gradient, and the last warp of the last block the log likelihood. kBlocks is at least
/// gradient_finish_blocks() of every list, or 1, where one block does the work of a cluster. Dynamic shared
/// memory of a block: slots, `sums` and `work` of Gradient::write(), kGradientFinishThreads doubles, and
/// theta.
template <class Config, int kBlocks>
__global__ void EMOMC_CLUSTER(kBlocks) __launch_bounds__(kGradientFinishThreads)
    gradient_finish_kernel(const __grid_constant__ GradientKernelView view) {
  using Gradient = typename Config::Gradient;
  extern __shared__ __align__(16) double finish_memory[];
  __shared__ double scratch[BlockTeam::kScratch];
  int list = 0, num_tiles = 0, num_blocks = 1;
  double num_rows = 0;
  const auto read_list = [&](int of_list) {
    list = of_list;
    num_tiles = view.work.first_tile[list + 1] - view.work.first_tile[list];
    num_blocks = finish_blocks_of<Config>(view, list);
    num_rows = view.work.num_rows[list];
  };
  if constexpr (Config::uniform) read_list(0);  // no kernel writes these tables
  begin_overlapped();
  const int nth = static_cast<int>(blockIdx.x) / kBlocks, rank = static_cast<int>(blockIdx.x) % kBlocks;
  const int chain = view.active.chains ? view.active.chains[nth] : nth;
  if (view.wanted && view.wanted[chain] == 0) return;
  if constexpr (!Config::uniform) read_list(view.work.list_of_chain[chain]);
  const int num_groups = view.shares ? 0 : num_gradient_groups(num_tiles * Config::parts);
  const int thread = static_cast<int>(threadIdx.x);

  double* slots = finish_memory;
  double* parts = slots + Config::slots + Gradient::num_sums + Gradient::num_work;
  double* theta = parts + kGradientFinishThreads;
  if (rank == 0) {
    const double* from = view.theta + static_cast<i64>(chain) * view.ld;
    for (int i = thread; i < Config::likelihood().num_parameters(); i += kGradientFinishThreads)
      theta[i] = from[i];
  }
  constexpr int kWide = gradient_slots_of_finish(Config::slots),
                kShares = gradient_threads_of_slot(Config::slots);
  const double* groups = view.group_sums + static_cast<i64>(chain) * view.max_groups * Config::slots;
  // Adds the sums of the threads of `block` and writes them to the slots; adds to the slots where this block
  // does the work of others.
  const auto add_groups = [&](int block) {
#pragma unroll 1
    for (int first = 0; first < Config::slots; first += kWide) {
      const int slot = first + thread % kWide, share = thread / kWide * num_blocks + block;
      double own = 0;
      if (slot < Config::slots) {
        if (view.shares)
          own = view.shares[static_cast<i64>(nth) * view.ld_shares + share * Config::slots + slot];
        add_sums_of_groups<Config::slots>(groups + slot, share, kShares * num_blocks, num_groups, own);
        if (kShares == 1) slots[slot] = block == rank ? own : slots[slot] + own;
      }
      if (kShares > 1) parts[thread] = own;
    }
    if constexpr (kShares > 1) {
      __syncthreads();
      if (thread < Config::slots) {
        double own = 0;
#pragma unroll
        for (int share = 0; share < kShares; ++share) own += parts[share * kWide + thread];
        slots[thread] = block == rank ? own : slots[thread] + own;
      }
      if (kBlocks == 1) __syncthreads();
    }
  };
  if constexpr (kBlocks > 1) {
    if (rank < num_blocks) add_groups(rank);
  } else {
#pragma unroll 1
    for (int block = 0; block < num_blocks; ++block) add_groups(block);
  }
  if (view.log_likelihood && rank == kBlocks - 1 && thread / 32 == kGradientFinishThreads / 32 - 1) {
    double sum = 0;
    if constexpr (Config::uniform) {
      sum = sum_any_by_warp(view.step_sums + static_cast<i64>(chain) * view.max_groups, num_groups);
    } else {
      double* steps = view.step_sums + static_cast<i64>(chain) * view.work.max_tiles * Config::steps;
      double* segment_sums = view.segment_sums + static_cast<i64>(chain) * view.work.max_segments;
      const ListSegments segments = segments_of_list(view.work.first_segment, view.work.segment_first, list);
      sum_segments(segments, thread % 32, segment_sums, [steps](int begin, int end) {
        return sum_any_by_warp(steps + begin * Config::steps, (end - begin) * Config::steps);
      });
      sum = sum_any_by_warp(segment_sums, segments.count);
    }
    double common = 0;
    if constexpr (!Config::Likelihood::kCopiesParameters) common = view.common[chain];
    if (thread % 32 == 0)
      view.log_likelihood[chain] =
          num_tiles == 0 ? 0 : Config::likelihood().log_likelihood(num_rows, common, sum);
  }
  if constexpr (kBlocks > 1) {
    sync_cluster();
    if (rank == 0) {
#pragma unroll 1
      for (int slot = thread; slot < Config::slots; slot += kGradientFinishThreads) {
        double of_others[kBlocks];
#pragma unroll
        for (int block = 1; block < kBlocks; ++block)
          of_others[block] = block < num_blocks ? load_from_block(slots + slot, static_cast<u32>(block)) : 0;
        double sum = slots[slot];
#pragma unroll
        for (int block = 1; block < kBlocks; ++block)
          if (block < num_blocks) sum += of_others[block];
        slots[slot] = sum;
      }
    }
    sync_cluster();  // so that the first block has read the other blocks' memory before they end
    if (rank != 0) return;
  } else {
    __syncthreads();
  }
  Gradient::write(BlockTeam{scratch}, theta, num_rows, slots,
                  static_cast<const typename Config::Real*>(view.shift), slots + Config::slots,
                  slots + Config::slots + Gradient::num_sums,
                  view.gradient + static_cast<i64>(chain) * view.ld_gradient);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_FINISH_KERNEL_CUH
