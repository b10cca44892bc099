// What an Expression has found out about a likelihood.
#pragma once

#include <string>
#include <vector>

#include "emomc/likelihood/expression.hpp"
#include "gradient_program.hpp"
#include "graph.hpp"
#include "lower.hpp"
#include "row_program.hpp"

namespace emomc {

struct ExpressionPlan {
  ParameterLayout layout;
  std::vector<std::size_t> used_columns;
  std::vector<std::string> column_names;  ///< of the used ones
  std::vector<bool> is_integer;           ///< of the used ones: by the user's word
  expression::Graph graph;                ///< of the whole likelihood, as it was written
  expression::NodeId log_density = 0;
  std::vector<expression::IntegerUse> integers;
  int weights = -1;  ///< the used column that weights are in
  /// A header in place of log_density, which then only says what the likelihood depends on; `code_columns`
  /// are used columns.
  CodeSource code;
  std::vector<int> code_columns;
  /// A linear predictor: where its parameters begin in the layout, and its columns among the used ones.
  struct Linear {
    int intercept = -1;  ///< -1: there is none
    int coefficients = 0;
    std::string intercept_name, coefficients_name;
    std::vector<std::size_t> columns;
  };
  std::vector<Linear> linear;
  std::vector<ParameterBlock> derived;
  std::vector<expression::NodeId> derived_nodes;
  std::vector<expression::NodeId> derived_order;
  std::vector<std::string> row_outputs;
  std::vector<expression::NodeId> row_nodes;
  std::vector<std::string> simulated;
  std::vector<expression::NodeId> simulated_nodes;
  double cost_of_row = 0;
};

/// Declares the names of a specification, lowers its expressions and writes what they are to an empty plan.
/// Throws as Expression's constructor.
void read_specification(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                        ExpressionPlan& plan);

/// The likelihood's division for given data.
struct BoundProgram {
  ParameterLayout layout;
  expression::RowProgram program;
  expression::GradientProgram gradient;
  std::string header;  ///< generate_header() of the program
};

/// The likelihood as `reference` evaluates it: the graph as it was written, from the data's columns.
std::shared_ptr<const RowModel> make_interpreted_model(std::shared_ptr<const ExpressionPlan> plan);
/// As `cpu` (compiled here) and `cuda` (compiled by the engine) evaluate it, from the program's inputs.
/// Writes the name of the compiler, where it is needed here, to `compiler`.
std::shared_ptr<const RowModel> make_compiled_model(std::shared_ptr<const BoundProgram> bound, bool for_host,
                                                    HostBuild build, std::string& compiler);

/// The likelihood of plan->code.function; `for_gpu`: with code for the GPUs of this machine, where there are
/// any. Throws as CodeSource::lto_ir does.
std::shared_ptr<const RowModel> make_function_model(std::shared_ptr<const ExpressionPlan> plan, bool for_gpu);

/// The likelihood of a header, from code_columns and the weights, the same for all backends. Writes the name
/// of the compiler and the generated header. Throws as Expression::bind().
std::shared_ptr<const RowModel> make_code_model(const std::shared_ptr<const ExpressionPlan>& plan,
                                                HostBuild build, std::string& compiler, std::string& header);

}  // namespace emomc
