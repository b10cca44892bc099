// Sums over pairs and over blocks of four components (mixture_sum.hpp) that are kept between evaluations in
// which one component changes at a time. The kept sums belong to the current point, except for stale ones:
// one pair and one block, or all. The sums that change at a candidate are not stored. After the candidate has
// been accepted, the next evaluation that needs these sums computes them again from its own coefficients,
// which are the same for these components.
#ifndef EMOMC_DEVICE_KEPT_SUMS_CUH
#define EMOMC_DEVICE_KEPT_SUMS_CUH

#include "emomc/device/axis_aligned_mixture.hpp"
#include "emomc/device/row_sums.cuh"

namespace emomc::device {

/// Numbers of the pair and the block whose kept sums are stale.
struct StaleSums {
  static constexpr int kNone = -1, kAll = -2;
  int pair, block;

  __device__ bool has_pair(int which) const { return pair == which || pair == kAll; }
  __device__ bool has_block(int which) const { return block == which || block == kAll; }
  __device__ bool has_only(int that_pair, int that_block) const {
    return (pair == kNone || pair == that_pair) && (block == kNone || block == that_block);
  }
  /// The state after an evaluation of component `changed`, or of all components if `changed` is negative.
  __device__ StaleSums after(int changed, bool accepted) const {
    if (changed < 0) return accepted ? StaleSums{kAll, kAll} : *this;
    const int own = changed / kPair, of = changed / kComponentBlock;
    return {accepted || has_pair(own) ? own : kNone, accepted || has_block(of) ? of : kNone};
  }
};

/// Which sums are kept for each block of components: sums of blocks too, so that fewer bytes are read, or of
/// pairs alone, so that fewer bytes are stored.
enum class KeptKinds { pairs_and_blocks, pairs };
template <KeptKinds kKinds>
inline constexpr int kKeptOfBlock = kKinds == KeptKinds::pairs ? kBlockPairs : kBlockPairs + 1;

/// Whether registers have room for the sums of two blocks while the sum of a pair is computed.
template <class Shape>
inline constexpr bool kHasRoomForKept = kIsAxisAligned<Shape>;

/// Addresses of the sums that are added to those of a pair, if there are one or two blocks and none of these
/// sums is stale. The addresses are for the first row, like KeptSums::first.
template <class Real>
struct FreshSums {
  const Real *of_block, *elsewhere;  ///< the same block's other pair; the other block, or its first pair
  int pair;                          ///< number of the pair that is computed
};

/// The kept sums of a chain for neighbouring rows.
template <class Shape, class Real, KeptKinds kKinds, class Index = i64>
struct KeptSums {
  static constexpr bool kHasBlocks = kKinds != KeptKinds::pairs;
  /// Whether there are registers for all kept sums that are read while a pair is computed.
  static constexpr bool kReadsEarly = kHasRoomForKept<Shape> && (kHasBlocks || sizeof(Real) == sizeof(float));

  Shape shape;
  Real* first;      ///< the first row's sum in slot 0; there is a slot for each pair and block
  Index slot_size;  ///< rows of a slot
  StaleSums stale;

  /// Whether fresh() gives all sums for a candidate whose component `changed` differs from the current point.
  /// A negative `changed` means that all components differ.
  __device__ bool is_fresh(int changed) const {
    return kReadsEarly && shape.num_blocks() <= 2 && has_nothing_stale(changed);
  }
  __device__ FreshSums<Real> fresh(int changed) const {
    const int own = changed / kPair, block = 1 - changed / kComponentBlock;
    return {of_pair(own ^ 1), kHasBlocks ? of_block(block) : of_pair(block * kBlockPairs), own};
  }

  /// Writes the sums of R rows at such a candidate, with the kept sums of `fresh` from row `offset` on. `row`
  /// is as for add_components.
  template <int R, class Row>
  __device__ static void add_fresh(const Shape& shape, const Real* coefficients, const FreshSums<Real>& fresh,
                                   Index offset, Index slot_size, const Row& row, Real (&sum)[R]) {
    Elsewhere<R> elsewhere;
    elsewhere.load(shape, fresh, offset, slot_size);
    Real own_sum[R];
    add_pair(shape, coefficients, fresh.pair, row, own_sum);
    elsewhere.add_to(shape, own_sum, sum);
  }

  /// Writes the sums of R rows at any candidate. Computes and stores stale sums of other pairs and blocks
  /// again.
  template <int R, class Row>
  __device__ void add(const Real* coefficients, int changed, const Row& row, Real (&sum)[R]) const {
    if (is_fresh(changed))
      add_fresh(shape, coefficients, fresh(changed), Index{0}, slot_size, row, sum);
    else
      add_stale(coefficients, changed, row, sum);
  }

  /// Does the same as add(), whichever sums are fresh.
  template <int R, class Row>
  __device__ void add_stale(const Real* coefficients, int changed, const Row& row, Real (&sum)[R]) const {
    const bool all = changed < 0;
    const int own = all ? shape.num_pairs() - 1 : changed / kPair, own_block = changed / kComponentBlock;
    Real own_sum[R], rest[R];
    // One loop for the candidate's own pair, for stale pairs before it, and for all pairs. The end of the
    // loop decides about another round, since otherwise the compiler makes a second copy of the loop's
    // beginning.
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
  /// The kept sums that are added to those of the candidate's own pair; they are loaded before that pair is
  /// computed.
  template <int R>
  struct Elsewhere {
    Real other[R], rest[R], last[R];

    __device__ void load(const Shape& shape, const FreshSums<Real>& fresh, Index offset, Index slot_size) {
      load_rows(fresh.of_block + offset, other);
      if (shape.num_blocks() < 2) return;
      load_rows(fresh.elsewhere + offset, rest);
      if (!kHasBlocks) load_rows(fresh.elsewhere + offset + slot_size, last);
    }
    /// The order of the two numbers of a sum does not change the bits.
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
  /// The first stale pair from `from` on that is not `own`, or `own` if there is none.
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

/// The addresses and the state of a chain's kept sums, computed once for all rows of the chain.
template <class Shape, class Real>
struct KeptOfChain {
  using Sums = KeptSums<Shape, Real, KeptKinds::pairs_and_blocks>;

  FreshSums<Real> fresh;  ///< addresses for the data's first row, if is_fresh
  Real* first;            ///< the data's first row in slot 0
  bool is_fresh;
  int changed;
  StaleSums stale;

  /// `kept`: sums of all chains, with `slot_size` rows in a slot; `component`: the component that differs, or
  /// a negative number if all differ.
  static __device__ KeptOfChain of(const Shape& shape, void* kept, i64 slot_size, int chain, int component,
                                   const StaleSums& stale) {
    const i64 num_slots = kKeptOfBlock<KeptKinds::pairs_and_blocks> * shape.num_blocks();
    const Sums sums{shape, static_cast<Real*>(kept) + chain * num_slots * slot_size, slot_size, stale};
    const bool is_fresh = sums.is_fresh(component);
    return {is_fresh ? sums.fresh(component) : FreshSums<Real>{}, sums.first, is_fresh, component,
            sums.stale};
  }

  /// Writes the sums over components for R rows from `offset` on.
  template <int R, class Row>
  __device__ void add(const Shape& shape, i64 slot_size, const Real* coefficients, i64 offset, const Row& row,
                      Real (&sum)[R]) const {
    // Without this the compiler must assume that pointers from shared memory may point to any kind of memory,
    // and accesses are slower.
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
