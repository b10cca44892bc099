// The sums over the rows of a tile that a mixture's gradient needs (gradient_sums.hpp). This file is included
// once per SIMD target, after cpu_tile.hpp, in EMOMC_DEVICE_NAMESPACE; it deliberately has no include guard.
// The powers of two whose sums are the densities are stored and divided to give the responsibilities. Sums
// over rows have kSumLanes lanes of every kSumLanes-th row for all widths of targets, in Real for up to
// kSumRows rows and then in float64, so that all targets with fma give the same bits. Padding rows of a tile
// have responsibility 0 and z = 0, since their columns may hold any number.

namespace EMOMC_DEVICE_NAMESPACE {

constexpr int kSumLanes = emomc::kGradientLanes;
constexpr int kSumRows = 512;
constexpr int kMatrixRows = emomc::kGradientRows;  // for shapes with covariances
template <class Real>
constexpr int kSumPacks = kSumLanes / Lanes<Real>::size;
// Components whose sums are in registers at once; a divisor of kComponentBlock.
template <class Real>
constexpr int kSumComponents = kSumPacks<Real> == 1   ? 4
                               : kSumPacks<Real> == 2 ? 2
                                                      : 1;

// Distance between the responsibilities of neighbouring components.
constexpr int kPowerRows = emomc::kGradientStride;
// Rows are processed up to a multiple of this number.
constexpr int kRowGroup = emomc::kGradientRowGroup;
constexpr int rounded_rows(int num_rows) { return (num_rows + kRowGroup - 1) / kRowGroup * kRowGroup; }

// The lanes of one sum, in Real.
template <class Real>
struct SumLanes {
  Real at[kSumPacks<Real>];

