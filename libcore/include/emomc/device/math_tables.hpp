// The tables of the functions in math.hpp and exponentials.hpp. That of the logarithm was made with 200-bit
// arithmetic: for each of 32 intervals of [0.6875, 1.375) it has the reciprocal of a number c near the
// middle, and log c. Each c was searched such that log c is within 2^-60 of a multiple of 2^-42, which is the
// tabulated value (Gal 1986, "Computing elementary functions: a new approach for achieving high accuracy and
// good performance"); on both sides of 1, c is 1. The table is small because lanes of a warp that read
// different lines of memory wait for each other.
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

// EMOMC_POWER_TABLE has 2^(j/32) for j = 0 to 31.
#define EMOMC_POWER_TABLE                                                                     \
  0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0,     \
      0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, \
      0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0, \
      0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0, 0x1.6247eb03a5585p+0, \
      0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0, \
      0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0, \
      0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0, \
      0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0, 0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0

// EMOMC_LOG1P_TABLE has 1 / (1 + i/32) and log(1 + i/32) for i = 0 to 32.
#define EMOMC_LOG1P_TABLE                                                                           \
  {0x1.0000000000000p+0, 0x0.0p+0}, {0x1.f07c1f07c1f08p-1, 0x1.f829b0e783300p-6},                   \
      {0x1.e1e1e1e1e1e1ep-1, 0x1.f0a30c01162a6p-5}, {0x1.d41d41d41d41dp-1, 0x1.6f0d28ae56b4cp-4},   \
      {0x1.c71c71c71c71cp-1, 0x1.e27076e2af2e6p-4}, {0x1.bacf914c1bad0p-1, 0x1.29552f81ff523p-3},   \
      {0x1.af286bca1af28p-1, 0x1.5ff3070a793d4p-3}, {0x1.a41a41a41a41ap-1, 0x1.9525a9cf456b4p-3},   \
      {0x1.999999999999ap-1, 0x1.c8ff7c79a9a22p-3}, {0x1.8f9c18f9c18fap-1, 0x1.fb9186d5e3e2bp-3},   \
      {0x1.8618618618618p-1, 0x1.1675cababa60ep-2}, {0x1.7d05f417d05f4p-1, 0x1.2e8e2bae11d31p-2},   \
      {0x1.745d1745d1746p-1, 0x1.4618bc21c5ec2p-2}, {0x1.6c16c16c16c17p-1, 0x1.5d1bdbf5809cap-2},   \
      {0x1.642c8590b2164p-1, 0x1.739d7f6bbd007p-2}, {0x1.5c9882b931057p-1, 0x1.89a3386c1425bp-2},   \
      {0x1.5555555555555p-1, 0x1.9f323ecbf984cp-2}, {0x1.4e5e0a72f0539p-1, 0x1.b44f77bcc8f63p-2},   \
      {0x1.47ae147ae147bp-1, 0x1.c8ff7c79a9a22p-2}, {0x1.4141414141414p-1, 0x1.dd46a04c1c4a1p-2},   \
      {0x1.3b13b13b13b14p-1, 0x1.f128f5faf06edp-2}, {0x1.3521cfb2b78c1p-1, 0x1.02552a5a5d0ffp-1},   \
      {0x1.2f684bda12f68p-1, 0x1.0be72e4252a83p-1}, {0x1.29e4129e4129ep-1, 0x1.154c3d2f4d5eap-1},   \
      {0x1.2492492492492p-1, 0x1.1e85f5e7040d0p-1}, {0x1.1f7047dc11f70p-1, 0x1.2795e1289b11bp-1},   \
      {0x1.1a7b9611a7b96p-1, 0x1.307d7334f10bep-1}, {0x1.15b1e5f75270dp-1, 0x1.393e0d3562a1ap-1},   \
      {0x1.1111111111111p-1, 0x1.41d8fe84672aep-1}, {0x1.0c9714fbcda3bp-1, 0x1.4a4f85db03ebbp-1},   \
      {0x1.0842108421084p-1, 0x1.52a2d265bc5abp-1}, {0x1.0410410410410p-1, 0x1.5ad404c359f2dp-1}, { \
    0x1.0000000000000p-1, 0x1.62e42fefa39efp-1                                                      \
  }

namespace emomc::device {

inline constexpr int kLogTableSize = 32, kPowerTableSize = 32, kLog1pTableSize = 33;
struct alignas(16) LogTableEntry {
  double reciprocal, log_c;
};
// Host and device have separate copies, because device code cannot index an array of the host.
#ifdef __CUDACC__
static __device__ const LogTableEntry kLogTableOnDevice[kLogTableSize] = {EMOMC_LOG_TABLE};
static __device__ const double kPowerTableOnDevice[kPowerTableSize] = {EMOMC_POWER_TABLE};
static __device__ const LogTableEntry kLog1pTableOnDevice[kLog1pTableSize] = {EMOMC_LOG1P_TABLE};
#endif
#ifndef __CUDACC_RTC__
inline constexpr LogTableEntry kLogTableOnHost[kLogTableSize] = {EMOMC_LOG_TABLE};
inline constexpr double kPowerTableOnHost[kPowerTableSize] = {EMOMC_POWER_TABLE};
inline constexpr LogTableEntry kLog1pTableOnHost[kLog1pTableSize] = {EMOMC_LOG1P_TABLE};
#endif
#ifdef __CUDA_ARCH__
#define EMOMC_TABLE(name) name##OnDevice
#else
#define EMOMC_TABLE(name) name##OnHost
#endif

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MATH_TABLES_HPP
