#include "binding.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/device_table.hpp"
#include "emomc/likelihood/expression.hpp"
#include "generate.hpp"

namespace emomc {

using namespace expression;

namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53; above it float64 leaves out integers

}  // namespace

device::RowTest test_of(const IntegerUse& use, int output) {
  return {output, device::RowTest::Kind::whole, use.size > 0 ? use.size - 1 : kLargest};
}

void refuse_integer(const ExpressionPlan& plan, const IntegerUse& use, double value, std::size_t row) {
  const Node& node = plan.graph[use.node];
  const std::string what = node.operation == Operation::column
                               ? "column " + plan.column_names[static_cast<std::size_t>(node.index)]
                               : "the expression";
  throw InputError(fmt::format("{}: {}, and {} is {} in row {} of the data; allowed: whole numbers from 0{}",
                               use.where, use.what, what, value, row + 1,
                               use.size > 0 ? fmt::format(" to {}", use.size - 1) : std::string()));
}

void refuse_weight(const ExpressionPlan& plan, double value, std::size_t row) {
  throw InputError(fmt::format("data.weights: column {} is {} in row {} of the data; allowed: 0 and above",
                               plan.column_names[static_cast<std::size_t>(plan.weights)], value, row + 1));
}

std::vector<NodeId> conditions_of_data(const ExpressionPlan& plan) {
  const expression::Graph& graph = plan.graph;
  std::vector<NodeId> conditions;
  for (NodeId id : needed_by(graph, std::array{plan.log_density}))
    if (graph[id].operation == Operation::choose && graph[graph[id].arguments[0]].stage == kData)
      conditions.push_back(graph[id].arguments[0]);
  return conditions;
}

std::vector<int> columns_of_code(const ExpressionPlan& plan) {
  std::vector<int> columns = plan.code_columns;
  if (plan.weights >= 0) columns.push_back(plan.weights);
  return columns;
}

std::shared_ptr<const BoundProgram> bound_program(const ExpressionPlan& plan,
                                                  const std::map<NodeId, bool>& decided) {
  auto made = std::make_shared<BoundProgram>();
  made->layout = plan.layout;
  NodeId root = plan.log_density;
  const expression::Graph graph = with_choices_made(plan.graph, decided, root);
  made->program = divide(graph, root);
  // Kernels read at least one column. Where no decision leaves any, as with a binary column of ones, the
  // choices stay in the rows.
  if (made->program.inputs.empty()) made->program = divide(plan.graph, plan.log_density);
  made->gradient = differentiate(made->program, made->layout.dim());
  made->header = generate_header(made->program, made->gradient, made->layout);
  return made;
}

