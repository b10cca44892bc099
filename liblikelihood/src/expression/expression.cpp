#include "emomc/likelihood/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "binding.hpp"
#include "emomc/core/errors.hpp"
#include "plan.hpp"

namespace emomc {
using namespace expression;

std::vector<ExpressionParameter> parameters_of(const ExpressionSpec& spec) {
  std::vector<ExpressionParameter> all = spec.parameters;
  for (const LinearPredictor& linear : spec.linear) {
    if (!linear.intercept.empty())
      all.push_back({linear.intercept, linear.key + ".intercept", Support::real, {}});
    all.push_back({linear.coefficients,
                   linear.key + ".coefficients",
                   Support::real,
                   {static_cast<int>(linear.columns.size())}});
  }
  return all;
}

std::vector<std::string> simulated_columns(const ExpressionSpec& spec) {
  std::vector<std::string> names;
  for (const NamedExpression& column : spec.simulate) names.push_back(column.name);
  return names;
}

std::vector<std::string> names_of_columns(const ExpressionSpec& spec) {
  std::vector<std::string> names, declared;
  const auto read = [&](const ExpressionText& text) { collect_names(parse(text), names); };
  for (const ExpressionParameter& parameter : parameters_of(spec)) declared.push_back(parameter.name);
  for (const NamedConstant& constant : spec.constants) declared.push_back(constant.name);
  for (const LinearPredictor& linear : spec.linear) {
    declared.push_back(linear.name);
    names.insert(names.end(), linear.columns.begin(), linear.columns.end());
    if (!linear.offset.text.empty()) read(linear.offset);
  }
  for (const auto* list : {&spec.prepare, &spec.where, &spec.derived, &spec.rows})
    for (const NamedExpression& named : *list) {
      declared.push_back(named.name);
      read(named.value);
    }
  if (spec.code.file.empty()) read(spec.log_density);
  names.insert(names.end(), spec.code.columns.begin(), spec.code.columns.end());
  for (const NamedExpression& column : spec.simulate) read(column.value);
  if (!spec.weights.empty()) names.push_back(spec.weights);
  std::vector<std::string> columns;
  for (const std::string& name : names)
    if (std::find(declared.begin(), declared.end(), name) == declared.end() &&
        std::find(columns.begin(), columns.end(), name) == columns.end())
      columns.push_back(name);
  return columns;
}

bool is_expression_name(const std::string& text) { return expression::is_identifier(text); }

Expression::Expression(const ExpressionSpec& spec, const std::vector<std::string>& columns) {
  auto plan = std::make_shared<ExpressionPlan>();
  read_specification(spec, columns, *plan);
  plan_ = std::move(plan);
}

const ParameterLayout& Expression::layout() const { return plan_->layout; }
const std::vector<std::size_t>& Expression::used_columns() const { return plan_->used_columns; }
const std::vector<ParameterBlock>& Expression::derived() const { return plan_->derived; }

double Expression::cost_of_row() const { return plan_->cost_of_row; }

std::vector<std::string> Expression::unused_parameters() const {
  std::vector<bool> used(static_cast<std::size_t>(plan_->layout.dim()), false);
  for (NodeId id : needed_by(plan_->graph, std::array{plan_->log_density}))
    if (plan_->graph[id].operation == Operation::parameter)
      used[static_cast<std::size_t>(plan_->graph[id].index)] = true;
  std::vector<std::string> unused;
  const std::vector<std::string> names = element_names(plan_->layout);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!used[i]) unused.push_back(names[i]);
  return unused;
}

std::vector<std::string> Expression::column_kinds() const {
  std::vector<std::string> kinds;
  for (std::size_t j = 0; j < plan_->column_names.size(); ++j) {
    std::string kind = static_cast<int>(j) == plan_->weights ? "weight"
                       : plan_->is_integer[j]                ? "integer"
                                                             : "real";
    for (const IntegerUse& use : plan_->integers) {
      const Node& node = plan_->graph[use.node];
      if (node.operation == Operation::column && node.index == static_cast<int>(j))
        kind = use.size > 0 ? fmt::format("index, 0 to {}", use.size - 1) : "count";
    }
    kinds.push_back(plan_->column_names[j] + ": " + kind);
  }
  return kinds;
}

