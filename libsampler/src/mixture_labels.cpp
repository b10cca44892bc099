#include "emomc/sampler/mixture_labels.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

constexpr std::uint64_t kSeed = 20260101;  // of the points that are classified
constexpr std::size_t kPoints = 200;
constexpr std::size_t kLearntFrom = 2000;               // draws, at most
constexpr std::size_t kMostProbabilities = 20'000'000;  // kept while learning
constexpr int kMostRounds = 50;
constexpr double kLeastProbability = 1e-12;
constexpr double kLeastLogProbability = -600;  // below, zero: subnormal numbers make match() slow
constexpr int kGridPoints = 5, kMiddle = kGridPoints / 2;

// The mixture of one draw.
struct Mixture {
  Eigen::VectorXd weights;               // [K]
  Eigen::MatrixXd means;                 // d x K
  std::vector<Eigen::MatrixXd> factors;  // of full covariances, lower; else empty
  Eigen::MatrixXd sds;                   // d x K, of each column alone
};

std::size_t triangle(int d) { return static_cast<std::size_t>(d * (d + 1) / 2); }

class MixtureReader {
 public:
  MixtureReader(const DrawSet& set, const MixtureNames& names)
      : set_(set), names_(names), per_quantity_(set.num_chains() * set.num_draws) {}

  std::size_t num_draws() const { return per_quantity_; }

  // `draw` counts over all chains.
  void read(std::size_t draw, Mixture& m) const {
    const int K = names_.num_components, d = names_.num_columns;
    m.weights.resize(K);
    m.means.resize(d, K);
    m.sds.resize(d, K);
    const bool has_factors =
        names_.spread == MixtureNames::Spread::tied || names_.spread == MixtureNames::Spread::full;
    m.factors.resize(has_factors ? static_cast<std::size_t>(K) : 0);
    for (int k = 0; k < K; ++k) {
      m.weights[k] = value(names_.weights + static_cast<std::size_t>(k), draw);
      for (int j = 0; j < d; ++j)
        m.means(j, k) = value(names_.means + static_cast<std::size_t>(k * d + j), draw);
      switch (names_.spread) {
        case MixtureNames::Spread::scales:
          for (int j = 0; j < d; ++j)
            m.sds(j, k) = value(names_.scales + static_cast<std::size_t>(k * d + j), draw);
          break;
        case MixtureNames::Spread::spherical:
          m.sds.col(k).setConstant(value(names_.scales + static_cast<std::size_t>(k), draw));
          break;
        case MixtureNames::Spread::tied:
        case MixtureNames::Spread::full:
          read_factor(draw, k, m);
          break;
      }
    }
  }

 private:
  double value(std::size_t q, std::size_t draw) const { return set_.values[q * per_quantity_ + draw]; }

  void read_factor(std::size_t draw, int k, Mixture& m) const {
    const int d = names_.num_columns;
    const bool tied = names_.spread == MixtureNames::Spread::tied;
    auto& factor = m.factors[static_cast<std::size_t>(k)];
    if (tied && k > 0) {
      factor = m.factors[0];
      m.sds.col(k) = m.sds.col(0);
      return;
    }
    std::size_t q = names_.scales + (tied ? 0 : static_cast<std::size_t>(k) * triangle(d));
    Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(d, d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j <= i; ++j) covariance(i, j) = value(q++, draw);
    m.sds.col(k) = covariance.diagonal().cwiseSqrt();
    factor = covariance.selfadjointView<Eigen::Lower>().llt().matrixL();
  }

  const DrawSet& set_;
  const MixtureNames& names_;
  std::size_t per_quantity_;
};

// Means and sds of the mixture's columns.
void moments(const Mixture& m, Eigen::VectorXd& mean, Eigen::VectorXd& sd) {
  mean = m.means * m.weights;
  sd = ((m.sds.array().square() + (m.means.colwise() - mean).array().square()).matrix() * m.weights)
           .cwiseSqrt();
}

double column_density(const Mixture& m, int j, double x) {
  double density = 0;
  for (Eigen::Index k = 0; k < m.weights.size(); ++k) {
    const double z = (x - m.means(j, k)) / m.sds(j, k);
    density += m.weights[k] * std::exp(-0.5 * z * z) / (m.sds(j, k) * std::sqrt(2 * std::numbers::pi));
  }
  return density;
}

