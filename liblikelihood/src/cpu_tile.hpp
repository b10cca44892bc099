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

// out = x, or a + b, in float64; a pack's are in simd_pack.hpp.
EMOMC_INLINE void write(float x, double* out) { *out = static_cast<double>(x); }
EMOMC_INLINE void write(double x, double* out) { *out = x; }
EMOMC_INLINE void write_sum(float a, float b, double* out) {
  *out = static_cast<double>(a) + static_cast<double>(b);
}
EMOMC_INLINE void write_sum(double a, double b, double* out) { *out = a + b; }
EMOMC_INLINE bool all_between(float low, float x, float high) { return low < x && x < high; }
EMOMC_INLINE bool all_between(double low, double x, double high) { return low < x && x < high; }

constexpr float power_of_two_for(float, int n) { return __builtin_bit_cast(float, (n + 127) << 23); }
constexpr double power_of_two_for(double, int n) {
  return __builtin_bit_cast(double, static_cast<long>(n + 1023) << 52);
}

// Columns of kRowsAtOnce packs of a tile from `row` on.
template <class Real, class Scalar, int kPacks>
struct RowPacks {
  const Scalar* rows;
  EMOMC_INLINE void operator()(int j, Real (&x)[kPacks]) const {
    for (int r = 0; r < kPacks; ++r) x[r] = Lanes<Real>::load(rows + j * kRows + r * Lanes<Real>::size);
  }
};

// Sums over components of a tile's rows. Their logarithms, long chains of operations that wait for each
// other, come after all sums, where those of many rows overlap.
template <class Real, class Scalar>
struct TileSums {
  alignas(64) Scalar sum[kRows];

  // log2 as float64 per row. Within kPlainRange of the sum; the others anew.
  template <class Shape>
  void write_logs(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int num_rows,
                  double* out) const {
    for (int row = 0; row < num_rows; row += Lanes<Real>::size)
      write(real_log2(Lanes<Real>::load(sum + row)), out + row);
    constexpr Scalar high = power_of_two_for(Scalar(), static_cast<int>(kPlainRange<Scalar>)), low = 1 / high;
    for (int row = 0; row < num_rows; row += Lanes<Real>::size)
      if (!all_between(Real(low), Lanes<Real>::load(sum + row), Real(high)))
        write_any_logs(shape, coefficients, tile, row, low, high, out);
  }

 private:
  template <class Shape>
  void write_any_logs(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int row, Scalar low,
                      Scalar high, double* out) const {
    LogSum<Real> total[1];
    add_any(shape, coefficients, RowPacks<Real, Scalar, 1>{tile + row}, total);
    double anew[Lanes<Real>::size];
    write_sum(total[0].largest, total[0].rest(), anew);
    for (int i = 0; i < Lanes<Real>::size; ++i)
      if (!(low < sum[row + i] && sum[row + i] < high)) out[row + i] = anew[i];
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
    TileSums<Real, Scalar> sums;
    for (int row = 0; row < num_rows; row += kRowsAtOnce * Lanes<Real>::size) {
      Real sum[kRowsAtOnce];
      add_components(shape, coefficients, RowPacks<Real, Scalar, kRowsAtOnce>{tile + row}, sum);
      for (int r = 0; r < kRowsAtOnce; ++r)
        Lanes<Real>::store(sum[r], sums.sum + row + r * Lanes<Real>::size);
    }
    sums.write_logs(shape, coefficients, tile, num_rows, out);
  }
};

/// out[kRows]: sums of a pair of components.
template <class Real, class Scalar>
struct TilePair {
  const Scalar *coefficients, *tile;
  int num_rows;
  int pair;
  Scalar* out;

  template <class Shape>
  void operator()(const Shape& shape) const {
    constexpr int at_once = 4;
    for (int row = 0; row < num_rows; row += at_once * Lanes<Real>::size) {
      Real p[at_once];
      add_pair(shape, coefficients, pair, RowPacks<Real, Scalar, at_once>{tile + row}, p);
      for (int r = 0; r < at_once; ++r) Lanes<Real>::store(p[r], out + row + r * Lanes<Real>::size);
    }
  }
};

/// As TileDensities from the sums of pairs[pair][kRows]; the same bits.
template <class Real, class Scalar>
struct TileDensitiesOf {
  const Scalar *coefficients, *tile;
  const Scalar* const* pairs;
  int num_rows;
  double* out;

  template <class Shape>
  void operator()(const Shape& shape) const {
    TileSums<Real, Scalar> sums;
    for (int row = 0; row < num_rows; row += kRowsAtOnce * Lanes<Real>::size) {
      Real sum[kRowsAtOnce];
      const Scalar* const* from = pairs;
      add_kept_pairs(
          shape,
          [from, row](int pair, Real(&p)[kRowsAtOnce]) {
            for (int r = 0; r < kRowsAtOnce; ++r)
              p[r] = Lanes<Real>::load(from[pair] + row + r * Lanes<Real>::size);
          },
          sum);
      for (int r = 0; r < kRowsAtOnce; ++r)
        Lanes<Real>::store(sum[r], sums.sum + row + r * Lanes<Real>::size);
    }
    sums.write_logs(shape, coefficients, tile, num_rows, out);
  }
};

}  // namespace EMOMC_DEVICE_NAMESPACE
