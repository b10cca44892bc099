// Log likelihoods and gradients of many parameter vectors (gradient_rows.hpp), compiled at run time with all
// sizes as constants. A block has a group of parts of tiles and some chains. Each warp goes through rows of
// its own, a step of its lanes' rows at a time: every lane evaluates its rows and writes their numbers to the
// warp's shared memory; the products of numbers and columns are then a product of matrices, which the tensor
// cores add up. The warps' sums are added in their order, those of groups by gradient_finish_kernel, so that
// their bits depend on the chain's rows alone. Log densities have the tree of docs/statistics.md.
//
// The tensor cores take float32 numbers without their last 13 bits, so that a number is given as a sum of
// two; and they cut off what they add up, so that their sums go on for a step only.
#ifndef EMOMC_DEVICE_GRADIENT_KERNEL_CUH
#define EMOMC_DEVICE_GRADIENT_KERNEL_CUH

#include "emomc/device/block_sums.cuh"
#include "emomc/device/block_team.cuh"
#include "emomc/device/gradient_rows.hpp"
#include "emomc/device/overlap.cuh"

namespace emomc::device {

/// The largest power of two that is not above n.
EMOMC_INLINE constexpr int power_below(int n) {
  int p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

/// kTogether: chains whose rows a thread evaluates together.
template <class SizedL, class Real_, int kChains, int kTogether, bool kUniform>
struct GradientConfig {
  using Sizes = SizedL;
  using Likelihood = typename SizedL::Likelihood;
  using Gradient = GradientOf<SizedL>;
  using Real = Real_;
  static constexpr int chains = kChains;
  static constexpr bool uniform = kUniform;  ///< all chains read all tiles, as one segment
  static_assert(kUniform || kChains == 1);
  static constexpr int together = kTogether;
  static_assert(kChains % kTogether == 0);
  static constexpr int rows = gradient_rows_of_thread(sizeof(Real), Gradient::num_numbers);
  static constexpr int step_rows = 32 * rows, part_rows = kGradientWarps * step_rows;
  static constexpr int parts = kTileRows / part_rows;  ///< of a tile
  static constexpr int steps = kTileRows / step_rows;  ///< of a tile
  static constexpr int stride = gradient_stride(sizeof(Real), Gradient::num_numbers);
  /// Numbers of a chain and tiles that a block multiplies; others are those of blocks further on in the third
  /// dimension of the grid.
  static constexpr int numbers_at_once = Gradient::num_of_tile < gradient_numbers_at_once(sizeof(Real))
                                             ? Gradient::num_of_tile
                                             : gradient_numbers_at_once(sizeof(Real));
  static constexpr int tiles_at_once =
      Gradient::num_tiles < kGradientTilesAtOnce ? Gradient::num_tiles : kGradientTilesAtOnce;
  static_assert(kChains * numbers_at_once <= gradient_numbers_at_once(sizeof(Real)));
  /// Blocks that share a multiprocessor: one, where the numbers of a lane's rows and its sums take so many
  /// registers.
  static constexpr int blocks =
      rows * Gradient::num_numbers * static_cast<int>(sizeof(Real)) / 4 + 10 * tiles_at_once > 76 ? 1 : 2;
  static constexpr int number_turns = (Gradient::num_of_tile + numbers_at_once - 1) / numbers_at_once;

  /// Lanes that share a plain sum; each takes other rows, kEach at a time.
  static constexpr int each = 16 / static_cast<int>(sizeof(Real));
  static constexpr int lanes_each(int count) {
    const int lanes = count <= 1 ? 32 : count >= 32 ? 1 : power_below(32 / count);
    return lanes < step_rows / each ? lanes : step_rows / each;
  }
  static constexpr int plain_lanes = lanes_each(Gradient::num_plain);
  static constexpr int plain_turns = (Gradient::num_plain + 31) / 32;

  static constexpr int slots = num_gradient_slots<Gradient>();
  static constexpr int first_plain_slot = num_tile_slots<Gradient>();
  static constexpr int first_gathered_slot = first_plain_slot + Gradient::num_plain;
  /// Slots of a chain that a block has.
  static constexpr int own_slots = gradient_slots_at_once(gradient_sizes<Gradient>(), sizeof(Real));
  static constexpr int own_tile_slots = tiles_at_once * numbers_at_once * kGradientTileColumns;
  static_assert(own_slots == own_tile_slots + Gradient::num_plain);

  static __device__ Likelihood likelihood() { return SizedL::likelihood(); }
};

// Products of matrices by the tensor cores (PTX ISA, "mma.sync"). Lane 4 i + q has numbers i and i + 8 and
// column i of the tile, in rows 4 q to 4 q + 3 of 16, or 2 q and 2 q + 1 of 8 in float64; which rows of a
// product are which is of no matter for their sum. It gets the sums of numbers i and i + 8 with columns 2 q
// and 2 q + 1.
struct TensorFloat {
  static constexpr int kEach = 4, kNumbers = 2, kSums = 4;

  static __device__ void multiply(const unsigned (&a)[4], const unsigned (&b)[2], float (&c)[4]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  /// The part of x that the tensor cores take.
  static __device__ unsigned high(float x) { return __float_as_uint(x) & 0xffffe000u; }
  static __device__ unsigned low(float x) { return __float_as_uint(x - __uint_as_float(high(x))); }

  /// sums += a' x.
  static __device__ void add_products(const float (&a)[kNumbers][kEach], const float (&x)[kEach],
                                      float (&sums)[kSums]) {
#pragma unroll
    for (int r = 0; r < kEach; r += 2) {
      const unsigned a_high[] = {high(a[0][r]), high(a[1][r]), high(a[0][r + 1]), high(a[1][r + 1])};
      const unsigned a_low[] = {low(a[0][r]), low(a[1][r]), low(a[0][r + 1]), low(a[1][r + 1])};
      const unsigned x_high[] = {high(x[r]), high(x[r + 1])}, x_low[] = {low(x[r]), low(x[r + 1])};
      multiply(a_low, x_high, sums);
      multiply(a_high, x_low, sums);
      multiply(a_high, x_high, sums);
    }
  }
};
struct TensorDouble {
  static constexpr int kEach = 2, kNumbers = 1, kSums = 2;

  static __device__ void add_products(const double (&a)[kNumbers][kEach], const double (&x)[kEach],
                                      double (&sums)[kSums]) {
#pragma unroll
    for (int r = 0; r < kEach; ++r)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(sums[0]), "+d"(sums[1])
          : "d"(a[0][r]), "d"(x[r]));
  }
};
template <class Real>
struct TensorOf {
  using Type = TensorDouble;
};
template <>
struct TensorOf<float> {
  using Type = TensorFloat;
};

template <class Config>
class GradientWarp {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  using Tensor = typename TensorOf<Real>::Type;
  static constexpr int kChains = Config::chains, kTiles = Config::tiles_at_once, kEach = Tensor::kEach;
  static_assert(kEach == Config::each);

 public:
  /// `turn`: of the grid's third dimension.
  __device__ GradientWarp(const Real* shift, Real* numbers, Real* gathered, int turn)
      : shift_(shift), numbers_(numbers), gathered_(gathered), turn_(turn) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const int index = first_tile() + t, column = lane() / 4;
      const GradientTile tile = Gradient::tile(index < Gradient::num_tiles ? index : 0);
      columns_[t] = {tile.first[0], tile.second[0]};
#pragma unroll
      for (int c = 1; c < kGradientTileColumns; ++c)
        if (c == column) columns_[t] = {tile.first[c], tile.second[c]};
#pragma unroll
      for (int i = 0; i < Tensor::kSums; ++i) products_[t][i] = 0;
    }
#pragma unroll
    for (int i = 0; i < kChains; ++i)
#pragma unroll
      for (int p = 0; p < kPlain; ++p) plain_[i][p] = 0;
    for (int i = lane(); i < kChains * Gradient::num_gathered; i += 32) gathered_[i] = 0;
    __syncwarp();
  }

  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ Real* numbers_of(int chain, int number) const {
    return numbers_ + (chain * Gradient::num_numbers + number) * Config::stride;
  }

