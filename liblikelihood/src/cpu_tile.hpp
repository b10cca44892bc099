// The tile loops, for one number or one pack at a time. Included once per SIMD target, after real_ops.hpp and
// the shapes of mixtures, in EMOMC_DEVICE_NAMESPACE; no include guard on purpose.

namespace EMOMC_DEVICE_NAMESPACE {

// Lanes of one value in memory.
template <class Real>
struct Lanes {
  using Scalar = typename RealTraits<Real>::Scalar;
  static constexpr int size = static_cast<int>(sizeof(Real) / sizeof(Scalar));
  static EMOMC_INLINE Real load(const Scalar* from) {
    Real x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
  }
  static EMOMC_INLINE void store(Real x, Scalar* to) { __builtin_memcpy(to, &x, sizeof x); }
};

constexpr int kRows = 1024;
constexpr int kRowsAtOnce = 2;  // packs of rows

// out = a + b in float64; a pack's is in simd_pack.hpp.
EMOMC_INLINE void write_sum(float a, float b, double* out) {
  *out = static_cast<double>(a) + static_cast<double>(b);
}
EMOMC_INLINE void write_sum(double a, double b, double* out) { *out = a + b; }

// Sums of a tile's rows. Their logarithms, long chains of operations that wait for each other, come after all
// sums, where those of many rows overlap.
template <class Real, class Scalar>
struct TileSums {
  alignas(64) Scalar largest[kRows];
  alignas(64) Scalar sum[kRows];

  EMOMC_INLINE void keep(int row, const LogSum<Real>& total) {
    Lanes<Real>::store(total.largest, largest + row);
    Lanes<Real>::store(total.sum, sum + row);
  }
  // log2 as float64 per row; minus infinity for an empty sum.
  EMOMC_INLINE void write_logs(int num_rows, double* out) const {
    for (int row = 0; row < num_rows; row += Lanes<Real>::size) {
      const Real most = Lanes<Real>::load(largest + row);
      write_sum(
          most,
          real_select_greater(most, Real(RealTraits<Scalar>::lowest), real_log2(Lanes<Real>::load(sum + row)),
                              Real(Scalar(-__builtin_huge_val()))),
          out + row);
    }
  }
};

// Calls f(shape) with the mixture's shape.
template <class Scalar, class F>
EMOMC_INLINE void with_shape(const TileMixture<Scalar>& m, const F& f) {
  switch (m.form) {
    case TileForm::axis_aligned:
      return f(AxisAlignedShape{m.num_components, m.dim});
    case TileForm::full:
      return f(FullShape{m.num_components, m.dim});
    case TileForm::tied:
      return f(TiedShape{m.num_components, m.dim});
  }
}

/// out[kRows]: log2 densities without `common`.
template <class Real, class Scalar>
struct TileDensities {
  const Scalar *coefficients, *tile;
  int num_rows;
  double* out;

  template <class Shape>
  void operator()(const Shape& shape) const {
    constexpr int step = kRowsAtOnce * Lanes<Real>::size;
    TileSums<Real, Scalar> sums;
    for (int row = 0; row < num_rows; row += step) {
      LogSum<Real> total[kRowsAtOnce];
      const Scalar* rows = tile + row;
      add_components(
          shape, coefficients,
          [rows](int j, Real(&x)[kRowsAtOnce]) {
            for (int r = 0; r < kRowsAtOnce; ++r)
              x[r] = Lanes<Real>::load(rows + j * kRows + r * Lanes<Real>::size);
          },
          total);
      for (int r = 0; r < kRowsAtOnce; ++r) sums.keep(row + r * Lanes<Real>::size, total[r]);
    }
    sums.write_logs(num_rows, out);
  }
};

/// out[kRows]: distances to component k.
template <class Real, class Scalar>
struct TileDistances {
  const Scalar *coefficients, *tile;
  int num_rows;
  int k;
  Scalar* out;

  template <class Shape>
  void operator()(const Shape& shape) const {
    constexpr int at_once = 4;
    for (int row = 0; row < num_rows; row += at_once * Lanes<Real>::size) {
      Real distance[at_once];
      const Scalar* rows = tile + row;
      accumulate_component(
          shape, coefficients, k,
          [rows](int j, Real(&x)[at_once]) {
            for (int r = 0; r < at_once; ++r)
              x[r] = Lanes<Real>::load(rows + j * kRows + r * Lanes<Real>::size);
          },
          distance);
      for (int r = 0; r < at_once; ++r) Lanes<Real>::store(distance[r], out + row + r * Lanes<Real>::size);
    }
  }
};

/// As TileDensities from distances[k][kRows]; the same bits.
template <class Real, class Scalar>
struct TileDensitiesOf {
  const Scalar* coefficients;
  const Scalar* const* distances;
  int num_rows;
  double* out;

  template <class Shape>
  void operator()(const Shape& shape) const {
    constexpr int step = kRowsAtOnce * Lanes<Real>::size;
    TileSums<Real, Scalar> sums;
    for (int row = 0; row < num_rows; row += step) {
      LogSum<Real> total[kRowsAtOnce];
      const Scalar* const* from = distances;
      add_kept_components(
          shape, coefficients,
          [from, row](int k, Real(&q)[kRowsAtOnce]) {
            for (int r = 0; r < kRowsAtOnce; ++r)
              q[r] = Lanes<Real>::load(from[k] + row + r * Lanes<Real>::size);
          },
          total);
      for (int r = 0; r < kRowsAtOnce; ++r) sums.keep(row + r * Lanes<Real>::size, total[r]);
    }
    sums.write_logs(num_rows, out);
  }
};

}  // namespace EMOMC_DEVICE_NAMESPACE
