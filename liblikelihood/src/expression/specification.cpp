#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"
#include "plan.hpp"

namespace emomc {
namespace {

using namespace expression;

constexpr int kMostCoefficients = 8192;
constexpr std::size_t kMostInputs = 256;

/// Refuses names of a parameter or derived quantity that chain files and their exports give to something
/// else: their labels, the log densities, and the columns and dimensions of CmdStan and ArviZ.
void refuse_reserved(const std::string& name, const std::string& key) {
  static constexpr std::array kReserved = {"chain",       "draw",           "row",       "lp",
                                           "log_density", "log_likelihood", "log_prior", "diverging"};
  const std::size_t dimension = name.rfind("_dim_");
  const bool is_dimension = dimension != std::string::npos && dimension + 5 < name.size() &&
                            name.find_first_not_of("0123456789", dimension + 5) == std::string::npos;
  if (is_dimension || name.ends_with("__") ||
      std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end())
    throw InputError(key + ": " + name +
                     " has another meaning in files of draws, as have names that end in __ or _dim_0; choose "
                     "another name");
}

/// Declares the names of a likelihood and lowers its expressions.
class Reading {
 public:
  Reading(const ExpressionSpec& spec, const std::vector<std::string>& columns, ExpressionPlan& plan)
      : spec_(spec), plan_(plan), lowering_(plan.graph, columns, spec.reals, spec.standardized) {
    for (const ExpressionParameter& parameter : parameters_of(spec)) declare_parameter(parameter);
    if (plan.layout.blocks.empty())
      throw InputError(
          "likelihood.parameters: there are none; declare at least one, as in parameters: {mu: {}}");
    for (const NamedConstant& constant : spec.constants) {
      Value value{!constant.shape.empty(), {}};
      for (double number : constant.values) value.nodes.push_back(plan.graph.constant(number));
      lowering_.declare(constant.name, constant.key, std::move(value), "constant");
    }
    for (const NamedExpression& binding : spec.prepare) {
      Value value = lowering_.lower(binding.value);
      refuse_data(value, binding.value, "is computed once for each parameter vector");
      lowering_.declare(binding.name, binding.value.key, std::move(value), "name under likelihood.prepare");
    }
    for (const LinearPredictor& linear : spec.linear) lower_linear(linear);
    for (const NamedExpression& binding : spec.where)
      lowering_.declare(binding.name, binding.value.key, lowering_.lower(binding.value),
                        "name under likelihood.where");
    if (spec.code.file.empty())
      lower_log_density();
    else
      take_code();
    weigh();
    for (const NamedExpression& quantity : spec.derived) lower_derived(quantity);
    for (const NamedExpression& output : spec.rows) {
      const NodeId node = lowering_.lower_number(output.value);
      lowering_.declare(output.name, output.value.key, {false, {node}}, "name under likelihood.rows");
      plan.row_outputs.push_back(output.name);
      plan.row_nodes.push_back(node);
    }
    lowering_.allow_random();
    for (const NamedExpression& column : spec.simulate) lower_simulated(column, columns);
    plan.derived_order = needed_by(plan.graph, plan.derived_nodes);
    plan.integers = lowering_.integers();
    plan.used_columns = lowering_.used_columns();
    for (std::size_t j : plan.used_columns) {
      plan.column_names.push_back(columns[j]);
      plan.is_integer.push_back(std::find(spec.integers.begin(), spec.integers.end(), columns[j]) !=
                                spec.integers.end());
    }
    check_sizes();
  }

 private:
  void declare_parameter(const ExpressionParameter& parameter) {
    refuse_reserved(parameter.name, parameter.key);
    ParameterBlock block;
    block.name = parameter.name;
    block.support = parameter.support;
    block.shape = parameter.shape;
    int offset = plan_.layout.dim();
    Value value{!parameter.shape.empty(), {}};
    for (int i = 0; i < block.size(); ++i) value.nodes.push_back(plan_.graph.parameter(offset++));
    lowering_.declare(parameter.name, parameter.key, std::move(value), "parameter");
    plan_.layout.blocks.push_back(std::move(block));
  }

  void lower_linear(const LinearPredictor& linear) {
    expression::Graph& graph = plan_.graph;
    NodeId sum = kNoNode;
    const auto add = [&](NodeId term) { sum = sum == kNoNode ? term : graph.add(sum, term); };
    ExpressionPlan::Linear kept{
        -1, offset_of(linear.coefficients), linear.intercept, linear.coefficients, {}};
    if (!linear.intercept.empty()) {
      kept.intercept = offset_of(linear.intercept);
      add(graph.parameter(kept.intercept));
    }
    for (std::size_t j = 0; j < linear.columns.size(); ++j) {
      const NodeId column = lowering_.use_column(linear.columns[j], linear.key + ".columns");
      kept.columns.push_back(static_cast<std::size_t>(graph[column].index));
      add(graph.multiply(graph.parameter(kept.coefficients + static_cast<int>(j)), column));
    }
    plan_.linear.push_back(std::move(kept));
    if (!linear.offset.text.empty()) add(lowering_.lower_number(linear.offset));
    lowering_.declare(linear.name, linear.key, {false, {sum}}, "linear predictor");
  }