// Points from the mixtures of draws at equal distances, d x kPoints.
Eigen::MatrixXd draw_points(const MixtureReader& reader, int d) {
  Eigen::MatrixXd points(d, static_cast<Eigen::Index>(kPoints));
  Mixture m;
  for (std::size_t p = 0; p < kPoints; ++p) {
    reader.read(p * reader.num_draws() / kPoints, m);
    const device::RandomSource random{kSeed, p, 0};
    double left = random.uniform(device::Purpose::choice, 0);
    Eigen::Index k = 0;
    while (k + 1 < m.weights.size() && left >= m.weights[k]) left -= m.weights[k++];
    Eigen::VectorXd z(d);
    for (int j = 0; j < d; ++j)
      z[j] = random.normal(device::Purpose::simulation, static_cast<device::u32>(j));
    points.col(static_cast<Eigen::Index>(p)) =
        m.means.col(k) + (m.factors.empty() ? Eigen::VectorXd(m.sds.col(k).cwiseProduct(z))
                                            : Eigen::VectorXd(m.factors[static_cast<std::size_t>(k)] * z));
  }
  return points;
}

// Probability of each component at each point, K x kPoints.
void classify(const Mixture& m, const Eigen::MatrixXd& points, Eigen::MatrixXd& probabilities) {
  const Eigen::Index K = m.weights.size(), n = points.cols();
  probabilities.resize(K, n);
  Eigen::MatrixXd z;
  for (Eigen::Index k = 0; k < K; ++k) {
    z = points.colwise() - m.means.col(k);
    double log_scale = 0;
    if (m.factors.empty()) {
      z.array().colwise() /= m.sds.col(k).array();
      log_scale = m.sds.col(k).array().log().sum();
    } else {
      const auto& factor = m.factors[static_cast<std::size_t>(k)];
      factor.triangularView<Eigen::Lower>().solveInPlace(z);
      log_scale = factor.diagonal().array().log().sum();
    }
    probabilities.row(k) =
        (std::log(m.weights[k]) - log_scale - 0.5 * z.colwise().squaredNorm().array()).matrix();
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    auto column = probabilities.col(i).array();
    column -= column.maxCoeff();
    column = (column < kLeastLogProbability).select(0.0, column.exp());
    column /= column.sum();
  }
}

// The component that gets each number: costs are -sum_i p_i(component) log q_i(number).
void match(const Eigen::MatrixXd& probabilities, const Eigen::MatrixXd& log_reference, int* permutation) {
  const auto K = static_cast<int>(probabilities.rows());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor cost = -(probabilities * log_reference.transpose());
  if (!cost.allFinite()) {
    std::iota(permutation, permutation + K, 0);
    return;
  }
  const auto number = least_cost_assignment({cost.data(), static_cast<std::size_t>(cost.size())}, K);
  for (int component = 0; component < K; ++component)
    permutation[number[static_cast<std::size_t>(component)]] = component;
}

Eigen::MatrixXd log_of(const Eigen::MatrixXd& probabilities) {
  return probabilities.array().max(kLeastProbability).log().matrix();
}

// Stephens' algorithm on a share of the draws: log q, K x kPoints.
Eigen::MatrixXd learn_reference(const DrawSet& set, const MixtureReader& reader,
                                const Eigen::MatrixXd& points, int K, ThreadPool& threads) {
  const std::size_t all = reader.num_draws();
  const std::size_t count =
      std::min({all, kLearntFrom,
                std::max<std::size_t>(1, kMostProbabilities / (kPoints * static_cast<std::size_t>(K)))});
  std::vector<Eigen::MatrixXd> probabilities(count);
  std::vector<Mixture> mixtures(static_cast<std::size_t>(threads.num_threads()));
  threads.for_each(count, [&](std::size_t i, int worker) {
    Mixture& m = mixtures[static_cast<std::size_t>(worker)];
    reader.read(i * all / count, m);
    classify(m, points, probabilities[i]);
  });
  // From the draw of highest density on.
  const auto* density = set.values.data();
  const auto best = static_cast<std::size_t>(std::max_element(density, density + all) - density);
  Mixture m;
  Eigen::MatrixXd reference;
  reader.read(best, m);
  classify(m, points, reference);
  std::vector<int> permutation(count * static_cast<std::size_t>(K), -1), before;
  for (int round = 0; round < kMostRounds && permutation != before; ++round) {
    before = permutation;
    const Eigen::MatrixXd log_reference = log_of(reference);
    threads.for_each(count, [&](std::size_t i, int) {
      match(probabilities[i], log_reference, permutation.data() + i * static_cast<std::size_t>(K));
    });
    reference.setZero();
    for (std::size_t i = 0; i < count; ++i)
      for (int k = 0; k < K; ++k)
        reference.row(k) +=
            probabilities[i].row(permutation[i * static_cast<std::size_t>(K) + static_cast<std::size_t>(k)]) /
            static_cast<double>(count);
  }
  return log_of(reference);
}

}  // namespace

