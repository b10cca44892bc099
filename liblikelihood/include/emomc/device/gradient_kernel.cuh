// A kernel for log likelihoods and gradients of many parameter vectors (gradient_rows.hpp), which is compiled
// at run time with all sizes as constants. A block computes a group of parts of tiles for some chains. Each
// warp goes through rows of its own, a step of its lanes' rows at a time: every lane evaluates its rows and
// writes the numbers of these rows to the warp's shared memory; the sums of numbers times columns are then a
// product of matrices, which the tensor cores compute. The sums of warps are added in the order of the warps,
// and gradient_finish_kernel adds the sums of groups, so that the bits depend on the chain's rows alone. Log
// densities are summed by the tree of docs/statistics.md. Where few blocks run, each warp copies the rows of
// its first step to shared memory while the kernel ahead is still running.
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
  const auto likelihood = Config::likelihood();
  const int size = likelihood.sizes().num_coefficients;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int turn = static_cast<int>(blockIdx.z);
  const auto parts_of = [&](int of_list) {
    return (view.work.first_tile[of_list + 1] - view.work.first_tile[of_list]) * Config::parts;
  };
  const auto parts_of_group = [&](int of_list, int parts) {
    return gradient_parts_of_group(view.tiles_of_all ? view.tiles_of_all[of_list] * Config::parts : parts);
  };
  int list = 0, num_parts = 0, each = 1, first_tile = 0;
  // The number in the list of the warp's n-th step, the step's tile, its first row, and the number of its
  // rows.
  const auto step_of = [&](int n) {
    return static_cast<int>(blockIdx.x) * each * kGradientWarps + warp * each + n;
  };
  const auto tile_of = [&](int step) {
    return Config::uniform ? step / Config::steps : view.work.tiles[first_tile + step / Config::steps];
  };
  const auto rows_of = [&](int step) {
    return StepRows<Real>{static_cast<const Real*>(view.rows) +
                          static_cast<i64>(tile_of(step)) * Config::num_columns * kTileRows +
                          step % Config::steps * Config::step_rows};
  };
  const auto num_rows_of = [&](int step) {
    if (step >= num_parts * kGradientWarps) return 0;
    return view.tile_rows[tile_of(step)] - step % Config::steps * Config::step_rows;
  };

  // Kernels write neither rows nor these tables, so that the block reads them before it waits.
  int num_rows = 0;
  if constexpr (Config::uniform) {
    num_parts = parts_of(0);
    each = parts_of_group(0, num_parts);
    num_rows = num_rows_of(step_of(0));
  }
  const GradientMemory places(gradient_sizes<Gradient>(), size, sizeof(Real), kChains, each,
                              Config::num_columns, Config::copies);
  Real* coefficients = reinterpret_cast<Real*>(gradient_memory);
  const auto numbers_of_warp = [&](int w) {
    return reinterpret_cast<Real*>(gradient_memory + places.numbers + static_cast<u64>(w) * places.of_warp);
  };
  Real* gathered = reinterpret_cast<Real*>(gradient_memory + places.gathered);
  double* step_sums = reinterpret_cast<double*>(gradient_memory + places.steps);  // [chain][warp][each]
  const CopiedStepRows<Real, Config::step_rows> copy{reinterpret_cast<Real*>(gradient_memory + places.rows) +
                                                     warp * Config::num_columns * Config::step_rows};
  if constexpr (Config::copies)
    if (num_rows > 0) copy.begin(rows_of(step_of(0)), Config::num_columns);
  Real* shift = reinterpret_cast<Real*>(gradient_memory + places.shift);
  if constexpr (Gradient::has_shift)
    for (int j = thread; j < Config::num_columns; j += kGradientThreads)
      shift[j] = static_cast<const Real*>(view.shift)[j];
  GradientWarp<Config> own(shift, numbers_of_warp(warp), gathered + warp * kChains * Gradient::num_gathered,
                           turn);
  wait_for_kernels_ahead();
  let_next_kernel_begin();

  const int first = static_cast<int>(blockIdx.y) * kChains;
  const int count = min(kChains, view.active.count - first);
  const auto chain_of = [&](int i) { return view.active.chains ? view.active.chains[first + i] : first + i; };
  bool any = view.wanted == nullptr;
  for (int i = 0; i < count && view.wanted; ++i) any = view.wanted[chain_of(i)] != 0 || any;
    // The coefficients of all chains are loaded at once, without regard to `any`, so that the block waits for
    // memory only once.
