// Computes the numbers of rows that row_formula.hpp describes. Host and GPU compute the same bits.
#ifndef EMOMC_DEVICE_ROW_VALUES_HPP
#define EMOMC_DEVICE_ROW_VALUES_HPP

#include "emomc/device/expression_primitives.hpp"
#include "emomc/device/row_formula.hpp"

namespace emomc::device {

enum class FormulaFunction {
#define EMOMC_NAME(name, count) name##_,
  EMOMC_EXPRESSION_PRIMITIVES(EMOMC_NAME)
#undef EMOMC_NAME
};

EMOMC_OUTLINE double value_of_call(int function, double a, double b, double c) {
#define EMOMC_ARGUMENTS_1 a
#define EMOMC_ARGUMENTS_2 a, b
#define EMOMC_ARGUMENTS_3 a, b, c
#define EMOMC_CASE(name, count)  \
  case FormulaFunction::name##_: \
    return device::name(EMOMC_ARGUMENTS_##count);
  switch (static_cast<FormulaFunction>(function)) { EMOMC_EXPRESSION_PRIMITIVES(EMOMC_CASE) }
#undef EMOMC_CASE
#undef EMOMC_ARGUMENTS_1
#undef EMOMC_ARGUMENTS_2
#undef EMOMC_ARGUMENTS_3
  return a;
}

EMOMC_HD inline double value_of_step(const FormulaStep& step, double a, double b, double c) {
  if (step.operation == Operation::constant) return step.value;
  if (step.operation == Operation::call) return value_of_call(step.index, a, b, c);
  return operated(step.operation, a, b, c);
}

/// The rows of a table and the numbers that are computed from each row.
struct RowFormula {
  ArrayTable table;
  const ColumnShift* shifts;  ///< [table.num_columns]
  const FormulaStep* steps;   ///< [num_steps]
  int num_steps;              ///< at most kMostFormulaSteps; 0: the outputs are the columns
  const int* outputs;         ///< [num_outputs] steps whose values are the outputs
  int num_outputs;

  EMOMC_HD double column(i64 row, int j) const {
    const ColumnShift& shift = shifts[j];
    const double x = shift.is_constant ? shift.value : table(row, j);
    return (x - shift.mean) / shift.sd;
  }
  /// Writes the values of all steps for a row to values[num_steps].
  EMOMC_HD void evaluate(i64 row, double* values) const {
    for (int s = 0; s < num_steps; ++s) {
      const FormulaStep& step = steps[s];
      values[s] = step.operation == Operation::column
                      ? column(row, step.index)
                      : value_of_step(step, values[step.arguments[0]], values[step.arguments[1]],
                                      values[step.arguments[2]]);
    }
  }
  EMOMC_HD double operator()(i64 row, int output) const {
    if (num_steps == 0) return column(row, output);
    double values[kMostFormulaSteps] = {};
    evaluate(row, values);
    return values[outputs[output]];
  }
};

EMOMC_HD inline bool passes(const RowTest& test, double value) {
  if (test.kind == RowTest::Kind::truth) return value != 0;
  if (test.kind == RowTest::Kind::nonnegative) return value >= 0 && value - value == 0;
  return value >= 0 && value <= test.largest && floor(value) == value;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROW_VALUES_HPP