bool Expression::is_index(const std::string& column) const {
  return std::any_of(plan_->integers.begin(), plan_->integers.end(), [&](const IntegerUse& use) {
    const Node& node = plan_->graph[use.node];
    return use.size > 0 && node.operation == Operation::column &&
           plan_->column_names[static_cast<std::size_t>(node.index)] == column;
  });
}

std::vector<bool> Expression::columns_of(Part part) const {
  std::vector<NodeId> roots = part == Part::row_outputs  ? plan_->row_nodes
                              : part == Part::simulation ? plan_->simulated_nodes
                                                         : std::vector<NodeId>{plan_->log_density};
  std::vector<bool> read(plan_->used_columns.size(), false);
  for (NodeId id : needed_by(plan_->graph, roots))
    if (plan_->graph[id].operation == Operation::column)
      read[static_cast<std::size_t>(plan_->graph[id].index)] = true;
  return read;
}

void Expression::check_rows(std::span<const double> rows, const std::vector<bool>& available) const {
  const auto is_available = [&](int column) {
    return available.empty() || available[static_cast<std::size_t>(column)];
  };
  const std::size_t dim = plan_->used_columns.size(), num_rows = rows.size() / dim;
  std::vector<double> values(plan_->graph.size());
  for (const IntegerUse& use : plan_->integers) {
    const std::vector<NodeId> order = needed_by(plan_->graph, std::array{use.node});
    if (std::any_of(order.begin(), order.end(), [&](NodeId id) {
          return plan_->graph[id].operation == Operation::column && !is_available(plan_->graph[id].index);
        }))
      continue;
    const device::RowTest test = test_of(use, 0);
    for (std::size_t i = 0; i < num_rows; ++i) {
      evaluate(plan_->graph, order, nullptr, rows.data() + i * dim, values.data());
      const double value = values[static_cast<std::size_t>(use.node)];
      if (!passes(test, value)) refuse_integer(*plan_, use, value, i);
    }
  }
  if (plan_->weights < 0 || !is_available(plan_->weights)) return;
  for (std::size_t i = 0; i < num_rows; ++i) {
    const double weight = rows[i * dim + static_cast<std::size_t>(plan_->weights)];
    if (!passes(kWeightTest, weight)) refuse_weight(*plan_, weight, i);
  }
}

namespace {

/// The values of conditions that depend on data alone and have the same value in all rows.
std::map<NodeId, bool> decided_conditions(const ExpressionPlan& plan, std::span<const double> rows) {
  const expression::Graph& graph = plan.graph;
  const std::vector<NodeId> conditions = conditions_of_data(plan);
  std::map<NodeId, bool> decided;
  if (conditions.empty()) return decided;
  const std::vector<NodeId> order = needed_by(graph, conditions);
  const std::size_t dim = plan.used_columns.size(), num_rows = rows.size() / dim;
  std::vector<double> values(graph.size());
  std::vector<std::size_t> times_true(conditions.size(), 0);
  for (std::size_t i = 0; i < num_rows; ++i) {
    evaluate(graph, order, nullptr, rows.data() + i * dim, values.data());
    for (std::size_t c = 0; c < conditions.size(); ++c)
      times_true[c] += values[static_cast<std::size_t>(conditions[c])] != 0 ? 1 : 0;
  }
  for (std::size_t c = 0; c < conditions.size(); ++c)
    if (times_true[c] == 0 || times_true[c] == num_rows) decided[conditions[c]] = times_true[c] > 0;
  return decided;
}

}  // namespace

