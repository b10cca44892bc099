// Likelihoods that a configuration states as expressions of columns and parameters
// (docs/your-own-likelihood.md). A caller makes an Expression from an ExpressionSpec and binds it to data.
// An expression is parsed, checked and lowered to a graph of scalar operations before it is used; its text
// never reaches a compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/core/host_compiler.hpp"
#include "emomc/core/list_order.hpp"
#include "emomc/core/parameters.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/row_model.hpp"

namespace emomc {

/// The text of an expression, with its place in the configuration, which messages name. Comparison ignores
/// the place.
struct ExpressionText {
  std::string key;  ///< place, such as "fit.yaml:7: likelihood.log_density"
  std::string text;
  bool operator==(const ExpressionText& other) const { return text == other.text; }
};

/// A name and the expression that defines its value.
struct NamedExpression {
  std::string name;
  ExpressionText value;
  bool operator==(const NamedExpression&) const = default;
};

/// A name and its value, a number or a list of numbers; `shape` is empty for a number.
struct NamedConstant {
  std::string name;
  std::string key;  ///< configuration key that messages name
  std::vector<int> shape;
  std::vector<double> values;
  bool operator==(const NamedConstant& other) const {
    return name == other.name && shape == other.shape && values == other.values;
  }
};

/// The linear predictor intercept + sum_j coefficients[j] columns[j] + offset. It declares the parameters
/// `intercept`, a number, and `coefficients`, a list with an element for each column.
struct LinearPredictor {
  std::string name, key;
  std::string intercept;  ///< name of the intercept; empty: there is none
  std::vector<std::string> columns;
  std::string coefficients;
  ExpressionText offset;  ///< added expression; empty text: there is none
  bool operator==(const LinearPredictor& other) const {
    return name == other.name && intercept == other.intercept && columns == other.columns &&
           coefficients == other.coefficients && offset == other.offset;
  }
};

/// A parameter; its shape has at most one axis.
struct ExpressionParameter {
  std::string name, key;
  Support support = Support::real;
  std::vector<int> shape;
  ListOrder order = ListOrder::none;  ///< order of the values of a list
  bool operator==(const ExpressionParameter& other) const {
    return name == other.name && support == other.support && shape == other.shape && order == other.order;
  }
};

/// A function that writes the log densities of num_rows rows to out. rows[j * stride + i] is column j of
/// row i; theta has the parameters in the order of their declaration. The density of a row must depend
/// on theta and on this row alone. Several threads may call the function at once. The function must not
/// throw.
using RowFunction = void (*)(const double* theta, const double* rows, std::int64_t stride,
                             std::int64_t num_rows, double* out);

/// The source of the gradient of a function.
enum class FunctionGradient {
  none,         ///< there is no gradient
  differences,  ///< central differences of the function; see expression/function_header.hpp for the step
  function      ///< a second function of the caller returns the gradient
};

/// The log density of a row as code instead of an expression: a C++ header (device/density.hpp), which the
/// user has allowed to run, or a function of the program that uses the library.
struct CodeSource {
  std::string key;   ///< configuration key that messages name
  std::string file;  ///< file that messages name; empty: there is neither a header nor a function
  std::string text;  ///< text of the header, which may be empty until the likelihood is bound; for a
                     ///< function, a text that changes when the function changes
  std::string type =
      "Likelihood";  ///< C++ type, qualified by its namespace; for a function, the name of its compiler
  std::vector<std::string> columns;  ///< columns of the data, in the order in which the code reads them
  RowFunction function = nullptr;    ///< function that the CPU calls, in place of a header
  /// Returns, for a compute capability such as 9 and 0, LTO IR (core/runtime_linker.hpp) of
  ///     double emomc_row_density(...)
  /// which returns the log density of a row. If lto_ir is empty, a GPU cannot call the function. The
  /// arguments of emomc_row_density are the columns and parameters that `arguments` names. A number is passed
  /// as double; a list is passed as Numba passes an array: void*, void*, long, long, const double* values,
  /// long length, long 8. Throws InputError.
  std::function<std::string(int, int)> lto_ir = {};
  std::vector<std::string> arguments = {};
  FunctionGradient gradient_by = FunctionGradient::none;
  /// For FunctionGradient::function: writes the derivatives of each row's log density with respect to theta
  /// to out[num_rows x number of parameters], row-major and zero before the call. The other arguments are
  /// those of `function`.
  RowFunction gradient = nullptr;
  /// Returns, for a compute capability, LTO IR of
  ///     void emomc_row_gradient(...)
  /// with the arguments that `gradient_arguments` names; "out" is the list of the row's derivatives, which
  /// are zero before the call.
  std::function<std::string(int, int)> gradient_lto_ir = {};
  std::vector<std::string> gradient_arguments = {};
  bool operator==(const CodeSource& other) const {
    return file == other.file && type == other.type && columns == other.columns &&
           function == other.function && gradient_by == other.gradient_by && gradient == other.gradient;
  }
};

/// A likelihood as a configuration defines it. Expressions may use columns, parameters, constants, linear
/// predictors, and the bindings before them.
struct ExpressionSpec {
  std::vector<ExpressionParameter> parameters;
  std::vector<LinearPredictor> linear;
  std::vector<NamedConstant> constants;
  std::vector<NamedExpression> prepare;  ///< values that depend on parameters and constants alone
  std::vector<NamedExpression> where;
  ExpressionText log_density;
  CodeSource code;                       ///< code in place of log_density, whose text is then empty
  std::vector<NamedExpression> derived;  ///< quantities that depend on parameters and constants alone
  std::vector<NamedExpression> rows;     ///< outputs of each row, such as predictions
  /// Names of columns and the expressions by which simulations draw them. A name may be that of a column of
  /// the data.
  std::vector<NamedExpression> simulate;
  std::string weights;  ///< column by which each row's log density is multiplied; empty: there is none
  std::vector<std::string> integers = {};  ///< columns whose values must be integers (data.kinds)
  std::vector<std::string> reals = {};  ///< columns that must not be used as counts or indices (data.kinds)
  /// Columns that are standardised to mean 0 and sd 1 (data.standardize). They must not be used as counts, as
  /// indices, or as the variable of a density.
  std::vector<std::string> standardized = {};
  bool operator==(const ExpressionSpec&) const = default;
};

/// All parameters that a likelihood declares; the parameters of linear predictors come last.
std::vector<ExpressionParameter> parameters_of(const ExpressionSpec& spec);

/// The names of the columns that likelihood.simulate draws.
std::vector<std::string> simulated_columns(const ExpressionSpec& spec);

/// Returns the specification with `simulate` derived from the log density, or unchanged if `simulate` is
/// given. Each term of the log density, a sum, has to be the density of a column (NAME_lpdf or NAME_lpmf, or
/// log_mix of such densities); the column is drawn by NAME_rng. Throws InputError, with the reason, if no
/// simulation follows from the log density.
ExpressionSpec with_simulation(ExpressionSpec spec);

/// The names in the expressions that are not declared, and therefore have to be columns of the data. Throws
/// InputError, with key, line and column, if an expression cannot be parsed.
std::vector<std::string> names_of_columns(const ExpressionSpec& spec);

/// Whether `text` is a valid name in expressions: a letter or underscore, then letters, digits and
/// underscores.
bool is_expression_name(const std::string& text);

/// The functions of the language of expressions, sorted, each with its arguments: "normal_lpdf(x, mu,
/// sigma)".
std::vector<std::string> expression_functions();

/// The value of an expression of constants, for tests of the language's functions. Throws InputError.
double value_of_expression(const std::string& text);

struct ExpressionPlan;

/// A likelihood of expressions. Objects are immutable; copies share their content.
class Expression {
 public:
  /// Reads a specification. `columns` are the names of all columns of the data. Throws InputError, with key,
  /// line and column, for every fault that can be found without the data's values.
  Expression(const ExpressionSpec& spec, const std::vector<std::string>& columns);

