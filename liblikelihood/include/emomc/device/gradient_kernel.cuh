// A kernel for log likelihoods and gradients of many parameter vectors (gradient_rows.hpp), which is compiled
// at run time with all sizes as constants. A block computes a group of parts of tiles for some chains. Each
// warp goes through rows of its own, a step of its lanes' rows at a time: every lane evaluates its rows and
// writes the numbers of these rows to the warp's shared memory; the sums of numbers times columns are then a
// product of matrices, which the tensor cores compute. The sums of warps are added in the order of the warps,
// and gradient_finish_kernel adds the sums of groups, so that the bits depend on the chain's rows alone. Log
// densities are summed by the tree of docs/statistics.md.
#ifndef EMOMC_DEVICE_GRADIENT_KERNEL_CUH
#define EMOMC_DEVICE_GRADIENT_KERNEL_CUH

#include "emomc/device/gradient_warp.cuh"
#include "emomc/device/overlap.cuh"

namespace emomc::device {

/// Grid: view.max_groups, then groups of Config::chains active chains, then turns for tiles and
/// numbers that are not multiplied at once.
template <class Config>
__global__ void __launch_bounds__(kGradientThreads, Config::blocks)
    gradient_kernel(const __grid_constant__ GradientKernelView view) {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  constexpr int kChains = Config::chains, kTogether = Config::together, kRows = Config::rows;
  extern __shared__ __align__(16) unsigned char gradient_memory[];
  const int size = Config::likelihood().sizes().num_coefficients;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const auto parts_of = [&](int of_list) {
    return (view.work.first_tile[of_list + 1] - view.work.first_tile[of_list]) * Config::parts;
  };
  const auto parts_of_group = [&](int of_list, int parts) {
    return gradient_parts_of_group(view.tiles_of_all ? view.tiles_of_all[of_list] * Config::parts : parts);
  };
  int list = 0, num_parts = 0, each = 1;
  if constexpr (Config::uniform) {  // no kernel writes these tables
    num_parts = parts_of(0);
    each = parts_of_group(0, num_parts);
  }
  wait_for_kernels_ahead();
  let_next_kernel_begin();

  const int first = static_cast<int>(blockIdx.y) * kChains;
  const int count = min(kChains, view.active.count - first);
  const auto chain_of = [&](int i) { return view.active.chains ? view.active.chains[first + i] : first + i; };
  bool any = view.wanted == nullptr;
  for (int i = 0; i < count && !any; ++i) any = view.wanted[chain_of(i)] != 0;
  if (!any) return;
  if constexpr (!Config::uniform) {
    list = view.work.list_of_chain[chain_of(0)];
    num_parts = parts_of(list);
    each = parts_of_group(list, num_parts);
  }
  const int first_tile = Config::uniform ? 0 : view.work.first_tile[list];
  const int begin = static_cast<int>(blockIdx.x) * each, end = min(begin + each, num_parts);
  if (begin >= end) return;

  const auto likelihood = Config::likelihood();
  const GradientMemory places(gradient_sizes<Gradient>(), size, sizeof(Real), kChains, each);
  Real* coefficients = reinterpret_cast<Real*>(gradient_memory);
  // The coefficients of all chains are loaded at once, so that the block waits for memory only once.
#pragma unroll 4
  for (int p = thread; p < kChains * size; p += kGradientThreads) {
    const int i = p / size, c = p - i * size;
    const i64 chain = chain_of(i < count ? i : 0);
    if constexpr (Config::Likelihood::kCopiesParameters)
      coefficients[p] = Config::Likelihood::template coefficient<Real>(view.theta + chain * view.ld, c);
    else
      coefficients[p] = static_cast<const Real*>(view.coefficients)[chain * size + c];
  }
  __syncthreads();

  const int turn = static_cast<int>(blockIdx.z);
  const auto numbers_of_warp = [&](int w) {
    return reinterpret_cast<Real*>(gradient_memory + places.numbers + static_cast<u64>(w) * places.of_warp);
  };
  Real* gathered = reinterpret_cast<Real*>(gradient_memory + places.gathered);
  GradientWarp<Config> own(static_cast<const Real*>(view.shift), numbers_of_warp(warp),
                           gathered + warp * kChains * Gradient::num_gathered, turn);
  double* step_sums = reinterpret_cast<double*>(gradient_memory + places.steps);  // [chain][warp][each]
  const int num_steps = num_parts * kGradientWarps;
#pragma unroll 1
  for (int n = 0; n < each; ++n) {
    const int of_list = begin * kGradientWarps + warp * each + n;  // the step's number in the list
    const auto sum_at = [&](int i) -> double& {
      if constexpr (Config::uniform) return step_sums[(i * kGradientWarps + warp) * each + n];
      return view.step_sums[static_cast<i64>(chain_of(i)) * view.work.max_tiles * Config::steps + of_list];
    };
    const int position = of_list / Config::steps, step = of_list % Config::steps;
    const bool is_there = of_list < num_steps;
    const int tile = !is_there ? 0 : Config::uniform ? position : view.work.tiles[first_tile + position];
    const int num_rows = is_there ? view.tile_rows[tile] - step * Config::step_rows : 0;
    if (num_rows <= 0) {
      if (turn == 0 && lane < count && (Config::uniform || is_there)) sum_at(lane) = 0;
      continue;
    }
    const Real* rows = static_cast<const Real*>(view.rows) +
                       static_cast<i64>(tile) * Config::num_columns * kTileRows + step * Config::step_rows;
    const RowsInMemory<Real> own_rows{rows + lane * kRows, kTileRows, num_rows - lane * kRows};
    Real kept[Config::keeps_rows ? Config::num_columns : 1][kRows];
    if constexpr (Config::keeps_rows) {
#pragma unroll
      for (int j = 0; j < Config::num_columns; ++j) load_rows(own_rows.first + j * kTileRows, kept[j]);
    }
    const auto row = [&](int j, Real(&x)[kRows]) {
      if constexpr (Config::keeps_rows) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) x[r] = kept[j][r];
      } else {
        load_rows(own_rows.first + j * kTileRows, x);
      }
    };
#pragma unroll 1
    for (int i = 0; i < count; i += kTogether) {
      Real value[kTogether][kRows];
      Gradient::evaluate(coefficients + i * size, size, row, own_rows, own.numbers_of(i, 0) + lane * kRows,
                         Config::stride, value);
      double own_sums[kTogether];
#pragma unroll
      for (int c = 0; c < kTogether; ++c)
        own_sums[c] =
            likelihood.sum(coefficients + (i + c) * size, own_rows, num_rows >= Config::step_rows, value[c]);
      const double sum = sum_each_over_lanes(own_sums);
      const int c = tree_of_lane<kTogether>();
      if (turn == 0 && lane < kTogether && i + c < count) sum_at(i + c) = sum;
    }
    __syncwarp();
    own.add(rows);
    __syncwarp();
  }
  own.hand_in(numbers_of_warp(warp));
  __syncthreads();
  const auto written = [&](int i) {
    return view.group_sums + (static_cast<i64>(chain_of(i)) * view.max_groups + blockIdx.x) * Config::slots;
  };