std::optional<MixtureNames> find_mixture(const DrawSet& set, int fewest_components) {
  MixtureNames names;
  bool has_weights = false, has_means = false, has_spread = false;
  int spread_size = 0, num_means = 0;
  const auto& blocks = set.layout.blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const ParameterBlock& block = blocks[b];
    const std::size_t begin = set.num_log_densities + static_cast<std::size_t>(set.layout.offset(b));
    const bool of_components = block.component_axis == 0;
    if (block.support == Support::simplex && of_components) {
      names.weights = begin;
      names.num_components = block.size();
      has_weights = true;
    } else if (block.unit == DataUnit::location && of_components && block.shape.size() == 2) {
      names.means = begin;
      names.num_columns = block.shape[1];
      num_means = block.shape[0];
      has_means = true;
    } else if (block.unit == DataUnit::scale && block.support == Support::covariance) {
      names.scales = begin;
      names.spread = of_components ? MixtureNames::Spread::full : MixtureNames::Spread::tied;
      spread_size = block.size();
      has_spread = true;
    } else if (block.unit == DataUnit::scale && block.support == Support::positive && of_components) {
      names.scales = begin;
      names.spread = block.shape.size() == 2 ? MixtureNames::Spread::scales : MixtureNames::Spread::spherical;
      spread_size = block.size();
      has_spread = true;
    }
  }
  if (!has_weights || !has_means || !has_spread || names.num_components < fewest_components)
    return std::nullopt;
  // The layout may be a file's: its blocks need not belong together.
  const int K = names.num_components, d = names.num_columns;
  const auto expected = [&]() -> std::int64_t {
    switch (names.spread) {
      case MixtureNames::Spread::scales:
        return std::int64_t{K} * d;
      case MixtureNames::Spread::spherical:
        return K;
      case MixtureNames::Spread::tied:
        return std::int64_t{d} * (d + 1) / 2;
      case MixtureNames::Spread::full:
        return std::int64_t{K} * d * (d + 1) / 2;
    }
    return -1;
  };
  if (num_means != K || spread_size != expected()) return std::nullopt;
  return names;
}

std::vector<double> column_densities(const DrawSet& set, const MixtureNames& names, std::size_t draw,
                                     std::size_t column, std::span<const double> x) {
  Mixture m;
  MixtureReader(set, names).read(draw, m);
  std::vector<double> densities;
  for (double value : x) densities.push_back(column_density(m, static_cast<int>(column), value));
  return densities;
}

ColumnMoments column_moments(const DrawSet& set, const MixtureNames& names, std::size_t draw,
                             std::size_t column) {
  Mixture m;
  MixtureReader(set, names).read(draw, m);
  Eigen::VectorXd mean, sd;
  moments(m, mean, sd);
  const auto j = static_cast<Eigen::Index>(column);
  return {mean[j], sd[j]};
}

std::size_t append_label_free(DrawSet& set, const MixtureNames& names) {
  const std::size_t first = set.num_quantities();
  const int K = names.num_components, d = names.num_columns;
  for (int k = 0; k < K; ++k) set.add("sorted_weights[" + std::to_string(k) + "]");
  for (const char* name : {"mixture_mean", "mixture_sd"})
    for (int j = 0; j < d; ++j) set.add(name + ("[" + std::to_string(j)) + "]");
  for (int j = 0; j < d; ++j)
    for (int i = 0; i < kGridPoints; ++i)
      set.add("mixture_density[" + std::to_string(j) + "," + std::to_string(i) + "]");
  const MixtureReader reader(set, names);
  const std::size_t draws = reader.num_draws();
  const auto at = [&](std::size_t q, std::size_t draw) -> double& {
    return set.values[(first + q) * draws + draw];
  };
  const auto columns = static_cast<std::size_t>(d), components = static_cast<std::size_t>(K);
  Mixture m;
  Eigen::VectorXd mean, sd, grid_mean = Eigen::VectorXd::Zero(d), grid_sd = grid_mean;
  for (std::size_t i = 0; i < draws; ++i) {
    reader.read(i, m);
    moments(m, mean, sd);
    std::vector<double> weights(m.weights.begin(), m.weights.end());
    std::sort(weights.rbegin(), weights.rend());
    for (std::size_t k = 0; k < components; ++k) at(k, i) = weights[k];
    for (std::size_t j = 0; j < columns; ++j) {
      at(components + j, i) = mean[static_cast<Eigen::Index>(j)];
      at(components + columns + j, i) = sd[static_cast<Eigen::Index>(j)];
    }
    grid_mean += mean / static_cast<double>(draws);
    grid_sd += sd / static_cast<double>(draws);
  }
  for (std::size_t i = 0; i < draws; ++i) {
    reader.read(i, m);
    for (int j = 0; j < d; ++j)
      for (int g = 0; g < kGridPoints; ++g)
        at(components + 2 * columns + static_cast<std::size_t>(j * kGridPoints + g), i) =
            column_density(m, j, grid_mean[j] + static_cast<double>(g - kMiddle) * grid_sd[j]);
  }
  return first;
}

