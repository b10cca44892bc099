// The list of proposals that use no gradients; gradient samplers are in trajectories.hpp.
#ifndef EMOMC_DEVICE_PROPOSALS_HPP
#define EMOMC_DEVICE_PROPOSALS_HPP

#include "emomc/device/adaptive_metropolis.hpp"
#include "emomc/device/crank_nicolson.hpp"
#include "emomc/device/delayed_rejection.hpp"
#include "emomc/device/ensemble_moves.hpp"
#include "emomc/device/gaussian_walk.hpp"
#include "emomc/device/independence.hpp"
#include "emomc/device/split_merge.hpp"

#define EMOMC_PROPOSALS(X) \
  X(ComponentWise)         \
  X(RandomWalk)            \
  X(AdaptiveMetropolis)    \
  X(DelayedRejection)      \
  X(Independence)          \
  X(DifferentialEvolution) \
  X(Stretch)               \
  X(SplitMerge)            \
  X(CrankNicolson)

#endif  // EMOMC_DEVICE_PROPOSALS_HPP