  EMOMC_INLINE SumLanes() {
    EMOMC_UNROLL
    for (int p = 0; p < kSumPacks<Real>; ++p) at[p] = Real(typename RealTraits<Real>::Scalar(0));
  }
  // Adds the lanes to float64 lanes.
  EMOMC_INLINE void add_to(double* lanes) const {
    using Wide = typename Doubles<Real>::Type;
    typename RealTraits<Real>::Scalar numbers[kSumLanes];
    EMOMC_UNROLL
    for (int p = 0; p < kSumPacks<Real>; ++p) Lanes<Real>::store(at[p], numbers + p * Lanes<Real>::size);
    EMOMC_UNROLL
    for (int i = 0; i < kSumLanes; i += Lanes<Wide>::size)
      Lanes<Wide>::store(Lanes<Wide>::load(lanes + i) + Doubles<Real>::load(numbers + i), lanes + i);
  }
};

EMOMC_INLINE double sum_of_lanes(double* lanes) {
  for (int n = kSumLanes / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) lanes[i] += lanes[i + n];
  return lanes[0];
}

template <class Real, class Scalar, int kPacks = kSumPacks<Real>>
EMOMC_INLINE void load_packs(const Scalar* from, Real (&x)[kPacks]) {
  EMOMC_UNROLL
  for (int p = 0; p < kPacks; ++p) x[p] = Lanes<Real>::load(from + p * Lanes<Real>::size);
}

// Writes the powers of two of all components to powers[4 num_blocks][kPowerRows], where powers below the
// smallest normal number become 0, and writes the sums of the powers with the bits of add_rows.
template <class Real, class Scalar, class Shape>
EMOMC_INLINE void write_powers(const Shape& shape, const Scalar* coefficients, const Scalar* tile,
                               int num_rows, Scalar* powers, TileSums<Real, Scalar>& sums) {
  const Real least = Real(power_of_two_for(Scalar(), static_cast<int>(RealTraits<Scalar>::min_exponent)));
  const Real nothing = Real(Scalar(0));
  for (int row = 0; row < num_rows; row += kRowsAtOnce * Lanes<Real>::size) {
    Real sum[kRowsAtOnce] = {nothing, nothing};
    static_assert(kRowsAtOnce == 2);
    for (int block = 0; block < shape.num_blocks(); ++block) {
      Real t[1][kComponentBlock][kRowsAtOnce];
      accumulate(shape, coefficients, block * kComponentBlock,
                 RowPacks<Real, Scalar, kRowsAtOnce>{tile + row}, t);
      const bool has_padding = block * kComponentBlock + kPair >= shape.num_components;
      EMOMC_UNROLL
      for (int r = 0; r < kRowsAtOnce; ++r) {
        Real e[kComponentBlock];
        EMOMC_UNROLL
        for (int c = 0; c < kComponentBlock; ++c) e[c] = real_exp2_bounded(t[0][c][r]);
        Scalar* to = powers + block * kComponentBlock * kPowerRows + row + r * Lanes<Real>::size;
        EMOMC_UNROLL
        for (int c = 0; c < kComponentBlock; ++c)
          Lanes<Real>::store(real_select_greater(e[c], least, e[c], nothing), to + c * kPowerRows);
        const Real terms = has_padding ? e[0] + e[1] : (e[0] + e[1]) + (e[2] + e[3]);
        sum[r] = block == 0 ? terms : sum[r] + terms;
      }
    }
    EMOMC_UNROLL
    for (int r = 0; r < kRowsAtOnce; ++r) Lanes<Real>::store(sum[r], sums.sum + row + r * Lanes<Real>::size);
  }
}

// Writes the responsibilities of one row whose sum is outside kPlainRange, relative to the largest term.
template <class Shape, class Scalar>
EMOMC_INLINE void write_far_row(const Shape& shape, const Scalar* coefficients, const Scalar* tile, int row,
                                Scalar* powers) {
  Scalar largest = RealTraits<Scalar>::lowest, sum = 0;
  for (int k = 0; k < shape.num_components; ++k) {
    Scalar t[1][1][1];
    accumulate(shape, coefficients, k, RowPacks<Scalar, Scalar, 1>{tile + row}, t);
    powers[k * kPowerRows + row] = t[0][0][0];
    largest = real_max(largest, t[0][0][0]);
  }
  for (int k = 0; k < shape.num_components; ++k) {
    Scalar& r = powers[k * kPowerRows + row];
    // A term that is not a number can leave `largest` below an earlier term.
    r = real_exp2(real_min(Scalar(0), r - largest));
    sum += r;
  }
  for (int k = 0; k < shape.num_components; ++k) powers[k * kPowerRows + row] /= sum;
}

// Replaces powers by responsibilities.
template <class Real, class Scalar, class Shape>
EMOMC_INLINE void divide_powers(const Shape& shape, const Scalar* coefficients, const Scalar* tile,
                                int num_rows, const TileSums<Real, Scalar>& sums, Scalar* powers) {
  constexpr int plain = static_cast<int>(kPlainRange<Scalar>);
  const Scalar low = power_of_two_for(Scalar(), -plain), high = power_of_two_for(Scalar(), plain);
  const int num_padded = shape.num_blocks() * kComponentBlock;
  for (int row = 0; row < num_rows; row += Lanes<Real>::size) {
    const Real sum = Lanes<Real>::load(sums.sum + row), inverse = Real(Scalar(1)) / sum;
    for (int k = 0; k < num_padded; ++k) {
      Scalar* r = powers + k * kPowerRows + row;
      Lanes<Real>::store(Lanes<Real>::load(r) * inverse, r);
    }
    if (all_between(Real(low), sum, Real(high))) continue;
    for (int i = row; i < row + Lanes<Real>::size && i < num_rows; ++i)
      if (!(low < sums.sum[i] && sums.sum[i] < high)) write_far_row(shape, coefficients, tile, i, powers);
  }
  for (int k = 0; k < num_padded; ++k)
    for (int row = num_rows; row < rounded_rows(num_rows); ++row) powers[k * kPowerRows + row] = 0;
}

// Adds the sum over rows of the responsibilities to sums[k].
template <class Real, class Scalar>
EMOMC_INLINE void add_responsibilities(const Scalar* r, int num_components, int num_rows, double* sums) {
  for (int k = 0; k < num_components; ++k) {
    double lanes[kSumLanes] = {};
    for (int begin = 0; begin < num_rows; begin += kSumRows) {
      SumLanes<Real> sum;
      for (int row = begin; row < num_rows && row < begin + kSumRows; row += kSumLanes) EMOMC_UNROLL
      for (int p = 0; p < kSumPacks<Real>; ++p)
        sum.at[p] = sum.at[p] + Lanes<Real>::load(r + k * kPowerRows + row + p * Lanes<Real>::size);
      sum.add_to(lanes);
    }
    sums[k] += sum_of_lanes(lanes);
  }
}

// The columns of a tile; the last rows are a copy that is padded with zeros.
template <class Scalar>
struct PaddedColumns {
  const Scalar* tile;
  int whole;
  const Scalar* last;  // [dim][kRowGroup]