namespace {

void expect_formula(const Node& node) {
  if (node.operation == Operation::gather)
    throw InputError(
        "log_density: a list is indexed by the data alone, which is not supported for arrays on a GPU; "
        "allowed: a column of these elements, or a copy of the data in the host's memory");
  if (node.operation == Operation::parameter || node.operation == Operation::random ||
      node.operation == Operation::product_sum)
    throw std::logic_error("set_formula: a node that does not depend on data alone");
}

/// Makes `source` compute the nodes `roots`, which depend on data alone, as its outputs.
void set_formula(const expression::Graph& graph, std::span<const NodeId> roots, DeviceRowSource& source) {
  const std::vector<NodeId> order = needed_by(graph, roots);
  if (order.size() > static_cast<std::size_t>(device::kMostFormulaSteps))
    throw InputError(fmt::format(
        "log_density: what depends on data alone takes {} operations for each row; allowed for arrays of a "
        "GPU: {}; compute columns of it before",
        order.size(), device::kMostFormulaSteps));
  std::map<NodeId, int> step_of;
  source.steps.clear();
  source.outputs.clear();
  for (const NodeId id : order) {
    const Node& node = graph[id];
    device::FormulaStep step{};
    expect_formula(node);
    step.operation = node.operation;
    step.index = node.operation == Operation::call ? static_cast<int>(node.function) : node.index;
    step.value = node.value;
    for (int a = 0; a < node.num_arguments; ++a)
      step.arguments[a] = step_of.at(node.arguments[static_cast<std::size_t>(a)]);
    step_of[id] = static_cast<int>(source.steps.size());
    source.steps.push_back(step);
  }
  for (const NodeId root : roots) source.outputs.push_back(step_of.at(root));
}

/// The value of an output in one row.
double value_in_row(const DeviceRowSource& source, int output, std::size_t row) {
  const std::vector<double> numbers = source.table->rows({row});
  std::vector<ArrayColumn> columns;
  for (const double& number : numbers) columns.push_back({&number, 0, NumberType::float64});
  const device::RowFormula formula{{columns.data(), static_cast<int>(columns.size()), 1},
                                   source.shifts.data(),
                                   source.steps.data(),
                                   static_cast<int>(source.steps.size()),
                                   source.outputs.data(),
                                   source.dim()};
  return formula(0, output);
}

/// Checks rows on a GPU as check_rows() does, and returns the values of conditions that are the same in all
/// rows.
std::map<NodeId, bool> checked_conditions(const ExpressionPlan& plan, DeviceRowSource source) {
  expression::Graph graph = plan.graph;
  std::vector<NodeId> roots;
  std::vector<device::RowTest> tests;
  for (const IntegerUse& use : plan.integers) {
    tests.push_back(test_of(use, static_cast<int>(roots.size())));
    roots.push_back(use.node);
  }
  if (plan.weights >= 0) {
    tests.push_back({static_cast<int>(roots.size()), kWeightTest.kind, kWeightTest.largest});
    roots.push_back(graph.column(plan.weights));
  }
  const std::vector<NodeId> conditions = conditions_of_data(plan);
  for (const NodeId condition : conditions) {
    tests.push_back({static_cast<int>(roots.size()), device::RowTest::Kind::truth, 0});
    roots.push_back(condition);
  }
  if (roots.empty()) return {};
  set_formula(graph, roots, source);
  const std::vector<device::TestedRows> found = source.table->tested(source, tests);
  const std::size_t num_rows = source.table->num_rows(), num_integers = plan.integers.size();
  for (std::size_t t = 0; t + conditions.size() < tests.size(); ++t) {
    if (found[t].first_failing >= num_rows) continue;
    const double value = value_in_row(source, tests[t].output, found[t].first_failing);
    if (t < num_integers) refuse_integer(plan, plan.integers[t], value, found[t].first_failing);
    refuse_weight(plan, value, found[t].first_failing);
  }
  std::map<NodeId, bool> decided;
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    const std::size_t times_true = found[tests.size() - conditions.size() + c].num_passing;
    if (times_true == 0 || times_true == num_rows) decided[conditions[c]] = times_true > 0;
  }
  return decided;
}

}  // namespace

Expression::Bound Expression::bind(const DeviceRowSource& rows, HostBuild build) const {
  const std::map<NodeId, bool> decided = checked_conditions(*plan_, rows);
  Bound bound;
  DeviceRowSource source = rows;
  if (!plan_->code.file.empty()) {
    if (plan_->code.function != nullptr) {
      bound.model = make_function_model(plan_, true);
      bound.header = plan_->code.text;
    } else {
      bound.model = make_code_model(plan_, build, bound.compiler, bound.header);
    }
    expression::Graph columns;
    std::vector<NodeId> roots;
    for (const int column : columns_of_code(*plan_)) roots.push_back(columns.column(column));
    set_formula(columns, roots, source);
  } else {
    const auto made = bound_program(*plan_, decided);
    bound.header = made->header;
    bound.model = make_compiled_model(made, false, build, bound.compiler);
    set_formula(made->program.whole, made->program.inputs, source);
  }
  bound.data = data_on_device(std::move(source));
  return bound;
}

}  // namespace emomc
