#include "mixture_prediction.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/component_probabilities.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/best_partition.hpp"
#include "inspection.hpp"
#include "pointwise.hpp"

namespace emomc::app {
namespace {

Table rows_of(const std::filesystem::path& directory, const RunData& known,
              const std::vector<std::string>& files) {
  if (known.columns.empty())
    throw InputError((directory / "manifest.json").string() +
                     ": the names of the data's columns are not there");
  if (!files.empty()) return read_table({files, known.columns});
  check_data_files(directory, known);
  Table table = read_table({known.paths, known.columns, known.format});
  if (hash_table(table) != known.sha256)
    throw InputError(known.paths.at(0) + ": these are not the data that " + directory.string() +
                     " was made with (another SHA-256); --data predicts other rows");
  return table;
}

/// Sets `groups` [num_rows] to the partition in which each row is in the component of largest `probability(i,
/// k)`.
template <class Probability>
void most_probable(std::size_t num_rows, std::size_t K, Probability probability, std::uint16_t* groups) {
  for (std::size_t i = 0; i < num_rows; ++i) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < K; ++k)
      if (probability(i, k) > probability(i, best)) best = k;
    groups[i] = static_cast<std::uint16_t>(best);
  }
}

/// Searches for the best partition. Candidates are the partition by the probabilities over all draws, and the
/// partitions by single draws at equal distances.
class BestPartition {
 public:
  BestPartition(std::size_t num_rows, std::size_t K, std::size_t num_draws, ThreadPool& threads)
      : rows_(num_rows),
        K_(K),
        draws_(num_draws),
        size_(partition_search_size(num_rows, K, num_draws)),
        search_(K, size_),
        groups_(num_rows * size_.candidates),
        threads_(threads) {}

  void add(std::size_t first, std::size_t count, std::span<const double> values,
           std::span<const RowSummary> summaries) {
    std::vector<std::uint16_t> groups(count * size_.candidates);
    most_probable(
        count, K_, [&](std::size_t i, std::size_t k) { return summaries[i * K_ + k].mean; }, groups.data());
    threads_.for_each(size_.candidates - 1, [&](std::size_t c, int) {
      const double* of_draw = values.data() + c * draws_ / (size_.candidates - 1) * count * K_;
      most_probable(
          count, K_, [&](std::size_t i, std::size_t k) { return of_draw[i * K_ + k]; },
          groups.data() + (c + 1) * count);
    });
    std::vector<const double*> probabilities(size_.draws);
    for (std::size_t s = 0; s < size_.draws; ++s)
      probabilities[s] = values.data() + s * draws_ / size_.draws * count * K_;
    search_.add(count, probabilities, groups, threads_);
    for (std::size_t c = 0; c < size_.candidates; ++c)
      std::copy_n(groups.data() + c * count, count, groups_.data() + c * rows_ + first);
  }

  void finish(MixturePrediction& result) const {
    const std::vector<double> losses = search_.losses();
    const auto best =
        static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) - losses.begin());
    const std::uint16_t* groups = groups_.data() + best * rows_;
    std::vector<double> mass(K_ * K_);
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t k = 0; k < K_; ++k) mass[groups[i] * K_ + k] += result.probabilities[i * K_ + k].mean;
    const std::vector<int> names = names_of_groups(mass, K_);
    result.partition.resize(rows_);
    for (std::size_t i = 0; i < rows_; ++i) result.partition[i] = names[groups[i]];
    result.pairs_that_differ = losses[best];
    result.is_most_probable = best == 0;
    result.num_candidates = size_.candidates;
    result.num_partition_draws = size_.draws;
  }

 private:
  std::size_t rows_, K_, draws_;
  PartitionSearchSize size_;
  PartitionSearch search_;
  std::vector<std::uint16_t> groups_;  ///< candidates x rows
  ThreadPool& threads_;
};

/// Returns the likelihood's parameters, in `units`, at `count` draws at equal distances.
std::vector<std::vector<double>> thetas_of(const DrawSet& draws, const ParameterLayout& layout,
                                           const ColumnUnits& units, std::size_t count) {
  const std::size_t total = draws.num_chains() * draws.num_draws;
  std::vector<std::vector<double>> thetas(count, std::vector<double>(static_cast<std::size_t>(layout.dim())));
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t j = 0; j < thetas[s].size(); ++j)
      thetas[s][j] = draws.values[(draws.num_log_densities + j) * total + s * total / count];
    from_written(layout, thetas[s]);
    to_sampler_units(layout, units, thetas[s]);
  }
  return thetas;
}

/// Returns units in which the mean of the mixture is 0, for accuracy. The mean is that of the draws, so that
/// the probabilities of a row do not depend on the other rows.
ColumnUnits centre_of(const Inspection& run, int num_components, int dim) {
  ColumnUnits units;
  const std::size_t first = run.first_label_free + static_cast<std::size_t>(num_components);
  for (std::size_t j = 0; j < static_cast<std::size_t>(dim); ++j) {
    const double mean = run.summaries[first + j].mean;  // append_label_free() puts means after weights
    units.mean.push_back(std::isfinite(mean) ? mean : 0);
    units.sd.push_back(1);
  }
  return units;
}

}  // namespace

MixturePrediction predict_mixture(const std::filesystem::path& directory,
                                  const std::vector<std::string>& files, std::size_t most_draws) {
  const std::string run = directory.string();
  const RunData known = read_run_data(directory, 0);
  Table table = rows_of(directory, known, files);
  const Inspection inspection = inspect_run(directory, Numbering::mended);
  const DrawSet& draws = inspection.draws;
  const ModelSpec model = model_of(draws.layout);
  const int dim = static_cast<int>(known.columns.size());
  const ParameterLayout layout = layout_of_likelihood(draws.layout, model, dim, run);
  if (!find_mixture(draws))
    throw InputError(run + ": its likelihood has one component, which all rows are of");

  const ColumnUnits units = centre_of(inspection, model.components, dim);
  standardize(units, table.values);
  MixturePrediction result;
  result.num_components = model.components;
  result.num_draws = std::min(draws.num_chains() * draws.num_draws, most_draws);
  result.labels = inspection.labels;
  if (inspection.labels == Labels::unmended) result.overlap = overlap_text(inspection.overlap);
  const std::vector<std::vector<double>> thetas = thetas_of(draws, layout, units, result.num_draws);

  ThreadPool threads(0);
  const auto K = static_cast<std::size_t>(model.components), columns = static_cast<std::size_t>(dim);
  BestPartition partition(table.num_rows, K, result.num_draws, threads);
  RowQuantities quantities;
  quantities.names.resize(K);
  quantities.num_rows = table.num_rows;
  quantities.num_draws = result.num_draws;
  quantities.evaluate = [&](std::size_t s, std::size_t first, std::size_t count, double* out) {
    component_probabilities(model, dim, thetas[s], {table.values.data() + first * columns, count * columns},
                            out);
  };
  quantities.fault = [&](std::size_t, double) { return run + ": no component has a density above 0"; };
  result.probabilities =
      summarize_rows(quantities, threads,
                     [&](std::size_t first, std::size_t count, std::span<const double> values,
                         std::span<const RowSummary> all) { partition.add(first, count, values, all); });
  partition.finish(result);
  return result;
}

}  // namespace emomc::app
