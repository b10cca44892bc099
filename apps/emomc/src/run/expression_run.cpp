#include "expression_run.hpp"

#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/expression_rows.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/posterior/written_draws.hpp"
#include "run_config.hpp"

namespace emomc::app {
std::optional<ExpressionSpec> specification_of_run(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "config.yaml";
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return specification_in_manifest(directory);
  RunConfig config = parse_run_config(read_config_text(file), file.string());
  if (!config.likelihood.is_expression()) return std::nullopt;
  return std::move(config.likelihood.expression);
}

std::shared_ptr<const Expression> expression_of_run(const std::filesystem::path& directory) {
  const std::optional<ExpressionSpec> spec = specification_of_run(directory);
  if (!spec) return nullptr;
  const RunData data = read_run_data(directory, 0);
  if (data.columns.empty()) refuse_without_columns(directory);
  const Expression expression(*spec, data.columns);
  return std::make_shared<Expression>(expression.with_data_units(data.units()));
}

void refuse_without_columns(const std::filesystem::path& directory) {
  const std::filesystem::path manifest = directory / "manifest.json";
  std::error_code error;
  if (std::filesystem::exists(manifest, error) && read_manifest(manifest).is_null())
    throw InputError(manifest.string() +
                     ": no whole JSON object, so that this file is damaged; emomc run with --resume and the "
                     "configuration of this run writes it anew");
  throw InputError(manifest.string() + ": the names of the data's columns are missing");
}

ExpressionRows read_expression_rows(const Expression& expression, const std::vector<std::string>& names,
                                    Expression::Part part, TableRequest from, const ColumnUnits& units) {
  const std::vector<bool> needed = expression.columns_of(part);
  std::vector<std::string> columns = names_of_used(expression, names, needed);
  ExpressionRows rows;
  if (columns.empty()) {  // only the number of rows is needed, which any column has
    from.renames.clear();
    from.columns = {read_column_names(from).at(0)};
    if (!from.files.at(0).ends_with(".npy")) from.categories = {{from.columns[0], {}}};
  } else {
    from.columns = std::move(columns);
  }
  rows.table = read_table(from);
  rows.values = expression_rows(expression, names, needed, rows.table, units);
  return rows;
}

DrawSet run_draws_of(const std::vector<ChainDraws>& chains, const std::filesystem::path& directory,
                     Phase phase) {
  DrawSet draws = draw_set_of(chains, directory.string(), phase);
  if (const auto expression = expression_of_run(directory)) add_derived(*expression, draws);
  return draws;
}

DrawSet read_run_draws(const std::filesystem::path& directory, Phase phase) {
  return run_draws_of(read_chains(directory), directory, phase);
}

}  // namespace emomc::app