LabelFreePoint::LabelFreePoint(const ParameterLayout& layout) {
  point_.layout = layout;
  point_.chains = {"0"};
  point_.num_draws = 1;
  point_.names.resize(static_cast<std::size_t>(layout.dim()));
  point_.values.resize(point_.names.size());
  mixture_ = find_mixture(point_);
  if (mixture_) size_ = static_cast<std::size_t>(mixture_->num_components + 2 * mixture_->num_columns);
}

void LabelFreePoint::compute(std::span<const double> theta, double* values) {
  if (!mixture_) return;
  std::copy(theta.begin(), theta.end(), point_.values.begin());
  Mixture m;
  MixtureReader(point_, *mixture_).read(0, m);
  Eigen::VectorXd mean, sd;
  moments(m, mean, sd);
  double* at = std::copy(m.weights.begin(), m.weights.end(), values);
  std::sort(values, at, std::greater<>());
  at = std::copy(mean.begin(), mean.end(), at);
  std::copy(sd.begin(), sd.end(), at);
}

bool Relabelling::changes_nothing() const {
  for (std::size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int>(i % static_cast<std::size_t>(num_components))) return false;
  return true;
}

Relabelling relabel_by_order(const DrawSet& set, const MixtureNames& names) {
  const int K = names.num_components;
  const std::size_t draws = set.num_chains() * set.num_draws;
  Relabelling result{K, std::vector<int>(draws * static_cast<std::size_t>(K))};
  for (std::size_t i = 0; i < draws; ++i) {
    int* permutation = result.permutation.data() + i * static_cast<std::size_t>(K);
    std::iota(permutation, permutation + K, 0);
    const auto mean = [&](int k) {
      return set.values[(names.means + static_cast<std::size_t>(k * names.num_columns)) * draws + i];
    };
    std::stable_sort(permutation, permutation + K, [&](int a, int b) { return mean(a) < mean(b); });
  }
  return result;
}

Relabelling relabel_by_classification(const DrawSet& set, const MixtureNames& names, ThreadPool& threads) {
  const int K = names.num_components;
  const auto components = static_cast<std::size_t>(K);
  const MixtureReader reader(set, names);
  const std::size_t draws = reader.num_draws();
  const Eigen::MatrixXd points = draw_points(reader, names.num_columns);
  const Eigen::MatrixXd log_reference = learn_reference(set, reader, points, K, threads);
  Relabelling result{K, std::vector<int>(draws * components)};
  const auto workers = static_cast<std::size_t>(threads.num_threads());
  std::vector<Mixture> mixtures(workers);
  std::vector<Eigen::MatrixXd> probabilities(workers);
  threads.for_each(draws, [&](std::size_t i, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    reader.read(i, mixtures[w]);
    classify(mixtures[w], points, probabilities[w]);
    match(probabilities[w], log_reference, result.permutation.data() + i * components);
  });
  // Numbers by the mean of the first column's means.
  std::vector<double> means(components, 0.0);
  for (std::size_t i = 0; i < draws; ++i)
    for (std::size_t k = 0; k < components; ++k) {
      const auto component = static_cast<std::size_t>(result.permutation[i * components + k]);
      means[k] +=
          set.values[(names.means + component * static_cast<std::size_t>(names.num_columns)) * draws + i];
    }
  std::vector<std::size_t> order(components);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return means[a] < means[b]; });
  std::vector<int> old(components);
  for (std::size_t i = 0; i < draws; ++i) {
    int* permutation = result.permutation.data() + i * components;
    std::copy_n(permutation, K, old.begin());
    for (std::size_t k = 0; k < components; ++k) permutation[k] = old[order[k]];
  }
  return result;
}

void apply(const Relabelling& relabelling, DrawSet& set) {
  const auto K = static_cast<std::size_t>(relabelling.num_components);
  const std::size_t draws = set.num_chains() * set.num_draws;
  std::vector<double> old(K);
  for (std::size_t b = 0; b < set.layout.blocks.size(); ++b) {
    const ParameterBlock& block = set.layout.blocks[b];
    if (block.component_axis != 0) continue;
    const std::size_t begin = set.num_log_densities + static_cast<std::size_t>(set.layout.offset(b));
    const std::size_t slice = static_cast<std::size_t>(block.size()) / K;
    for (std::size_t s = 0; s < slice; ++s)
      for (std::size_t i = 0; i < draws; ++i) {
        const auto at = [&](std::size_t k) -> double& {
          return set.values[(begin + k * slice + s) * draws + i];
        };
        for (std::size_t k = 0; k < K; ++k) old[k] = at(k);
        for (std::size_t k = 0; k < K; ++k)
          at(k) = old[static_cast<std::size_t>(relabelling.permutation[i * K + k])];
      }
  }
}

}  // namespace emomc
