// Describes the numbers of a row that an engine reads: columns, shifted and scaled, and values of expressions
// of data alone. row_values.hpp computes the numbers.
#ifndef EMOMC_DEVICE_ROW_FORMULA_HPP
#define EMOMC_DEVICE_ROW_FORMULA_HPP

#include "emomc/device/array_table.hpp"
#include "emomc/device/scalar_operations.hpp"

namespace emomc::device {

/// The map from a column's number x to (x - mean) / sd; where `is_constant`, `value` replaces x.
struct ColumnShift {
  double mean = 0, sd = 1;
  bool is_constant = false;
  double value = 0;
};

inline constexpr int kMostFormulaSteps = 64;

/// One operation on a row: a constant, a column, a call, or an operation of operated(). The arguments are
/// earlier steps.
struct FormulaStep {
  Operation operation;
  int index;  ///< index of a column, or a called function's place in expression_primitives.hpp
  int arguments[3];
  double value;  ///< value of a constant
};

/// A condition that the number of an output has to meet.
struct RowTest {
  enum class Kind {
    whole,        ///< an integer from 0 to `largest`
    nonnegative,  ///< finite, 0 or above
    truth,        ///< not 0: a condition, and the rows that meet it are counted
  };
  int output;
  Kind kind;
  double largest;
};

/// The result of a test over all rows: the first row that does not pass (the number of rows if all pass), and
/// how many rows pass.
struct TestedRows {
  u64 first_failing, num_passing;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROW_FORMULA_HPP
