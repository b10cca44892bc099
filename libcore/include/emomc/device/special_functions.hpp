// All scalar functions of the expression language. Arguments and results are float64, with the same bits on
// host and device. Unless a function's own comment states otherwise, its relative error is below 1e-12, or
// the result is within the change that a change of the arguments in their last digit makes. The result is NaN
// for a NaN argument and outside the domain. tests/libcore/special_functions_test.cpp compares the functions
// with values of 50 digits.
#ifndef EMOMC_DEVICE_SPECIAL_FUNCTIONS_HPP
#define EMOMC_DEVICE_SPECIAL_FUNCTIONS_HPP

#include "emomc/device/bessel_functions.hpp"
#include "emomc/device/error_functions.hpp"
#include "emomc/device/exponentials.hpp"
#include "emomc/device/gamma_functions.hpp"
#include "emomc/device/incomplete_beta.hpp"
#include "emomc/device/incomplete_gamma.hpp"
#include "emomc/device/real_functions.hpp"
#include "emomc/device/skew_normal.hpp"
#include "emomc/device/trigonometric.hpp"

#endif  // EMOMC_DEVICE_SPECIAL_FUNCTIONS_HPP
