// The gradient of a mixture in the form that kernels require (gradient_rows.hpp). The numbers of a row are
// the responsibilities r of the components. The sums of r, of r x, and of r x^2 or r x x' give the gradient;
// the engine's shift is subtracted from x. For a Student t distribution, with u = sum_j z_j^2, the sums have
// r / (1 + u) in place of r, and the sums of r u / (1 + u) and of r (log(1 + u) - u / (1 + u)) are added.
#ifndef EMOMC_DEVICE_MIXTURE_GRADIENT_CUH
#define EMOMC_DEVICE_MIXTURE_GRADIENT_CUH

#include "emomc/device/gradient_finish_threads.cuh"
#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/device/mixture_gradient_sizes.hpp"
#include "emomc/device/mixture_rows.cuh"

namespace emomc::device {

__device__ inline float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline double reciprocal(double x) {
  double y;  // relative error e of 2^-23
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = EMOMC_FMA(-x, y, 1.0);
  return EMOMC_FMA(y, EMOMC_FMA(e, e, e), y);  // 1 / (1 - e) is 1 + e + e^2, with an error of e^3
}
/// Whether x is positive and neither x nor its reciprocal is near the limits of the type.
__device__ inline bool has_reciprocal(float x) { return x > 0x1p-90f && x < 0x1p90f; }
__device__ inline bool has_reciprocal(double x) {  // from the exponent, since comparisons in float64 are slow
  constexpr int kRange = 900;
  return static_cast<unsigned>(__double2hiint(x) - ((1023 - kRange) << 20)) < 2u * kRange << 20;
}

/// Writes the terms of B blocks of components, as accumulate() computes them, to t; for a Student t also
/// writes u.
template <int B, int R, class Shape, class Real, class Row>
__device__ __forceinline__ void terms_of_blocks(const Shape& shape, const Real* coefficients, int first,
                                                const Row& row, Real (&t)[B][kComponentBlock][R],
                                                Real (&)[B][kComponentBlock][R]) {
  accumulate(shape, coefficients, first, row, t);
}
template <int B, int R, class Real, class Row>
__device__ __forceinline__ void terms_of_blocks(const StudentTShape& shape, const Real* coefficients,
                                                int first, const Row& row, Real (&t)[B][kComponentBlock][R],
                                                Real (&u)[B][kComponentBlock][R]) {
#pragma unroll
  for (int b = 0; b < B; ++b)
#pragma unroll
    for (int c = 0; c < kComponentBlock; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r) t[b][c][r] = 0;
  subtract_squares(shape.squares(), coefficients, first, row, t);
#pragma unroll
  for (int b = 0; b < B; ++b)
#pragma unroll
    for (int c = 0; c < kComponentBlock; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int k = first + b * kComponentBlock + c;
        u[b][c][r] = Real(0) - t[b][c][r];
        t[b][c][r] = real_fnma(coefficients[shape.exponent_index(k)], real_log1p(u[b][c][r]),
                               coefficients[shape.shift_index(k)]);
      }
}

/// log(1 + u) - v with v = u / (1 + u): where v is small, by the series sum_n v^n / n, n >= 2.
template <class Real>
__device__ __forceinline__ Real log_less_share(Real u, Real v) {
  if (v > Real(0.0625)) return real_log1p(u) - v;
  constexpr int kTerms = sizeof(Real) == sizeof(float) ? 7 : 14;
  Real series = 0;
#pragma unroll
  for (int n = kTerms; n >= 2; --n) series = real_fma(v, series, Real(1) / Real(n));
  return series * (v * v);
}

/// Writes the numbers of R rows for a component with responsibilities r, from numbers[0] on, and for a
/// Student t also from numbers[of_all] and numbers[2 of_all] on.
template <bool kTails, int R, class Real>
__device__ __forceinline__ void store_responsibilities(const Real (&r)[R], const Real (&u)[R], Real* numbers,
                                                       int of_all) {
  if constexpr (kTails) {
    Real out[3][R];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const Real share = reciprocal(Real(1) + u[i]);
      out[0][i] = r[i] * share;
      out[1][i] = r[i] * (u[i] * share);
      out[2][i] = r[i] * log_less_share(u[i], u[i] * share);
    }
#pragma unroll
    for (int m = 0; m < 3; ++m) store_rows(out[m], numbers + m * of_all);
  } else {
    store_rows(r, numbers);
  }
}

