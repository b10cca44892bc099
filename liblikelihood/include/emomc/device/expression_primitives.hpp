// The scalar functions that the language of expressions knows (docs/your-own-likelihood.md): each is a
// function of emomc::device of the same name, from double to double.
#ifndef EMOMC_DEVICE_EXPRESSION_PRIMITIVES_HPP
#define EMOMC_DEVICE_EXPRESSION_PRIMITIVES_HPP

#include "emomc/device/math.hpp"

/// X(name, number of arguments)
#define EMOMC_EXPRESSION_PRIMITIVES(X) \
  X(exp, 1)                            \
  X(log, 1)                            \
  X(log1p, 1)

#endif  // EMOMC_DEVICE_EXPRESSION_PRIMITIVES_HPP
