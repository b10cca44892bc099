// The data of a proposal. A new proposal needs a header like gaussian_walk.hpp with a type, a line in
// proposals.hpp or trajectories.hpp, and a test. The type has:
//
//   name       its name in configurations
//   Phases     the schedule of its step (schedule.hpp)
//   learning   the shape that warm-up learns (ShapeLearning)
//
// The phases of a step divide the free parameters into blocks, which are processed in order; each block is
// proposed, evaluated and accepted alone.
#ifndef EMOMC_DEVICE_PROPOSAL_HPP
#define EMOMC_DEVICE_PROPOSAL_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/random.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// The part of the increments' covariance that the windows of warm-up learn.
enum class ShapeLearning {
  none,
  as_asked,             ///< the shape that the user chose, at the ends of a few windows
  every_window,         ///< a dense shape, at the end of each window
  fitted,               ///< a dense shape together with mean and inverse (AdaptedLayout::fitted)
  as_asked_and_fitted,  ///< as_asked for component-wise blocks, fitted for moves of all at once
};

/// Contiguous free parameters that move together (host: proposal_blocks.hpp).
struct ProposalBlock {
  int begin, size;      ///< range in u
  Influence influence;  ///< the part of the likelihood that the engine has to evaluate
  int component;        ///< the component, with Influence::component
  int dense_offset;     ///< offset of the block's Cholesky factor in the adapted numbers
  int phase;            ///< number of the phase to which the block belongs
  int turn;             ///< number of the block in its phase, from 0; Repeats::for_each_half: the half of the
                        ///< chains that moves
  int first_element, num_elements;  ///< range of elements of theta that may depend on the block; some
                                    ///< elements in the range may not
  int keeps_heights;                ///< 1: the block moves locations only, so that no component's height
                                    ///< changes
};

/// The rule for the length of a gradient sampler's trajectories, and its adapted numbers. none: not a
/// gradient sampler. own: no adapted numbers. bounded: a longest integration time, which is used as long as
/// no metric has been learnt. learnt: the logarithm of the learnt length and a centre [dim_unconstrained].
enum class TrajectoryLength : int { none, own, bounded, learnt };

/// Returns the number of adapted numbers of a gradient sampler beyond step size and metric: 1 once the metric
/// has been learnt (else 0), and those of its TrajectoryLength.
EMOMC_INLINE constexpr int num_trajectory_numbers(TrajectoryLength length, int dim_unconstrained) {
  return length == TrajectoryLength::none      ? 0
         : length == TrajectoryLength::own     ? 1
         : length == TrajectoryLength::bounded ? 2
                                               : 2 + dim_unconstrained;
}
/// The longest integration time of TrajectoryLength::bounded after a warm-up that has learnt no metric.
inline constexpr double kLongestTime = 3.141592653589793;

/// Covariance of the increments within a block; see AdaptedLayout.
enum class IncrementShape : int { isotropic, diagonal, dense };

/// Positions of a group's adapted numbers: log_scale [num_blocks], then sd [dim_unconstrained], then for
/// `dense` the lower Cholesky factors of the blocks, column-major, size x size each. If a distribution of all
/// parameters is fitted, its factor follows, then the inverse [n x n], column-major, the mean [n], and 1 once
/// these have been fitted (else 0). The numbers of num_trajectory_numbers() are at the end.
struct AdaptedLayout {
  int num_blocks, dim_unconstrained, num_dense, num_fitted, num_trajectory = 0;
  EMOMC_INLINE int scale(int block) const { return block; }
  EMOMC_INLINE int sd(int i) const { return num_blocks + i; }
  EMOMC_INLINE int num_small() const { return num_blocks + dim_unconstrained; }  ///< number of scales and sds
  EMOMC_INLINE int dense(int offset) const { return num_small() + offset; }
  EMOMC_INLINE int fitted() const { return num_small() + num_dense; }
  EMOMC_INLINE int has_metric() const { return num_small() + num_dense + num_fitted; }
  EMOMC_INLINE int length() const { return has_metric() + 1; }
  EMOMC_INLINE int size() const { return has_metric() + num_trajectory; }
  static constexpr int fitted_size(int n) { return n * n + n + 1; }
};

/// Number of further numbers of an innovation, such as choices and lengths.
inline constexpr int kExtraInnovation = 8;

/// The innovation of a step: [dim_unconstrained] numbers, as many again if a phase has two vectors, then
/// kExtraInnovation more.
struct Innovation {
  double *main, *second, *extra;
};

/// The inputs of innovate().
struct InnovationView {
  const double* adapted;  ///< scales and sds of the chain's group
  const double* dense;    ///< the group's Cholesky factors, followed by the fitted numbers
  AdaptedLayout layout;
  ProposalBlock block;
  int block_index;
  IncrementShape shape;
  MixtureLayout mixture;
  const double* drawn;  ///< if not null: the innovation, as innovate() would write it
};

/// Number of doubles of a block's innovation: main, a second vector if there is one, and extra.
EMOMC_INLINE constexpr int innovation_size(int n, bool has_second) {
  return (has_second ? 2 : 1) * n + kExtraInnovation;
}

/// Innovations of all moves by a fit of several steps, drawn before those steps. They do not depend on the
/// chain's state, and the factor of the fit is read only once for several of them.
struct DrawnAhead {
  double* values;   ///< num_chains x num_slots x num_moves x ld; null: no innovations are drawn ahead
  int num_slots;    ///< a power of two; the innovations of step s are in slot s modulo num_slots
  int num_moves;    ///< number of moves by the fit in each step
  int ld;           ///< distance between innovations
  int first_block;  ///< number of the first of these moves

  EMOMC_INLINE double* row(int chain, i64 step, int move) const {
    const i64 slot = step & (num_slots - 1);
    return values + ((chain * static_cast<i64>(num_slots) + slot) * num_moves + move) * ld;
  }
};

/// The chains of the other half, on whose points an ensemble move depends.
struct OtherChains {
  const double* u;     ///< points of all chains, chain-major
  i64 ld;              ///< distance between chains in u
  const int* members;  ///< [count] chains of the half
  int count;

  EMOMC_INLINE const double* point(int member) const { return u + members[member] * ld; }
};

/// Size of a point if there are moves by a fit: u, then L^-1 (u - m), then the number of the step in which
/// this was computed, plus one; any other number there: L^-1 (u - m) is not known.
EMOMC_INLINE constexpr int whitened_point_size(int n) { return 2 * n + 1; }

/// The inputs and outputs of apply() for one chain.
struct ProposalView {
  const double* u;    ///< [point_size] the current point
  double* candidate;  ///< [point_size], a copy of u on entry
  Innovation innovation;
  InnovationView adapted;
  OtherChains others;  ///< with Repeats::for_each_half
  const ParameterTable* table;
  const double* current_theta;  ///< [dim]
  double* theta;                ///< [dim] scratch memory of the candidate's theta, which is written
                                ///< afterwards
  /// The numbers of u beyond the parameters, which a proposal stores for the current point and may complete.
  /// Null: they must not be written.
  double* kept = nullptr;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PROPOSAL_HPP
