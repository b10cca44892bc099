// The sums over rows of numbers times columns, as a warp adds them (gradient_warp.cuh): by products of
// matrices, or by lanes that multiply their own rows.
#ifndef EMOMC_DEVICE_GRADIENT_PRODUCTS_CUH
#define EMOMC_DEVICE_GRADIENT_PRODUCTS_CUH

#include "emomc/device/gradient_config.cuh"
#include "emomc/device/gradient_step_rows.cuh"
#include "emomc/device/row_sums.cuh"
#include "emomc/device/tensor_products.cuh"

namespace emomc::device {

/// The numbers of a step's rows in the shared memory of a warp.
template <class Config>
struct StepNumbers {
  typename Config::Real* first;

  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ typename Config::Real* of(int chain, int number) const {
    return first + (chain * Config::Gradient::num_numbers + number) * Config::stride;
  }
};

/// Sums by products of matrices, which the tensor cores compute.
template <class Config>
class TileProducts {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  using Tensor = typename TensorOf<Real>::Type;
  static constexpr int kChains = Config::chains, kTiles = Config::tiles_at_once, kEach = Tensor::kEach;
  static_assert(kEach == Config::each);
  static constexpr int kNumbersOfSet = 8;  ///< numbers that an instruction multiplies
  static constexpr int kSets = (kChains * Config::numbers_at_once + kNumbersOfSet - 1) / kNumbersOfSet;
  using Numbers = typename Tensor::template Numbers<Gradient::rounds_numbers>;
  struct Columns {
    int first, second;
  };

 public:
  /// `turn`: index in the third dimension of the grid.
  __device__ TileProducts(const Real* shift, StepNumbers<Config> numbers, int turn)
      : shift_(shift),
        numbers_(numbers),
        first_number_(turn % Config::number_turns * Config::numbers_at_once) {
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
  }

