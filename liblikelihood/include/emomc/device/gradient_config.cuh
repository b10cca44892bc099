// The constants of gradient_kernel.cuh for a likelihood and a form of the kernel.
#ifndef EMOMC_DEVICE_GRADIENT_CONFIG_CUH
#define EMOMC_DEVICE_GRADIENT_CONFIG_CUH

#include "emomc/device/gradient_rows.hpp"

namespace emomc::device {

/// Constants of a kernel. kChains: chains of a block; kTogether: chains whose rows a thread evaluates
/// together; kUniform: all chains read all tiles as one segment; kBlocks: blocks for which registers must
/// have room on a multiprocessor; 0: gradient_blocks(); kCopies: a warp copies the rows of a step to shared
/// memory.
template <class SizedL, class Real_, int kChains, int kTogether, bool kUniform, int kBlocks = 0,
          bool kCopies = false>
struct GradientConfig {
  using Sizes = SizedL;
  using Likelihood = typename SizedL::Likelihood;
  using Gradient = GradientOf<SizedL>;
  using Real = Real_;
  static constexpr int chains = kChains;
  static constexpr bool uniform = kUniform;
  static constexpr bool copies = kCopies;
  static_assert(kUniform || (kChains == 1 && !kCopies));
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

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_CONFIG_CUH
