// Integer types of known width without <cstdint>, which NVRTC does not have.
#ifndef EMOMC_DEVICE_INTEGERS_HPP
#define EMOMC_DEVICE_INTEGERS_HPP

namespace emomc::device {

using u8 = unsigned char;
using u32 = unsigned int;
using i64 = long;
using u64 = unsigned long;
static_assert(sizeof(u32) == 4 && sizeof(i64) == 8 && sizeof(u64) == 8);

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_INTEGERS_HPP
