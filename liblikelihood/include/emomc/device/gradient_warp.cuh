// The work of a warp for a gradient (gradient_kernel.cuh): the warp adds up the numbers of the rows of its
// steps, multiplied by columns, plain, or by index.
#ifndef EMOMC_DEVICE_GRADIENT_WARP_CUH
#define EMOMC_DEVICE_GRADIENT_WARP_CUH

#include "emomc/device/gradient_products.cuh"

namespace emomc::device {

template <class Config>
class GradientWarp {
  using Real = typename Config::Real;
  using Gradient = typename Config::Gradient;
  static constexpr int kChains = Config::chains, kEach = Config::each;

 public:
  /// `turn`: index in the third dimension of the grid.
  __device__ GradientWarp(const Real* shift, Real* numbers, Real* gathered, int turn)
      : numbers_{numbers}, gathered_(gathered), turn_(turn), products_(shift, numbers_, turn) {
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

  static __device__ int lane() { return StepNumbers<Config>::lane(); }
  __device__ Real* numbers_of(int chain, int number) const { return numbers_.of(chain, number); }

  /// Adds the numbers of the rows of a step to the warp's sums; `rows` as in gradient_step_rows.cuh.
  template <class Rows>
  __device__ void add(const Rows& rows) {
    products_.add(rows);
    if (turn_ != 0) return;
    if constexpr (kPlain > 0) add_plain();
#pragma unroll 1
    for (int g = 0; g < Gradient::num_gathered_sums; ++g) gather(Gradient::gathered(g));
  }

  /// Writes the warp's sums to slots[chain][Config::own_slots].
  __device__ void hand_in(Real* slots) const {
    products_.hand_in(slots);
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

  StepNumbers<Config> numbers_;
  Real* gathered_;
  int turn_;
  typename ProductsOf<Config>::Type products_;
  int plain_numbers_[kPlain > 0 ? kPlain : 1];
  Real plain_[kChains][kPlain > 0 ? kPlain : 1];
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_WARP_CUH
