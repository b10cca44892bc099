// The functions of the extension module on which emomc.Draws.predict is built.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "emomc/posterior/row_prediction.hpp"
#include "emomc/posterior/run_data.hpp"
#include "sampled.hpp"

namespace emomc::python {
namespace {

/// `posterior` is the one that was sampled; null: the likelihood is read from the draws' directory.
RowPredictor predictor_of(const Sampled& sampled, const Posterior* posterior) {
  return posterior ? RowPredictor(*posterior, sampled.draws) : RowPredictor(sampled.draws);
}

/// Returns the component of each row, pairs_that_differ, is_most_probable, the numbers of candidates and
/// draws, and the text about overlapping components. Without a partition the result is None.
nb::object tuple_of(std::optional<MixturePartition> partition) {
  if (!partition) return nb::none();
  const std::size_t rows = partition->components.size();
  return nb::make_tuple(array_of(std::move(partition->components), {rows}), partition->pairs_that_differ,
                        partition->is_most_probable, partition->num_candidates, partition->num_draws,
                        partition->overlap);
}

/// Returns the names of the outputs, the number of draws, means and sds [rows x outputs], quantiles [rows x
/// outputs x levels], and the partition of a mixture's rows. Without `columns`, the rows of the run are
/// predicted.
nb::tuple predict(const Sampled& sampled, const Posterior* posterior, const std::vector<std::string>& columns,
                  const nb::list& arrays, std::size_t most, const std::vector<double>& quantiles) {
  std::optional<Table> given;
  if (!columns.empty()) given = table_of(columns, arrays);
  RowPrediction predicted;
  {
    const nb::gil_scoped_release release;
    if (!given && !posterior) given = data_of_run(sampled.draws.directory);
    predicted = predictor_of(sampled, posterior)
                    .predict(given ? *given : posterior->data(),
                             {.draws = most, .quantiles = quantiles, .on_rows = [](std::size_t) {
                                const nb::gil_scoped_acquire gil;
                                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                              }});
  }
  RowSummaries& rows = predicted.rows;
  const std::size_t num_rows = rows.num_rows, outputs = rows.num_quantities, levels = rows.levels.size();
  return nb::make_tuple(predicted.outputs, predicted.num_draws,
                        array_of(std::move(rows.mean), {num_rows, outputs}),
                        array_of(std::move(rows.sd), {num_rows, outputs}),
                        array_of(std::move(rows.quantiles), {num_rows, outputs, levels}),
                        tuple_of(std::move(predicted.partition)));
}

}  // namespace

void add_prediction(nb::module_& m) {
  m.def(
      "predicted_columns",  // names of all columns of the data, and of those that predictions read
      [](const Sampled& sampled, const Posterior* posterior) {
        const RowPredictor predictor = predictor_of(sampled, posterior);
        return std::pair(predictor.all_columns(), predictor.columns());
      },
      nb::arg("draws"), nb::arg("posterior").none());
  m.def("predict", predict, nb::arg("draws"), nb::arg("posterior").none(), nb::arg("columns"),
        nb::arg("arrays"), nb::arg("most"), nb::arg("quantiles"));
}

}  // namespace emomc::python
