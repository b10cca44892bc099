// Steps of binding a likelihood to data that are the same for data in host memory and on a GPU.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "emomc/device/row_values.hpp"
#include "plan.hpp"

namespace emomc {

/// The test of an integer that a likelihood reads from a row.
device::RowTest test_of(const expression::IntegerUse& use, int output);
inline constexpr device::RowTest kWeightTest{0, device::RowTest::Kind::nonnegative, 0};

/// These functions throw InputError for a value of a row that has not passed a test.
[[noreturn]] void refuse_integer(const ExpressionPlan& plan, const expression::IntegerUse& use, double value,
                                 std::size_t row);
[[noreturn]] void refuse_weight(const ExpressionPlan& plan, double value, std::size_t row);

/// The conditions of choices that depend on data alone.
std::vector<expression::NodeId> conditions_of_data(const ExpressionPlan& plan);
/// The used columns that the header or function of plan.code reads; the weights are last.
std::vector<int> columns_of_code(const ExpressionPlan& plan);
/// The division of the likelihood for data in which the `decided` conditions have the same value in all rows.
std::shared_ptr<const BoundProgram> bound_program(const ExpressionPlan& plan,
                                                  const std::map<expression::NodeId, bool>& decided);

}  // namespace emomc