  /// Adds what the rows of a step have written; `rows`: the step's first row in column 0.
  __device__ void add(const Real* rows) {
    if constexpr (kTiles > 0) add_products(rows);
    if (turn_ != 0) return;
    if constexpr (kPlain > 0) add_plain();
#pragma unroll 1
    for (int g = 0; g < Gradient::num_gathered_sums; ++g) gather(Gradient::gathered(g));
  }

  /// Writes its sums to slots[chain][Config::own_slots].
  __device__ void hand_in(Real* slots) const {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < Tensor::kSums; ++i) {
        const int number = lane() / 4 + i / 2 * 8, column = 2 * (lane() % 4) + i % 2;
        const int chain = number / Config::numbers_at_once, k = number % Config::numbers_at_once;
        if (chain < kChains)
          slots[chain * Config::own_slots + (t * Config::numbers_at_once + k) * kGradientTileColumns +
                column] = products_[t][i];
      }
#pragma unroll
    for (int turn = 0; turn < kPlain; ++turn) {
      const int p = turn * 32 + lane() / Config::plain_lanes;
      const bool writes = p < Gradient::num_plain && lane() % Config::plain_lanes == 0;
#pragma unroll
      for (int i = 0; i < kChains; ++i) {
        Real sum = plain_[i][turn];
#pragma unroll
        for (int distance = 1; distance < Config::plain_lanes; distance *= 2)
          sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (writes) slots[i * Config::own_slots + Config::own_tile_slots + p] = sum;
      }
    }
  }

  /// Where slot `own` of a chain is among all slots; negative: nowhere.
  static __device__ int slot_of(int own, int turn) {
    if (own >= Config::own_tile_slots)
      return turn == 0 ? Config::first_plain_slot + own - Config::own_tile_slots : -1;
    constexpr int kNumbers = Config::numbers_at_once > 0 ? Config::numbers_at_once : 1;
    const int number = turn % Config::number_turns * kNumbers + own / kGradientTileColumns % kNumbers;
    const int tile =
        turn / Config::number_turns * kGradientTilesAtOnce + own / kGradientTileColumns / kNumbers;
    if (number >= Gradient::num_of_tile || tile >= Gradient::num_tiles) return -1;
    return (tile * Gradient::num_of_tile + number) * kGradientTileColumns + own % kGradientTileColumns;
  }

 private:
  static constexpr int kPlain = Config::plain_turns;
  struct Columns {
    int first, second;
  };

  __device__ int first_number() const { return turn_ % Config::number_turns * Config::numbers_at_once; }
  __device__ int first_tile() const { return turn_ / Config::number_turns * kGradientTilesAtOnce; }

  /// Rows of a tile's column.
  __device__ void load(const Real* rows, const Columns& columns, Real (&x)[kEach]) const {
#pragma unroll
    for (int r = 0; r < kEach; ++r) x[r] = 1;
    if (columns.first == kNoColumn) return;
    load_column(rows, columns.first, x);
    if constexpr (Gradient::has_products) {
      if (columns.second == kNoColumn) return;
      Real y[kEach];
#pragma unroll
      for (int r = 0; r < kEach; ++r) y[r] = x[r];
      if (columns.second != columns.first) load_column(rows, columns.second, y);
#pragma unroll
      for (int r = 0; r < kEach; ++r) x[r] *= y[r];
    }
  }
  __device__ void load_column(const Real* rows, int j, Real (&x)[kEach]) const {
    load_rows(rows + j * kTileRows, x);
    if constexpr (Gradient::has_shift) {
      const Real shift = shift_[j];
#pragma unroll
      for (int r = 0; r < kEach; ++r) x[r] -= shift;
    }
  }
  /// Rows of the lane's numbers.
  __device__ void load_numbers(int first, int row, Real (&a)[Tensor::kNumbers][kEach]) const {
#pragma unroll
    for (int i = 0; i < Tensor::kNumbers; ++i) {
      int number = lane() / 4 + 8 * i;
      if (number >= kChains * Config::numbers_at_once) number = 0;
      const int chain = number / Config::numbers_at_once;
      int k = first + number % Config::numbers_at_once;
      if (Config::number_turns > 1 && k >= Gradient::num_of_tile) k = first;
      load_rows(numbers_of(chain, k) + row, a[i]);
    }
  }

  /// Whether all tiles are of the same numbers.
  static constexpr bool share_numbers() {
    for (int t = 1; t < Gradient::num_tiles; ++t)
      if (Gradient::tile(t).number != Gradient::tile(0).number) return false;
    return true;
  }

  __device__ void add_products(const Real* rows) {
    Real sums[kTiles][Tensor::kSums];
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < Tensor::kSums; ++i) sums[t][i] = 0;
#pragma unroll 1
    for (int first = lane() % 4 * kEach; first < Config::step_rows; first += 4 * kEach) {
      Real a[Tensor::kNumbers][kEach];
      if constexpr (share_numbers()) load_numbers(Gradient::tile(0).number + first_number(), first, a);
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        if constexpr (!share_numbers()) {
          const int index = first_tile() + t;
          load_numbers(Gradient::tile(index < Gradient::num_tiles ? index : 0).number, first, a);
        }
        Real x[kEach];
        load(rows + first, columns_[t], x);
        Tensor::add_products(a, x, sums[t]);
      }
    }
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < Tensor::kSums; ++i) products_[t][i] += sums[t][i];
  }

  __device__ void add_plain() {
#pragma unroll
    for (int turn = 0; turn < kPlain; ++turn) {
      const int p = turn * 32 + lane() / Config::plain_lanes;
      if (p >= Gradient::num_plain) continue;
      const Real* first = numbers_of(0, Gradient::plain(p).number);
#pragma unroll 1
      for (int row = lane() % Config::plain_lanes * kEach; row < Config::step_rows;
           row += Config::plain_lanes * kEach)
#pragma unroll
        for (int i = 0; i < kChains; ++i) {
          Real a[kEach];
          load_rows(first + i * Gradient::num_numbers * Config::stride + row, a);
          if constexpr (kEach == 4)
            plain_[i][turn] += (a[0] + a[1]) + (a[2] + a[3]);
          else
            plain_[i][turn] += a[0] + a[1];
        }
    }
  }

  /// Rows with the same index are added up by the first of their lanes, in the order of lanes.
  __device__ void gather(const GatheredSum& g) {
    constexpr unsigned kAll = 0xffffffffu;
#pragma unroll 1
    for (int i = 0; i < kChains; ++i) {
      Real* sums = gathered_ + i * Gradient::num_gathered + g.slot;
#pragma unroll 1
      for (int row = lane(); row < Config::step_rows; row += 32) {
        const Real a = numbers_of(i, g.number)[row];
        int index = static_cast<int>(numbers_of(i, g.index)[row]);
        index = index < 0 ? 0 : index < g.size ? index : g.size - 1;
        const unsigned same = __match_any_sync(kAll, index);
        Real sum = 0;
        unsigned left = same;
        while (__any_sync(kAll, left != 0)) {
          const int from = left != 0 ? __ffs(static_cast<int>(left)) - 1 : lane();
          const Real other = __shfl_sync(kAll, a, from);
          if (left != 0) sum += other;
          left &= left - 1;
        }
        if (__ffs(static_cast<int>(same)) - 1 == lane()) sums[index] += sum;
        __syncwarp();
      }
    }
  }

  const Real* shift_;
  Real *numbers_, *gathered_;
  int turn_;
  Columns columns_[kTiles > 0 ? kTiles : 1];  ///< the lane's of each tile
  Real products_[kTiles > 0 ? kTiles : 1][Tensor::kSums];
  Real plain_[kChains][kPlain > 0 ? kPlain : 1];
};

