// Finds what a run with a likelihood of the user's own needs besides its draws: the expressions of its
// configuration.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// Returns the likelihood of the run, from its config.yaml, or from its manifest if sample() has written it.
/// Returns nothing if the run has a model, or if these files do not exist. Throws InputError if they are
/// damaged.
std::optional<ExpressionSpec> specification_of_run(const std::filesystem::path& directory);

/// Returns the expression of the run's likelihood for the columns of the run's data; null: the run has none.
std::shared_ptr<const Expression> expression_of_run(const std::filesystem::path& directory);

/// Throws InputError for a run whose manifest names no data: the file is no JSON object, or lacks the names.
[[noreturn]] void refuse_without_columns(const std::filesystem::path& directory);

/// Rows in the form that Expression::evaluate_row_outputs and simulate read.
struct ExpressionRows {
  Table table;                 ///< table of the columns that were read
  std::vector<double> values;  ///< [num_rows x used_columns().size()]; 0 in columns that were not read
};
/// Reads the columns that a part of the likelihood needs. `names` has all columns with which `expression` was
/// made, and `from` says where the rows are; its columns are ignored. `units` [names.size()] has the units by
/// which columns are standardised; empty: no column is. Throws InputError.
ExpressionRows read_expression_rows(const Expression& expression, const std::vector<std::string>& names,
                                    Expression::Part part, TableRequest from, const ColumnUnits& units);

/// Reads the draws of one phase with the quantities that the run derives from them.
DrawSet read_run_draws(const std::filesystem::path& directory, Phase phase = Phase::sampling);
/// Returns the draws of one phase of `chains`, which have been read already, with the quantities that the run
/// derives from them.
DrawSet run_draws_of(const std::vector<ChainDraws>& chains, const std::filesystem::path& directory,
                     Phase phase = Phase::sampling);

}  // namespace emomc::app
