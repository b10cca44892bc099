// The work of a warp for a gradient (gradient_kernel.cuh): the warp adds up the numbers of the rows of its
// steps, multiplied by columns, plain, or by index.
#ifndef EMOMC_DEVICE_GRADIENT_WARP_CUH
#define EMOMC_DEVICE_GRADIENT_WARP_CUH

#include "emomc/device/gradient_rows.hpp"
#include "emomc/device/row_sums.cuh"
#include "emomc/device/tensor_products.cuh"

namespace emomc::device {

/// Constants of a kernel. kChains: chains of a block; kTogether: chains whose rows a thread evaluates
/// together; kUniform: all chains read all tiles as one segment; kBlocks: blocks for which registers must
/// have room on a multiprocessor; 0: gradient_blocks().
template <class SizedL, class Real_, int kChains, int kTogether, bool kUniform, int kBlocks = 0>
struct GradientConfig {
  using Sizes = SizedL;
  using Likelihood = typename SizedL::Likelihood;
  using Gradient = GradientOf<SizedL>;
  using Real = Real_;
  static constexpr int chains = kChains;
  static constexpr bool uniform = kUniform;
  static_assert(kUniform || kChains == 1);
  static constexpr int together = kTogether;
  static_assert(kChains % kTogether == 0);
  static constexpr int rows = gradient_rows_of_thread(sizeof(Real), Gradient::num_numbers);
  static constexpr int step_rows = 32 * rows, part_rows = kGradientWarps * step_rows;
  static constexpr int parts = kTileRows / part_rows;  ///< parts of a tile
  static constexpr int steps = kTileRows / step_rows;  ///< steps of a tile
  static constexpr int stride = gradient_stride(sizeof(Real), Gradient::num_numbers);
  /// Numbers of a chain, and tiles, that a block multiplies; blocks with other indices in the third dimension
  /// of the grid multiply the others.
  static constexpr int numbers_at_once = Gradient::num_of_tile < gradient_numbers_at_once(sizeof(Real))
                                             ? Gradient::num_of_tile
                                             : gradient_numbers_at_once(sizeof(Real));
  static constexpr int tiles_at_once =
      Gradient::num_tiles < kGradientTilesAtOnce ? Gradient::num_tiles : kGradientTilesAtOnce;
  static_assert(kChains * numbers_at_once <= gradient_numbers_at_once(sizeof(Real)));
  static constexpr GradientSizes sizes = gradient_sizes<Gradient>();
  static constexpr int used_columns = sizes.num_used_columns;
  static constexpr bool by_lanes = gradient_by_lanes(sizes, static_cast<int>(sizeof(Real)));
  static constexpr int blocks = kBlocks > 0 ? kBlocks
                                            : gradient_blocks(sizes, static_cast<int>(sizeof(Real)), kChains,
                                                              kTogether);
  /// Whether a lane keeps its rows in registers for all chains.
  static constexpr int num_columns = Gradient::num_columns;
  static constexpr bool keeps_rows = kTogether > 1 &&
                                     num_columns* rows* static_cast<int>(sizeof(Real)) / 4 <= 48;
  static constexpr int number_turns = (Gradient::num_of_tile + numbers_at_once - 1) / numbers_at_once;

  /// Lanes that share a plain sum; each lane adds different rows, `each` at a time.
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
  /// Slots of a chain that a block adds up.
  static constexpr int own_slots = gradient_slots_at_once(gradient_sizes<Gradient>(), sizeof(Real));
  static constexpr int own_tile_slots = tiles_at_once * numbers_at_once * kGradientTileColumns;
  static_assert(own_slots == own_tile_slots + Gradient::num_plain);

  static __device__ Likelihood likelihood() { return SizedL::likelihood(); }
};

template <class Config>
class GradientWarp {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  using Tensor = typename TensorOf<Real>::Type;
  static constexpr int kChains = Config::chains, kTiles = Config::tiles_at_once, kEach = Tensor::kEach;
  static_assert(kEach == Config::each);
  static constexpr int kNumbersOfSet = 8;  ///< numbers that an instruction multiplies
  static constexpr int kSets = (kChains * Config::numbers_at_once + kNumbersOfSet - 1) / kNumbersOfSet;