#pragma unroll 4
  for (int p = thread; p < kChains * size; p += kGradientThreads) {
    const int i = p / size, c = p - i * size;
    const i64 chain = chain_of(i < count ? i : 0);
    if constexpr (Config::Likelihood::kCopiesParameters)
      coefficients[p] = Config::Likelihood::template coefficient<Real>(view.theta + chain * view.ld, c);
    else
      coefficients[p] = static_cast<const Real*>(view.coefficients)[chain * size + c];
  }
  if constexpr (Config::copies) wait_for_copies();
  if (!any) return;
  if constexpr (!Config::uniform) {
    list = view.work.list_of_chain[chain_of(0)];
    num_parts = parts_of(list);
    each = parts_of_group(list, num_parts);
    first_tile = view.work.first_tile[list];
    num_rows = num_rows_of(step_of(0));
  }
  if (static_cast<int>(blockIdx.x) * each >= num_parts) return;
  __syncthreads();

#pragma unroll 1
  for (int n = 0; n < each; ++n) {
    const int of_list = step_of(n);
    const auto sum_at = [&](int i) -> double& {
      if constexpr (Config::uniform) return step_sums[(i * kGradientWarps + warp) * each + n];
      return view.step_sums[static_cast<i64>(chain_of(i)) * view.work.max_tiles * Config::steps + of_list];
    };
    if (n > 0) num_rows = num_rows_of(of_list);
    if (num_rows <= 0) {
      if (turn == 0 && lane < count && (Config::uniform || of_list < num_parts * kGradientWarps))
        sum_at(lane) = 0;
      continue;
    }
    const StepRows<Real> in_memory = rows_of(of_list);
    const RowsInMemory<Real> own_rows{in_memory.first + lane * kRows, kTileRows, num_rows - lane * kRows};
    if constexpr (Config::copies)
      if (n > 0) copy.take(in_memory, Config::num_columns);
    const auto rows = [&] {
      if constexpr (Config::copies)
        return copy;
      else
        return in_memory;
    }();
    Real kept[Config::keeps_rows ? Config::num_columns : 1][kRows];
    if constexpr (Config::keeps_rows) {
#pragma unroll
      for (int j = 0; j < Config::num_columns; ++j) load_rows(rows.place(j, lane * kRows), kept[j]);
    }
    const auto row = [&](int j, Real(&x)[kRows]) {
      if constexpr (Config::keeps_rows) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) x[r] = kept[j][r];
      } else {
        load_rows(rows.place(j, lane * kRows), x);
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
  if constexpr (Config::uniform) {
    // The last warps do this, since there may be fewer slots than threads.
#pragma unroll 1
    for (int i = kGradientWarps - 1 - warp; i < count && turn == 0; i += kGradientWarps) {
      const double* sums = step_sums + i * kGradientWarps * each;
      const auto load = [](const double* from) { return *from; };
      const double sum = kGradientWarps * each <= 32 ? sum_few_by_warp(sums, kGradientWarps * each, load)
                                                     : sum_by_warp(sums, kGradientWarps * each, load);
      if (lane == 0) view.step_sums[static_cast<i64>(chain_of(i)) * view.max_groups + blockIdx.x] = sum;
    }
  }
#pragma unroll 1
  for (int at = thread; at < count * Config::own_slots; at += kGradientThreads) {
    double sum = 0;
    for (int w = 0; w < kGradientWarps; ++w) sum += static_cast<double>(numbers_of_warp(w)[at]);
    constexpr int kOwn = Config::own_slots > 0 ? Config::own_slots : 1;
    const int slot = GradientWarp<Config>::slot_of(at % kOwn, turn);
    if (slot >= 0) written(at / kOwn)[slot] = sum;
  }
  if (turn != 0) return;
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