  EMOMC_INLINE PaddedColumns(const Scalar* of_tile, int dim, int num_rows, Scalar* copy)
      : tile(of_tile), whole(num_rows / kRowGroup * kRowGroup), last(copy) {
    for (int j = 0; j < dim; ++j)
      for (int i = 0; i < kRowGroup; ++i)
        copy[j * kRowGroup + i] = whole + i < num_rows ? tile[j * kRows + whole + i] : Scalar(0);
  }
  EMOMC_INLINE const Scalar* at(int j, int row) const {
    return row < whole ? tile + j * kRows + row : last + j * kRowGroup + (row - whole);
  }
};

// Adds the sum of r z to sums[place.first(k, j)] and the sum of r z^2 to sums[place.square(k, j)].
template <class Real, class Scalar>
EMOMC_INLINE void add_squares(const AxisAlignedShape& shape, const Scalar* coefficients,
                              const PaddedColumns<Scalar>& columns, int num_rows, const Scalar* r,
                              const GradientSums& place, double* sums) {
  constexpr int C = kSumComponents<Real>, P = kSumPacks<Real>;
  for (int first = 0; first < shape.num_components; first += C)
    for (int j = 0; j < shape.dim; ++j) {
      Real g[C], h[C];
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) {
        g[c] = Real(coefficients[shape.slope_index(first + c, j)]);
        h[c] = Real(coefficients[shape.offset_index(first + c, j)]);
      }
      double lanes[2][C][kSumLanes] = {};
      for (int begin = 0; begin < num_rows; begin += kSumRows) {
        SumLanes<Real> sum[C], square[C];
        for (int row = begin; row < num_rows && row < begin + kSumRows; row += kSumLanes) {
          Real x[P];
          load_packs(columns.at(j, row), x);
          EMOMC_UNROLL
          for (int c = 0; c < C; ++c) EMOMC_UNROLL
          for (int p = 0; p < P; ++p) {
            const Real z = real_fma(x[p], g[c], h[c]);
            const Real rz = Lanes<Real>::load(r + (first + c) * kPowerRows + row + p * Lanes<Real>::size) * z;
            sum[c].at[p] = sum[c].at[p] + rz;
            square[c].at[p] = real_fma(rz, z, square[c].at[p]);
          }
        }
        EMOMC_UNROLL
        for (int c = 0; c < C; ++c) {
          sum[c].add_to(lanes[0][c]);
          square[c].add_to(lanes[1][c]);
        }
      }
      for (int c = 0; c < C && first + c < shape.num_components; ++c) {
        sums[place.first(first + c, j)] += sum_of_lanes(lanes[0][c]);
        sums[place.square(first + c, j)] += sum_of_lanes(lanes[1][c]);
      }
    }
}

// log(1 + u) - u / (1 + u) from v = u / (1 + u); where v is small, by the series sum_n v^n / n, n >= 2.
template <class Real>
EMOMC_INLINE Real log_excess(Real u, Real v) {
  using Scalar = typename RealTraits<Real>::Scalar;
  constexpr int kTerms = sizeof(Scalar) == sizeof(float) ? 7 : 15;  // the next term is below rounding errors
  Real series = Real(Scalar(1.0 / kTerms));
  for (int n = kTerms - 1; n >= 2; --n) series = real_fma(series, v, Real(static_cast<Scalar>(1.0 / n)));
  return real_select_greater(v, Real(Scalar(0.0625)), real_log1p(u) - v, series * (v * v));
}

