// All scalar functions of the expression language. Each takes and gives float64, has the same bits on host
// and device, and, where its own comment says nothing else, is within 1e-12 of the exact value relative to it
// or within what a change of the arguments by their last digit makes. NaN gives NaN, a point outside the
// domain too. tests/libcore/special_functions_test.cpp compares them with values of 50 digits.
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
