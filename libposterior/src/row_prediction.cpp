#include "emomc/posterior/row_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/expression_rows.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/sampler/mixture_labels.hpp"
#include "spaced_draws.hpp"

namespace emomc {
namespace {

bool begins_with(const ParameterLayout& layout, const ParameterLayout& first) {
  return layout.blocks.size() >= first.blocks.size() &&
         std::equal(first.blocks.begin(), first.blocks.end(), layout.blocks.begin());
}

const ParameterLayout& layout_of(const Draws& draws) {
  if (draws.chains.empty() || draws.num_draws() == 0) throw InputError("there are no draws");
  return draws.chains[0].header.layout;
}

bool is_of_a_model(const ParameterLayout& layout) {
  try {
    model_of(layout);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// By which the likelihood standardises its columns.
ColumnUnits units_of(const ExpressionSpec& spec, const Table& data) {
  return data.on_device ? standardized_units(spec, data.columns, data.on_device->ranges(),
                                             data.on_device->column_units())
                        : standardized_units(spec, data.columns, data.values);
}

}  // namespace

RowPrediction predict_outputs(const Expression& expression, std::span<const double> rows,
                              const DrawSet& draws, const std::string& key,
                              const PredictionOptions& options) {
  const std::vector<std::vector<double>> thetas =
      spaced_draws(draws, static_cast<std::size_t>(expression.layout().dim()), options.draws);
  const std::size_t columns = expression.used_columns().size();
  RowPrediction result;
  result.outputs = expression.row_outputs();
  result.num_draws = thetas.size();
  RowQuantities quantities;
  quantities.num_quantities = result.outputs.size();
  quantities.num_rows = rows.size() / columns;
  quantities.num_draws = thetas.size();
  quantities.evaluate = [&](std::size_t s, std::size_t first, std::size_t num_rows, double* out) {
    expression.evaluate_row_outputs(thetas[s].data(), rows.subspan(first * columns, num_rows * columns), out);
  };
  quantities.fault = [&](std::size_t quantity, double value) {
    return fmt::format("{}.{}: {}", key, result.outputs[quantity], value);
  };
  ThreadPool threads(options.threads);
  result.rows =
      summarize_rows(quantities, options.quantiles, threads,
                     [&](std::size_t, std::size_t count, std::span<const double>, std::span<const double>) {
                       if (options.on_rows) options.on_rows(count);
                     });
  return result;
}

RowPredictor::RowPredictor(const Posterior& posterior, const Draws& draws)
    : draws_(draws), name_("these draws"), key_("rows") {
  if (!(layout_of(draws).blocks == posterior.layout().blocks))
    throw InputError("the draws have other parameters than the posterior");
  const Table& data = posterior.data();
  const RunConfig& config = posterior.config();
  if (config.likelihood.is_expression()) {
    columns_ = data.columns;
    expression_ = std::make_shared<Expression>(config.likelihood.expression, columns_);
    units_ = units_of(config.likelihood.expression, data);
  } else {
    columns_ = config.data.columns.empty() ? data.columns : config.data.columns;
  }
  check();
}

RowPredictor::RowPredictor(const Draws& draws)
    : draws_(draws), name_(draws.directory.string()), key_("likelihood.rows") {
  const ParameterLayout& layout = layout_of(draws);
  const RunData known = read_run_data(draws.directory, 0);
  expression_ = expression_of_manifest(draws.directory);
  if (!expression_ && !is_of_a_model(layout))
    throw InputError(
        (draws.directory / "manifest.json").string() +
        ": the likelihood of the run is missing, and no known model has the parameters of its chains");
  columns_ = known.columns;
  units_ = known.units();
  if (expression_ && !begins_with(layout, expression_->layout()))
    throw InputError(name_ + ": the parameters of its chains are not those of its likelihood");
  check();
}

void RowPredictor::check() {
  if (columns_.empty())
    throw InputError((draws_.directory / "manifest.json").string() +
                     ": the names of the data's columns are missing");
  if (expression_ && expression_->row_outputs().empty())
    throw InputError(name_ + ": the likelihood has no " + key_ +
                     ", which say what to predict for each row, such as p: inv_logit(eta)");
  if (!expression_ && !find_mixture(draws_.run.draws))
    throw InputError(name_ + ": the likelihood has one component only, so that there is nothing to predict");
  needed_ = expression_ ? names_of_used(*expression_, columns_,
                                        expression_->columns_of(Expression::Part::row_outputs))
                        : columns_;
}

RowPrediction RowPredictor::predict(const Table& rows, const PredictionOptions& options) const {
  if (rows.on_device)
    throw InputError("data: rows are predicted on the CPU, and these are in the memory of GPU " +
                     std::to_string(rows.on_device->gpu()) +
                     "; allowed: a copy of them in the host's memory");
  if (!expression_) return predict_components(draws_.run, columns_of(rows, columns_), name_, options);
  const std::vector<double> values = expression_rows(
      *expression_, columns_, expression_->columns_of(Expression::Part::row_outputs), rows, units_);
  return predict_outputs(*expression_, values, draws_.run.draws, key_, options);
}

}  // namespace emomc
