// Counter-based random numbers with the same bits on every backend: Philox4x32-10 (Salmon, Moraes, Dror, Shaw
// 2011, "Parallel random numbers: as easy as 1, 2, 3"). There is no state: a number is a function of (seed,
// purpose, index, step, chain).
#ifndef EMOMC_DEVICE_RANDOM_HPP
#define EMOMC_DEVICE_RANDOM_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"
#include "emomc/device/math.hpp"

namespace emomc::device {

struct Philox4 {
  u32 word[4];
};

EMOMC_INLINE Philox4 philox4x32_10(Philox4 counter, u32 key0, u32 key1) {
  EMOMC_UNROLL
  for (int round = 0; round < 10; ++round) {
    const u64 p0 = static_cast<u64>(0xD2511F53u) * counter.word[0];
    const u64 p1 = static_cast<u64>(0xCD9E8D57u) * counter.word[2];
    counter = {{static_cast<u32>(p1 >> 32) ^ counter.word[1] ^ key0, static_cast<u32>(p1),
                static_cast<u32>(p0 >> 32) ^ counter.word[3] ^ key1, static_cast<u32>(p0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// The use of a random number; numbers of different purposes are independent.
enum class Purpose : u32 {
  innovation = 1,
  acceptance = 2,
  start = 3,
  simulation = 4,
  kmeans = 5,
  choice = 6,        ///< choices of a proposal: which chains, which kind of move
  second_stage = 7,  ///< innovation of the second stage of delayed rejection
  momentum = 8,      ///< momentum of a trajectory
  direction = 9,     ///< direction in time in which a tree is doubled; index: depth of the tree
  tree_choice = 10,  ///< choice of a point in a new subtree; index: number of the leapfrog
  join_choice = 11,  ///< choice between a tree and a new subtree; index: depth of the tree
  length = 12,       ///< length of a trajectory
  trial = 13,        ///< momentum of the single leapfrogs that are made to find a first step size
};

struct NormalPair {
  double even, odd;
};

/// The random numbers of one chain at one step.
struct RandomSource {
  u64 seed;
  u64 step;
  u32 chain;

  EMOMC_INLINE Philox4 block(Purpose purpose, u32 index) const {
    return philox4x32_10({{(static_cast<u32>(purpose) << 24) | index, static_cast<u32>(step),
                           static_cast<u32>(step >> 32), chain}},
                         static_cast<u32>(seed), static_cast<u32>(seed >> 32));
  }

  /// Returns a uniform variate on (0, 1) with 53 bits, never an end point. `index` < 2^24.
  EMOMC_INLINE double uniform(Purpose purpose, u32 index) const {
    const Philox4 b = block(purpose, index);
    return uniform_of(b.word[0], b.word[1]);
  }

  /// Returns the standard normal variates number 2 pair and 2 pair + 1, pair < 2^24 (Box and Muller 1958).
  EMOMC_INLINE NormalPair normal_pair(Purpose purpose, u32 pair) const {
    const Philox4 b = block(purpose, pair);
    const double radius = EMOMC_SQRT(-2.0 * log(uniform_of(b.word[0], b.word[1])));
    const SineAndCosine angle = sincos_two_pi(uniform_of(b.word[2], b.word[3]));
    return {radius * angle.cosine, radius * angle.sine};
  }

  /// Returns standard normal variate number `index` < 2^25.
  EMOMC_INLINE double normal(Purpose purpose, u32 index) const {
    const NormalPair pair = normal_pair(purpose, index >> 1);
    return (index & 1u) ? pair.odd : pair.even;
  }

  EMOMC_INLINE static double uniform_of(u32 high, u32 low) {
    const u64 bits = (static_cast<u64>(high) << 32) | low;
    return (static_cast<double>(bits >> 12) + 0.5) * 2.220446049250313080847e-16;  // 2^-52
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RANDOM_HPP