  int offset_of(const std::string& parameter) const {
    for (std::size_t b = 0; b < plan_.layout.blocks.size(); ++b)
      if (plan_.layout.blocks[b].name == parameter) return plan_.layout.offset(b);
    throw std::logic_error("no parameter " + parameter);
  }

  void lower_log_density() {
    plan_.log_density = lowering_.lower_number(spec_.log_density);
    const Stage stage = plan_.graph[plan_.log_density].stage;
    if (!(stage & kData))
      throw InputError(spec_.log_density.key +
                       ": no column of the data occurs in it; it is the log density of one row of the data");
    if (!(stage & kParameters))
      throw InputError(spec_.log_density.key +
                       ": no parameter occurs in it, so that there is nothing to sample");
  }

  /// The sum of all columns and parameters that a header may read replaces its log density.
  void take_code() {
    expression::Graph& graph = plan_.graph;
    plan_.code = spec_.code;
    NodeId sum = graph.constant(0);
    for (const std::string& name : spec_.code.columns) {
      const NodeId column =
          lowering_.use_column(name, spec_.code.key.empty() ? "likelihood.columns" : spec_.code.key);
      plan_.code_columns.push_back(graph[column].index);
      sum = graph.add(sum, column);
    }
    for (int i = 0; i < plan_.layout.dim(); ++i) sum = graph.add(sum, graph.parameter(i));
    plan_.log_density = sum;
  }

  void weigh() {
    if (spec_.weights.empty()) return;
    const NodeId weight = lowering_.use_column(spec_.weights, "data.weights");
    plan_.weights = plan_.graph[weight].index;
    plan_.log_density = plan_.graph.multiply(weight, plan_.log_density);
  }

  void lower_derived(const NamedExpression& quantity) {
    refuse_reserved(quantity.name, quantity.value.key);
    const Value value = lowering_.lower(quantity.value);
    refuse_data(value, quantity.value, "is computed once for each draw");
    ParameterBlock block;
    block.name = quantity.name;
    if (value.is_list) block.shape = {static_cast<int>(value.nodes.size())};
    plan_.derived_nodes.insert(plan_.derived_nodes.end(), value.nodes.begin(), value.nodes.end());
    plan_.derived.push_back(std::move(block));
    lowering_.declare(quantity.name, quantity.value.key, value, "name under likelihood.derived");
  }

  void lower_simulated(const NamedExpression& column, const std::vector<std::string>& columns) {
    const NodeId node = lowering_.lower_number(column.value);
    // Names that were declared before the simulation still stand for the data's values of simulated columns.
    const std::vector<std::size_t> used = lowering_.used_columns();
    for (NodeId id : needed_by(plan_.graph, std::array{node})) {
      if (plan_.graph[id].operation != Operation::column) continue;
      const std::string& name = columns[used[static_cast<std::size_t>(plan_.graph[id].index)]];
      for (const std::string& other : simulated_columns(spec_))
        if (other == name)
          throw InputError(
              column.value.key + ": it depends on the data's values of " + name +
              ", which is simulated itself; allowed: other columns, parameters, and columns that "
              "are simulated before");
    }
    lowering_.simulate_column(column.name, node);
    plan_.simulated.push_back(column.name);
    plan_.simulated_nodes.push_back(node);
  }

  void refuse_data(const Value& value, const ExpressionText& text, const std::string& why) const {
    for (NodeId node : value.nodes)
      if (plan_.graph[node].stage & kData)
        throw InputError(text.key + ": it depends on columns of the data, but " + why +
                         "; allowed: parameters, constants, and what is under likelihood.prepare");
  }

  void check_sizes() {
    const RowProgram program = divide(plan_.graph, plan_.log_density);
    if (plan_.graph.is_full() || program.whole.is_full() || program.rows.is_full())
      throw InputError(
          fmt::format("{}: the expressions expand to more than {} operations; shorten the lists or split "
                      "the model",
                      spec_.log_density.key, expression::Graph::kMostNodes));
    if (program.coefficients.size() > kMostCoefficients)
      throw InputError(fmt::format("{}: rows depend on {} numbers made of parameters; allowed: at most {}",
                                   spec_.log_density.key, program.coefficients.size(), kMostCoefficients));
    if (program.inputs.size() > kMostInputs)
      throw InputError(fmt::format("{}: rows depend on {} columns; allowed: at most {}",
                                   spec_.log_density.key, program.inputs.size(), kMostInputs));
    constexpr double kOfFunction = 20;
    for (NodeId id : needed_by(program.rows, std::array{program.log_density}))
      plan_.cost_of_row += program.rows[id].operation == Operation::call ? kOfFunction : 1;
    if (!plan_.code.file.empty()) plan_.cost_of_row += 5 * kOfFunction;
  }

  const ExpressionSpec& spec_;
  ExpressionPlan& plan_;
  Lowering lowering_;
};

}  // namespace

void read_specification(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                        ExpressionPlan& plan) {
  const Reading reading(spec, columns, plan);
}

}  // namespace emomc
