// Numbers that the blocks of one grid exchange through device memory. Each number is stored with the number
// of its exchange, so that the readers need no barrier. All blocks must run at once.
#ifndef EMOMC_DEVICE_TOLD_NUMBERS_CUH
#define EMOMC_DEVICE_TOLD_NUMBERS_CUH

#include "emomc/device/resident_layout.hpp"

namespace emomc::device {

/// Writes a number to its place. A place has kToldWords words, each with half of the number and the number of
/// the exchange; it is aligned to 16 bytes. Each word is written and read as a whole (PTX ISA, "memory
/// consistency model": scalars up to 64 bits), in any order. Exchanges are counted from 1; 0 means that
/// nothing has been written yet.
__device__ inline void tell_number(u64* place, double x, u32 exchange) {
  const u64 bits = __builtin_bit_cast(u64, x), stamp = static_cast<u64>(exchange) << 32;
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(place), "l"(stamp | (bits & 0xffffffffu)),
               "l"(stamp | (bits >> 32))
               : "memory");
}

/// The content of a place, of any exchange.
struct ToldNumber {
  u64 low, high;
  __device__ static ToldNumber read(const u64* place) {
    ToldNumber x;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x.low), "=l"(x.high)
                 : "l"(place)
                 : "memory");
    return x;
  }
  __device__ bool is_of(u32 exchange) const {
    return static_cast<u32>(low >> 32) == exchange && static_cast<u32>(high >> 32) == exchange;
  }
  __device__ double value() const { return __builtin_bit_cast(double, (low & 0xffffffffu) | (high << 32)); }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TOLD_NUMBERS_CUH
