#include "emomc/likelihood/mixture_start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/likelihood/mixture_fit.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "mixture_seeding.hpp"

namespace emomc {
namespace {

// The largest number of rows for refined(). For an array on a GPU, these rows and kRowsOfStarts others are
// copied to the host: 0.9 MB per column.
constexpr std::size_t kEmRows = 100000;
constexpr int kFewestRounds = 30, kMostRounds = 300;
constexpr double kWorkOfAFit = 6e6;  // rounds x rows x components x columns
// A fit ends after a round that increases the log likelihood by less than this.
constexpr double kLeastRise = 1e-4;
constexpr double kSmallestScale = 1e-6;    // in units of a column's sd, where no other bound is given
constexpr double kUnlimitedTolerance = 0;  // every increase is accepted

// Adds `times` * mean [columns] to the means of all components.
void shift_means(const ParameterLayout& layout, const std::vector<double>& mean, double times,
                 std::vector<double>& theta) {
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    const bool by_column = block.feature_axis == 1 || mean.size() == 1;  // two_gaussian: a scalar
    if (block.unit != DataUnit::location || !by_column) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.size()); ++i)
      theta[static_cast<std::size_t>(layout.offset(b)) + i] += times * mean[i % mean.size()];
  }
}

// Fits rows from which their mean is subtracted, so that squares stay small.
class CentredFitter {
 public:
  CentredFitter(const DataSet& rows, const ModelSpec& model, const ColumnUnits& units,
                const std::vector<double>& smallest_scale, int num_threads)
      : layout_(model_layout(model, rows.dim)), mean_(units.mean), device_(make_device(Backend::cpu)) {
    DataSet centred = rows;
    for (std::size_t i = 0; i < centred.values.size(); ++i) centred.values[i] -= mean_[i % mean_.size()];
    fitter_ = make_fitter(Backend::cpu, model, centred, *device_, num_threads);
    options_.smallest_scale = smallest_scale;
    if (smallest_scale.empty())
      for (const double sd : units.sd) options_.smallest_scale.push_back(kSmallestScale * sd);
  }
  /// Empty where the density at `start` is not finite.
  std::optional<FitResult> fit(std::vector<double> start, int rounds, double tolerance) {
    options_.max_rounds = rounds;
    options_.tolerance = tolerance;
    shift_means(layout_, mean_, -1, start);
    try {
      FitResult result = fitter_->fit(start, options_);
      shift_means(layout_, mean_, 1, result.theta);
      return result;
    } catch (const InputError&) {
      return {};
    }
  }

 private:
  ParameterLayout layout_;
  std::vector<double> mean_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<MixtureFitter> fitter_;
  FitOptions options_;
};

Seeding seeding_of(std::size_t i) {
  const auto index = static_cast<int>(i);
  if (index < MixturePool::kKmeans) return Seeding::kmeans;
  if (index < MixturePool::kKmeans + MixturePool::kRandomRows) return Seeding::random_rows;
  if (index < MixturePool::kSeeded - MixturePool::kLocalGroups) return Seeding::random_splits;
  return index < MixturePool::kSeeded ? Seeding::local_groups : Seeding::given;
}

// Converts theta from columns of mean 0 and sd 1 to the units of the rows.
void to_units_of_rows(const ColumnUnits& units, int K, std::vector<double>& theta) {
  const std::size_t d = units.sd.size(), means = static_cast<std::size_t>(K);
  for (std::size_t i = 0; i < means * d; ++i) {
    theta[means + i] = units.mean[i % d] + units.sd[i % d] * theta[means + i];
    theta[means + means * d + i] *= units.sd[i % d];
  }
}

// Appends the Cholesky factors of diagonal covariances; a tied covariance is the mean of the components'
// covariances, weighted by the weights. `result` is theta without its scales.
void append_diagonal_factors(const ParameterBlock& block, std::span<const double> theta,
                             std::vector<double>& result) {
  const auto d = static_cast<std::size_t>(block.matrix_dim()), begin = result.size();
  const std::size_t K = (theta.size() - begin) / d, count = block.component_axis == 0 ? K : 1;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < d; ++i) {
      double scale = theta[begin + k * d + i];
      if (block.component_axis != 0) {
        double variance = 0;
        for (std::size_t c = 0; c < K; ++c) variance += theta[c] * std::pow(theta[begin + c * d + i], 2);
        scale = std::sqrt(variance);
      }
      result.insert(result.end(), i, 0.0);
      result.push_back(scale);
    }
}

bool shares_mean(const ModelSpec& model) { return is_pair(model_info(model)); }