Expression::Bound Expression::bind(Backend backend, std::span<const double> rows, HostBuild build) const {
  check_rows(rows);
  const std::size_t dim = plan_->used_columns.size(), num_rows = rows.size() / dim;
  if (!plan_->code.file.empty()) {
    Bound bound;
    if (plan_->code.function != nullptr) {
      const bool on_gpu = backend == Backend::cuda;
      bound.model = make_function_model(plan_, on_gpu);
      if (!on_gpu) bound.compiler = plan_->code.type;
      bound.header = plan_->code.text;
    } else {
      bound.model = make_code_model(plan_, build, bound.compiler, bound.header);
    }
    const std::vector<int> columns = columns_of_code(*plan_);
    std::vector<double> values;
    values.reserve(num_rows * columns.size());
    for (std::size_t i = 0; i < num_rows; ++i)
      for (int column : columns) values.push_back(rows[i * dim + static_cast<std::size_t>(column)]);
    bound.data = DataSet::single_segment(static_cast<int>(columns.size()), std::move(values));
    return bound;
  }
  if (backend == Backend::reference)
    return {make_interpreted_model(plan_),
            DataSet::single_segment(static_cast<int>(dim), {rows.begin(), rows.end()}),
            {},
            {}};
  const auto made = bound_program(*plan_, decided_conditions(*plan_, rows));
  std::string compiler, header = made->header;
  auto model = make_compiled_model(made, backend == Backend::cpu, build, compiler);
  const RowProgram& program = made->program;
  const std::vector<NodeId> order = needed_by(program.whole, program.inputs);
  std::vector<double> values(program.whole.size()), inputs;
  inputs.reserve(num_rows * program.inputs.size());
  for (std::size_t i = 0; i < num_rows; ++i) {
    evaluate(program.whole, order, nullptr, rows.data() + i * dim, values.data());
    for (NodeId input : program.inputs) inputs.push_back(values[static_cast<std::size_t>(input)]);
  }
  return {std::move(model),
          DataSet::single_segment(static_cast<int>(program.inputs.size()), std::move(inputs)),
          std::move(compiler), std::move(header)};
}

const std::vector<std::string>& Expression::row_outputs() const { return plan_->row_outputs; }
const std::vector<std::string>& Expression::simulated() const { return plan_->simulated; }

void Expression::evaluate_row_outputs(const double* theta, std::span<const double> rows, double* out) const {
  const std::size_t dim = plan_->used_columns.size();
  const std::vector<NodeId> order = needed_by(plan_->graph, plan_->row_nodes);
  std::vector<double> values(plan_->graph.size());
  for (std::size_t at = 0; at + dim <= rows.size(); at += dim) {
    evaluate(plan_->graph, order, theta, rows.data() + at, values.data());
    for (NodeId node : plan_->row_nodes) *out++ = values[static_cast<std::size_t>(node)];
  }
}

namespace {

/// Whether a node is drawn by von_mises_rng, whatever its conditions choose.
bool is_angle(const expression::Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.operation == Operation::choose)
    return is_angle(graph, node.arguments[1]) && is_angle(graph, node.arguments[2]);
  return node.operation == Operation::random && node.distribution == Distribution::von_mises_;
}

/// The middle of the turn in which the angles of a column of `rows` are written: from -pi to pi or from 0 to
/// 2 pi if all angles are there, and otherwise the middle of the angles. Replicates in the same turn can be
/// compared with the data number by number. `name` is for the message.
double middle_of_turn(std::span<const double> rows, std::size_t dim, std::size_t column,
                      const std::string& name) {
  constexpr double kPi = std::numbers::pi, kRounding = 1e-6;  // files may have few digits
  double least = 0, most = 0;
  for (std::size_t at = column; at < rows.size(); at += dim) {
    least = at == column ? rows[at] : std::min(least, rows[at]);
    most = at == column ? rows[at] : std::max(most, rows[at]);
  }
  if (least >= -kPi - kRounding && most <= kPi + kRounding) return 0;
  if (least >= -kRounding && most <= 2 * kPi + kRounding) return kPi;
  if (!(most - least <= 2 * kPi + kRounding))
    throw InputError(fmt::format(
        "column {}: its angles, from {} to {}, are more than a turn apart, so that draws of "
        "von_mises_rng cannot be compared with them; write all of them within 2 pi, as from -pi to pi",
        name, least, most));
  return 0.5 * (least + most);
}

}  // namespace

