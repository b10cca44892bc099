// The prior and the transforms of a parameter vector as a table of its elements, which every thread of a team
// reads. Target builds the table on the host.
#ifndef EMOMC_DEVICE_PARAMETER_TABLE_HPP
#define EMOMC_DEVICE_PARAMETER_TABLE_HPP

#include "emomc/device/macros.hpp"

namespace emomc::device {

/// The maps from u to theta, one element at a time (constrain.hpp).
enum class Transform : int {
  fixed,          ///< theta = bound; no u
  identity,       ///< theta = u
  lower_bound,    ///< theta = bound + exp(u)
  interval,       ///< theta = bound + width / (1 + exp(-u))
  simplex,        ///< isometric log-ratio, see SimplexBlock
  ordered,        ///< theta = u_0 + exp(u_1) + ... + exp(u_rank); the u_i are `stride` apart
  ordered_above,  ///< theta = bound + exp(u_0) + ... + exp(u_rank)
  /// theta = bound + width / (1 + exp(-x)), x = u_0 + exp(u_1) + ... + exp(u_rank)
  ordered_interval,
  covariance,  ///< an element of a Cholesky factor, see CovarianceRow
  angle,       ///< theta = the direction of (u, the next element of u), see angle.hpp
};

/// Density families in the table's form (log_prior.hpp): a, b and c are the arguments in the form that is
/// cheapest to evaluate; constants are in ParameterTable::log_prior_constant.
enum class Density : int {
  flat,           ///< 0
  normal,         ///< -((x - a) b)^2 / 2
  student_t,      ///< -c log(1 + ((x - a) b)^2); Cauchy: c = 1
  lognormal,      ///< -((log x - a) b)^2 / 2 - log x
  gamma,          ///< a log x - b x; exponential: a = 0
  inverse_gamma,  ///< -a log x - b / x
  uniform,        ///< 0 in [a, b], else -infinity
  beta,           ///< a log x + b log(1 - x); a and b are the arguments less one
  power,          ///< a log x (Dirichlet: a = alpha - 1)
  von_mises,      ///< b (cos(x - a) - 1)
};

struct Element {
  Transform transform;
  int source;  ///< index into u; for `simplex` that of the block's first element
  int rank;    ///< `ordered...`: place in the order; `simplex`: place in the block
  int stride;  ///< `ordered...`: distance in u between neighbours in the order; negative in a decreasing list
  double bound;
  double width;  ///< `simplex`: 1 / sqrt(rank (rank + 1)) of the Helmert basis; 0 in place 0
  Density density;
  double a, b, c;
};

constexpr bool is_ordered(Transform t) {
  return t == Transform::ordered || t == Transform::ordered_above || t == Transform::ordered_interval;
}
constexpr bool is_interval(Transform t) {
  return t == Transform::interval || t == Transform::ordered_interval;
}
constexpr bool is_bounded_below(Transform t) {
  return t == Transform::lower_bound || t == Transform::ordered_above;
}

/// theta[begin .. begin + size) sums to one; u[source .. source + size - 1) are the isometric log-ratio
/// coordinates of these weights in the Helmert basis (Egozcue et al. 2003): log theta = V u + constant.
struct SimplexBlock {
  int begin, size, source;
  double half_log_size;  ///< log(size) / 2
};

/// Row i of the Cholesky factor L of a covariance diag(s) R diag(s). theta[begin .. begin + i] is s_i times
/// row i of R's factor. That row is given by partial correlations (Lewandowski, Kurowicka and Joe 2009), each
/// the tanh of an element of u[correlations .. correlations + i).
struct CovarianceRow {
  int begin;
  int row;           ///< i
  int below;         ///< number of rows below this one
  int correlations;  ///< first index into u; kFixedCorrelations: R is fixed, and the elements' bounds are its
                     ///< factor
  double lkj;        ///< 2 (eta - 1), the exponent of the factor's diagonal in the density of R
  Element scale;     ///< transform and density of s_i
};
inline constexpr int kFixedCorrelations = -1;

/// Densities whose arguments are parameters themselves, including all constants (log_prior.hpp).
enum class ConditionalDensity : int { normal, student_t, lognormal, exponential };

/// An element of theta, or the scale of a CovarianceRow, with a ConditionalDensity. An argument is
/// theta[from_...], or the constant `location` or `scale` if that index is kConstant.
struct ConditionalElement {
  int element;  ///< index into theta, or index of the CovarianceRow if is_row
  int is_row;
  ConditionalDensity density;
  int from_location, from_scale;
  double location, scale;  ///< exponential: scale is the rate
  double df;
  double constant;
  double lower;  ///< lower bound of truncation; minus infinity: not truncated
};
inline constexpr int kConstant = -1;

/// Offsets in theta of the weights [K], means and scales [K x d] of a Gaussian mixture, all of them free.
struct MixtureLayout {
  int num_components;  ///< 0: there is no such mixture
  int num_columns;     ///< d
  int weights, means, scales;
  int order;  ///< offset of the block by whose first column the components are ordered; kUnordered: none
};
inline constexpr int kUnordered = -1;

/// A target in the form that a step reads; the arrays are in the memory of the reader.
struct ParameterTable {
  const Element* elements;
  const SimplexBlock* simplices;
  const CovarianceRow* covariance_rows;
  const ConditionalElement* conditionals;
  int dim;
  int dim_unconstrained;
  int num_simplices;
  int num_covariance_rows;
  int num_conditionals;
  double log_prior_constant;
  MixtureLayout mixture;
  int first_argument;  ///< theta[first_argument .. dim) are sampled arguments of priors
  int num_angles;      ///< number of elements whose transform is `angle`
};

// A kernel that is compiled at run time for a table without covariances, conditional elements and angles does
// not contain the code for them (EMOMC_PLAIN_TABLE).
#if EMOMC_PLAIN_TABLE
inline constexpr bool kPlainTable = true;
EMOMC_INLINE int num_covariance_rows(const ParameterTable&) { return 0; }
EMOMC_INLINE int num_conditionals(const ParameterTable&) { return 0; }
#else
inline constexpr bool kPlainTable = false;
EMOMC_INLINE int num_covariance_rows(const ParameterTable& table) { return table.num_covariance_rows; }
EMOMC_INLINE int num_conditionals(const ParameterTable& table) { return table.num_conditionals; }
#endif

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PARAMETER_TABLE_HPP
