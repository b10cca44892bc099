#include "emomc/speech/frame_functionals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace emomc {
namespace {

constexpr std::array kNames{"mean", "sd", "p10", "p50", "p90"};
constexpr std::array kQuantiles{0.1, 0.5, 0.9};
constexpr std::size_t kFewestFrames = 3;

// Linear interpolation between order statistics, as numpy.quantile.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), sorted.size() - 2);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

void append_functionals(std::vector<double> x, std::vector<double>& to) {
  if (x.size() < kFewestFrames) {
    to.insert(to.end(), kNames.size(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const auto n = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  for (const double value : x) mean += value / n;
  for (const double value : x) squares += (value - mean) * (value - mean);
  to.insert(to.end(), {mean, std::sqrt(squares / n)});
  std::sort(x.begin(), x.end());
  for (const double share : kQuantiles) to.push_back(quantile(x, share));
}

}  // namespace

std::vector<std::string> frame_functional_names(const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  for (const char* prefix : {"", "d_"})
    for (const auto& column : columns)
      for (const char* functional : kNames) names.push_back(prefix + column + "." + functional);
  return names;
}

FunctionalTable frame_functionals(FeatureSet frames) {
  // The table has no numbers of frames, since there are no clips of these utterances from which the change of
  // the temper with the number of frames could be learned.
  FunctionalTable table{frame_functional_names(frames.columns), {}, {}, {}};
  append_deltas(frames, 1);
  const std::size_t dim = frames.dim();
  for (const UtteranceFrames& utterance : frames.utterances) {
    table.rows.push_back({utterance.id, utterance.speaker, utterance.emotion});
    for (std::size_t j = 0; j < dim; ++j) {
      std::vector<double> series;
      for (std::size_t row = 0; row < utterance.num_rows; ++row)
        series.push_back(frames.values[(utterance.first_row + row) * dim + j]);
      append_functionals(std::move(series), table.values);
    }
  }
  return table;
}

}  // namespace emomc
