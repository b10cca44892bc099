// The loops over the rows of a tile, generic in the number type: a scalar or a SIMD pack. This file is
// included once per SIMD target, after real_ops.hpp and the shapes of mixtures, in EMOMC_DEVICE_NAMESPACE; it
// deliberately has no include guard.

namespace EMOMC_DEVICE_NAMESPACE {

// The lanes of a value of type Real, in memory.
template <class Real>
struct Lanes {
  using Scalar = typename RealTraits<Real>::Scalar;
  static constexpr int size =
      static_cast<int>(sizeof(Real) / sizeof(Scalar));  // NOLINT(bugprone-sizeof-expression): of scalars 1
  static EMOMC_INLINE Real load(const Scalar* from) {
    Real x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
  }
  static EMOMC_INLINE void store(Real x, Scalar* to) { __builtin_memcpy(to, &x, sizeof x); }
};

constexpr int kRows = emomc::device::kTileRows;
constexpr int kRowsAtOnce = 2;  // in packs

// out = a + b in float64; the overload for packs is in simd_pack.hpp.
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

// Loads kPacks consecutive packs of rows of a tile's column.
template <class Real, class Scalar, int kPacks>
struct RowPacks {
  const Scalar* rows;
  EMOMC_INLINE void operator()(int j, Real (&x)[kPacks]) const {
    for (int r = 0; r < kPacks; ++r) x[r] = Lanes<Real>::load(rows + j * kRows + r * Lanes<Real>::size);
  }
};

// The float64 type that holds the rows of one float64 pack; this template is for scalars.
template <class Real>
struct Doubles {
  using Type = double;
  static EMOMC_INLINE double load(const float* from) { return static_cast<double>(*from); }
  static EMOMC_INLINE double load(const double* from) { return *from; }
};

// The product of kFactors factors within 2^+-kFactorRange is far from overflow and underflow in float64.
template <class Scalar>
inline constexpr int kFactorRange = sizeof(Scalar) == sizeof(float) ? static_cast<int>(kPlainRange<Scalar>)
                                                                    : 120;

// The sums over components for all rows of a tile. Logarithms are long chains of dependent operations. They
// are computed after all sums, so that the operations of many rows overlap.
template <class Real, class Scalar>
struct TileSums {
  static constexpr int kLanes = Lanes<Real>::size;
  using Wide = typename Doubles<Real>::Type;

  alignas(64) Scalar sum[kRows];

  // Computes log2 of products of sums, kProducts for each kProductRows rows. A factor outside the range is
  // left out of the product, and the factor's own logarithm is added instead. Overwrites the sums.
  template <class Shape>
  void write_product_logs(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int num_rows,
                          double* out) {
    for (int first = 0; first < num_rows; first += kProductRows, out += kProducts) {
      for (int row = num_rows; row < first + kProductRows; ++row) sum[row] = 1;
      double others[kProducts];
      bool has_others = false;
      for (int row = first; row < first + kProductRows; row += kLanes)
        if (!is_within(kFactorRange<Scalar>, row)) {
          for (int i = 0; !has_others && i < kProducts; ++i) others[i] = 0;
          has_others = true;
          double logs[kLanes];
          compute_logs(shape, coefficients, tile, row, logs);
          for (int i = row; i < row + kLanes; ++i) {
            if (is_factor(sum[i])) continue;
            others[i % kProducts] += logs[i - row];
            sum[i] = 1;
          }
        }
      for (int i = 0; i < kProducts; i += Lanes<Wide>::size) {
        Wide product = Doubles<Real>::load(sum + first + i);
        for (int f = 1; f < kFactors; ++f)
          product = product * Doubles<Real>::load(sum + first + f * kProducts + i);
        Wide log = real_log2(product);
        if (has_others) log = log + Lanes<Wide>::load(others + i);
        Lanes<Wide>::store(log, out + i);
      }
    }
  }