/// Grid: view.max_groups, then groups of Config::chains active chains, then turns for tiles and
/// numbers that are not multiplied at once.
template <class Config>
__global__ void __launch_bounds__(kGradientThreads, Config::blocks)
    gradient_kernel(const __grid_constant__ GradientKernelView view) {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  constexpr int kChains = Config::chains, kTogether = Config::together, kRows = Config::rows;
  extern __shared__ __align__(16) unsigned char gradient_memory[];
  wait_for_kernels_ahead();
  let_next_kernel_begin();

  const int first = static_cast<int>(blockIdx.y) * kChains;
  const int count = min(kChains, view.active.count - first);
  const auto chain_of = [&](int i) { return view.active.chains ? view.active.chains[first + i] : first + i; };
  bool any = view.wanted == nullptr;
  for (int i = 0; i < count && !any; ++i) any = view.wanted[chain_of(i)] != 0;
  if (!any) return;
  const int list = Config::uniform ? 0 : view.work.list_of_chain[chain_of(0)];
  const int first_tile = view.work.first_tile[list];
  const int num_parts = (view.work.first_tile[list + 1] - first_tile) * Config::parts;
  const int each = gradient_parts_of_group(num_parts);
  const int begin = static_cast<int>(blockIdx.x) * each, end = min(begin + each, num_parts);
  if (begin >= end) return;

  const auto likelihood = Config::likelihood();
  const int size = likelihood.sizes().num_coefficients;
  const GradientMemory places(gradient_sizes<Gradient>(), size, sizeof(Real), kChains);
  Real* coefficients = reinterpret_cast<Real*>(gradient_memory);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
#pragma unroll 1
  for (int i = 0; i < kChains; ++i) {
    const Real* from =
        static_cast<const Real*>(view.coefficients) + static_cast<i64>(chain_of(i < count ? i : 0)) * size;
    for (int c = thread; c < size; c += kGradientThreads) coefficients[i * size + c] = from[c];
  }
  __syncthreads();

  const int turn = static_cast<int>(blockIdx.z);
  const auto numbers_of_warp = [&](int w) {
    return reinterpret_cast<Real*>(gradient_memory + places.numbers + static_cast<u64>(w) * places.of_warp);
  };
  Real* gathered = reinterpret_cast<Real*>(gradient_memory + places.gathered);
  GradientWarp<Config> own(static_cast<const Real*>(view.shift), numbers_of_warp(warp),
                           gathered + warp * kChains * Gradient::num_gathered, turn);
#pragma unroll 1
  for (int part = begin; part < end; ++part) {
    const int position = part / Config::parts, step = part % Config::parts * kGradientWarps + warp;
    const int tile = Config::uniform ? position : view.work.tiles[first_tile + position];
    const Real* rows = static_cast<const Real*>(view.rows) +
                       static_cast<i64>(tile) * likelihood.sizes().num_columns * kTileRows +
                       step * Config::step_rows;
    const int num_rows = view.tile_rows[tile] - step * Config::step_rows;
    double* sums = view.step_sums + position * Config::steps + step;
    const auto sums_of = [&](int i) {
      return sums + static_cast<i64>(chain_of(i)) * view.work.max_tiles * Config::steps;
    };
    if (num_rows <= 0) {
      if (turn == 0 && lane < count) *sums_of(lane) = 0;
      continue;
    }
    const RowsInMemory<Real> own_rows{rows + lane * kRows, kTileRows, num_rows - lane * kRows};
#pragma unroll 1
    for (int i = 0; i < count; i += kTogether) {
      Real value[kTogether][kRows];
      Gradient::evaluate(
          coefficients + i * size, size,
          [&](int j, Real(&x)[kRows]) { load_rows(own_rows.first + j * kTileRows, x); }, own_rows,
          own.numbers_of(i, 0) + lane * kRows, Config::stride, value);
      double own_sums[kTogether];
#pragma unroll
      for (int c = 0; c < kTogether; ++c)
        own_sums[c] =
            likelihood.sum(coefficients + (i + c) * size, own_rows, num_rows >= Config::step_rows, value[c]);
      const double sum = sum_each_over_lanes(own_sums);
      const int c = tree_of_lane<kTogether>();
      if (turn == 0 && lane < kTogether && i + c < count) *sums_of(i + c) = sum;
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
#pragma unroll 1
  for (int at = thread; at < count * Gradient::num_gathered; at += kGradientThreads) {
    double sum = 0;
    for (int w = 0; w < kGradientWarps; ++w)
      sum += static_cast<double>(gathered[w * kChains * Gradient::num_gathered + at]);
    constexpr int kGathered = Gradient::num_gathered > 0 ? Gradient::num_gathered : 1;
    written(at / kGathered)[Config::first_gathered_slot + at % kGathered] = sum;
  }
}

/// One block for each active chain: the log likelihood, and the gradient from the sums of groups. Dynamic
/// shared memory: slots, sums and numbers of Gradient::write() and kGradientFinishThreads doubles.
template <class Config>
__global__ void __launch_bounds__(kGradientFinishThreads)
    gradient_finish_kernel(const __grid_constant__ GradientKernelView view) {
  using Gradient = typename Config::Gradient;
  extern __shared__ __align__(16) double finish_memory[];
  constexpr int kWarps = kGradientFinishThreads / 32;
  __shared__ double scratch[kWarps > BlockTeam::kScratch ? kWarps : BlockTeam::kScratch];
  begin_overlapped();
  const int chain = view.active.chains ? view.active.chains[blockIdx.x] : static_cast<int>(blockIdx.x);
  if (view.wanted && view.wanted[chain] == 0) return;
  const int list = Config::uniform ? 0 : view.work.list_of_chain[chain];
  const int num_tiles = view.work.first_tile[list + 1] - view.work.first_tile[list];
  const int thread = static_cast<int>(threadIdx.x);

  double* steps = view.step_sums + static_cast<i64>(chain) * view.work.max_tiles * Config::steps;
  double sum = 0;
  if (Config::uniform || view.work.max_segments <= 1) {
    sum = sum_over_array<kGradientFinishThreads>(steps, num_tiles * Config::steps, scratch);
  } else {
    double* segment_sums = view.segment_sums + static_cast<i64>(chain) * view.work.max_segments;
    const ListSegments segments = segments_of_list(view.work.first_segment, view.work.segment_first, list);
    sum_segments(
        segments, {0, 1, thread == 0}, segment_sums,
        [&](int begin, int end) {
          return sum_over_array<kGradientFinishThreads>(steps + begin * Config::steps,
                                                        (end - begin) * Config::steps, scratch);
        },
        [] { __syncthreads(); });
    sum = sum_over_array<kGradientFinishThreads>(segment_sums, segments.count, scratch);
  }
  const double num_rows = view.work.num_rows[list];
  if (thread == 0)
    view.log_likelihood[chain] =
        num_tiles == 0 ? 0 : Config::likelihood().log_likelihood(num_rows, view.common[chain], sum);

  double* slots = finish_memory;
  double* parts = slots + Config::slots + Gradient::num_sums + Gradient::num_work;
  constexpr int kWide =
      Config::slots < kGradientFinishThreads ? power_below(2 * Config::slots - 1) : kGradientFinishThreads;
  constexpr int kShares = kGradientFinishThreads / kWide;
  const int num_groups = num_gradient_groups(num_tiles * Config::parts);
  const double* groups = view.group_sums + static_cast<i64>(chain) * view.max_groups * Config::slots;
#pragma unroll 1
  for (int first = 0; first < Config::slots; first += kWide) {
    const int slot = first + thread % kWide;
    double own = 0;
    if (slot < Config::slots) {
#pragma unroll 8
      for (int g = thread / kWide; g < num_groups; g += kShares)
        own += __ldcg(groups + static_cast<i64>(g) * Config::slots + slot);
    }
    parts[thread] = own;
    __syncthreads();
    if (thread < kWide && slot < Config::slots) {
      for (int share = 1; share < kShares; ++share) own += parts[share * kWide + thread];
      slots[slot] = own;
    }
    __syncthreads();
  }
  Gradient::write(BlockTeam{scratch}, view.theta + static_cast<i64>(chain) * view.ld, num_rows, slots,
                  static_cast<const typename Config::Real*>(view.shift), slots + Config::slots,
                  slots + Config::slots + Gradient::num_sums,
                  view.gradient + static_cast<i64>(chain) * view.ld_gradient);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_KERNEL_CUH