 public:
  /// `turn`: index in the third dimension of the grid.
  __device__ GradientWarp(const Real* shift, Real* numbers, Real* gathered, int turn)
      : shift_(shift), numbers_(numbers), gathered_(gathered), turn_(turn) {
    // Indices of tiles are constants here; otherwise the compiler would put tables into memory.
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
    for (int p = 0; p < kProducts; ++p)
#pragma unroll
      for (int s = 0; s < kSets; ++s)
#pragma unroll
        for (int i = 0; i < Tensor::kSums; ++i) products_[p][s][i] = 0;
#pragma unroll
    for (int i = 0; i < kLaneSums; ++i)
#pragma unroll
      for (int u = 0; u < Config::used_columns; ++u) of_lane_[i][u] = 0;
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

  /// Adds the numbers of the rows of a step to the warp's sums; `rows`: the step's first row in column 0.
  __device__ void add(const Real* rows) {
    if constexpr (Config::by_lanes)
      add_by_lanes(rows);
    else if constexpr (kTiles > 0)
      add_products(rows);
    if (turn_ != 0) return;
    if constexpr (kPlain > 0) add_plain();
#pragma unroll 1
    for (int g = 0; g < Gradient::num_gathered_sums; ++g) gather(Gradient::gathered(g));
  }

  /// Writes the warp's sums to slots[chain][Config::own_slots].
  __device__ void hand_in(Real* slots) const {
    if constexpr (Config::by_lanes)
      hand_in_lanes(slots);
    else
      hand_in_products(slots);
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

  /// The index among all slots of a chain of slot `own` of the block; negative: the slot is padding.
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
  static constexpr int kNumberSets = kSets > 0 ? kSets : 1;
  static constexpr int kLaneSums = Config::by_lanes ? kChains * Gradient::num_of_tile : 1;
  using Numbers = typename Tensor::template Numbers<Gradient::rounds_numbers>;
  struct Columns {
    int first, second;
  };

  __device__ int first_number() const { return turn_ % Config::number_turns * Config::numbers_at_once; }

  /// Bit t: whether a tile that may be number t of the warp has a column that is 1.
  static constexpr unsigned ones() {
    unsigned bits = 0;
    for (int t = 0; t < Gradient::num_tiles; ++t)
      for (int c = 0; c < kGradientTileColumns; ++c)
        if (Gradient::tile(t).first[c] == kNoColumn) bits |= 1u << t % kGradientTilesAtOnce;
    return bits;
  }
  /// The index of the lane's first column of tile t, or of any column where there is none.
  __device__ int first_column(int t) const { return max(columns_[t].first, 0); }
  /// Loads rows of the columns of tile t; a factor that is no column is 1. `first`: the rows of the first
  /// column.
  __device__ void load(const Real* first, const Real* rows, int t, Real (&x)[kEach]) const {
    const bool is_one = columns_[t].first == kNoColumn;
    load_column(first, first_column(t), x);
    constexpr unsigned kOnes = ones();
    if (kOnes >> t & 1) {
#pragma unroll
      for (int r = 0; r < kEach; ++r) x[r] = is_one ? Real(1) : x[r];
    }
    if constexpr (Gradient::has_products && !Gradient::has_squares) multiply_second(rows, columns_[t], x);
  }
  /// Multiplies x by rows of the second column of `columns`, if there is one.
  __device__ void multiply_second(const Real* rows, const Columns& columns, Real (&x)[kEach]) const {
    if (columns.second == kNoColumn) return;
    Real y[kEach];
    load_column(rows + columns.second * kTileRows, columns.second, y);
#pragma unroll
    for (int r = 0; r < kEach; ++r) x[r] *= y[r];
  }
  __device__ void load_column(const Real* from, int j, Real (&x)[kEach]) const {
    load_rows(from, x);
    if constexpr (Gradient::has_shift) {
      const Real shift = shift_[j];
#pragma unroll
      for (int r = 0; r < kEach; ++r) x[r] -= shift;
    }
  }
  /// Loads rows of the lane's numbers, from number `first` on.
  __device__ void load_numbers(int first, int row, Numbers (&numbers)[kNumberSets]) const {
#pragma unroll
    for (int s = 0; s < kSets; ++s) {
      int number = lane() / 4 + kNumbersOfSet * s;
      if (number >= kChains * Config::numbers_at_once) number = 0;
      const int chain = number / Config::numbers_at_once;
      int k = first + number % Config::numbers_at_once;
      if (Config::number_turns > 1 && k >= Gradient::num_of_tile) k = first;
      Real a[kEach];
      load_rows(numbers_of(chain, k) + row, a);
      numbers[s].set(a);
    }
  }

  /// Whether all tiles multiply the same numbers.
  static constexpr bool share_numbers() {
    for (int t = 1; t < Gradient::num_tiles; ++t)
      if (Gradient::tile(t).number != Gradient::tile(0).number) return false;
    return true;
  }
  /// Tiles that an instruction multiplies by the same numbers.
  static constexpr int kTilesTogether = share_numbers() ? Tensor::kTiles : 1;
  static constexpr int kProducts = (kTiles + kTilesTogether - 1) / kTilesTogether;

  __device__ void add_products(const Real* rows) {
    Real sums[kProducts][kSets][Tensor::kSums];
#pragma unroll
    for (int p = 0; p < kProducts; ++p)
#pragma unroll
      for (int s = 0; s < kSets; ++s)
#pragma unroll
        for (int i = 0; i < Tensor::kSums; ++i) sums[p][s][i] = 0;
    // Few pointers are kept in registers; many would crowd out the sums.
    constexpr int kPointers = Gradient::has_squares && kTiles <= 8 ? (kTiles + 1) / 2 : 0;
    const Real* first_columns[kPointers > 0 ? kPointers : 1];
#pragma unroll
    for (int i = 0; i < kPointers; ++i)
      first_columns[i] = rows + first_column(2 * i) * kTileRows + lane() % 4 * kEach;
#pragma unroll kTiles <= 4 ? 2 : 1
    for (int begin = 0; begin < Config::step_rows; begin += 4 * kEach) {
      const int row = begin + lane() % 4 * kEach;
      Numbers numbers[kNumberSets];
      if constexpr (share_numbers()) load_numbers(Gradient::tile(0).number + first_number(), row, numbers);
      Real x[Tensor::kTiles][kEach];
#pragma unroll
      for (int p = 0; p < kProducts; ++p) {
        if constexpr (!share_numbers()) load_numbers(numbers_of_tile_[p], row, numbers);
#pragma unroll
        for (int i = 0; i < Tensor::kTiles; ++i) {
          const int t = p * kTilesTogether + i;
          if (i < kTilesTogether && t < kTiles && (!Gradient::has_squares || t % 2 == 0)) {
            const Real* first = kPointers > 0 ? first_columns[kPointers > 0 ? t / 2 : 0] + begin
                                              : rows + row + first_column(t) * kTileRows;
            load(first, rows + row, t, x[i]);
          } else {  // squares of the tile before, or a tile whose sums are not used
#pragma unroll
            for (int r = 0; r < kEach; ++r) x[i][r] = Gradient::has_squares ? x[0][r] * x[0][r] : x[0][r];
          }
        }
        constexpr bool kLoaded = !Gradient::has_shift && !Gradient::has_products;
        const typename Tensor::template Columns<kLoaded> columns(x);
#pragma unroll
        for (int s = 0; s < kSets; ++s) Tensor::add_products(columns, numbers[s], sums[p][s]);
      }
    }
#pragma unroll
    for (int p = 0; p < kProducts; ++p)
#pragma unroll
      for (int s = 0; s < kSets; ++s)
#pragma unroll
        for (int i = 0; i < Tensor::kSums; ++i) products_[p][s][i] += sums[p][s][i];
  }

  __device__ void hand_in_products(Real* slots) const {
#pragma unroll
    for (int p = 0; p < kProducts; ++p)
#pragma unroll
      for (int s = 0; s < kSets; ++s)
#pragma unroll
        for (int i = 0; i < Tensor::kSums; ++i) {
          const int t = p * kTilesTogether + i / 2, number = kNumbersOfSet * s + 2 * (lane() % 4) + i % 2;
          const int chain = number / Config::numbers_at_once, k = number % Config::numbers_at_once;
          if (i / 2 < kTilesTogether && t < kTiles && chain < kChains)
            slots[chain * Config::own_slots + (t * Config::numbers_at_once + k) * kGradientTileColumns +
                  lane() / 4] = products_[p][s][i];
        }
  }

  /// Calls f(t, c, u) for each column c of a tile t whose sum is used; u counts these columns.
  template <class F>
  static __device__ void for_used_columns(F f) {
    int used = 0;
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int c = 0; c < kGradientTileColumns; ++c)
        if (Gradient::tile(t).first[c] != kPadding) f(t, c, used++);
  }
  /// Does the work of add_products() for the lane's own rows, one after the other.
  __device__ void add_by_lanes(const Real* rows) {
    constexpr int kRows = Config::rows;
    const int first = lane() * kRows;
    Real factor[Config::used_columns][kRows];
    for_used_columns([&](int t, int c, int u) {
      const int columns[] = {Gradient::tile(t).first[c], Gradient::tile(t).second[c]};
#pragma unroll
      for (int r = 0; r < kRows; ++r) factor[u][r] = 1;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (columns[i] == kNoColumn) continue;
        Real x[kRows];
        load_rows(rows + columns[i] * kTileRows + first, x);
        const Real shift = Gradient::has_shift ? shift_[columns[i]] : Real(0);
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          factor[u][r] = (i == 0 ? Real(1) : factor[u][r]) * (Gradient::has_shift ? x[r] - shift : x[r]);
      }
    });
#pragma unroll
    for (int i = 0; i < kLaneSums; ++i) {
      const int chain = i / Gradient::num_of_tile, k = i % Gradient::num_of_tile;
      Real a[kRows];
      int loaded = -1;
      for_used_columns([&](int t, int, int u) {
        const int number = Gradient::tile(t).number + k;
        if (number != loaded) load_rows(numbers_of(chain, number) + first, a);
        loaded = number;
#pragma unroll
        for (int r = 0; r < kRows; ++r) of_lane_[i][u] = real_fma(a[r], factor[u][r], of_lane_[i][u]);
      });
    }
  }
  __device__ void hand_in_lanes(Real* slots) const {
#pragma unroll
    for (int i = 0; i < kLaneSums; ++i) {
      const int chain = i / Gradient::num_of_tile, k = i % Gradient::num_of_tile;
      Real* own = slots + chain * Config::own_slots;
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
        if (lane() < kGradientTileColumns)
          own[(t * Config::numbers_at_once + k) * kGradientTileColumns + lane()] = 0;
      __syncwarp();
      for_used_columns([&](int t, int c, int u) {
        const double sum = sum_over_lanes(of_lane_[i][u]);
        if (lane() == 0) own[(t * Config::numbers_at_once + k) * kGradientTileColumns + c] = sum;
      });
    }
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

  /// Adds numbers to the gathered sums. The first of the lanes with the same index adds up the rows of all of
  /// them, in the order of lanes.
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
  Columns columns_[kTiles > 0 ? kTiles : 1];      ///< the lane's column and second column of each tile
  int numbers_of_tile_[kTiles > 0 ? kTiles : 1];  ///< first number of each tile, where tiles do not share
                                                  ///< their numbers
  int plain_numbers_[kPlain > 0 ? kPlain : 1];
  Real of_lane_[kLaneSums][Config::used_columns > 0 ? Config::used_columns : 1];  ///< where lanes multiply
  Real products_[kTiles > 0 ? kProducts : 1][kSets > 0 ? kSets : 1][Tensor::kSums];
  Real plain_[kChains][kPlain > 0 ? kPlain : 1];
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_WARP_CUH
