// The set of chains that a call or a kernel applies to.
#ifndef EMOMC_DEVICE_ACTIVE_SET_HPP
#define EMOMC_DEVICE_ACTIVE_SET_HPP

namespace emomc::device {

/// `chains`: [count] indices of chains in the memory of the engine's device, or nullptr for the first `count`
/// chains.
struct ActiveSet {
  const int* chains = nullptr;
  int count = 0;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ACTIVE_SET_HPP
