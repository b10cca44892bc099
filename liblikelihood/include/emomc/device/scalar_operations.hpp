// The operations on numbers that a likelihood's graph consists of (src/expression/graph.hpp). Columns that
// are computed from arrays of a GPU have the same (row_formula.hpp).
#ifndef EMOMC_DEVICE_SCALAR_OPERATIONS_HPP
#define EMOMC_DEVICE_SCALAR_OPERATIONS_HPP

#include "emomc/device/macros.hpp"

namespace emomc::device {

enum class Operation {
  constant,
  parameter,  ///< number `index` of theta
  column,     ///< column `index` of the data
  add,
  subtract,
  multiply,
  divide,
  negate,
  less,
  less_or_equal,
  equal,
  both,    ///< logical and
  either,  ///< logical or
  negation,
  choose,       ///< arguments[0] != 0 ? arguments[1] : arguments[2]
  random,       ///< a draw of `distribution` with the arguments
  gather,       ///< the element of `elements` that arguments[0] counts from 0
  call,         ///< of a primitive
  product_sum,  ///< number `index` of a RowProgram's product_sums
  held,         ///< its argument, which derivatives take as a constant
};

/// Of an operation whose value follows from up to three arguments alone; a truth is 1 or 0.
EMOMC_HD inline double operated(Operation operation, double a, double b, double c) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::negate:
      return -a;
    case Operation::less:
      return a < b ? 1.0 : 0.0;
    case Operation::less_or_equal:
      return a <= b ? 1.0 : 0.0;
    case Operation::equal:
      return a == b ? 1.0 : 0.0;
    case Operation::both:
      return a != 0 && b != 0 ? 1.0 : 0.0;
    case Operation::either:
      return a != 0 || b != 0 ? 1.0 : 0.0;
    case Operation::negation:
      return a == 0 ? 1.0 : 0.0;
    case Operation::choose:
      return a != 0 ? b : c;
    case Operation::held:
    case Operation::constant:
    case Operation::parameter:
    case Operation::column:
    case Operation::random:
    case Operation::gather:
    case Operation::call:
    case Operation::product_sum:
      break;
  }
  return a;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_SCALAR_OPERATIONS_HPP
