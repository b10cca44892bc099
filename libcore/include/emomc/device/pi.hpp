// The constant pi for device code.
#ifndef EMOMC_DEVICE_PI_HPP
#define EMOMC_DEVICE_PI_HPP

namespace emomc::device {

inline constexpr double kPi = 3.14159265358979323846;

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PI_HPP
