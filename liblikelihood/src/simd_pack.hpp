// A SIMD vector of Highway with the interface of a number in real_ops.hpp. This file is included once per
// SIMD target, inside the target's region and in EMOMC_DEVICE_NAMESPACE; it deliberately has no include
// guard.

namespace EMOMC_DEVICE_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Pack {
  using Tag = hn::ScalableTag<T>;
  using Vector = hn::Vec<Tag>;
  Vector v;

  Pack() = default;
  HWY_INLINE explicit Pack(Vector vector) : v(vector) {}
  HWY_INLINE explicit Pack(T x) : v(hn::Set(Tag(), x)) {}
  static constexpr int size() { return static_cast<int>(hn::MaxLanes(Tag())); }
  static HWY_INLINE Pack load(const T* from) { return Pack(hn::LoadU(Tag(), from)); }
  HWY_INLINE void store(T* to) const { hn::StoreU(v, Tag(), to); }
};

template <class T>
struct RealTraits<Pack<T>> {
  using Scalar = T;
};

template <class T>
HWY_INLINE Pack<T> operator+(Pack<T> a, Pack<T> b) {
  return Pack<T>(hn::Add(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> operator-(Pack<T> a, Pack<T> b) {
  return Pack<T>(hn::Sub(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> operator*(Pack<T> a, Pack<T> b) {
  return Pack<T>(hn::Mul(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> operator/(Pack<T> a, Pack<T> b) {
  return Pack<T>(hn::Div(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> real_fma(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::MulAdd(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> real_fnma(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::NegMulAdd(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> real_max(Pack<T> a, Pack<T> b) {
  return Pack<T>(hn::Max(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> real_min(Pack<T> a, Pack<T> b) {
  return Pack<T>(hn::Min(a.v, b.v));
}
template <class T>
HWY_INLINE bool all_between(Pack<T> low, Pack<T> x, Pack<T> high) {
  const typename Pack<T>::Tag tag;
  return hn::AllTrue(tag, hn::And(hn::Lt(low.v, x.v), hn::Lt(x.v, high.v)));
}
template <class T>
HWY_INLINE Pack<T> real_select_greater(Pack<T> a, Pack<T> b, Pack<T> x, Pack<T> y) {
  return Pack<T>(hn::IfThenElse(hn::Gt(a.v, b.v), x.v, y.v));
}
template <class T>
HWY_INLINE Pack<T> real_round(Pack<T> x) {
  return Pack<T>(hn::Round(x.v));
}

template <class Real>
struct Doubles;  // cpu_tile.hpp
template <class T>
struct Doubles<Pack<T>> {
  using Type = Pack<double>;
  static HWY_INLINE Pack<double> load(const double* from) { return Pack<double>::load(from); }
  static HWY_INLINE Pack<double> load(const float* from) {
#if HWY_TARGET == HWY_SCALAR
    return Pack<double>(static_cast<double>(*from));
#else
    const Pack<double>::Tag doubles;
    return Pack<double>(hn::PromoteTo(doubles, hn::LoadU(hn::Rebind<float, Pack<double>::Tag>(), from)));
#endif
  }
};
/// out[lanes] = a + b in float64.
HWY_INLINE void write_sum(Pack<double> a, Pack<double> b, double* out) { (a + b).store(out); }
HWY_INLINE void write_sum(Pack<float> a, Pack<float> b, double* out) {
#if HWY_TARGET == HWY_SCALAR
  *out = static_cast<double>(hn::GetLane(a.v)) + static_cast<double>(hn::GetLane(b.v));
#else
  const Pack<double>::Tag doubles;
  const hn::Half<Pack<float>::Tag> half;
  hn::StoreU(hn::Add(hn::PromoteTo(doubles, hn::LowerHalf(half, a.v)),
                     hn::PromoteTo(doubles, hn::LowerHalf(half, b.v))),
             doubles, out);
  hn::StoreU(hn::Add(hn::PromoteTo(doubles, hn::UpperHalf(half, a.v)),
                     hn::PromoteTo(doubles, hn::UpperHalf(half, b.v))),
             doubles, out + hn::Lanes(doubles));
#endif
}

// Some targets have a single instruction for these operations, which gives the same bits.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE Pack<float> real_remainder(Pack<float> x) {
  return Pack<float>(Pack<float>::Vector{_mm512_reduce_ps(x.v.raw, _MM_FROUND_TO_NEAREST_INT)});
}
HWY_INLINE Pack<double> real_remainder(Pack<double> x) {
  return Pack<double>(Pack<double>::Vector{_mm512_reduce_pd(x.v.raw, _MM_FROUND_TO_NEAREST_INT)});
}
HWY_INLINE Pack<float> real_scale(Pack<float> p, Pack<float> n) {
  return Pack<float>(Pack<float>::Vector{_mm512_scalef_ps(p.v.raw, n.v.raw)});
}
HWY_INLINE Pack<double> real_scale(Pack<double> p, Pack<double> n) {
  return Pack<double>(Pack<double>::Vector{_mm512_scalef_pd(p.v.raw, n.v.raw)});
}
#else
HWY_INLINE Pack<float> real_scale(Pack<float> p, Pack<float> n) {
  const hn::RebindToSigned<Pack<float>::Tag> integers;
  const auto bits = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(integers, n.v), hn::Set(integers, 127)));
  return Pack<float>(hn::Mul(p.v, hn::BitCast(Pack<float>::Tag(), bits)));
}
HWY_INLINE Pack<double> real_scale(Pack<double> p, Pack<double> n) {
  const hn::RebindToSigned<Pack<double>::Tag> integers;
  const auto bits = hn::ShiftLeft<52>(hn::Add(hn::ConvertTo(integers, n.v), hn::Set(integers, 1023)));
  return Pack<double>(hn::Mul(p.v, hn::BitCast(Pack<double>::Tag(), bits)));
}
#endif
HWY_INLINE Pack<float> real_split(Pack<float> x, Pack<float>* e) {
  const Pack<float>::Tag reals;
  const hn::RebindToSigned<Pack<float>::Tag> integers;
  const auto bits = hn::BitCast(integers, x.v);
  const auto k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(integers, 0x3f3504f3)));
  e->v = hn::ConvertTo(reals, k);
  return Pack<float>(hn::BitCast(reals, hn::Sub(bits, hn::ShiftLeft<23>(k))));
}
HWY_INLINE Pack<double> real_split(Pack<double> x, Pack<double>* e) {
  const Pack<double>::Tag reals;
  const hn::RebindToSigned<Pack<double>::Tag> integers;
  const auto bits = hn::BitCast(integers, x.v);
  const auto k = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(integers, 0x3fe6a09e667f3bcdL)));
  e->v = hn::ConvertTo(reals, k);
  return Pack<double>(hn::BitCast(reals, hn::Sub(bits, hn::ShiftLeft<52>(k))));
}

}  // namespace EMOMC_DEVICE_NAMESPACE