// Adds the sums of tails of Student t components, and divides the responsibilities by 1 + u.
template <class Real, class Scalar>
EMOMC_INLINE void add_tails(const StudentTShape& shape, const Scalar* coefficients,
                            const PaddedColumns<Scalar>& columns, int num_rows, Scalar* r,
                            const GradientSums& place, double* sums) {
  constexpr int C = kSumComponents<Real>, P = kSumPacks<Real>, R = 2 * P;
  static_assert(kRowGroup == 2 * kSumLanes);
  for (int first = 0; first < shape.num_components; first += C) {
    double lanes[2][C][kSumLanes] = {};
    for (int begin = 0; begin < num_rows; begin += kSumRows) {
      SumLanes<Real> excess[C], share[C];
      for (int row = begin; row < num_rows && row < begin + kSumRows; row += kRowGroup) {
        Real u[C][R];
        EMOMC_UNROLL
        for (int c = 0; c < C; ++c) EMOMC_UNROLL
        for (int i = 0; i < R; ++i) u[c][i] = Real(Scalar(0));
        for (int j = 0; j < shape.dim; ++j) {
          Real x[R];
          load_packs(columns.at(j, row), x);
          EMOMC_UNROLL
          for (int c = 0; c < C; ++c) {
            const Real g(coefficients[shape.slope_index(first + c, j)]);
            const Real h(coefficients[shape.offset_index(first + c, j)]);
            EMOMC_UNROLL
            for (int i = 0; i < R; ++i) {
              const Real z = real_fma(x[i], g, h);
              u[c][i] = real_fma(z, z, u[c][i]);
            }
          }
        }
        EMOMC_UNROLL
        for (int c = 0; c < C; ++c) EMOMC_UNROLL
        for (int i = 0; i < R; ++i) {
          Scalar* to = r + (first + c) * kPowerRows + row + i * Lanes<Real>::size;
          const Real one = Real(Scalar(1)), own = Lanes<Real>::load(to), inverse = one / (one + u[c][i]);
          const Real v = u[c][i] * inverse;
          excess[c].at[i % P] = real_fma(own, log_excess(u[c][i], v), excess[c].at[i % P]);
          share[c].at[i % P] = real_fma(own, v, share[c].at[i % P]);
          Lanes<Real>::store(own * inverse, to);
        }
      }
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) {
        excess[c].add_to(lanes[0][c]);
        share[c].add_to(lanes[1][c]);
      }
    }
    for (int c = 0; c < C && first + c < shape.num_components; ++c) {
      sums[place.tail(first + c)] += sum_of_lanes(lanes[0][c]);
      sums[place.tail(first + c) + 1] += sum_of_lanes(lanes[1][c]);
    }
  }
}

// Writes start(i) + (W x)_i for rows of a tile to to[i][kMatrixRows]; 0 for padding rows.
template <class Real, class Shape, class Scalar, class Start>
EMOMC_INLINE void rotate_tile(const Shape& shape, const Scalar* coefficients, int k, const Scalar* tile,
                              int num_rows, const Start& start, Scalar* to) {
  constexpr int R = 8;  // packs; kMatrixRows is a multiple of their rows
  static_assert(kMatrixRows % (R * Lanes<Real>::size) == 0);
  for (int i = 0; i < shape.dim; ++i) {
    for (int row = 0; row < num_rows; row += R * Lanes<Real>::size) {
      Real z[R];
      EMOMC_UNROLL
      for (int r = 0; r < R; ++r) z[r] = Real(start(i));
      for (int j = 0; j <= i; ++j) {
        const Real factor(coefficients[shape.factor_index(k, i, j)]);
        EMOMC_UNROLL
        for (int r = 0; r < R; ++r)
          z[r] = real_fma(Lanes<Real>::load(tile + j * kRows + row + r * Lanes<Real>::size), factor, z[r]);
      }
      EMOMC_UNROLL
      for (int r = 0; r < R; ++r)
        Lanes<Real>::store(z[r], to + i * kMatrixRows + row + r * Lanes<Real>::size);
    }
    for (int row = num_rows; row < rounded_rows(num_rows); ++row) to[i * kMatrixRows + row] = 0;
  }
}

