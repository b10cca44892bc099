// Sums of components that are kept between evaluations in which one component changes at a time: those of
// pairs and of blocks of four (mixture_sum.hpp). They are the current point's, but for one pair and one
// block, or all, that are stale: a candidate's own sums are not kept, and once it is accepted the next
// evaluation that needs them makes them anew, of its own coefficients, which are the same there.
#ifndef EMOMC_DEVICE_KEPT_SUMS_CUH
#define EMOMC_DEVICE_KEPT_SUMS_CUH

#include "emomc/device/axis_aligned_mixture.hpp"
#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// What is not to be read, by number.
struct StaleSums {
  static constexpr int kNone = -1, kAll = -2;
  int pair, block;

  __device__ bool has_pair(int which) const { return pair == which || pair == kAll; }
  __device__ bool has_block(int which) const { return block == which || block == kAll; }
  __device__ bool has_only(int that_pair, int that_block) const {
    return (pair == kNone || pair == that_pair) && (block == kNone || block == that_block);
  }
  /// After an evaluation of component `changed`, or where that is negative of all.
  __device__ StaleSums after(int changed, bool accepted) const {
    if (changed < 0) return accepted ? StaleSums{kAll, kAll} : *this;
    const int own = changed / kPair, of = changed / kComponentBlock;
    return {accepted || has_pair(own) ? own : kNone, accepted || has_block(of) ? of : kNone};
  }
};

/// Which sums are kept for each block of components: fewer bytes to read, or fewer to hold.
enum class KeptKinds { pairs_and_blocks, pairs };
template <KeptKinds kKinds>
inline constexpr int kKeptOfBlock = kKinds == KeptKinds::pairs ? kBlockPairs : kBlockPairs + 1;

/// Whether two blocks' sums find room in registers beside the computation of a pair's.
template <class Shape>
inline constexpr bool kHasRoomForKept = kIsAxisAligned<Shape>;

/// Those of a chain and of neighbouring rows.
template <class Shape, class Real, KeptKinds kKinds, class Index = i64>
struct KeptSums {
  static constexpr bool kHasBlocks = kKinds != KeptKinds::pairs;

  Shape shape;
  Real* first;      ///< the first row's in slot 0; a slot is for a pair or a block, one after the other
  Index slot_size;  ///< rows
  StaleSums stale;

  /// Sums of R rows at a candidate whose component `changed` differs from the current point, all of them
  /// where it is negative. Makes anew what is stale elsewhere. `row`: as for add_components.
  template <int R, class Row>
  __device__ void add(const Real* coefficients, int changed, const Row& row, Real (&sum)[R]) const {
    const bool all = changed < 0;
    const int own = all ? StaleSums::kNone : changed / kPair, own_block = changed / kComponentBlock;
    const bool is_fresh = !all && (kHasBlocks ? stale.has_only(own, own_block)
                                              : stale.pair == StaleSums::kNone || stale.pair == own);
    Real own_sum[R], other[R], rest[R];
    // On their way while the pair is computed.
    const bool early = kHasBlocks && kHasRoomForKept<Shape> && is_fresh && shape.num_blocks() <= 2;
    if (early) {
      load_rows(of_pair(own ^ 1), other);
      if (shape.num_blocks() == 2) load_block(1 - own_block, rest);
    }
    // One loop for the own pair, stale ones before it, and all, so that there is one copy of the code.
    int pair = is_fresh ? own : all ? 0 : stale_pair_from(0, own);
#pragma unroll 1
    while (true) {
      add_pair(shape, coefficients, pair, row, own_sum);
      if (pair == own) break;
      if (all) {
        const bool completes = pair % kBlockPairs != 0;
#pragma unroll
        for (int r = 0; r < R; ++r) {
          if (completes) sum[r] = pair == 1 ? rest[r] + own_sum[r] : sum[r] + (rest[r] + own_sum[r]);
          rest[r] = own_sum[r];
        }
        if (++pair == shape.num_pairs()) return;
        continue;
      }
      store_rows(own_sum, of_pair(pair));
      pair = stale_pair_from(pair + 1, own);
    }
    if (kHasBlocks && !is_fresh) make_stale_blocks<R>(own_block);
    if (!early) load_rows(of_pair(own ^ 1), other);
#pragma unroll
    for (int r = 0; r < R; ++r) own_sum[r] = own_sum[r] + other[r];
    if (early) {  // two numbers have the same sum in either order
#pragma unroll
      for (int r = 0; r < R; ++r) sum[r] = shape.num_blocks() == 2 ? own_sum[r] + rest[r] : own_sum[r];
      return;
    }
    EMOMC_UNROLL_EXACT
    for (int block = 0; block < shape.num_blocks(); ++block) {
      if (block != own_block) load_block(block, rest);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const Real x = block == own_block ? own_sum[r] : rest[r];
        sum[r] = block == 0 ? x : sum[r] + x;
      }
    }
  }

 private:
  /// The first stale pair from `from` on that is not `own`; `own` after them.
  __device__ int stale_pair_from(int from, int own) const {
    if (stale.pair != StaleSums::kAll) return stale.pair < from ? own : stale.pair;
    if (from == own) ++from;
    return from < shape.num_pairs() ? from : own;
  }
  template <int R>
  __device__ void make_stale_blocks(int own_block) const {
#pragma unroll 1
    for (int block = 0; block < shape.num_blocks(); ++block) {
      if (block == own_block || !stale.has_block(block)) continue;
      Real sum[R];
      add_own_pairs(block, sum);
      store_rows(sum, of_block(block));
    }
  }
  template <int R>
  __device__ void add_own_pairs(int block, Real (&sum)[R]) const {
    add_kept_block(
        block, [this](int pair, Real(&p)[R]) { load_rows(of_pair(pair), p); }, sum);
  }
  template <int R>
  __device__ void load_block(int block, Real (&sum)[R]) const {
    if constexpr (kHasBlocks)
      load_rows(of_block(block), sum);
    else
      add_own_pairs(block, sum);
  }
  __device__ Real* of_pair(int pair) const {
    return first + (pair / kBlockPairs * kKeptOfBlock<kKinds> + pair % kBlockPairs) * slot_size;
  }
  __device__ Real* of_block(int block) const {
    return first + (block * kKeptOfBlock<kKinds> + kBlockPairs) * slot_size;
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_KEPT_SUMS_CUH