  // Computes log2 for each row; writes up to one pack beyond num_rows.
  template <class Shape>
  void write_logs(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int num_rows,
                  double* out) const {
    for (int row = 0; row < num_rows; row += kLanes) compute_logs(shape, coefficients, tile, row, out + row);
  }

 private:
  static constexpr Scalar limit(int range) { return power_of_two_for(Scalar(), range); }
  static bool is_factor(Scalar x) {
    return 1 / limit(kFactorRange<Scalar>) < x && x < limit(kFactorRange<Scalar>);
  }
  EMOMC_INLINE bool is_within(int range, int row) const {
    return all_between(Real(1 / limit(range)), Lanes<Real>::load(sum + row), Real(limit(range)));
  }

  // Logarithms of one pack of rows: directly of a sum that is within kPlainRange, otherwise relative to the
  // largest term.
  template <class Shape>
  void compute_logs(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int row,
                    double* out) const {
    constexpr int plain = static_cast<int>(kPlainRange<Scalar>);
    for (int i = 0; i < kLanes; i += Lanes<Wide>::size)
      Lanes<Wide>::store(real_log2(Doubles<Real>::load(sum + row + i)), out + i);
    if (is_within(plain, row)) return;
    LogSum<Real> total[1];
    add_any(shape, coefficients, RowPacks<Real, Scalar, 1>{tile + row}, total);
    double anew[kLanes];
    write_sum(total[0].largest, total[0].rest(), anew);
    for (int i = 0; i < kLanes; ++i)
      if (!(1 / limit(plain) < sum[row + i] && sum[row + i] < limit(plain))) out[i] = anew[i];
  }
};

// This function is not inlined, so that models with the same shape share the code.
template <class Shape, class F>
__attribute__((noinline)) void call_with(const Shape& shape, const F& f) {
  f(shape);
}

// Calls f(shape) with the shape of the mixture.
template <class Scalar, class F>
EMOMC_INLINE void with_shape(const TileMixture<Scalar>& m, const F& f) {
  switch (m.form) {
#define EMOMC_CASE(Model, Shape) \
  case TileForm::Model:          \
    return call_with(Shape{m.num_components, m.dim}, f);
    EMOMC_MODELS(EMOMC_CASE)  // NOLINT(bugprone-branch-clone): some models have one shape
#undef EMOMC_CASE
  }
}

template <class Real, class Scalar, class Shape>
EMOMC_INLINE void add_rows(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int num_rows,
                           TileSums<Real, Scalar>& sums) {
  for (int row = 0; row < num_rows; row += kRowsAtOnce * Lanes<Real>::size) {
    Real sum[kRowsAtOnce];
    add_components(shape, coefficients, RowPacks<Real, Scalar, kRowsAtOnce>{tile + row}, sum);
    for (int r = 0; r < kRowsAtOnce; ++r) Lanes<Real>::store(sum[r], sums.sum + row + r * Lanes<Real>::size);
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
    add_rows(shape, coefficients, tile, num_rows, sums);
    sums.write_logs(shape, coefficients, tile, num_rows, out);
  }
};

/// out[num_products(num_rows)]: log2 of products of densities without `common`.
template <class Real, class Scalar>
struct TileProducts {
  const Scalar *coefficients, *tile;
  int num_rows;
  double* out;

  template <class Shape>
  void operator()(const Shape& shape) const {
    TileSums<Real, Scalar> sums;
    add_rows(shape, coefficients, tile, num_rows, sums);
    sums.write_product_logs(shape, coefficients, tile, num_rows, out);
  }
};

/// out[kRows]: sums of the terms of a pair of components.
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

/// The results of TileProducts, bit for bit, from the sums pairs[pair][kRows].
template <class Real, class Scalar>
struct TileProductsOf {
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
    sums.write_product_logs(shape, coefficients, tile, num_rows, out);
  }
};

}  // namespace EMOMC_DEVICE_NAMESPACE
