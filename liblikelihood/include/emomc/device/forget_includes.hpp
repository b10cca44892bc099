// Lets the headers that hold SIMD-able arithmetic be included again, for another SIMD target and into another
// EMOMC_DEVICE_NAMESPACE. Only the cpu engine's kernel does that. Such a header has no ordinary include
// guard: its macro and EMOMC_ROW_ARITHMETIC_AGAIN are either both defined or both undefined where it is still
// to be included, and it then changes its own. Here the latter is changed once the headers have been
// included; real_ops.hpp stands for all of them.
#if defined(EMOMC_DEVICE_REAL_OPS_HPP) != defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_ROW_ARITHMETIC_AGAIN
#undef EMOMC_ROW_ARITHMETIC_AGAIN
#else
#define EMOMC_ROW_ARITHMETIC_AGAIN
#endif
#endif
