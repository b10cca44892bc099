// Which numbers of a row an engine reads: columns, shifted and scaled, and what expressions of data alone
// make of them; row_values.hpp computes them.
#ifndef EMOMC_DEVICE_ROW_FORMULA_HPP
#define EMOMC_DEVICE_ROW_FORMULA_HPP

#include "emomc/device/array_table.hpp"
#include "emomc/device/scalar_operations.hpp"

namespace emomc::device {

/// What becomes of a column's number x: (x - mean) / sd, where `is_constant` of `value` in place of x.
struct ColumnShift {
  double mean = 0, sd = 1;
  bool is_constant = false;
  double value = 0;
};

inline constexpr int kMostFormulaSteps = 64;

/// A step's arguments are earlier steps. A constant, a column, a call, or what operated() knows.
struct FormulaStep {
  Operation operation;
  int index;  ///< of a column; of a call the place of the function in expression_primitives.hpp
  int arguments[3];
  double value;  ///< of a constant
};

/// What the number of an output has to be.
struct RowTest {
  enum class Kind {
    whole,        ///< an integer from 0 to `largest`
    nonnegative,  ///< finite, 0 or above
    truth,        ///< not 0: a condition, whose rows are counted
  };
  int output;
  Kind kind;
  double largest;
};

/// Of all rows: the first that does not pass (the number of rows: all do), and how many pass.
struct TestedRows {
  u64 first_failing, num_passing;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROW_FORMULA_HPP
