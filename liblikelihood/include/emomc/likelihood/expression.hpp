// Likelihoods that a configuration states as expressions of columns and parameters
// (docs/your-own-likelihood.md). An expression is parsed, checked and lowered to a graph of scalar operations
// before anything else sees it; no text of a configuration reaches a compiler.
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

/// An expression and the place where it stands, by which messages name it. Texts are equal wherever they
/// stand.
struct ExpressionText {
  std::string key;  ///< "fit.yaml:7: likelihood.log_density"
  std::string text;
  bool operator==(const ExpressionText& other) const { return text == other.text; }
};

/// A name and the expression that it stands for.
struct NamedExpression {
  std::string name;
  ExpressionText value;
  bool operator==(const NamedExpression&) const = default;
};

/// A name and the number or numbers that it stands for; `shape` is empty for one number.
struct NamedConstant {
  std::string name;
  std::string key;  ///< that messages name
  std::vector<int> shape;
  std::vector<double> values;
  bool operator==(const NamedConstant& other) const {
    return name == other.name && shape == other.shape && values == other.values;
  }
};

/// intercept + sum_j coefficients[j] columns[j] + offset. Declares the parameters `intercept`, a number, and
/// `coefficients`, one for each column.
struct LinearPredictor {
  std::string name, key;
  std::string intercept;  ///< empty: none
  std::vector<std::string> columns;
  std::string coefficients;
  ExpressionText offset;  ///< its text is empty where there is none
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
  ListOrder order = ListOrder::none;  ///< of the values of a list
  bool operator==(const ExpressionParameter& other) const {
    return name == other.name && support == other.support && shape == other.shape && order == other.order;
  }
};

/// Writes the log densities of num_rows rows to out. Column j of row i is rows[j * stride + i]; theta has the
/// parameters in the order of their declaration. A row's density is a function of theta and of this row
/// alone. Several threads may call the function at once. It must not throw.
using RowFunction = void (*)(const double* theta, const double* rows, std::int64_t stride,
                             std::int64_t num_rows, double* out);

/// Where the gradient of a function comes from.
enum class FunctionGradient {
  none,         ///< There is no gradient.
  differences,  ///< Central differences of the function; see expression/function_header.hpp for the step.
  function      ///< A second function of the caller returns it.
};

/// The log density of a row in another language than that of expressions: a C++ header (device/density.hpp),
/// which is code that the caller has allowed, or a function of the program that uses the library.
struct CodeSource {
  std::string key;   ///< the configuration key that messages name
  std::string file;  ///< the file that messages name; empty: neither header nor function
  std::string text;  ///< the header's text, which may be empty until the likelihood is bound; for a
                     ///< function, a text that changes when the function changes
  std::string type =
      "Likelihood";  ///< the C++ type, qualified by its namespace; for a function, its compiler
  std::vector<std::string> columns;  ///< columns of the data, in the order in which the code has them
  RowFunction function = nullptr;    ///< the function that the CPU calls, in place of a header
  /// Returns, for a compute capability such as 9 and 0, LTO IR (core/runtime_linker.hpp) of
  ///     double emomc_row_density(...)
  /// which returns the log density of a row; empty: a GPU cannot call the function. The arguments are those
  /// that `arguments` names, columns and parameters: a number is a double; a list is void*, void*, long,
  /// long, const double* values, long length, long 8 (an array as Numba passes it). Throws InputError.
  std::function<std::string(int, int)> lto_ir = {};
  std::vector<std::string> arguments = {};
  FunctionGradient gradient_by = FunctionGradient::none;
  /// For FunctionGradient::function: writes the derivatives of each row's log density with respect to theta
  /// to out[num_rows x number of parameters], row-major and zero before the call. Otherwise as `function`.
  RowFunction gradient = nullptr;
  /// LTO IR of
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

/// A likelihood as a configuration states it. Expressions may use columns, parameters, constants, linear
/// predictors, and the bindings before them.
struct ExpressionSpec {
  std::vector<ExpressionParameter> parameters;
  std::vector<LinearPredictor> linear;
  std::vector<NamedConstant> constants;
  std::vector<NamedExpression> prepare;  ///< of parameters and constants alone
  std::vector<NamedExpression> where;
  ExpressionText log_density;
  CodeSource code;                       ///< in place of log_density, whose text is empty then
  std::vector<NamedExpression> derived;  ///< of parameters and constants alone
  std::vector<NamedExpression> rows;     ///< outputs of each row, as for predictions
  /// Columns of the data and how they are drawn; the names may be those of columns.
  std::vector<NamedExpression> simulate;
  std::string weights;  ///< a column by which each row's log density is multiplied; or empty
  std::vector<std::string> integers = {};  ///< columns that the reader of the data finds to hold integers
  std::vector<std::string> reals = {};     ///< columns that are no counts and no indices, whatever they hold
  /// Columns that are given with mean 0 and sd 1: neither counts nor indices, and no variables of densities.
  std::vector<std::string> standardized = {};
  bool operator==(const ExpressionSpec&) const = default;
};

/// All parameters that a likelihood declares, those of linear predictors after the others.
std::vector<ExpressionParameter> parameters_of(const ExpressionSpec& spec);

/// The names of the columns that likelihood.simulate draws.
std::vector<std::string> simulated_columns(const ExpressionSpec& spec);

/// The specification with `simulate` as its log density implies it, where it states none: each term of a sum
/// has to be the density of a column (NAME_lpdf or NAME_lpmf, or log_mix of such), which is drawn by
/// NAME_rng. Throws InputError, which says why, where it implies none.
ExpressionSpec with_simulation(ExpressionSpec spec);

/// The names in the expressions that are declared nowhere, and so have to be columns of the data. Throws
/// InputError, with key, line and column, where an expression cannot be parsed.
std::vector<std::string> names_of_columns(const ExpressionSpec& spec);

/// Whether expressions can have this as a name: a letter or underscore, then letters, digits and underscores.
bool is_expression_name(const std::string& text);

/// The functions of the language, sorted, each with its arguments: "normal_lpdf(x, mu, sigma)".
std::vector<std::string> expression_functions();

/// The value of an expression of constants; for tests of the language's functions. Throws InputError.
double value_of_expression(const std::string& text);

struct ExpressionPlan;

/// A likelihood of expressions. Objects are immutable; copies share what they hold.
class Expression {
 public:
  /// Throws InputError, with key, line and column, for every fault that the data do not decide. `columns` are
  /// the names of all columns of the data.
  Expression(const ExpressionSpec& spec, const std::vector<std::string>& columns);