void Expression::simulate(const double* theta, std::span<const double> rows, std::uint64_t seed,
                          std::uint32_t replicate, double* out) const {
  const std::size_t dim = plan_->used_columns.size();
  const std::vector<NodeId> order = needed_by(plan_->graph, plan_->simulated_nodes);
  std::vector<double> values(plan_->graph.size());
  std::vector<std::optional<double>> middles;  // for each simulated column, if it is an angle of the data
  for (std::size_t k = 0; k < plan_->simulated.size(); ++k) {
    const auto column =
        std::find(plan_->column_names.begin(), plan_->column_names.end(), plan_->simulated[k]);
    middles.emplace_back();
    if (column != plan_->column_names.end() && is_angle(plan_->graph, plan_->simulated_nodes[k]))
      middles.back() =
          middle_of_turn(rows, dim, static_cast<std::size_t>(column - plan_->column_names.begin()), *column);
  }
  std::uint64_t row = 0;
  for (std::size_t at = 0; at + dim <= rows.size(); at += dim) {
    RandomBits random(seed, row++, replicate);
    evaluate(plan_->graph, order, theta, rows.data() + at, values.data(), &random);
    for (std::size_t k = 0; k < middles.size(); ++k) {
      const double drawn = values[static_cast<std::size_t>(plan_->simulated_nodes[k])];
      const std::optional<double>& middle = middles[k];
      *out++ = middle ? angle_about(*middle, drawn) : drawn;
    }
  }
}

Expression Expression::with_data_units(const ColumnUnits& units) const {
  if (units.is_identity()) return *this;
  auto plan = std::make_shared<ExpressionPlan>(*plan_);
  expression::Graph& graph = plan->graph;
  const auto add = [&](const std::string& name, std::vector<int> shape, std::span<const NodeId> nodes) {
    ParameterBlock block;
    block.name = name + ".data_units";
    block.shape = std::move(shape);
    plan->derived.push_back(std::move(block));
    plan->derived_nodes.insert(plan->derived_nodes.end(), nodes.begin(), nodes.end());
  };
  for (const ExpressionPlan::Linear& linear : plan->linear) {
    const bool is_standardized =
        std::any_of(linear.columns.begin(), linear.columns.end(),
                    [&](std::size_t j) { return units.mean.at(j) != 0 || units.sd.at(j) != 1; });
    if (!is_standardized) continue;
    std::vector<NodeId> coefficients;
    NodeId intercept = linear.intercept < 0 ? graph.constant(0) : graph.parameter(linear.intercept);
    for (std::size_t k = 0; k < linear.columns.size(); ++k) {
      const std::size_t j = linear.columns[k];
      const NodeId coefficient = graph.parameter(linear.coefficients + static_cast<int>(k));
      coefficients.push_back(graph.multiply(coefficient, graph.constant(1 / units.sd[j])));
      intercept = graph.add(intercept, graph.multiply(coefficients.back(), graph.constant(-units.mean[j])));
    }
    if (linear.intercept >= 0) add(linear.intercept_name, {}, std::array{intercept});
    add(linear.coefficients_name, {static_cast<int>(coefficients.size())}, coefficients);
  }
  plan->derived_order = needed_by(graph, plan->derived_nodes);
  Expression result(*this);
  result.plan_ = std::move(plan);
  return result;
}

void Expression::derive(const double* theta, double* out) const {
  std::vector<double> values(plan_->graph.size());
  evaluate(plan_->graph, plan_->derived_order, theta, nullptr, values.data());
  for (NodeId node : plan_->derived_nodes) *out++ = values[static_cast<std::size_t>(node)];
}

}  // namespace emomc
