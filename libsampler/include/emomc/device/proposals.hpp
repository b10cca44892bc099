// The list of proposals.
#ifndef EMOMC_DEVICE_PROPOSALS_HPP
#define EMOMC_DEVICE_PROPOSALS_HPP

#include "emomc/device/gaussian_walk.hpp"

#define EMOMC_PROPOSALS(X) \
  X(RandomWalk)            \
  X(ComponentWise)

#endif  // EMOMC_DEVICE_PROPOSALS_HPP
