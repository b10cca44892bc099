// The list of scalar functions of the language of expressions (docs/your-own-likelihood.md). Each is a
// function of emomc::device with the same name, whose arguments and result are doubles.
#ifndef EMOMC_DEVICE_EXPRESSION_PRIMITIVES_HPP
#define EMOMC_DEVICE_EXPRESSION_PRIMITIVES_HPP

#include "emomc/device/special_functions.hpp"

/// X(name, number of arguments)
#define EMOMC_EXPRESSION_PRIMITIVES(X)        \
  X(abs, 1)                                   \
  X(acos, 1)                                  \
  X(asin, 1)                                  \
  X(atan, 1)                                  \
  X(cbrt, 1)                                  \
  X(ceil, 1)                                  \
  X(check_finite, 1)                          \
  X(check_nonnegative, 1)                     \
  X(check_positive, 1)                        \
  X(check_unit, 1)                            \
  X(cos, 1)                                   \
  X(cosh, 1)                                  \
  X(digamma, 1)                               \
  X(erf, 1)                                   \
  X(erfc, 1)                                  \
  X(exp, 1)                                   \
  X(exp2, 1)                                  \
  X(expm1, 1)                                 \
  X(floor, 1)                                 \
  X(inv_logit, 1)                             \
  X(inv_Phi, 1)                               \
  X(lgamma, 1)                                \
  X(log, 1)                                   \
  X(log10, 1)                                 \
  X(log1m, 1)                                 \
  X(log1m_exp, 1)                             \
  X(log1m_inv_logit, 1)                       \
  X(log1p, 1)                                 \
  X(log1p_exp, 1)                             \
  X(log2, 1)                                  \
  X(log_inv_logit, 1)                         \
  X(logit, 1)                                 \
  X(modified_bessel_ratio, 1)                 \
  X(Phi, 1)                                   \
  X(round, 1)                                 \
  X(sin, 1)                                   \
  X(sinh, 1)                                  \
  X(sqrt, 1)                                  \
  X(square, 1)                                \
  X(std_normal_lccdf, 1)                      \
  X(std_normal_lcdf, 1)                       \
  X(tan, 1)                                   \
  X(tanh, 1)                                  \
  X(trigamma, 1)                              \
  X(trunc, 1)                                 \
  X(atan2, 2)                                 \
  X(digamma_difference, 2)                    \
  X(fmax, 2)                                  \
  X(fmin, 2)                                  \
  X(fmod, 2)                                  \
  X(lbeta, 2)                                 \
  X(lchoose, 2)                               \
  X(log_diff_exp, 2)                          \
  X(log_gamma_difference, 2)                  \
  X(log_gamma_p, 2)                           \
  X(log_gamma_q, 2)                           \
  X(log_modified_bessel_first_kind, 2)        \
  X(log_modified_bessel_first_kind_scaled, 2) \
  X(log_skew_normal_cdf, 2)                   \
  X(log_student_t_tail, 2)                    \
  X(log_sum_exp, 2)                           \
  X(multiply_log, 2)                          \
  X(multiply_log1m, 2)                        \
  X(pow, 2)                                   \
  X(log_inc_beta, 3)                          \
  X(log_inc_beta_complement, 3)               \
  X(log_mix, 3)

#endif  // EMOMC_DEVICE_EXPRESSION_PRIMITIVES_HPP