// The model that is fitted: `model` itself where it has EM, otherwise a mixture in its place.
ModelSpec fitted_model(const ModelSpec& model) {
  const ModelInfo* fitted = model_of_starts(model_info(model));
  if (fitted == nullptr)
    throw InputError("model " + model.name + " has no EM, and no mixture stands in for it");
  return {fitted->name, model.components, fitted->covariance};
}

// The distances of `x` from the median: components with one mean differ only in these.
SeedRows distances_from_the_median(const SeedRows& x, double& median) {
  std::vector<double> sorted(x.data(), x.data() + x.size());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  median = *middle;
  return (x.array() - median).abs();
}

// theta of two_gaussian from theta of a mixture of two groups of distances from `centre`. The narrower
// component is the first, since otherwise one mode would have two optima, one for each order.
std::vector<double> with_shared_mean(std::span<const double> groups, double centre) {
  std::array<double, 2> weight{groups[0], groups[1]}, scale{};
  for (std::size_t k = 0; k < 2; ++k) scale[k] = std::hypot(groups[2 + k], groups[4 + k]);
  const std::size_t narrow = scale[0] <= scale[1] ? 0 : 1;
  return {weight[narrow] / (weight[0] + weight[1]), centre, scale[narrow], scale[1 - narrow]};
}

// Swaps the components where EM has made the first one the wider one.
void put_the_narrow_one_first(std::vector<double>& theta) {
  if (theta[2] <= theta[3]) return;
  theta[0] = 1 - theta[0];
  std::swap(theta[2], theta[3]);
}

}  // namespace

struct MixturePartitions::State {
  State(const DataSet& data, const ModelSpec& asked)
      : model(fitted_model(asked)),
        rows(spaced_rows(data, kRowsOfStarts)),
        layout(model_layout(model, rows.dim)),
        units(column_units(rows.values, static_cast<std::size_t>(rows.dim))),
        one_mean(shares_mean(model)),
        num_components(one_mean ? 2 : asked.components),
        x(Eigen::Map<const SeedRows>(rows.values.data(), static_cast<Eigen::Index>(rows.num_rows),
                                     static_cast<Eigen::Index>(rows.dim))) {
    for (std::size_t j = 0; j < units.sd.size(); ++j) {
      const auto column = static_cast<Eigen::Index>(j);
      x.col(column) = (x.col(column).array() - units.mean[j]) / units.sd[j];
    }
    if (one_mean) x = distances_from_the_median(x, median);
  }

  ModelSpec model;
  DataSet rows;
  ParameterLayout layout;
  ColumnUnits units;
  bool one_mean;
  int num_components;
  SeedRows x;  ///< rows to partition: columns of mean 0 and sd 1, or distances from the median
  double median = 0;
};

MixturePartitions::MixturePartitions(const DataSet& data, const ModelSpec& model)
    : state_(std::make_unique<const State>(data, model)) {}

MixturePartitions::~MixturePartitions() = default;

const ModelSpec& MixturePartitions::fitted() const { return state_->model; }

const DataSet& MixturePartitions::rows() const { return state_->rows; }

std::vector<double> MixturePartitions::start(Seeding seeding, std::uint64_t seed, std::uint32_t index) const {
  const State& s = *state_;
  std::vector<double> theta = seed_mixture(s.x, s.num_components, seeding, seed, index);
  if (s.one_mean) {
    theta = with_shared_mean(theta, s.median);
    theta[1] = s.units.mean[0] + s.units.sd[0] * theta[1];
    for (const std::size_t scale : {2, 3}) theta[scale] *= s.units.sd[0];
    return theta;
  }
  to_units_of_rows(s.units, s.num_components, theta);
  return in_layout(s.layout, theta);
}

