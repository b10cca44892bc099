#include "emomc/speech/feature_set.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc {
namespace {

/// The key of an utterance's group; utterances with equal keys are normalised together.
std::string group_of(const FeatureSet& features, std::size_t utterance, Normalization by) {
  if (by == Normalization::corpus) return "";
  if (by == Normalization::speaker) return features.utterances[utterance].speaker;
  return std::to_string(utterance);
}

void normalize_together(FeatureSet& features, const std::vector<std::size_t>& utterances) {
  const std::size_t dim = features.dim();
  std::vector<double> rows;
  for (std::size_t u : utterances) {
    const double* first = features.values.data() + features.utterances[u].first_row * dim;
    rows.insert(rows.end(), first, first + features.utterances[u].num_rows * dim);
  }
  if (rows.empty()) return;
  ColumnUnits units = column_units(rows, dim);
  for (double& sd : units.sd)
    if (!(sd > 0)) sd = 1;  // the squared differences underflow
  standardize(units, rows);
  const double* from = rows.data();
  for (std::size_t u : utterances) {
    const std::size_t number = features.utterances[u].num_rows * dim;
    std::copy_n(from, number, features.values.data() + features.utterances[u].first_row * dim);
    from += number;
  }
}

/// Writes the regression slopes over time of the columns from[row * stride + j], j < dim, to to[row * stride
/// + j].
void regress(const double* from, std::size_t num_rows, std::size_t dim, int reach, double* to,
             std::size_t stride) {
  double squares = 0;
  for (int k = 1; k <= reach; ++k) squares += 2.0 * k * k;
  for (std::size_t row = 0; row < num_rows; ++row) {
    for (std::size_t j = 0; j < dim; ++j) {
      double sum = 0;
      for (int k = 1; k <= reach; ++k) {
        const auto step = static_cast<std::size_t>(k);
        const std::size_t later = std::min(row + step, num_rows - 1), earlier = row - std::min(step, row);
        sum += k * (from[later * stride + j] - from[earlier * stride + j]);
      }
      to[row * stride + j] = sum / squares;
    }
  }
}

}  // namespace

void normalize(FeatureSet& features, Normalization by) {
  if (by == Normalization::none || features.columns.empty()) return;
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t u = 0; u < features.utterances.size(); ++u) groups[group_of(features, u, by)].push_back(u);
  for (const auto& [group, utterances] : groups) normalize_together(features, utterances);
}

void centre_by_utterance(FeatureSet& features, const std::string& name) {
  const auto at = std::find(features.columns.begin(), features.columns.end(), name);
  if (at == features.columns.end()) return;
  const std::size_t dim = features.dim();
  double* column = features.values.data() + (at - features.columns.begin());
  for (const UtteranceFrames& utterance : features.utterances) {
    double mean = 0;
    for (std::size_t row = 0; row < utterance.num_rows; ++row)
      mean += column[(utterance.first_row + row) * dim] / static_cast<double>(utterance.num_rows);
    for (std::size_t row = 0; row < utterance.num_rows; ++row)
      column[(utterance.first_row + row) * dim] -= mean;
  }
}

std::size_t drop_repeated_rows(FeatureSet& features) {
  const std::size_t dim = features.dim(), before = features.num_rows();
  std::vector<double> kept;
  kept.reserve(features.values.size());
  std::size_t num_kept = 0;
  for (auto& utterance : features.utterances) {
    const std::size_t first_kept = num_kept;
    for (std::size_t row = 0; row < utterance.num_rows; ++row) {
      const double* x = features.values.data() + (utterance.first_row + row) * dim;
      if (row > 0 && std::equal(x, x + dim, x - dim)) continue;
      kept.insert(kept.end(), x, x + dim);
      ++num_kept;
    }
    utterance.first_row = first_kept;
    utterance.num_rows = num_kept - first_kept;
  }
  features.values = std::move(kept);
  return before - features.num_rows();
}

void append_deltas(FeatureSet& features, int order, int reach) {
  if (order < 0 || order > 2)
    throw InputError("deltas: order " + std::to_string(order) + "; allowed are 0, 1 and 2");
  if (reach < 1) throw InputError("deltas: reach " + std::to_string(reach) + "; it must be at least 1");
  if (order == 0) return;
  const std::size_t dim = features.dim(), wide = dim * static_cast<std::size_t>(order + 1);
  std::vector<double> values(features.num_rows() * wide);
  for (std::size_t row = 0; row < features.num_rows(); ++row)
    std::copy_n(features.values.data() + row * dim, dim, values.data() + row * wide);
  for (const auto& utterance : features.utterances)
    for (int o = 0; o < order; ++o) {
      double* from = values.data() + utterance.first_row * wide + static_cast<std::size_t>(o) * dim;
      regress(from, utterance.num_rows, dim, reach, from + dim, wide);
    }
  for (const char* prefix : {"d_", "dd_"})
    for (std::size_t j = 0; j < dim && features.columns.size() < wide; ++j)
      features.columns.push_back(prefix + features.columns[j]);
  features.values = std::move(values);
}

}  // namespace emomc
