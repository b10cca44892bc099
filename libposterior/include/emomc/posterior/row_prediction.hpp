// What a posterior says of rows: the outputs `likelihood.rows` of expressions, and the components of a
// mixture that rows belong to.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emomc/posterior.hpp"
#include "emomc/posterior/row_summaries.hpp"

namespace emomc {

struct PredictionOptions {
  std::size_t draws = 1000;  ///< at most, at equal distances over all chains
  std::vector<double> quantiles = {0.05, 0.5, 0.95};
  int threads = 0;  ///< 0: all
  /// Called by the caller's thread with how many more rows are done. What it throws ends the work.
  std::function<void(std::size_t rows)> on_rows = {};
};

/// One partition of the rows, which stands for all draws (sampler/best_partition.hpp).
struct MixturePartition {
  std::vector<int> components;                    ///< [num_rows] of each row
  std::size_t num_candidates = 0, num_draws = 0;  ///< how it was searched for
  /// The expected share of the pairs of rows that are together in one of partition and truth and apart in the
  /// other.
  double pairs_that_differ = 0;
  bool is_most_probable = false;  ///< whether it has each row in its most probable component
  Labels labels = Labels::as_sampled;
  std::string overlap;  ///< overlap_text() where components cannot be told apart; empty: they can
};

struct RowPrediction {
  std::vector<std::string> outputs;  ///< names of the quantities: those of the expressions; component_0, ...
  std::size_t num_draws = 0;         ///< that were used
  RowSummaries rows;  ///< of mixtures the probabilities of components, which have the numbers of summary()
  std::optional<MixturePartition> partition = {};  ///< best partition; empty if the model is no mixture
};

/// The outputs of an expression at `draws`, whose parameters begin with the expression's. `rows` are
/// num_rows x used_columns().size(), as expression_rows() has them. Messages call the outputs `key`.NAME.
/// Throws InputError where an output is not finite, and as summarize_rows does.
RowPrediction predict_outputs(const Expression& expression, std::span<const double> rows,
                              const DrawSet& draws, const std::string& key,
                              const PredictionOptions& options = {});

/// The components that rows are of. `rows` have the columns of the likelihood, in its order and in the data's
/// own units; messages name the run `name`. Throws InputError where the run is not of a mixture of two or
/// more components in so many columns.
RowPrediction predict_components(const Inspection& run, Table rows, const std::string& name,
                                 const PredictionOptions& options = {});

/// Predicts rows from draws in memory. The draws have to outlive the object.
class RowPredictor {
 public:
  /// `posterior` is that of `draws`. Throw InputError where the draws have other parameters, the likelihood
  /// has one component, or it has no outputs of rows.
  RowPredictor(const Posterior& posterior, const Draws& draws);
  /// The likelihood is that of the manifest in draws.directory, which `emomc run` and sample() write. Throws
  /// InputError also where there is none.
  explicit RowPredictor(const Draws& draws);

  /// All columns of the data, and those of them that predictions need.
  const std::vector<std::string>& all_columns() const { return columns_; }
  const std::vector<std::string>& columns() const { return needed_; }
  /// Predicts the rows of a table, which may have more columns. Throws InputError where a column is missing
  /// or the values are in the memory of a GPU, and as the functions above.
  RowPrediction predict(const Table& rows, const PredictionOptions& options = {}) const;

 private:
  void check();

  const Draws& draws_;
  std::string name_, key_;                        ///< of the run and of outputs, in messages
  std::shared_ptr<const Expression> expression_;  ///< null: a mixture
  ColumnUnits units_;                             ///< of the columns that are standardised
  std::vector<std::string> columns_, needed_;
};

}  // namespace emomc
