// Log likelihoods and gradients of many parameter vectors (gradient_rows.hpp), compiled at run time with all
// sizes as constants. A block has a group of parts of tiles and some chains. Each warp goes through rows of
// its own, a step of its lanes' rows at a time: every lane evaluates its rows and writes their numbers to the
// warp's shared memory; the products of numbers and columns are then a product of matrices, which the tensor
// cores add up. The warps' sums are added in their order, those of groups by gradient_finish_kernel, so that
// their bits depend on the chain's rows alone. Log densities have the tree of docs/statistics.md.
//
// The tensor cores take float32 numbers without their last 13 bits, so that a number is given as a sum of
// two, but for numbers that may be rounded; and they cut off what they add up, so that their sums go on for a
// step only.
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
  /// Blocks that share a multiprocessor, by the registers that the numbers of a lane's rows and its sums
  /// take.
  static constexpr int registers =
      rows * Gradient::num_numbers * static_cast<int>(sizeof(Real)) / 4 + 10 * tiles_at_once;
  static constexpr int blocks = registers > 76 ? 1 : registers <= 36 && kTogether == 1 ? 3 : 2;
  /// Whether a lane keeps its rows in registers for all chains.
  static constexpr int num_columns = Gradient::num_columns;
  static constexpr bool keeps_rows = kTogether > 1 &&
                                     num_columns* rows* static_cast<int>(sizeof(Real)) / 4 <= 48;
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
  static __device__ unsigned rounded(float x) {
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
  }

  /// The numbers of two rows, in the parts that are multiplied.
  template <bool kRounded>
  struct Numbers {
    unsigned of_rows[kEach / 2][kRounded ? 1 : 2][4];

    __device__ explicit Numbers(const float (&a)[kNumbers][kEach]) {
#pragma unroll
      for (int r = 0; r < kEach; r += 2) {
        const float x[] = {a[0][r], a[1][r], a[0][r + 1], a[1][r + 1]};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          of_rows[r / 2][0][i] = kRounded ? rounded(x[i]) : high(x[i]);
          if constexpr (!kRounded) of_rows[r / 2][1][i] = low(x[i]);
        }
      }
    }
    /// sums += a' x.
    __device__ void add_products(const float (&x)[kEach], float (&sums)[kSums]) const {
#pragma unroll
      for (int r = 0; r < kEach; r += 2) {
        const unsigned x_high[] = {high(x[r]), high(x[r + 1])}, x_low[] = {low(x[r]), low(x[r + 1])};
        if constexpr (!kRounded) multiply(of_rows[r / 2][1], x_high, sums);
        multiply(of_rows[r / 2][0], x_low, sums);
        multiply(of_rows[r / 2][0], x_high, sums);
      }
    }
  };
};
struct TensorDouble {
  static constexpr int kEach = 2, kNumbers = 1, kSums = 2;

  template <bool>
  struct Numbers {
    const double (&a)[kNumbers][kEach];

    __device__ explicit Numbers(const double (&numbers)[kNumbers][kEach]) : a(numbers) {}
    __device__ void add_products(const double (&x)[kEach], double (&sums)[kSums]) const {
#pragma unroll
      for (int r = 0; r < kEach; ++r)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sums[0]), "+d"(sums[1])
            : "d"(a[0][r]), "d"(x[r]));
    }
  };
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
    // With constant numbers of tiles, of which tables would otherwise be made in memory.
    constexpr int kTurns = (Gradient::num_tiles + kGradientTilesAtOnce - 1) / kGradientTilesAtOnce;