  /// Adds the rows of a step (gradient_step_rows.cuh).
  template <class Rows>
  __device__ void add(const Rows& rows) {
    Real sums[kProducts][kSets][Tensor::kSums];
#pragma unroll
    for (int p = 0; p < kProducts; ++p)
#pragma unroll
      for (int s = 0; s < kSets; ++s)
#pragma unroll
        for (int i = 0; i < Tensor::kSums; ++i) sums[p][s][i] = 0;
    // Few pointers are kept in registers; many would crowd out the sums.
    constexpr int kPointers = !Rows::is_copy && Gradient::has_squares && kTiles <= 8 ? (kTiles + 1) / 2 : 0;
    const Real* first_columns[kPointers > 0 ? kPointers : 1];
#pragma unroll
    for (int i = 0; i < kPointers; ++i)
      first_columns[i] = rows.place(first_column(2 * i), lane() % 4 * kEach);
#pragma unroll kTiles <= 4 || Config::blocks == 1 ? 2 : 1
    for (int begin = 0; begin < Config::step_rows; begin += 4 * kEach) {
      const int row = begin + lane() % 4 * kEach;
      Numbers numbers[kSets];
      if constexpr (share_numbers()) load_numbers(Gradient::tile(0).number + first_number_, row, numbers);
      Real x[Tensor::kTiles][kEach];
#pragma unroll
      for (int p = 0; p < kProducts; ++p) {
        if constexpr (!share_numbers()) load_numbers(numbers_of_tile_[p], row, numbers);
#pragma unroll
        for (int i = 0; i < Tensor::kTiles; ++i) {
          const int t = p * kTilesTogether + i;
          if (i < kTilesTogether && t < kTiles && (!Gradient::has_squares || t % 2 == 0)) {
            const Real* first = kPointers > 0 ? first_columns[kPointers > 0 ? t / 2 : 0] + begin
                                              : rows.place(first_column(t), row);
            load(first, rows, row, t, x[i]);
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

  /// Writes the sums to slots[chain][Config::own_slots].
  __device__ void hand_in(Real* slots) const {
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

 private:
  static __device__ int lane() { return StepNumbers<Config>::lane(); }

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
  /// Loads rows of the columns of tile t, from `row` on; a factor that is no column is 1. `first`: the place
  /// of the rows of the first column.
  template <class Rows>
  __device__ void load(const Real* first, const Rows& rows, int row, int t, Real (&x)[kEach]) const {
    const bool is_one = columns_[t].first == kNoColumn;
    load_column(first, first_column(t), x);
    constexpr unsigned kOnes = ones();
    if (kOnes >> t & 1) {
#pragma unroll
      for (int r = 0; r < kEach; ++r) x[r] = is_one ? Real(1) : x[r];
    }
    if constexpr (Gradient::has_products && !Gradient::has_squares)
      multiply_second(rows, row, columns_[t], x);
  }
  /// Multiplies x by rows of the second column of `columns`, if there is one.
  template <class Rows>
  __device__ void multiply_second(const Rows& rows, int row, const Columns& columns, Real (&x)[kEach]) const {
    if (columns.second == kNoColumn) return;
    Real y[kEach];
    load_column(rows.place(columns.second, row), columns.second, y);
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
  __device__ void load_numbers(int first, int row, Numbers (&numbers)[kSets]) const {
#pragma unroll
    for (int s = 0; s < kSets; ++s) {
      int number = lane() / 4 + kNumbersOfSet * s;
      if (number >= kChains * Config::numbers_at_once) number = 0;
      const int chain = number / Config::numbers_at_once;
      int k = first + number % Config::numbers_at_once;
      if (Config::number_turns > 1 && k >= Gradient::num_of_tile) k = first;
      Real a[kEach];
      load_rows(numbers_.of(chain, k) + row, a);
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

  const Real* shift_;
  StepNumbers<Config> numbers_;
  int first_number_;
  Columns columns_[kTiles];      ///< the lane's column and second column of each tile
  int numbers_of_tile_[kTiles];  ///< first number of each tile, where tiles do not share their numbers
  Real products_[kProducts][kSets][Tensor::kSums];
};

/// Sums by lanes that multiply their own rows.
template <class Config>
class LaneProducts {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  static constexpr int kTiles = Config::tiles_at_once, kRows = Config::rows;
  static constexpr int kSums = Config::chains * Gradient::num_of_tile;

 public:
  __device__ LaneProducts(const Real* shift, StepNumbers<Config> numbers, int)
      : shift_(shift), numbers_(numbers) {
#pragma unroll
    for (int i = 0; i < kSums; ++i)
#pragma unroll
      for (int u = 0; u < Config::used_columns; ++u) sums_[i][u] = 0;
  }

  /// Adds the rows of a step, as TileProducts does; a lane adds its rows one after the other.
  template <class Rows>
  __device__ void add(const Rows& rows) {
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
        load_rows(rows.place(columns[i], first), x);
        const Real shift = Gradient::has_shift ? shift_[columns[i]] : Real(0);
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          factor[u][r] = (i == 0 ? Real(1) : factor[u][r]) * (Gradient::has_shift ? x[r] - shift : x[r]);
      }
    });
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      const int chain = i / Gradient::num_of_tile, k = i % Gradient::num_of_tile;
      Real a[kRows];
      int loaded = -1;
      for_used_columns([&](int t, int, int u) {
        const int number = Gradient::tile(t).number + k;
        if (number != loaded) load_rows(numbers_.of(chain, number) + first, a);
        loaded = number;
#pragma unroll
        for (int r = 0; r < kRows; ++r) sums_[i][u] = real_fma(a[r], factor[u][r], sums_[i][u]);
      });
    }
  }
  /// Writes the sums to slots[chain][Config::own_slots].
  __device__ void hand_in(Real* slots) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      const int chain = i / Gradient::num_of_tile, k = i % Gradient::num_of_tile;
      Real* own = slots + chain * Config::own_slots;
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
        if (lane() < kGradientTileColumns)
          own[(t * Config::numbers_at_once + k) * kGradientTileColumns + lane()] = 0;
      __syncwarp();
      for_used_columns([&](int t, int c, int u) {
        const double sum = sum_over_lanes(sums_[i][u]);
        if (lane() == 0) own[(t * Config::numbers_at_once + k) * kGradientTileColumns + c] = sum;
      });
    }
  }

 private:
  static __device__ int lane() { return StepNumbers<Config>::lane(); }

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

  const Real* shift_;
  StepNumbers<Config> numbers_;
  Real sums_[kSums][Config::used_columns];
};

/// A likelihood without columns to multiply.
template <class Config>
struct NoProducts {
  using Real = typename Config::Real;
  __device__ NoProducts(const Real*, StepNumbers<Config>, int) {}
  template <class Rows>
  __device__ void add(const Rows&) {}
  __device__ void hand_in(Real*) const {}
};

template <class Config, bool kHasTiles = (Config::tiles_at_once > 0), bool kByLanes = Config::by_lanes>
struct ProductsOf {
  using Type = NoProducts<Config>;
};
template <class Config>
struct ProductsOf<Config, true, false> {
  using Type = TileProducts<Config>;
};
template <class Config>
struct ProductsOf<Config, true, true> {
  using Type = LaneProducts<Config>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_PRODUCTS_CUH