// Adds the sums of a_i b_j, j <= i, for arrays [dim][kMatrixRows] to lanes[triangle][kSumLanes]. Blocks of
// sums are in registers at once; sums beyond the triangle repeat another row or column and are not used.
template <class Real, class Scalar>
EMOMC_INLINE void add_products_of(const Scalar* a, const Scalar* b, int dim, int num_rows, double* lanes) {
  constexpr int I = 2, C = kSumComponents<Real>, P = kSumPacks<Real>;
  for (int i = 0; i < dim; i += I)
    for (int first = 0; first <= i + 1 && first < dim; first += C) {
      SumLanes<Real> sum[I][C];
      const Scalar *left[I], *right[C];
      EMOMC_UNROLL
      for (int n = 0; n < I; ++n) left[n] = a + (i + n < dim ? i + n : i) * kMatrixRows;
      EMOMC_UNROLL
      for (int c = 0; c < C; ++c) right[c] = b + (first + c < dim ? first + c : first) * kMatrixRows;
      for (int row = 0; row < num_rows; row += kSumLanes) {
        Real x[I][P];
        EMOMC_UNROLL
        for (int n = 0; n < I; ++n) load_packs(left[n] + row, x[n]);
        EMOMC_UNROLL
        for (int c = 0; c < C; ++c) {
          Real y[P];
          load_packs(right[c] + row, y);
          EMOMC_UNROLL
          for (int n = 0; n < I; ++n) EMOMC_UNROLL
          for (int p = 0; p < P; ++p) sum[n][c].at[p] = real_fma(x[n][p], y[p], sum[n][c].at[p]);
        }
      }
      for (int n = 0; n < I && i + n < dim; ++n)
        for (int c = 0; c < C && first + c <= i + n; ++c)
          sum[n][c].add_to(lanes + (triangle_index(i + n, 0) + first + c) * kSumLanes);
    }
}

// Writes r[row] z[row] to to[row] and adds the products to lanes.
template <class Real, class Scalar>
EMOMC_INLINE void weigh(const Scalar* r, const Scalar* z, int num_rows, Scalar* to, double* lanes) {
  SumLanes<Real> sum;
  for (int row = 0; row < num_rows; row += kSumLanes) EMOMC_UNROLL
  for (int p = 0; p < kSumPacks<Real>; ++p) {
    const int at = row + p * Lanes<Real>::size;
    const Real rz = Lanes<Real>::load(r + at) * Lanes<Real>::load(z + at);
    sum.at[p] = sum.at[p] + rz;
    Lanes<Real>::store(rz, to + at);
  }
  sum.add_to(lanes);
}

/// out[num_products(num_rows)]: the results of TileProducts, bit for bit. Also adds the sums over rows to
/// sums. `work`: gradient_work() numbers, `lanes`: gradient_lanes() doubles.
template <class Real, class Scalar>
struct TileGradient {
  const Scalar *coefficients, *tile;
  int num_rows;
  Scalar* work;
  double* lanes;
  double *out, *sums;

  template <class Shape>
  void operator()(const Shape& shape) const {
    TileSums<Real, Scalar> products;
    write_powers(shape, coefficients, tile, num_rows, work, products);
    divide_powers(shape, coefficients, tile, num_rows, products, work);
    const GradientSums place = gradient_sums(shape);
    add_responsibilities<Real>(work, shape.num_components, num_rows, sums);
    add_residuals(shape, place);
    products.write_product_logs(shape, coefficients, tile, num_rows, out);
  }

 private:
  EMOMC_INLINE PaddedColumns<Scalar> padded_columns(const AxisAlignedShape& shape) const {
    return {tile, shape.dim, num_rows, work + shape.num_blocks() * kComponentBlock * kPowerRows};
  }
  EMOMC_INLINE void add_residuals(const AxisAlignedShape& shape, const GradientSums& place) const {
    add_squares<Real>(shape, coefficients, padded_columns(shape), num_rows, work, place, sums);
  }
  EMOMC_INLINE void add_residuals(const StudentTShape& shape, const GradientSums& place) const {
    const PaddedColumns<Scalar> columns = padded_columns(shape.squares());
    add_tails<Real>(shape, coefficients, columns, num_rows, work, place, sums);
    add_squares<Real>(shape.squares(), coefficients, columns, num_rows, work, place, sums);
  }

