// The components of a mixture that rows belong to.
#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/component_probabilities.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/row_prediction.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/best_partition.hpp"
#include "spaced_draws.hpp"

namespace emomc {
namespace {

/// The partition that has each row in the component of largest probability. `probability(i, k)`.
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
           std::span<const double> means) {
    std::vector<std::uint16_t> groups(count * size_.candidates);
    most_probable(
        count, K_, [&](std::size_t i, std::size_t k) { return means[i * K_ + k]; }, groups.data());
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

  MixturePartition finish(std::span<const double> means) const {
    const std::vector<double> losses = search_.losses();
    const auto best =
        static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) - losses.begin());
    const std::uint16_t* groups = groups_.data() + best * rows_;
    std::vector<double> mass(K_ * K_);
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t k = 0; k < K_; ++k) mass[groups[i] * K_ + k] += means[i * K_ + k];
    const std::vector<int> names = names_of_groups(mass, K_);
    MixturePartition result;
    result.components.resize(rows_);
    for (std::size_t i = 0; i < rows_; ++i) result.components[i] = names[groups[i]];
    result.pairs_that_differ = losses[best];
    result.is_most_probable = best == 0;
    result.num_candidates = size_.candidates;
    result.num_draws = size_.draws;
    return result;
  }

 private:
  std::size_t rows_, K_, draws_;
  PartitionSearchSize size_;
  PartitionSearch search_;
  std::vector<std::uint16_t> groups_;  ///< candidates x rows
  ThreadPool& threads_;
};

/// Draws of the likelihood's parameters in `units`.
std::vector<std::vector<double>> thetas_of(const DrawSet& draws, const ParameterLayout& layout,
                                           const ColumnUnits& units, std::size_t most) {
  std::vector<std::vector<double>> thetas = spaced_draws(draws, static_cast<std::size_t>(layout.dim()), most);
  for (auto& theta : thetas) {
    from_written(layout, theta);
    to_sampler_units(layout, units, theta);
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

RowPrediction predict_components(const Inspection& run, Table rows, const std::string& name,
                                 const PredictionOptions& options) {
  const DrawSet& draws = run.draws;
  const ModelSpec model = model_of(draws.layout);
  const int dim = static_cast<int>(rows.columns.size());
  const ParameterLayout layout = layout_of_likelihood(draws.layout, model, dim, name);
  if (!find_mixture(draws))
    throw InputError(name + ": its likelihood has one component only, so that there is nothing to predict");

  const ColumnUnits units = centre_of(run, model.components, dim);
  standardize(units, rows.values);
  const auto K = static_cast<std::size_t>(model.components), columns = static_cast<std::size_t>(dim);
  RowPrediction result;
  for (std::size_t k = 0; k < K; ++k) result.outputs.push_back("component_" + std::to_string(k));
  const std::vector<std::vector<double>> thetas = thetas_of(draws, layout, units, options.draws);
  result.num_draws = thetas.size();

  ThreadPool threads(options.threads);
  BestPartition partition(rows.num_rows, K, result.num_draws, threads);
  RowQuantities quantities;
  quantities.num_quantities = K;
  quantities.num_rows = rows.num_rows;
  quantities.num_draws = result.num_draws;
  quantities.evaluate = [&](std::size_t s, std::size_t first, std::size_t count, double* out) {
    component_probabilities(model, dim, thetas[s], {rows.values.data() + first * columns, count * columns},
                            out);
  };
  quantities.fault = [&](std::size_t, double) { return name + ": no component has a density above 0"; };
  result.rows = summarize_rows(quantities, options.quantiles, threads,
                               [&](std::size_t first, std::size_t count, std::span<const double> values,
                                   std::span<const double> means) {
                                 partition.add(first, count, values, means);
                                 if (options.on_rows) options.on_rows(count);
                               });
  result.partition = partition.finish(result.rows.mean);
  result.partition->labels = run.labels;
  if (run.labels == Labels::unmended) result.partition->overlap = overlap_text(run.overlap);
  return result;
}

}  // namespace emomc
