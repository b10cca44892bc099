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

/// Where the sums that complete a pair's are read, if there are one or two blocks and none of them is stale:
/// for the first of the rows, like KeptSums::first.
template <class Real>
struct FreshSums {
  const Real *of_block, *elsewhere;  ///< the own block's other pair; the other block, or its first pair
  int pair;                          ///< the own one
};

/// Those of a chain and of neighbouring rows.
template <class Shape, class Real, KeptKinds kKinds, class Index = i64>
struct KeptSums {
  static constexpr bool kHasBlocks = kKinds != KeptKinds::pairs;
  /// Whether there are registers for all that is read elsewhere while a pair is computed.
  static constexpr bool kReadsEarly = kHasRoomForKept<Shape> && (kHasBlocks || sizeof(Real) == sizeof(float));

  Shape shape;
  Real* first;      ///< the first row's in slot 0; a slot is for a pair or a block, one after the other
  Index slot_size;  ///< rows
  StaleSums stale;

  /// Whether fresh() has all that a candidate needs whose component `changed` differs from the current point,
  /// all of them where it is negative.
  __device__ bool is_fresh(int changed) const {
    return kReadsEarly && shape.num_blocks() <= 2 && has_nothing_stale(changed);
  }
  __device__ FreshSums<Real> fresh(int changed) const {
    const int own = changed / kPair, block = 1 - changed / kComponentBlock;
    return {of_pair(own ^ 1), kHasBlocks ? of_block(block) : of_pair(block * kBlockPairs), own};
  }

  /// Sums of R rows at such a candidate, those from `offset` on of `fresh`. `row`: as for add_components.
  template <int R, class Row>
  __device__ static void add_fresh(const Shape& shape, const Real* coefficients, const FreshSums<Real>& fresh,
                                   Index offset, Index slot_size, const Row& row, Real (&sum)[R]) {
    Elsewhere<R> elsewhere;
    elsewhere.load(shape, fresh, offset, slot_size);
    Real own_sum[R];
    add_pair(shape, coefficients, fresh.pair, row, own_sum);
    elsewhere.add_to(shape, own_sum, sum);
  }

  /// Sums of R rows at any candidate. Makes anew what is stale elsewhere.
  template <int R, class Row>
  __device__ void add(const Real* coefficients, int changed, const Row& row, Real (&sum)[R]) const {
    if (is_fresh(changed))
      add_fresh(shape, coefficients, fresh(changed), Index{0}, slot_size, row, sum);
    else
      add_stale(coefficients, changed, row, sum);
  }

  /// The same, whatever is fresh.
  template <int R, class Row>
  __device__ void add_stale(const Real* coefficients, int changed, const Row& row, Real (&sum)[R]) const {
    const bool all = changed < 0;
    const int own = all ? shape.num_pairs() - 1 : changed / kPair, own_block = changed / kComponentBlock;
    Real own_sum[R], rest[R];
    // One loop for the own pair, stale ones before it, and all; decided at its end, as otherwise the compiler
    // makes a second copy of its beginning.
    int pair = all ? 0 : has_nothing_stale(changed) ? own : stale_pair_from(0, own);
    bool is_last;
#pragma unroll 1
    do {
      add_pair(shape, coefficients, pair, row, own_sum);
      is_last = pair == own;
      if (all) {
        const bool completes = pair % kBlockPairs != 0;
#pragma unroll
        for (int r = 0; r < R; ++r) {
          if (completes) sum[r] = pair == 1 ? rest[r] + own_sum[r] : sum[r] + (rest[r] + own_sum[r]);
          rest[r] = own_sum[r];
        }
        ++pair;
      } else if (!is_last) {
        store_rows(own_sum, of_pair(pair));
        pair = stale_pair_from(pair + 1, own);
      }
    } while (!is_last);
    if (all) return;
    if (kHasBlocks) make_stale_blocks<R>(own_block);
    load_rows(of_pair(own ^ 1), rest);
#pragma unroll
    for (int r = 0; r < R; ++r) own_sum[r] = own_sum[r] + rest[r];
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
  /// What a fresh candidate's rows need beside their own pair: loaded before that is computed.
  template <int R>
  struct Elsewhere {
    Real other[R], rest[R], last[R];

    __device__ void load(const Shape& shape, const FreshSums<Real>& fresh, Index offset, Index slot_size) {
      load_rows(fresh.of_block + offset, other);
      if (shape.num_blocks() < 2) return;
      load_rows(fresh.elsewhere + offset, rest);
      if (!kHasBlocks) load_rows(fresh.elsewhere + offset + slot_size, last);
    }
    /// Two numbers have the same sum in either order.
    __device__ void add_to(const Shape& shape, const Real (&own_sum)[R], Real (&sum)[R]) const {
#pragma unroll
      for (int r = 0; r < R; ++r) {
        sum[r] = own_sum[r] + other[r];
        if (shape.num_blocks() == 2) sum[r] = sum[r] + (kHasBlocks ? rest[r] : rest[r] + last[r]);
      }
    }
  };

  __device__ bool has_nothing_stale(int changed) const {
    if (changed < 0) return false;
    const int own = changed / kPair;
    return kHasBlocks ? stale.has_only(own, changed / kComponentBlock)
                      : stale.pair == StaleSums::kNone || stale.pair == own;
  }
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

/// Where the kept sums of a chain are, and what is to be done with them; worked out once for all its rows.
template <class Shape, class Real>
struct KeptOfChain {
  using Sums = KeptSums<Shape, Real, KeptKinds::pairs_and_blocks>;

  FreshSums<Real> fresh;  ///< of the data's first row, where is_fresh
  Real* first;            ///< likewise
  bool is_fresh;
  int changed;
  StaleSums stale;

  /// `kept`: of all chains, with `slot_size` rows in a slot; `component`: which one differs, or a negative
  /// number where all do.
  static __device__ KeptOfChain of(const Shape& shape, void* kept, i64 slot_size, int chain, int component,
                                   const StaleSums& stale) {
    const i64 num_slots = kKeptOfBlock<KeptKinds::pairs_and_blocks> * shape.num_blocks();
    const Sums sums{shape, static_cast<Real*>(kept) + chain * num_slots * slot_size, slot_size, stale};
    const bool is_fresh = sums.is_fresh(component);
    return {is_fresh ? sums.fresh(component) : FreshSums<Real>{}, sums.first, is_fresh, component,
            sums.stale};
  }

  /// Sums over components of the rows from `offset` on.
  template <int R, class Row>
  __device__ void add(const Shape& shape, i64 slot_size, const Real* coefficients, i64 offset, const Row& row,
                      Real (&sum)[R]) const {
    // What is read from shared memory could point anywhere, and would be followed more slowly.
    const auto in_device_memory = [](auto* pointer) {
      __builtin_assume(__isGlobal(pointer));
      return pointer;
    };
    if (Sums::kReadsEarly && is_fresh) {
      const FreshSums<Real> sums{in_device_memory(fresh.of_block), in_device_memory(fresh.elsewhere),
                                 fresh.pair};
      Sums::add_fresh(shape, coefficients, sums, offset, slot_size, row, sum);
    } else {
      const Sums sums{shape, first + offset, slot_size, stale};
      sums.add_stale(coefficients, changed, row, sum);
    }
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_KEPT_SUMS_CUH
