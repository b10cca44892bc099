// Draws the rows of a data set anew, at parameters of a likelihood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/run_config.hpp"

namespace emomc {

/// Of a mixture all columns are drawn; of expressions those that `simulate` draws, or that the log density
/// has a density of (with_simulation), given the other columns. Objects are immutable.
class RowSimulator {
 public:
  /// `data` are the rows that the likelihood has, all columns of them. Throw InputError, which says why,
  /// where the likelihood cannot be simulated or draws no column of the data, and where they are in the
  /// memory of a GPU.
  RowSimulator(const ModelSpec& model, const Table& data);
  /// `data` have the columns that the expressions name, and may have more.
  RowSimulator(const ExpressionSpec& likelihood, const Table& data);

  /// The columns that are drawn, in the order of the data's columns.
  const std::vector<std::string>& variables() const { return variables_; }
  std::size_t num_rows() const { return num_rows_; }
  const ParameterLayout& layout() const { return layout_; }  ///< of the likelihood's parameters
  std::size_t num_parameters() const { return static_cast<std::size_t>(layout_.dim()); }
  /// The likelihood of expressions, with the quantities that are derived from it; nullptr: a model.
  const Expression* expression() const { return expression_.get(); }

  /// Draws one replicate of the rows: out [num_rows() x variables().size()], in the data's own units. `theta`
  /// begins with num_parameters() parameters, as draws have them. The result is a function of the arguments;
  /// other seeds and replicates have independent random numbers. NaN where the arguments of a distribution
  /// are not allowed. Any thread may call it.
  void simulate(std::span<const double> theta, std::uint64_t seed, std::uint32_t replicate,
                std::span<double> out) const;

 private:
  ModelSpec model_;
  ParameterLayout layout_;
  std::shared_ptr<const Expression> expression_;
  std::vector<double> rows_;         ///< num_rows_ x used columns of the expressions
  std::vector<std::size_t> places_;  ///< of each variable among the columns that the expressions draw
  std::vector<std::string> variables_;
  std::size_t num_rows_;
};

/// The simulator of the likelihood of `config` for `data`. Throws as its constructors.
RowSimulator row_simulator(const RunConfig& config, const Table& data);

/// Those of `columns` that the likelihood is a density of, the others being given; all, where it does not say
/// so: a header, a function, or an expression that implies no simulation and states none.
std::vector<std::string> observed_columns(const ExpressionSpec& likelihood,
                                          const std::vector<std::string>& columns);

}  // namespace emomc
