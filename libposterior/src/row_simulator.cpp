#include "emomc/posterior/row_simulator.hpp"

#include <algorithm>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/expression_rows.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

void need_values(const Table& data) {
  if (data.on_device)
    throw InputError("replicates of rows are drawn on the CPU, and the data are in the memory of GPU " +
                     std::to_string(data.on_device->gpu()) +
                     "; allowed: a posterior of a copy of the data in the host's memory");
}

/// The places among the columns that `expression` draws of those that are `columns`, in their order.
std::vector<std::size_t> places_of(const Expression& expression, const std::vector<std::string>& columns,
                                   std::vector<std::string>& variables) {
  const std::vector<std::string>& drawn = expression.simulated();
  std::vector<std::size_t> places;
  for (const std::string& column : columns) {
    const auto at = std::find(drawn.begin(), drawn.end(), column);
    if (at == drawn.end()) continue;
    variables.push_back(column);
    places.push_back(static_cast<std::size_t>(at - drawn.begin()));
  }
  return places;
}

}  // namespace

RowSimulator::RowSimulator(const ModelSpec& model, const Table& data)
    : model_(model), variables_(data.columns), num_rows_(data.num_rows) {
  need_values(data);
  const int dim = static_cast<int>(data.columns.size());
  layout_ = model_layout(model, dim);
  // This throws if rows cannot be simulated.
  simulate_rows(model, dim, std::vector<double>(static_cast<std::size_t>(layout_.dim()), 1.0), 0, 0);
}

RowSimulator::RowSimulator(const ExpressionSpec& likelihood, const Table& data) : num_rows_(data.num_rows) {
  need_values(data);
  const Expression plain(with_simulation(likelihood), data.columns);
  const ColumnUnits units = standardized_units(likelihood, data.columns, data.values);
  expression_ = std::make_shared<Expression>(plain.with_data_units(units));
  layout_ = expression_->layout();
  const std::vector<bool> all(expression_->used_columns().size(), true);
  rows_ = expression_rows(*expression_, data.columns, all, data, units);
  places_ = places_of(*expression_, data.columns, variables_);
  if (variables_.empty())
    throw InputError("simulate: it draws " + joined(expression_->simulated()) +
                     ", none of which is a column of the data");
}

void RowSimulator::simulate(std::span<const double> theta, std::uint64_t seed, std::uint32_t replicate,
                            std::span<double> out) const {
  const std::span<const double> own = theta.first(num_parameters());
  if (!expression_) {
    std::vector<double> point(own.begin(), own.end());
    from_written(layout_, point);
    const std::vector<double> values =
        simulate_rows(model_, static_cast<int>(variables_.size()), point, num_rows_, seed, replicate);
    std::copy(values.begin(), values.end(), out.begin());
    return;
  }
  const std::size_t drawn = expression_->simulated().size();
  std::vector<double> values(num_rows_ * drawn);
  expression_->simulate(own.data(), rows_, seed, replicate, values.data());
  for (std::size_t i = 0; i < num_rows_; ++i)
    for (std::size_t v = 0; v < places_.size(); ++v)
      out[i * places_.size() + v] = values[i * drawn + places_[v]];
}

RowSimulator row_simulator(const RunConfig& config, const Table& data) {
  const LikelihoodConfig& likelihood = config.likelihood;
  if (likelihood.is_expression()) return {likelihood.expression, data};
  return {model_of(likelihood), config.data.columns.empty() ? data : columns_of(data, config.data.columns)};
}

std::vector<std::string> observed_columns(const ExpressionSpec& likelihood,
                                          const std::vector<std::string>& columns) {
  std::vector<std::string> observed;
  try {
    places_of(Expression(with_simulation(likelihood), columns), columns, observed);
  } catch (const InputError&) {  // the simulation is unknown
  }
  return observed.empty() ? columns : observed;
}

}  // namespace emomc