  const ParameterLayout& layout() const;
  /// The columns that the likelihood reads, as indices into `columns`, in the order of their first use.
  const std::vector<std::size_t>& used_columns() const;
  /// One line for each used column: its name, and whether its values are real numbers, integers, counts or
  /// indices.
  std::vector<std::string> column_kinds() const;

  /// Whether a column says which element of a list is meant, as in `alpha[group]`.
  bool is_index(const std::string& column) const;

  /// Names of parameters that the log density does not depend on.
  std::vector<std::string> unused_parameters() const;

  /// Whether a part of the likelihood reads a column: [used_columns().size()].
  enum class Part { log_density, row_outputs, simulation };
  std::vector<bool> columns_of(Part part) const;

  /// Throws InputError, naming the row, where a count is no count, an index is out of range, or a weight is
  /// negative. `rows` is num_rows x used_columns().size(), row-major.
  /// Of columns that are not `available`, an empty list being all, nothing is checked.
  void check_rows(std::span<const double> rows, const std::vector<bool>& available = {}) const;

  /// The likelihood as `backend` evaluates it, and the columns that it reads there: those of the data, and,
  /// for `cpu` and `cuda`, what depends on data alone, computed here once. `rows` as for check_rows. A
  /// header's code is compiled for the host whatever the backend is, and is part of the process from then on.
  /// Throws MachineError where a compiler is needed and there is none, InputError where a header does not
  /// compile or declares other parameters or columns than the configuration.
  struct Bound {
    std::shared_ptr<const RowModel> model;
    DataSet data;          ///< one segment
    std::string compiler;  ///< the compiler's name and version; empty where nothing was compiled here
    std::string header;    ///< the C++ that is compiled; empty where expressions are interpreted
  };
  Bound bind(Backend backend, std::span<const double> rows, HostBuild build = HostBuild::release) const;
  /// The same for the used columns on a GPU, in whose memory what depends on data alone is computed too, with
  /// the same bits; for `cuda`. Throws InputError also where the GPU cannot compute it from a row alone: an
  /// element of a list, or more than 64 operations.
  Bound bind(const DeviceRowSource& rows, HostBuild build = HostBuild::release) const;
  /// The kernels that evaluate a function on GPUs of a compute capability. Needs no GPU. Throws MachineError
  /// where they cannot be compiled or linked, and as CodeSource::lto_ir does.
  std::vector<KernelCode> compile_function(int major, int minor) const;

  /// The operations of a row, in additions and multiplications, roughly.
  double cost_of_row() const;

  /// The same likelihood with further derived quantities: for each linear predictor with standardised columns
  /// its coefficients, and its intercept, in the columns' own units, as `b.data_units` (b / sd) and
  /// `a.data_units` (a - sum b mean / sd). `units` are the mean and sd of the used columns, 0 and 1 where a
  /// column is as in the data.
  Expression with_data_units(const ColumnUnits& units) const;

  /// Names and shapes of the derived quantities.
  const std::vector<ParameterBlock>& derived() const;
  /// Writes the derived quantities at `theta` [layout().dim()] to `out`, in the order of derived().
  void derive(const double* theta, double* out) const;

  /// Names of the outputs of each row (likelihood.rows).
  const std::vector<std::string>& row_outputs() const;
  /// Writes them at `theta` [layout().dim()]: out is num_rows x row_outputs().size(). `rows` as for
  /// check_rows.
  void evaluate_row_outputs(const double* theta, std::span<const double> rows, double* out) const;

  /// Names of the columns that likelihood.simulate draws.
  const std::vector<std::string>& simulated() const;
  /// Draws them at `theta`: out is num_rows x simulated().size(), a function of the seed and `replicate`
  /// beside the arguments. NaN where a distribution's arguments are not allowed.
  void simulate(const double* theta, std::span<const double> rows, std::uint64_t seed,
                std::uint32_t replicate, double* out) const;

 private:
  std::shared_ptr<const ExpressionPlan> plan_;
};

}  // namespace emomc
