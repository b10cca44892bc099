// Functions that generated likelihoods call: those of expression_primitives.hpp in float32 and float64, and
// further operations of expressions.
#ifndef EMOMC_DEVICE_EXPRESSION_CALLS_HPP
#define EMOMC_DEVICE_EXPRESSION_CALLS_HPP

#include "emomc/device/density.hpp"
#include "emomc/device/expression_primitives.hpp"
#include "emomc/device/vector_functions.hpp"

namespace emomc::device {

/// The index limited to 0 to size - 1. The host has checked the indices of the data; the limits keep padding
/// rows, which do not count, from reading beyond the list.
template <class T>
EMOMC_INLINE int index_below(T index, int size) {
  const int i = static_cast<int>(index);
  return i < 0 ? 0 : i < size ? i : size - 1;
}

/// Selects the implementation of each function. Generated likelihoods on the host (EMOMC_VECTOR_ROWS) use
/// vector_functions.hpp for functions that have a form without branches; GPUs are faster with tables. All
/// other functions are those of emomc::device.
namespace functions {
using namespace device;  // NOLINT(google-build-using-namespace): what is declared below goes before it
#if EMOMC_VECTOR_ROWS
using vector::exp, vector::log, vector::log1p, vector::log1m, vector::log1p_exp;
using vector::inv_logit, vector::log_inv_logit, vector::log1m_inv_logit, vector::log_sum_exp;
#elif defined(__CUDA_ARCH__)
EMOMC_INLINE double exp(double x) { return exp_by_table(x); }
#endif
}  // namespace functions

// Where vector_functions.hpp has no float32 form of a function, the float64 result is rounded.
namespace rounded {
#define EMOMC_CALL_1(name) \
  EMOMC_INLINE float name(float x) { return static_cast<float>(functions::name(static_cast<double>(x))); }
#define EMOMC_CALL_2(name)                                                                      \
  EMOMC_INLINE float name(float x, float y) {                                                   \
    return static_cast<float>(functions::name(static_cast<double>(x), static_cast<double>(y))); \
  }
#define EMOMC_CALL_3(name)                                                                        \
  EMOMC_INLINE float name(float x, float y, float z) {                                            \
    return static_cast<float>(                                                                    \
        functions::name(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z))); \
  }
#define EMOMC_CALL(name, count) EMOMC_CALL_##count(name)
EMOMC_EXPRESSION_PRIMITIVES(EMOMC_CALL)
#undef EMOMC_CALL_1
#undef EMOMC_CALL_2
#undef EMOMC_CALL_3
}  // namespace rounded

namespace float_functions {
using namespace rounded;  // NOLINT(google-build-using-namespace): what is declared below goes before it
using vector::exp, vector::log, vector::log1p_exp, vector::inv_logit, vector::log_inv_logit;
using vector::log1m_inv_logit, vector::log_sum_exp;
}  // namespace float_functions

/// The functions that generated code calls.
namespace calls {
#define EMOMC_CALL_1(name)                                          \
  EMOMC_INLINE double name(double x) { return functions::name(x); } \
  EMOMC_INLINE float name(float x) { return float_functions::name(x); }
#define EMOMC_CALL_2(name)                                                       \
  EMOMC_INLINE double name(double x, double y) { return functions::name(x, y); } \
  EMOMC_INLINE float name(float x, float y) { return float_functions::name(x, y); }
#define EMOMC_CALL_3(name)                                                                    \
  EMOMC_INLINE double name(double x, double y, double z) { return functions::name(x, y, z); } \
  EMOMC_INLINE float name(float x, float y, float z) { return float_functions::name(x, y, z); }
EMOMC_EXPRESSION_PRIMITIVES(EMOMC_CALL)
#undef EMOMC_CALL
#undef EMOMC_CALL_1
#undef EMOMC_CALL_2
#undef EMOMC_CALL_3
}  // namespace calls

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_EXPRESSION_CALLS_HPP