  const ParameterLayout& layout() const;
  /// The columns that the likelihood reads, as indices into the constructor's `columns`, in the order of
  /// their first use.
  const std::vector<std::size_t>& used_columns() const;
  /// One line for each used column: its name, and whether its values are real numbers, integers, counts,
  /// indices or weights.
  std::vector<std::string> column_kinds() const;

  /// Whether the likelihood uses a column as the index of an element of a list, as in `alpha[group]`.
  bool is_index(const std::string& column) const;

  /// Names of the parameters, or elements of lists, on which the log density does not depend.
  std::vector<std::string> unused_parameters() const;

  /// Whether a part of the likelihood reads each of the used columns: [used_columns().size()].
  enum class Part { log_density, row_outputs, simulation };
  std::vector<bool> columns_of(Part part) const;

  /// Throws InputError, which names the row, if the value of a count is no count, an index is out of range,
  /// or a weight is negative. `rows` is num_rows x used_columns().size(), row-major. Only columns that are
  /// `available` [used_columns().size()] are checked; if the list is empty, all columns are.
  void check_rows(std::span<const double> rows, const std::vector<bool>& available = {}) const;

  /// Returns the likelihood as `backend` evaluates it, and the columns that it reads. For `reference`,
  /// and for headers and functions, these are columns of the data. For expressions on `cpu` and `cuda`,
  /// values that depend on data alone are computed once, here, and become the columns. `rows` has the shape
  /// that check_rows() expects. The code of a header is compiled for the host whatever the backend is, and
  /// stays in the process. Throws MachineError if a compiler is needed and there is none, and InputError if a
  /// header does not compile or declares other parameters or columns than the configuration.
  struct Bound {
    std::shared_ptr<const RowModel> model;
    DataSet data;          ///< data of one segment
    std::string compiler;  ///< name and version of the host compiler, for a function CodeSource::type; empty:
                           ///< there is no host code
    std::string header;    ///< C++ that is compiled, for a function CodeSource::text; empty: expressions are
                           ///< interpreted
  };
  Bound bind(Backend backend, std::span<const double> rows, HostBuild build = HostBuild::release) const;
  /// Binds the likelihood to the used columns on a GPU, for backend `cuda`. Values that depend on data alone
  /// are computed in the GPU's memory, with the same bits as on the host. Throws the exceptions of the
  /// other overload, and InputError if the GPU cannot compute these values, because they take an element of a
  /// list or more than 64 operations.
  Bound bind(const DeviceRowSource& rows, HostBuild build = HostBuild::release) const;
  /// The kernels that evaluate a function on GPUs of a compute capability; no GPU is needed. Throws
  /// MachineError if the kernels cannot be compiled or linked, InputError if there is no function that a GPU
  /// could call, and the exceptions of CodeSource::lto_ir.
  std::vector<KernelCode> compile_function(int major, int minor) const;