MixturePool::MixturePool(const DataSet& data, const ModelSpec& model, PoolOptions options)
    : data_(data),
      options_(std::move(options)),
      partitions_(std::make_unique<const MixturePartitions>(data, model)),
      stands_in_(!(partitions_->fitted() == model)) {
  const DataSet& pool_rows = rows();
  const ModelSpec& fitted = partitions_->fitted();
  const auto dim = static_cast<std::size_t>(pool_rows.dim);
  const auto num_fitted = static_cast<std::size_t>(model_layout(fitted, pool_rows.dim).dim());
  const ColumnUnits units = column_units(pool_rows.values, dim);
  const bool one_mean = shares_mean(fitted);
  const int num_components = one_mean ? 2 : model.components;
  const auto num_rows = static_cast<double>(pool_rows.num_rows);
  const double work = num_rows * num_components * static_cast<double>(dim);
  const int rounds = static_cast<int>(
      std::clamp(kWorkOfAFit / work, static_cast<double>(kFewestRounds), static_cast<double>(kMostRounds)));
  ThreadPool threads(options_.num_threads);
  std::vector<std::unique_ptr<CentredFitter>> fitters(static_cast<std::size_t>(threads.num_threads()));
  std::vector<std::optional<ShortFit>> fits(static_cast<std::size_t>(kSeeded) + options_.given.size());
  for (auto& fitter : fitters)
    fitter = std::make_unique<CentredFitter>(pool_rows, fitted, units, options_.smallest_scale, 1);
  threads.for_each(fits.size(), [&](std::size_t i, int worker) {
    ShortFit fit{seeding_of(i), {}, {}, 0};
    std::vector<double> further = options_.further;
    if (fit.seeding == Seeding::given) {
      fit.origin = options_.given[i - static_cast<std::size_t>(kSeeded)];
      further.assign(fit.origin.begin() + static_cast<std::ptrdiff_t>(num_fitted), fit.origin.end());
      fit.origin.resize(num_fitted);
    } else {
      fit.origin = partitions_->start(fit.seeding, options_.seed, static_cast<std::uint32_t>(i));
    }
    const auto result =
        fitters[static_cast<std::size_t>(worker)]->fit(fit.origin, rounds, kLeastRise / num_rows);
    if (!result || !std::isfinite(result->log_likelihood)) return;
    fit.theta = result->theta;
    if (one_mean) put_the_narrow_one_first(fit.theta);
    fit.log_likelihood = result->log_likelihood;
    for (auto* point : {&fit.origin, &fit.theta}) point->insert(point->end(), further.begin(), further.end());
    fits[i] = std::move(fit);
  });
  for (auto& fit : fits)
    if (fit) fits_.push_back(std::move(*fit));
}

std::size_t MixturePool::best() const {
  if (fits_.empty()) throw InputError("no fit of a mixture to these rows has a finite log likelihood");
  // Fits that differ by rounding only count as equal, so that the choice does not depend on rounding.
  constexpr double kRounding = 1e-7;
  std::size_t best = 0;
  for (std::size_t i = 1; i < fits_.size(); ++i) {
    const double rise = fits_[i].log_likelihood - fits_[best].log_likelihood;
    if (rise > kRounding * (1 + std::abs(fits_[best].log_likelihood))) best = i;
  }
  return best;
}

std::optional<ShortFit> MixturePool::refined(const ShortFit& fit) const {
  if (rows().num_rows == data_.num_rows) return fit;
  if (stands_in_) return {};
  const DataSet more = spaced_rows(data_, kEmRows);
  CentredFitter fitter(more, partitions_->fitted(),
                       column_units(more.values, static_cast<std::size_t>(more.dim)), options_.smallest_scale,
                       options_.num_threads);
  const auto result = fitter.fit(fit.theta, kFewestRounds, kLeastRise / static_cast<double>(more.num_rows));
  if (!result) return {};
  ShortFit further = fit;
  further.theta = result->theta;
  if (shares_mean(partitions_->fitted())) put_the_narrow_one_first(further.theta);
  further.log_likelihood =
      result->log_likelihood * static_cast<double>(data_.num_rows) / static_cast<double>(more.num_rows);
  return further;
}

std::vector<double> refine_by_em(const DataSet& data, const ModelSpec& model,
                                 const std::vector<double>& theta, int rounds, int num_threads) {
  CentredFitter fitter(data, model, column_units(data.values, static_cast<std::size_t>(data.dim)), {},
                       num_threads);
  const auto result = fitter.fit(theta, rounds, kUnlimitedTolerance);
  return result ? result->theta : theta;
}

std::vector<double> in_layout(const ParameterLayout& layout, std::span<const double> theta) {
  std::vector<double> result(theta.begin(), theta.end());
  const ParameterBlock& scales = layout.blocks.back();
  const bool is_covariance = scales.support == Support::covariance;
  if (scales.feature_axis >= 0 && !is_covariance) return result;
  const auto begin = static_cast<std::size_t>(layout.offset(layout.blocks.size() - 1));
  if (is_covariance) {
    result.resize(begin);
    append_diagonal_factors(scales, theta, result);
    return result;
  }
  const auto K = static_cast<std::size_t>(scales.shape[0]), d = (theta.size() - begin) / K;
  result.resize(begin + K);
  for (std::size_t k = 0; k < K; ++k) {
    double squares = 0;
    for (std::size_t j = 0; j < d; ++j) squares += theta[begin + k * d + j] * theta[begin + k * d + j];
    result[begin + k] = std::sqrt(squares / static_cast<double>(d));
  }
  return result;
}

}  // namespace emomc
