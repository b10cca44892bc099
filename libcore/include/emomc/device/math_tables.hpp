// The table of the logarithm in math.hpp, made with 200-bit arithmetic: for each of 32 intervals of [0.6875,
// 1.375) the reciprocal of a number c near its middle, and log c. c was searched so that log c is within
// 2^-60 of a multiple of 2^-42, which is what stands here (Gal 1986, "Computing elementary functions: a new
// approach for achieving high accuracy and good performance"); on both sides of one it is one. Small, since
// the lanes of a warp that read different lines of memory wait for each other.
#ifndef EMOMC_DEVICE_MATH_TABLES_HPP
#define EMOMC_DEVICE_MATH_TABLES_HPP

#define EMOMC_LOG_TABLE                                                                             \
  {0x1.7042cc9fcfe01p+0, -0x1.74574ee78c000p-2}, {0x1.682056f4b153ap+0, -0x1.5d77d4dbad000p-2},     \
      {0x1.602c3d58844c1p+0, -0x1.46996681f3000p-2}, {0x1.58f235f045e7cp+0, -0x1.315e2e2229000p-2}, \
      {0x1.51b5f356fd604p+0, -0x1.1ba91cabe6000p-2}, {0x1.4b0e467c8ec33p+0, -0x1.0747aec217000p-2}, \
      {0x1.4466b4690388ap+0, -0x1.e4f9421396000p-3}, {0x1.3e3e9e616f57dp+0, -0x1.bdbb874276000p-3}, \
      {0x1.38266755883f7p+0, -0x1.9621b02f86000p-3}, {0x1.32597b1e41c2ep+0, -0x1.6fb787f2b8000p-3}, \
      {0x1.2c936a1cbebb5p+0, -0x1.48c01960c0000p-3}, {0x1.2716bc9add9d1p+0, -0x1.2304c44b12000p-3}, \
      {0x1.2203bf78950e7p+0, -0x1.fefe0279a8000p-4}, {0x1.1ce2f370730e1p+0, -0x1.b5eaefb81c000p-4}, \
      {0x1.18217febdcfecp+0, -0x1.70f718da48000p-4}, {0x1.137036e1fc470p+0, -0x1.2bc570283c000p-4}, \
      {0x1.0ee7dbb51097dp+0, -0x1.cf9cd17138000p-5}, {0x1.0a4f56a7cd213p+0, -0x1.4372729f78000p-5}, \
      {0x1.063b7883e28e3p+0, -0x1.8a1701d660000p-6}, {0x1.0000000000000p+0, 0x0.0p+0},              \
      {0x1.0000000000000p+0, 0x0.0p+0}, {0x1.e8ea051a22cedp-1, 0x1.79f5d6d698000p-5},               \
      {0x1.db2126f17a95fp-1, 0x1.321fa93a78000p-4}, {0x1.cdb02e5a03e26p-1, 0x1.a7ab49dbe0000p-4},   \
      {0x1.c0e4a0504e0bfp-1, 0x1.0d64cc7576000p-3}, {0x1.b502e099fbad2p-1, 0x1.44553dd2f6000p-3},   \
      {0x1.a963aaa532a16p-1, 0x1.7b88f57ffc000p-3}, {0x1.9ec5d5d0203e1p-1, 0x1.af4bc542d8000p-3},   \
      {0x1.94bd5347ff883p-1, 0x1.e1721113bc000p-3}, {0x1.8af23f8133621p-1, 0x1.09cdfe5a13000p-2},   \
      {0x1.816b604bb1ff3p-1, 0x1.22cee9a3e2000p-2}, {                                               \
    0x1.78802879506f3p-1, 0x1.3ac85c2459000p-2                                                      \
  }

namespace emomc::device {

inline constexpr int kLogTableSize = 32;
struct alignas(16) LogTableEntry {
  double reciprocal, log_c;
};
// One copy for each side: device code cannot index a host's array.
#ifdef __CUDACC__
static __device__ const LogTableEntry kLogTableOnDevice[kLogTableSize] = {EMOMC_LOG_TABLE};
#endif
#ifndef __CUDACC_RTC__
inline constexpr LogTableEntry kLogTableOnHost[kLogTableSize] = {EMOMC_LOG_TABLE};
#endif
#ifdef __CUDA_ARCH__
#define EMOMC_TABLE(name) name##OnDevice
#else
#define EMOMC_TABLE(name) name##OnHost
#endif

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MATH_TABLES_HPP
