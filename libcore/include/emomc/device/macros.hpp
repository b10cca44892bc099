// The macros that hide differences between compilers; no other code tests for the compiler. Headers under
// emomc/device include only each other, use no standard library, and compile under g++, nvcc and NVRTC.
//
// EMOMC_DEVICE_NAMESPACE is the namespace of these headers' code. The cpu engine includes the arithmetic once
// per SIMD target, each time in a namespace of its own, so that no instruction of a wide target leaks out.
#ifndef EMOMC_DEVICE_MACROS_HPP
#define EMOMC_DEVICE_MACROS_HPP

#ifdef __CUDACC__
#define EMOMC_HD __host__ __device__
#else
#define EMOMC_HD
#endif
#define EMOMC_INLINE EMOMC_HD inline __attribute__((always_inline))
// EMOMC_UNROLL goes before a loop of constant length whose arrays must stay in registers. EMOMC_ROLLED goes
// before a loop of a team, because a kernel that runs once per step spends most of its time waiting for
// instructions. For the same reason elementary functions are EMOMC_OUTLINE: called, not inlined.
#if defined(__CUDA_ARCH__)
#define EMOMC_UNROLL _Pragma("unroll")
#define EMOMC_ROLLED _Pragma("unroll 1")
#define EMOMC_OUTLINE EMOMC_HD __noinline__
#elif defined(__CUDACC__)
#define EMOMC_UNROLL
#define EMOMC_ROLLED
#define EMOMC_OUTLINE EMOMC_HD inline
#else
#define EMOMC_UNROLL _Pragma("GCC unroll 16")
#define EMOMC_ROLLED
#define EMOMC_OUTLINE EMOMC_HD inline
#endif
// EMOMC_UNROLL_PRODUCTS goes before a loop over the products of a sum, of which there may be hundreds.
#if defined(__CUDA_ARCH__)
#define EMOMC_UNROLL_PRODUCTS _Pragma("unroll 64")
#else
#define EMOMC_UNROLL_PRODUCTS
#endif
// In kernels that are compiled for exact sizes, loops over columns are unrolled too, loops over pairs of
// columns by up to 16, and loops over groups of components by two.
#if EMOMC_EXACT_SIZES
#define EMOMC_UNROLL_EXACT _Pragma("unroll")
#define EMOMC_UNROLL_EXACT_PAIRS _Pragma("unroll 16")
#define EMOMC_UNROLL_EXACT_TWICE _Pragma("unroll 2")
#else
#define EMOMC_UNROLL_EXACT
#define EMOMC_UNROLL_EXACT_PAIRS
#define EMOMC_UNROLL_EXACT_TWICE
#endif
#define EMOMC_ASSUME_ALIGNED(p, bytes) __builtin_assume_aligned(p, bytes)

// Primitive operations with one meaning on both sides. fma, division and square root round correctly
// everywhere; exp2 and log2 in float32 are single instructions on the GPU (2 ulp, deterministic).
#ifdef __CUDA_ARCH__
#define EMOMC_FMA(a, b, c) __fma_rn(a, b, c)
#define EMOMC_FMAF(a, b, c) __fmaf_rn(a, b, c)
#define EMOMC_SQRT(x) __dsqrt_rn(x)
#define EMOMC_RINT(x) rint(x)
#define EMOMC_FMAXF(a, b) fmaxf(a, b)
#define EMOMC_FMINF(a, b) fminf(a, b)
#define EMOMC_HAS_FAST_EXP2F 1
#define EMOMC_FAST_EXP2F(y, x) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x))
#define EMOMC_FAST_LOG2F(y, x) asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x))
#else
#define EMOMC_FMA(a, b, c) __builtin_fma(a, b, c)
#define EMOMC_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#define EMOMC_SQRT(x) __builtin_sqrt(x)
#define EMOMC_RINT(x) __builtin_rint(x)
#define EMOMC_FMAXF(a, b) ((a) > (b) ? (a) : (b))
#define EMOMC_FMINF(a, b) ((a) < (b) ? (a) : (b))
#define EMOMC_HAS_FAST_EXP2F 0
#define EMOMC_FAST_EXP2F(y, x) ((y) = (x))
#define EMOMC_FAST_LOG2F(y, x) ((y) = (x))
#endif

#endif  // EMOMC_DEVICE_MACROS_HPP

#ifndef EMOMC_DEVICE_NAMESPACE
#define EMOMC_DEVICE_NAMESPACE emomc::device
#endif