/// Writes the numbers of a row whose sum over components is out of range. The function is not inlined, since
/// it is rarely called.
template <class Shape, class Real>
__device__ __noinline__ void store_any_row(Shape shape, const Real* coefficients, const Real* row, int stride,
                                           Real* numbers, int step) {
  asm volatile("" : "+r"(shape.dim));  // prevents unrolling of loops over columns
  const auto load = [=](int j, Real(&x)[1]) { x[0] = row[j * stride]; };
  LogSum<Real> total[1];
  add_any(shape, coefficients, load, total);
  const Real log2_sum = total[0].largest + total[0].rest();
#pragma unroll 1
  for (int k = 0; k < shape.num_components; ++k) {
    Real t[1][1][1], u[1] = {0};
    accumulate(shape, coefficients, k, load, t);
    if constexpr (kHasTails<Shape>) {
      Real squares[1][1][1] = {{{0}}};
      subtract_squares(shape.squares(), coefficients, k, load, squares);
      u[0] = -squares[0][0][0];
    }
    const Real r[1] = {real_exp2_addend(t[0][0][0] - log2_sum)};
    store_responsibilities<kHasTails<Shape>>(r, u, numbers + k * step, shape.num_components * step);
  }
}

template <class Model, int kComponents, int kDim>
struct GradientOf<Sized<MixtureRows<Model>, kComponents, kDim>> {
  using Shape = decltype(Model().shape());
  static constexpr int K = kComponents, d = kDim;
  static constexpr bool has_tails = kHasTails<Shape>, has_matrices = kHasMatrices<Shape>;
  static constexpr GradientSizes sizes = mixture_gradient_sizes<Model>(K, d);
  static constexpr int num_columns = d, num_numbers = sizes.num_numbers, num_of_tile = K,
                       num_tiles = sizes.num_tiles;
  static constexpr int num_plain = has_tails ? 2 * K : 0;
  static constexpr int num_gathered_sums = 0, num_gathered = 0;
  static constexpr int num_sums = 0, num_work = sizes.num_work;
  static constexpr bool has_shift = true, has_products = true, has_squares = !has_matrices;
  static constexpr bool rounds_numbers = true;

  // Places of 1, x_j, and x_j^2 or x_i x_j, among the columns of tiles.
  EMOMC_INLINE static constexpr int place_of_one() { return has_matrices ? 0 : place_of_column(d); }
  EMOMC_INLINE static constexpr int place_of_column(int j) {
    constexpr int kColumns = kGradientTileColumns;
    return has_matrices ? 1 + j : j / kColumns * 2 * kColumns + j % kColumns;
  }
  EMOMC_INLINE static constexpr int place_of_product(int i, int j) {
    return has_matrices ? 1 + d + i * (i + 1) / 2 + j : place_of_column(j) + kGradientTileColumns;
  }

  EMOMC_INLINE static constexpr GradientTile tile(int t) {
    GradientTile result{};
    for (int c = 0; c < kGradientTileColumns; ++c) {
      result.first[c] = kPadding;
      result.second[c] = kNoColumn;
      result.sum[c] = kNoSum;
    }
    set(result, t, place_of_one(), kNoColumn, kNoColumn);
    for (int i = 0; i < d; ++i) {
      set(result, t, place_of_column(i), i, kNoColumn);
      for (int j = has_matrices ? 0 : i; j <= i; ++j) set(result, t, place_of_product(i, j), i, j);
    }
    return result;
  }
  EMOMC_INLINE static constexpr PlainSum plain(int p) { return {K + p, kNoSum}; }
  EMOMC_INLINE static constexpr GatheredSum gathered(int) { return {}; }