  /// A rough number of operations for each row, in additions and multiplications.
  double cost_of_row() const;

  /// Returns the likelihood with further derived quantities. For each linear predictor with standardised
  /// columns, these are its coefficients and its intercept in the columns' own units: `b.data_units` (b / sd)
  /// and `a.data_units` (a - sum b mean / sd). `units` are the mean and sd of the used columns, and 0 and 1
  /// for a column that is not standardised.
  Expression with_data_units(const ColumnUnits& units) const;

  /// Names and shapes of the derived quantities.
  const std::vector<ParameterBlock>& derived() const;
  /// Writes the derived quantities at `theta` [layout().dim()] to `out`, in the order of derived().
  void derive(const double* theta, double* out) const;

  /// Names of the outputs of each row (likelihood.rows).
  const std::vector<std::string>& row_outputs() const;
  /// Writes the outputs of each row at `theta` [layout().dim()] to `out`, num_rows x row_outputs().size(),
  /// row-major. `rows` has the shape that check_rows() expects.
  void evaluate_row_outputs(const double* theta, std::span<const double> rows, double* out) const;

  /// Names of the columns that likelihood.simulate draws.
  const std::vector<std::string>& simulated() const;
  /// Draws the simulated columns at `theta` and writes them to `out`, num_rows x simulated().size(),
  /// row-major. The values are a function of the arguments alone. They are NaN if a distribution's arguments
  /// are not allowed. `rows` has the shape that check_rows() expects.
  void simulate(const double* theta, std::span<const double> rows, std::uint64_t seed,
                std::uint32_t replicate, double* out) const;

 private:
  std::shared_ptr<const ExpressionPlan> plan_;
};

}  // namespace emomc
