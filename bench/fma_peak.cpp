// Measures the peak rate of fused multiply-adds of this processor, with which Evaluate of benchmarks.cpp is
// compared: build/release/bin/emomc_benchmarks --benchmark_filter='FmaPeak|Evaluate'
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>

namespace {

// There are more independent chains than cycles of an instruction's latency.
constexpr int kChains = 16, kRounds = 1000;

#define EMOMC_FMA_LOOP(name, instructions, Vector, Real, set, fma, store)                                \
  __attribute__((target(instructions))) void name(benchmark::State& state) {                             \
    constexpr int kLanes = sizeof(Vector) / sizeof(Real);                                                \
    Vector sums[kChains];                                                                                \
    for (int i = 0; i < kChains; ++i) sums[i] = set(static_cast<Real>(i));                               \
    const Vector factor = set(static_cast<Real>(0.5)), term = set(Real{1});                              \
    while (state.KeepRunning()) {                                                                        \
      for (int r = 0; r < kRounds; ++r)                                                                  \
        _Pragma("GCC unroll 16") for (int i = 0; i < kChains; ++i) sums[i] = fma(sums[i], factor, term); \
      Real kept[kLanes];                                                                                 \
      Vector all = sums[0];                                                                              \
      for (int i = 1; i < kChains; ++i) all = fma(all, factor, sums[i]);                                 \
      store(kept, all);                                                                                  \
      benchmark::DoNotOptimize(kept);                                                                    \
    }                                                                                                    \
    state.SetItemsProcessed(state.iterations() * kRounds * kChains * kLanes);                            \
  }
EMOMC_FMA_LOOP(fma_float_512, "avx512f", __m512, float, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_storeu_ps)
EMOMC_FMA_LOOP(fma_double_512, "avx512f", __m512d, double, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_storeu_pd)
EMOMC_FMA_LOOP(fma_float_256, "avx2,fma", __m256, float, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_storeu_ps)
EMOMC_FMA_LOOP(fma_double_256, "avx2,fma", __m256d, double, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_storeu_pd)

// The argument is 1 for float64. An item is a fused multiply-add of one lane.
void FmaPeak(benchmark::State& state) {
  const bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    state.SkipWithError("neither AVX-512 nor AVX2");
  else if (state.range(0))
    wide ? fma_double_512(state) : fma_double_256(state);
  else
    wide ? fma_float_512(state) : fma_float_256(state);
}
BENCHMARK(FmaPeak)->Arg(0)->Arg(1)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
#endif
