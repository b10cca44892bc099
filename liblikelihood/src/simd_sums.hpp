// Sums of powers of two of packs (mixture_sum.hpp), several exponentials at a time. This file is included
// once per SIMD target, after simd_pack.hpp; it deliberately has no include guard.

namespace EMOMC_DEVICE_NAMESPACE {

// Replaces x[i] by 2^x[i], as real_exp2_bounded does. The exponentials advance in step, so that an operation
// need not wait for the previous one.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// All targets with fma give the same bits. Beyond 2^1023 (float32: 2^127) some targets give infinity and
// others do not; no sum that contains such a term is within kPlainRange.

// The polynomial is that of exp2_minimax_kernel.
template <int N>
HWY_INLINE void exponentiate(Pack<float> (&x)[N]) {
  Pack<float> r[N], p[N];
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_max(x[i], Pack<float>(RealTraits<float>::min_exponent));
#if HWY_TARGET > HWY_AVX3
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_min(x[i], Pack<float>(RealTraits<float>::max_exponent));
#endif
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) r[i] = real_remainder(x[i]);
  constexpr float c[] = {1.534582054750485e-04f,
                         1.339993125776851e-03f,
                         9.618488923496238e-03f,
                         5.550328776878003e-02f,
                         2.402264689096285e-01f,
                         6.931472057373325e-01f,
                         1.0f};
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) p[i] = real_fma(Pack<float>(c[0]), r[i], Pack<float>(c[1]));
  EMOMC_UNROLL
  for (int k = 2; k < 7; ++k) EMOMC_UNROLL
  for (int i = 0; i < N; ++i) p[i] = real_fma(p[i], r[i], Pack<float>(c[k]));
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_scale(p[i], x[i] - r[i]);
}

// 2^(i/8), where i < 8 is the value of the last three bits of each lane.
HWY_INLINE Pack<double> eighth_powers(Pack<double> bits) {
  HWY_ALIGN static constexpr double powers[] = {1.0,
                                                1.0905077326652577,
                                                1.189207115002721,
                                                1.2968395546510096,
                                                1.4142135623730951,
                                                1.5422108254079407,
                                                1.681792830507429,
                                                1.8340080864093424};
#if HWY_TARGET <= HWY_AVX3
  return Pack<double>(
      Pack<double>::Vector{_mm512_permutexvar_pd(_mm512_castpd_si512(bits.v.raw), _mm512_load_pd(powers))});
#else
  const hn::RebindToSigned<Pack<double>::Tag> integers;
  const auto index = hn::And(hn::BitCast(integers, bits.v), hn::Set(integers, 7));
  return Pack<double>(hn::GatherIndex(Pack<double>::Tag(), powers, index));
#endif
}

// x = n + r, where n is a multiple of 1/8; 2^r is a minimax polynomial in relative error for |r| <= 1/16
// (6e-18).
template <int N>
HWY_INLINE void exponentiate(Pack<double> (&x)[N]) {
  // The spacing of float64 numbers of this size is 1/8.
  const Pack<double> to_eighths(0x1.8p49);
  Pack<double> r[N], p[N], power[N];
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_max(x[i], Pack<double>(RealTraits<double>::min_exponent));
#if HWY_TARGET > HWY_AVX3
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_min(x[i], Pack<double>(RealTraits<double>::max_exponent));
#endif
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) {
    const Pack<double> eighths = x[i] + to_eighths;
    power[i] = eighth_powers(eighths);
    const Pack<double> n = eighths - to_eighths;
    r[i] = x[i] - n;
#if HWY_TARGET <= HWY_AVX3
    x[i] = n;
#else
    x[i] = eighths;
#endif
  }
  constexpr double c[] = {1.525289641703561e-05, 1.5404471593981057e-04, 1.3333558164078576e-03,
                          9.618129087769654e-03, 5.550410866481742e-02,  2.402265069591122e-01,
                          6.931471805599453e-01};
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) p[i] = real_fma(Pack<double>(c[0]), r[i], Pack<double>(c[1]));
  EMOMC_UNROLL
  for (int k = 2; k < 7; ++k) EMOMC_UNROLL
  for (int i = 0; i < N; ++i) p[i] = real_fma(p[i], r[i], Pack<double>(c[k]));
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) p[i] = p[i] * r[i];
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) p[i] = real_fma(p[i], power[i], power[i]);
#if HWY_TARGET <= HWY_AVX3
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_scale(p[i], x[i]);  // scales by 2^floor(n)
#else
  const hn::RebindToSigned<Pack<double>::Tag> integers;
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) {
    const auto eight_n = hn::AndNot(hn::Set(integers, 7), hn::BitCast(integers, x[i].v));
    const auto scale = hn::Add(hn::ShiftLeft<49>(eight_n), hn::Set(integers, std::int64_t{1023} << 52));
    x[i] = p[i] * Pack<double>(hn::BitCast(Pack<double>::Tag(), scale));
  }
#endif
}

template <class T>
HWY_INLINE Pack<T> real_exp2_bounded(Pack<T> x) {
  Pack<T> e[] = {x};
  exponentiate(e);
  return e[0];
}
#else
template <class T, int N>
HWY_INLINE void exponentiate(Pack<T> (&x)[N]) {
  EMOMC_UNROLL
  for (int i = 0; i < N; ++i) x[i] = real_exp2_bounded(x[i]);
}
#endif

// add_blocks() of mixture_sum.hpp for packs. The number of registers limits the number of exponentials in
// step.
template <int B, int R, class T>
HWY_INLINE void add_blocks(const Pack<T> (&t)[B][kComponentBlock][R], int block, Pack<T> (&sum)[R]) {
  constexpr int kInStep = sizeof(T) == sizeof(float) ? R : 1;
  EMOMC_UNROLL
  for (int b = 0; b < B; ++b) EMOMC_UNROLL
  for (int first = 0; first < R; first += kInStep) {
    Pack<T> e[kInStep * kComponentBlock];
    EMOMC_UNROLL
    for (int r = 0; r < kInStep; ++r) EMOMC_UNROLL
    for (int c = 0; c < kComponentBlock; ++c) e[r * kComponentBlock + c] = t[b][c][first + r];
    exponentiate(e);
    EMOMC_UNROLL
    for (int r = 0; r < kInStep; ++r) {
      const Pack<T>* of = e + r * kComponentBlock;
      const Pack<T> terms = (of[0] + of[1]) + (of[2] + of[3]);
      sum[first + r] = block + b == 0 ? terms : sum[first + r] + terms;
    }
  }
}

template <int R, class Shape, class T, class Row>
HWY_INLINE void add_pair(const Shape& shape, const T* coefficients, int pair, const Row& row,
                         Pack<T> (&p)[R]) {
  Pack<T> t[1][kPair][R], e[kPair * R];
  accumulate(shape, coefficients, pair * kPair, row, t);
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) EMOMC_UNROLL
  for (int c = 0; c < kPair; ++c) e[r * kPair + c] = t[0][c][r];
  exponentiate(e);
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r) p[r] = e[r * kPair] + e[r * kPair + 1];
}

}  // namespace EMOMC_DEVICE_NAMESPACE
