#include "run_predictive.hpp"

#include <algorithm>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "expression_run.hpp"
#include "run_config.hpp"

namespace emomc::app {

RowSimulator simulator_of_run(const std::filesystem::path& directory, const ParameterLayout& drawn,
                              const Table& data) {
  if (const auto likelihood = specification_of_run(directory)) {
    RowSimulator simulator(*likelihood, data);
    const std::vector<ParameterBlock>& own = simulator.layout().blocks;
    if (drawn.blocks.size() < own.size() || !std::equal(own.begin(), own.end(), drawn.blocks.begin()))
      throw InputError(directory.string() + ": the parameters of its chains are not those of its likelihood");
    return simulator;
  }
  const ModelSpec model = model_of(drawn);
  layout_of_likelihood(drawn, model, static_cast<int>(data.columns.size()), directory.string());
  return {model, data};
}

PriorPredictive prior_predictive_of_run(const std::filesystem::path& directory, const Table& data,
                                        std::uint64_t seed, const PredictiveOptions& options) {
  const std::filesystem::path file = directory / "config.yaml";
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError(file.string() +
                     ": there is no such file, from which the priors are read; for a run from Python use "
                     "read_run(path, model).to_datatree(prior_predictive=True)");
  return prior_predictive(parse_run_config(read_config_text(file), file.string()), data, seed, options);
}

std::vector<std::string> observed_columns_of_run(const std::filesystem::path& directory,
                                                 const std::vector<std::string>& columns) {
  const auto likelihood = specification_of_run(directory);
  return likelihood ? observed_columns(*likelihood, columns) : columns;
}

}  // namespace emomc::app