#pragma unroll 1
  for (int at = thread; at < count * Config::own_slots; at += kGradientThreads) {
    double sum = 0;
    for (int w = 0; w < kGradientWarps; ++w) sum += static_cast<double>(numbers_of_warp(w)[at]);
    constexpr int kOwn = Config::own_slots > 0 ? Config::own_slots : 1;
    const int slot = GradientWarp<Config>::slot_of(at % kOwn, turn);
    if (slot >= 0) written(at / kOwn)[slot] = sum;
  }
  if (turn != 0) return;
  if constexpr (Config::uniform) {
#pragma unroll 1
    for (int i = warp; i < count; i += kGradientWarps) {
      const double sum = sum_by_warp(step_sums + i * kGradientWarps * each, kGradientWarps * each);
      if (lane == 0) view.step_sums[static_cast<i64>(chain_of(i)) * view.max_groups + blockIdx.x] = sum;
    }
  }
#pragma unroll 1
  for (int at = thread; at < count * Gradient::num_gathered; at += kGradientThreads) {
    double sum = 0;
    for (int w = 0; w < kGradientWarps; ++w)
      sum += static_cast<double>(gathered[w * kChains * Gradient::num_gathered + at]);
    constexpr int kGathered = Gradient::num_gathered > 0 ? Gradient::num_gathered : 1;
    written(at / kGathered)[Config::first_gathered_slot + at % kGathered] = sum;
  }
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_KERNEL_CUH
