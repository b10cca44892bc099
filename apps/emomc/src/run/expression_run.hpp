// What a run with a likelihood of the user's own needs beside its draws: the expressions, from its
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

/// The likelihood of the run, from its config.yaml, or from its manifest where sample() has written it;
/// nothing where the run has a model, or where these files are not there. Throws InputError where they are
/// damaged.
std::optional<ExpressionSpec> specification_of_run(const std::filesystem::path& directory);

/// The same for the columns of the run's data; null: there is none.
std::shared_ptr<const Expression> expression_of_run(const std::filesystem::path& directory);

/// Rows as Expression::evaluate_row_outputs and simulate take them.
struct ExpressionRows {
  Table table;                 ///< of the columns that were read
  std::vector<double> values;  ///< num_rows x used_columns().size(); 0 in columns that were not read
};
/// Reads the columns that a part of the likelihood needs; `names` are those of all columns that `expression`
/// was made with, `from` is where the rows are, whatever its columns. `units` [names.size()] are those by
/// which columns are standardised; empty: none is. Throws InputError.
ExpressionRows read_expression_rows(const Expression& expression, const std::vector<std::string>& names,
                                    Expression::Part part, TableRequest from, const ColumnUnits& units);

/// The draws of one phase with the quantities that the run derives from them.
DrawSet read_run_draws(const std::filesystem::path& directory, Phase phase = Phase::sampling);
/// The same for chains that have been read already.
DrawSet run_draws_of(const std::vector<ChainDraws>& chains, const std::filesystem::path& directory,
                     Phase phase = Phase::sampling);

}  // namespace emomc::app