  struct Offset {
    const FullShape& shape;
    const Scalar* coefficients;
    int k;
    EMOMC_INLINE Scalar operator()(int i) const { return coefficients[shape.offset_index(k, i)]; }
  };
  EMOMC_INLINE void add_residuals(const FullShape& shape, const GradientSums& place) const {
    const int d = shape.dim, triangle = triangle_size(d);
    Scalar* z = work + shape.num_blocks() * kComponentBlock * kPowerRows;
    Scalar* rz = z + d * kMatrixRows;
    for (int k = 0; k < shape.num_components; ++k) {
      for (int i = 0; i < (d + triangle) * kSumLanes; ++i) lanes[i] = 0;
      for (int begin = 0; begin < num_rows; begin += kMatrixRows) {
        const int count = num_rows - begin < kMatrixRows ? num_rows - begin : kMatrixRows;
        rotate_tile<Real>(shape, coefficients, k, tile + begin, count, Offset{shape, coefficients, k}, z);
        for (int i = 0; i < d; ++i)
          weigh<Real>(work + k * kPowerRows + begin, z + i * kMatrixRows, count, rz + i * kMatrixRows,
                      lanes + i * kSumLanes);
        add_products_of<Real>(rz, z, d, count, lanes + d * kSumLanes);
      }
      for (int j = 0; j < d; ++j) sums[place.first(k, j)] += sum_of_lanes(lanes + j * kSumLanes);
      for (int i = 0; i < triangle; ++i)
        sums[place.product(k, 0, 0) + i] += sum_of_lanes(lanes + (d + i) * kSumLanes);
    }
  }

  struct Zero {
    EMOMC_INLINE Scalar operator()(int) const { return 0; }
  };
  // With y = W x, z_k = y + h_k and m = sum_k r_k z_k: sum_k r_k z_k z_k' = y m' + sum_k h_k (r_k z_k)'.
  EMOMC_INLINE void add_residuals(const TiedShape& shape, const GradientSums& place) const {
    const int d = shape.dim, K = shape.num_components, triangle = triangle_size(d);
    Scalar* y = work + shape.num_blocks() * kComponentBlock * kPowerRows;
    Scalar* m = y + d * kMatrixRows;
    double* firsts = lanes + triangle * kSumLanes;
    for (int i = 0; i < (triangle + K * d) * kSumLanes; ++i) lanes[i] = 0;
    for (int begin = 0; begin < num_rows; begin += kMatrixRows) {
      const int count = num_rows - begin < kMatrixRows ? num_rows - begin : kMatrixRows;
      rotate_tile<Real>(shape, coefficients, 0, tile + begin, count, Zero{}, y);
      for (int j = 0; j < d; ++j)
        add_weighted_column(shape, j, work + begin, y + j * kMatrixRows, count, m + j * kMatrixRows, firsts);
      add_products_of<Real>(y, m, d, count, lanes);
    }
    for (int n = 0; n < K * d; ++n) firsts[n * kSumLanes] = sum_of_lanes(firsts + n * kSumLanes);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = sum_of_lanes(lanes + triangle_index(i, j) * kSumLanes);
        for (int k = 0; k < K; ++k)
          sum +=
              static_cast<double>(coefficients[shape.offset_index(k, i)]) * firsts[(k * d + j) * kSumLanes];
        sums[place.product(0, i, j)] += sum;
      }
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < d; ++j) sums[place.first(k, j)] += firsts[(k * d + j) * kSumLanes];
  }
  // Writes m = sum_k r_k (y + h_k) for one column; adds the terms of each k to the lanes of k.
  EMOMC_INLINE void add_weighted_column(const TiedShape& shape, int j, const Scalar* r, const Scalar* y,
                                        int count, Scalar* m, double* firsts) const {
    constexpr int P = kSumPacks<Real>;
    for (int k = 0; k < shape.num_components; ++k) {
      const Real h(coefficients[shape.offset_index(k, j)]);
      SumLanes<Real> sum;
      for (int row = 0; row < count; row += kSumLanes) EMOMC_UNROLL
      for (int p = 0; p < P; ++p) {
        const int at = row + p * Lanes<Real>::size;
        const Real rz = Lanes<Real>::load(r + k * kPowerRows + at) * (Lanes<Real>::load(y + at) + h);
        sum.at[p] = sum.at[p] + rz;
        Lanes<Real>::store(k == 0 ? rz : Lanes<Real>::load(m + at) + rz, m + at);
      }
      sum.add_to(firsts + (k * shape.dim + j) * kSumLanes);
    }
  }
};

}  // namespace EMOMC_DEVICE_NAMESPACE
