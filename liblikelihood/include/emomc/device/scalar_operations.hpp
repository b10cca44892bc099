// The operations on numbers of which a likelihood's graph consists (src/expression/graph.hpp), and of
// formulas for columns that are computed from arrays on a GPU (row_formula.hpp).
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
  random,       ///< a draw from `distribution` with the arguments
  gather,       ///< the element of `elements` with index arguments[0], from 0
  call,         ///< a call of a primitive
  product_sum,  ///< number `index` of a RowProgram's product_sums
  held,         ///< arguments[0], which is a constant in derivatives
};

/// The value of an operation that depends on up to three arguments alone; a truth value is 1 or 0.
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
