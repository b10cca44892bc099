// The list of gradient samplers.
#ifndef EMOMC_DEVICE_TRAJECTORIES_HPP
#define EMOMC_DEVICE_TRAJECTORIES_HPP

#include "emomc/device/chees.hpp"
#include "emomc/device/hmc.hpp"
#include "emomc/device/nuts.hpp"

#define EMOMC_TRAJECTORIES(X) \
  X(Mala)                     \
  X(Hmc)                      \
  X(Nuts)                     \
  X(Chees)

#endif  // EMOMC_DEVICE_TRAJECTORIES_HPP
