// Lets the headers that hold SIMD-able arithmetic be included again, for another SIMD target and into another
// EMOMC_DEVICE_NAMESPACE. Only the cpu engine's kernel needs this. Such a header has no ordinary include
// guard: while the header's macro and EMOMC_ROW_ARITHMETIC_AGAIN are either both defined or both undefined,
// the header has yet to be included, and an inclusion switches the header's macro. This file switches
// EMOMC_ROW_ARITHMETIC_AGAIN after the headers have been included; real_ops.hpp stands for all of them.
#if defined(EMOMC_DEVICE_REAL_OPS_HPP) != defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_ROW_ARITHMETIC_AGAIN
#undef EMOMC_ROW_ARITHMETIC_AGAIN
#else
#define EMOMC_ROW_ARITHMETIC_AGAIN
#endif
#endif
