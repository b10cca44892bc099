// Simulates the rows of a data set from a likelihood with given parameters.
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

/// Draws all columns of a mixture. For expressions, draws the columns that `simulate` states, or of which the
/// log density contains a density (with_simulation), given the other columns. Objects are immutable.
class RowSimulator {
 public:
  /// `data` are the rows of the likelihood, with all columns. The constructors throw InputError, with the
  /// reason, if the likelihood cannot be simulated, if it draws no column of the data, or if the data are in
  /// GPU memory.
  RowSimulator(const ModelSpec& model, const Table& data);
  /// `data` must have the columns that the expressions name, and may have others.
  RowSimulator(const ExpressionSpec& likelihood, const Table& data);

  /// The columns that are drawn, in the order of the data's columns.
  const std::vector<std::string>& variables() const { return variables_; }
  std::size_t num_rows() const { return num_rows_; }
  const ParameterLayout& layout() const { return layout_; }  ///< layout of the likelihood's parameters
  std::size_t num_parameters() const { return static_cast<std::size_t>(layout_.dim()); }
  /// The likelihood of expressions and the quantities derived from it; nullptr if the likelihood is a model.
  const Expression* expression() const { return expression_.get(); }

  /// Draws one replicate of the rows: out [num_rows() x variables().size()], in the data's own units. `theta`
  /// begins with num_parameters() parameters, in the form of draws. The result is a function of the
  /// arguments; different seeds and replicates give independent random numbers. A value is NaN if the
  /// arguments of its distribution are not allowed. Any thread may call this function.
  void simulate(std::span<const double> theta, std::uint64_t seed, std::uint32_t replicate,
                std::span<double> out) const;

 private:
  ModelSpec model_;
  ParameterLayout layout_;
  std::shared_ptr<const Expression> expression_;
  std::vector<double> rows_;         ///< num_rows_ x used columns of the expressions
  std::vector<std::size_t> places_;  ///< index of each variable among the columns that the expressions draw
  std::vector<std::string> variables_;
  std::size_t num_rows_;
};

/// The simulator of the likelihood of `config` for `data`. Throws the exceptions of the constructors.
RowSimulator row_simulator(const RunConfig& config, const Table& data);

/// The columns, out of `columns`, of which the likelihood is a density given the other columns. All columns
/// if that is unknown: for a header, a function, or an expression that neither implies nor states a
/// simulation.
std::vector<std::string> observed_columns(const ExpressionSpec& likelihood,
                                          const std::vector<std::string>& columns);

}  // namespace emomc