  template <int kChains, int R, class Real, class Row>
  static __device__ __forceinline__ void evaluate(const Real* coefficients, int, const Row& row,
                                                  const RowsInMemory<Real>& rows, Real* numbers, int step,
                                                  Real (&value)[kChains][R]) {
    static_assert(kChains == 1 && num_used_columns<GradientOf>() == sizes.num_used_columns);
    constexpr int kBlocks = (K + kComponentBlock - 1) / kComponentBlock;
    constexpr int kGroup =
        kBlocks % 2 == 0 && kIsAxisAligned<Shape> ? 2 : 1;  // blocks whose terms are computed together
    constexpr int kUnrolled = kBlocks <= 4 ? kBlocks : 1;
    const Shape shape = MixtureRows<Model>::sized(K, d).shape();
    Real e[kBlocks * kComponentBlock][R], u[has_tails ? kBlocks * kComponentBlock : 1][R];
#pragma unroll kUnrolled
    for (int first = 0; first < kBlocks; first += kGroup) {
      Real t[kGroup][kComponentBlock][R], of_blocks[kGroup][kComponentBlock][R];
      terms_of_blocks(shape, coefficients, first * kComponentBlock, row, t, of_blocks);
#pragma unroll
      for (int b = 0; b < kGroup; ++b)
#pragma unroll
        for (int r = 0; r < R; ++r) {
          const int k = (first + b) * kComponentBlock;
#pragma unroll
          for (int c = 0; c < kComponentBlock; ++c) {
            e[k + c][r] = real_exp2_bounded(t[b][c][r]);
            if constexpr (has_tails) u[k + c][r] = of_blocks[b][c][r];
          }
          const Real sum = (e[k][r] + e[k + 1][r]) + (e[k + 2][r] + e[k + 3][r]);
          value[0][r] = k == 0 ? sum : value[0][r] + sum;
        }
    }
    bool all_plain = true;
    Real inverse[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const bool plain = has_reciprocal(value[0][r]);
      inverse[r] = plain && r < rows.count ? reciprocal(value[0][r]) : Real(0);
      all_plain = all_plain && (plain || r >= rows.count);
    }
#pragma unroll kUnrolled
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int c = 0; c < kComponentBlock; ++c) {
        const int k = block * kComponentBlock + c;
        if (k >= K) continue;
        Real responsibility[R];
#pragma unroll
        for (int r = 0; r < R; ++r) responsibility[r] = e[k][r] * inverse[r];
        store_responsibilities<has_tails>(responsibility, u[has_tails ? k : 0], numbers + k * step, K * step);
      }
    if (all_plain) return;
#pragma unroll 1
    for (int r = 0; r < R && r < rows.count; ++r)
      if (!has_reciprocal(value_of(value[0], r)))
        store_any_row(shape, coefficients, rows.first + r, rows.stride, numbers + r, step);
  }

  static __device__ int only_slot(int) { return kNoSum; }
  template <class Team>
  static __device__ void write(const Team&, const double* theta, double, const double* slots, int,
                               const double* shift, double*, double* work, double* gradient) {
    const Model model = MixtureRows<Model>::sized(K, d).model;
    const bool shares_weight = K > 1 && model.weight_index(0) == model.weight_index(K - 1);
    const FinishThreads of_weights{kGradientFinishThreads - 64}, of_freedoms{kGradientFinishThreads - 128};
    for (int i = of_weights.rank(); i < (shares_weight ? 1 : K); i += of_weights.size()) {
      double sum = 0;
      for (int k = i; k < (shares_weight ? K : i + 1); ++k)
        if (weight_sum(slots, k) != 0)
          sum += model.weight_slope(k) * weight_sum(slots, k) / model.weight(theta, k);
      gradient[model.weight_index(i)] = sum;
    }
    if constexpr (has_matrices)
      add_matrices(FinishThreads{0}, model, theta, slots, shift, work, gradient);
    else
      add_axis_aligned(model, theta, slots, shift, gradient);
    if constexpr (has_tails)
      for (int k = of_freedoms.rank(); k < K; k += of_freedoms.size()) {
        const double freedom = model.degrees_of_freedom(theta, k), weight = weight_sum(slots, k);
        gradient[model.freedom_index(k)] =
            0.5 * (plain_sum(slots, k) * d / freedom - plain_sum(slots, K + k) -
                   weight * digamma_deficit(0.5 * freedom, d));
      }
  }

 private:
  template <class Real, int R>
  static __device__ __forceinline__ Real value_of(const Real (&values)[R], int r) {
    Real value = values[0];
#pragma unroll
    for (int i = 1; i < R; ++i)
      if (i == r) value = values[i];
    return value;
  }

  EMOMC_INLINE static constexpr void set(GradientTile& tile, int t, int place, int first, int second) {
    if (place / kGradientTileColumns != t) return;
    tile.first[place % kGradientTileColumns] = first;
    tile.second[place % kGradientTileColumns] = second;
  }

  static __device__ double moment(const double* slots, int k, int place) {
    return slots[(place / kGradientTileColumns * K + k) * kGradientTileColumns +
                 place % kGradientTileColumns];
  }
  static __device__ double first_moment(const double* slots, int k, int j) {
    return moment(slots, k, place_of_column(j));
  }
  static __device__ double plain_sum(const double* slots, int p) {
    return slots[num_tiles * K * kGradientTileColumns + p];
  }
  /// The sum of r over rows.
  static __device__ double weight_sum(const double* slots, int k) {
    return has_tails ? moment(slots, k, place_of_one()) + plain_sum(slots, k)
                     : moment(slots, k, place_of_one());
  }
  /// The sum of r (x_j - mean_j) over rows; `shifted` is the mean minus the shift.
  static __device__ double residual(const double* slots, int k, int j, double shifted) {
    return EMOMC_FMA(-shifted, moment(slots, k, place_of_one()), first_moment(slots, k, j));
  }

  /// Writes the gradient with respect to means and scales. Models may share means among components, and
  /// scales among columns.
  static __device__ void add_axis_aligned(const Model& model, const double* theta, const double* slots,
                                          const double* shift, double* gradient) {
    const bool shares_means = K > 1 && model.mean_index(0, 0) == model.mean_index(K - 1, 0);
    const bool shares_scales = d > 1 && model.scale_index(0, 0) == model.scale_index(0, d - 1);
    const auto force = [&](int k) {
      if constexpr (has_tails) {
        const double freedom = model.degrees_of_freedom(theta, k);
        return (freedom + d) / freedom;
      } else {
        return 1.0;
      }
    };
    const int num_means = shares_means ? d : K * d;
    const FinishThreads of_means{0}, of_scales = of_means.behind(num_means, kGradientFinishThreads / 2);
    for (int i = of_means.rank(); i < num_means; i += of_means.size()) {
      const int j = i % d, begin = shares_means ? 0 : i / d, end = shares_means ? K : begin + 1;
      double sum = 0;
      for (int k = begin; k < end; ++k) {
        const double scale = model.scale(theta, k, j);
        sum += force(k) * residual(slots, k, j, model.mean(theta, k, j) - shift[j]) / (scale * scale);
      }
      gradient[model.mean_index(begin, j)] = sum;
    }
    for (int i = of_scales.rank(); i < (shares_scales ? K : K * d); i += of_scales.size()) {
      const int k = shares_scales ? i : i / d;
      const int begin = shares_scales ? 0 : i % d, end = shares_scales ? d : begin + 1;
      double sum = 0;
      for (int j = begin; j < end; ++j) {
        const double scale = model.scale(theta, k, j), shifted = model.mean(theta, k, j) - shift[j];
        const double first = residual(slots, k, j, shifted);
        const double square =
            moment(slots, k, place_of_product(j, j)) - shifted * (first_moment(slots, k, j) + first);
        sum += (force(k) * square / (scale * scale) - weight_sum(slots, k)) / scale;
      }
      gradient[model.scale_index(k, begin)] = sum;
    }
  }

  /// With Sigma = L L' and M the sum of r (x - mean) (x - mean)': writes Sigma^-1 times the sum of r (x -
  /// mean) for the means, and the lower triangle of L'^-1 L^-1 M L'^-1, minus the sum of r divided by L_ii on
  /// the diagonal, for the factors.
  static __device__ void add_matrices(const FinishThreads& team, const Model& model, const double* theta,
                                      const double* slots, const double* shift, double* work,
                                      double* gradient) {
    constexpr int kFactors = num_matrices<Shape>(K), kSquare = d * d;
    double* residuals = work + kFactors * kSquare;  // [K][d]
    for (int i = team.rank(); i < K * d; i += team.size())
      residuals[i] = residual(slots, i / d, i % d, model.mean(theta, i / d, i % d) - shift[i % d]);
    for (int at = team.rank(); at < kFactors * kSquare; at += team.size()) {
      const int f = at / kSquare, i = at % kSquare / d, j = at % d;
      const int product = i > j ? place_of_product(i, j) : place_of_product(j, i);
      double sum = 0;
      for (int k = kFactors == 1 ? 0 : f; k < (kFactors == 1 ? K : f + 1); ++k) {
        const double m_i = model.mean(theta, k, i) - shift[i], m_j = model.mean(theta, k, j) - shift[j];
        sum += moment(slots, k, product) - m_i * first_moment(slots, k, j) - m_j * residual(slots, k, i, m_i);
      }
      work[at] = sum;
    }
    team.sync();
    const auto factor = [&](int f, int i, int j) { return model.factor(theta, f, i, j); };
    // L^-1 multiplies each column from the left, then L'^-1 each row from the right.
    for (int at = team.rank(); at < kFactors * d; at += team.size())
      solve_forward(work + at / d * kSquare + at % d, d, at / d, factor);
    team.sync();
    for (int at = team.rank(); at < kFactors * d; at += team.size())
      solve_forward(work + at / d * kSquare + at % d * d, 1, at / d, factor);
    team.sync();
    for (int at = team.rank(); at < kFactors * d; at += team.size()) {
      const int f = at / d, j = at % d;
      solve_backward(work + f * kSquare + j, d, f, j, factor);
      double weight = 0;
      for (int k = kFactors == 1 ? 0 : f; k < (kFactors == 1 ? K : f + 1); ++k)
        weight += moment(slots, k, place_of_one());
      for (int i = j; i < d; ++i)
        gradient[model.factor_index(f, i, j)] =
            work[f * kSquare + i * d + j] - (i == j ? weight / factor(f, j, j) : 0.0);
    }
    for (int k = team.rank(); k < K; k += team.size()) {
      const int f = kFactors == 1 ? 0 : k;
      solve_forward(residuals + k * d, 1, f, factor);
      solve_backward(residuals + k * d, 1, f, 0, factor);
      for (int j = 0; j < d; ++j) gradient[model.mean_index(k, j)] = residuals[k * d + j];
    }
  }
  /// Replaces x by L^-1 x; elements are `stride` apart.
  template <class Factor>
  static __device__ void solve_forward(double* x, int stride, int f, const Factor& factor) {
    for (int i = 0; i < d; ++i) {
      double sum = x[i * stride];
      for (int j = 0; j < i; ++j) sum -= factor(f, i, j) * x[j * stride];
      x[i * stride] = sum / factor(f, i, i);
    }
  }
  /// Replaces the elements of x from `begin` on by those of L'^-1 x; elements are `stride` apart.
  template <class Factor>
  static __device__ void solve_backward(double* x, int stride, int f, int begin, const Factor& factor) {
    for (int i = d - 1; i >= begin; --i) {
      double sum = x[i * stride];
      for (int j = i + 1; j < d; ++j) sum -= factor(f, j, i) * x[j * stride];
      x[i * stride] = sum / factor(f, i, i);
    }
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MIXTURE_GRADIENT_CUH
