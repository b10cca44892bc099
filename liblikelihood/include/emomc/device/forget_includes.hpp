// Lets the headers that hold SIMD-able arithmetic be included again, for another SIMD target and into
// another EMOMC_DEVICE_NAMESPACE. Only the cpu engine's kernel does that.
#undef EMOMC_DEVICE_REAL_OPS_HPP
#undef EMOMC_DEVICE_AXIS_ALIGNED_MIXTURE_HPP
#undef EMOMC_DEVICE_MIXTURE_SUM_HPP
#undef EMOMC_DEVICE_TRIANGULAR_MIXTURE_HPP