#pragma unroll
    for (int tile_turn = 0; tile_turn < kTurns; ++tile_turn)
      if (turn / Config::number_turns == tile_turn) {
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
          const int index = tile_turn * kGradientTilesAtOnce + t;
          const GradientTile tile = Gradient::tile(index < Gradient::num_tiles ? index : 0);
          columns_[t] = {tile.first[0], tile.second[0]};
#pragma unroll
          for (int c = 1; c < kGradientTileColumns; ++c)
            if (c == lane() / 4) columns_[t] = {tile.first[c], tile.second[c]};
          if constexpr (!share_numbers()) numbers_of_tile_[t] = tile.number;
        }
      }
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < Tensor::kSums; ++i) products_[t][i] = 0;
    if constexpr (Gradient::num_plain > 0) {
#pragma unroll
      for (int p = 0; p < Gradient::num_plain; ++p)
        if (p % 32 == lane() / Config::plain_lanes) plain_numbers_[p / 32] = Gradient::plain(p).number;
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

  /// Rows of a tile's column, or 1.
  __device__ void load(const Real* rows, const Columns& columns, Real (&x)[kEach]) const {
    const bool is_one = columns.first == kNoColumn;
    load_column(rows, is_one ? 0 : columns.first, x);
#pragma unroll
    for (int r = 0; r < kEach; ++r) x[r] = is_one ? Real(1) : x[r];
  }
  /// The same times rows of its second column.
  __device__ void multiply_second(const Real* rows, const Columns& columns, Real (&x)[kEach]) const {
    if (columns.second == kNoColumn) return;
    Real y[kEach];
    load_column(rows, columns.second, y);
#pragma unroll
    for (int r = 0; r < kEach; ++r) x[r] *= y[r];
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
#pragma unroll kTiles <= 2 ? 2 : 1
    for (int first = lane() % 4 * kEach; first < Config::step_rows; first += 4 * kEach) {
      Real a[Tensor::kNumbers][kEach];
      load_numbers(share_numbers() ? Gradient::tile(0).number + first_number() : numbers_of_tile_[0], first,
                   a);
      const typename Tensor::template Numbers<Gradient::rounds_numbers> shared(a);
      constexpr int kStride = Gradient::has_squares ? 2 : 1;
#pragma unroll
      for (int t = 0; t < kTiles; t += kStride) {
        Real x[kEach];
        load(rows + first, columns_[t], x);
        if constexpr (Gradient::has_squares) {
          shared.add_products(x, sums[t]);
#pragma unroll
          for (int r = 0; r < kEach; ++r) x[r] *= x[r];
          shared.add_products(x, sums[t + 1]);
          continue;
        }
        if constexpr (Gradient::has_products) multiply_second(rows + first, columns_[t], x);
        if constexpr (share_numbers()) {
          shared.add_products(x, sums[t]);
        } else {
          if (t > 0) load_numbers(numbers_of_tile_[t], first, a);
          typename Tensor::template Numbers<Gradient::rounds_numbers>(a).add_products(x, sums[t]);
        }
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
      const Real* first = numbers_of(0, plain_numbers_[turn]);
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
  Columns columns_[kTiles > 0 ? kTiles : 1];      ///< the lane's of each tile
  int numbers_of_tile_[kTiles > 0 ? kTiles : 1];  ///< their first number, where they do not share it
  int plain_numbers_[kPlain > 0 ? kPlain : 1];
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
  const GradientMemory places(gradient_sizes<Gradient>(), size, sizeof(Real), kChains, each);
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
  double* step_sums = reinterpret_cast<double*>(gradient_memory + places.steps);  // [chain][warp][each]
  const int num_steps = num_parts * kGradientWarps;
#pragma unroll 1
  for (int n = 0; n < each; ++n) {
    const int of_list = begin * kGradientWarps + warp * each + n;  // the step's number
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

/// Tree over values[0 .. count), device memory that other blocks have written, by a warp; overwrites its
/// beginning. Every lane gets it.
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

/// One block for each active chain: the log likelihood by the last warp, and the gradient from the sums of
/// groups. Dynamic shared memory: slots, sums and numbers of Gradient::write(), kGradientFinishThreads
/// doubles, and theta.
template <class Config>
__global__ void __launch_bounds__(kGradientFinishThreads)
    gradient_finish_kernel(const __grid_constant__ GradientKernelView view) {
  using Gradient = typename Config::Gradient;
  extern __shared__ __align__(16) double finish_memory[];
  __shared__ double scratch[BlockTeam::kScratch];
  begin_overlapped();
  const int chain = view.active.chains ? view.active.chains[blockIdx.x] : static_cast<int>(blockIdx.x);
  if (view.wanted && view.wanted[chain] == 0) return;
  const int list = Config::uniform ? 0 : view.work.list_of_chain[chain];
  const int num_tiles = view.work.first_tile[list + 1] - view.work.first_tile[list];
  const int num_groups = num_gradient_groups(num_tiles * Config::parts);
  const double num_rows = view.work.num_rows[list];
  const int thread = static_cast<int>(threadIdx.x);

  double* slots = finish_memory;
  double* parts = slots + Config::slots + Gradient::num_sums + Gradient::num_work;
  double* theta = parts + kGradientFinishThreads;
  {
    const double* from = view.theta + static_cast<i64>(chain) * view.ld;
    for (int i = thread; i < Config::likelihood().num_parameters(); i += kGradientFinishThreads)
      theta[i] = from[i];
  }
  constexpr int kWide =
      Config::slots < kGradientFinishThreads ? power_below(2 * Config::slots - 1) : kGradientFinishThreads;
  constexpr int kShares = kGradientFinishThreads / kWide;
  const double* groups = view.group_sums + static_cast<i64>(chain) * view.max_groups * Config::slots;
#pragma unroll 1
  for (int first = 0; first < Config::slots; first += kWide) {
    const int slot = first + thread % kWide;
    double own = 0;
    if (slot < Config::slots) {
#pragma unroll 16
      for (int g = thread / kWide; g < num_groups; g += kShares)
        own += __ldcg(groups + static_cast<i64>(g) * Config::slots + slot);
      if (kShares == 1) slots[slot] = own;
    }
    if (kShares > 1) parts[thread] = own;
  }
  if (thread / 32 == kGradientFinishThreads / 32 - 1) {
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
    if (thread % 32 == 0)
      view.log_likelihood[chain] =
          num_tiles == 0 ? 0 : Config::likelihood().log_likelihood(num_rows, view.common[chain], sum);
  }
  __syncthreads();
  if constexpr (kShares > 1) {
    if (thread < Config::slots) {
      double own = 0;
#pragma unroll
      for (int share = 0; share < kShares; ++share) own += parts[share * kWide + thread];
      slots[thread] = own;
    }
    __syncthreads();
  }
  Gradient::write(BlockTeam{scratch}, theta, num_rows, slots,
                  static_cast<const typename Config::Real*>(view.shift), slots + Config::slots,
                  slots + Config::slots + Gradient::num_sums,
                  view.gradient + static_cast<i64>(chain) * view.ld_gradient);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_KERNEL_CUH
