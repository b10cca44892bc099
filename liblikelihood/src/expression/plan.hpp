// The content of an Expression after its specification was read, and functions that make models from it.
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
  std::vector<std::string> column_names;  ///< names of the used columns
  std::vector<bool> is_integer;  ///< [used_columns] whether data.kinds says that a column holds integers
  expression::Graph graph;       ///< graph of the whole likelihood, as it was written
  expression::NodeId log_density = 0;
  std::vector<expression::IntegerUse> integers;
  int weights = -1;  ///< index into `used_columns` of the column of weights; -1: there are no weights
  /// A header or function in place of an expression. `log_density` then only represents on what the
  /// likelihood depends. `code_columns` are indices into `used_columns` of the columns that the code reads.
  CodeSource code;
  std::vector<int> code_columns;
  /// A linear predictor: the first positions of its parameters in the layout, and its columns as indices into
  /// `used_columns`.
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

/// Declares the names of a specification, lowers its expressions, and writes the results to `plan`, which
/// must be empty. Throws the exceptions of Expression's constructor.
void read_specification(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                        ExpressionPlan& plan);

/// The likelihood divided for given data into parts that depend on data, on parameters, and on both.
struct BoundProgram {
  ParameterLayout layout;
  expression::RowProgram program;
  expression::GradientProgram gradient;
  std::string header;  ///< result of generate_header() for the program
};

/// The likelihood that backend `reference` evaluates: the graph as it was written, with the data's columns as
/// input.
std::shared_ptr<const RowModel> make_interpreted_model(std::shared_ptr<const ExpressionPlan> plan);
/// The likelihood that backends `cpu` (`for_host`, compiled here) and `cuda` (compiled by the engine)
/// evaluate, with the program's inputs as columns. Writes the name and version of the compiler to `compiler`;
/// empty if nothing was compiled here.
std::shared_ptr<const RowModel> make_compiled_model(std::shared_ptr<const BoundProgram> bound, bool for_host,
                                                    HostBuild build, std::string& compiler);

/// The likelihood of plan->code.function. With `for_gpu` it has code for the first GPU of this machine, if
/// there is a GPU. Throws the exceptions of CodeSource::lto_ir.
std::shared_ptr<const RowModel> make_function_model(std::shared_ptr<const ExpressionPlan> plan, bool for_gpu);

/// The likelihood of a header, with code_columns and the weights as columns, for all backends. Writes the
/// name and version of the compiler, and the generated header. Throws the exceptions of Expression::bind().
std::shared_ptr<const RowModel> make_code_model(const std::shared_ptr<const ExpressionPlan>& plan,
                                                HostBuild build, std::string& compiler, std::string& header);

}  // namespace emomc
