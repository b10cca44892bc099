#include "emomc/sampler/mixture_labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <functional>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "mixture_reader.hpp"

namespace emomc {
namespace {

// Computes the means and sds of the mixture in each column.
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

void require_gaussian(const MixtureNames& names) {
  if (!names.is_gaussian) throw std::logic_error("the density of components that are not Gaussian");
}

}  // namespace

std::optional<MixtureNames> find_mixture(const DrawSet& set, int fewest_components) {
  MixtureNames names;
  bool has_weights = false, has_means = false, has_spread = false, has_fraction = false,
       has_shared_mean = false;
  int spread_size = 0, num_means = 0;
  std::size_t fraction = 0, shared_mean = 0;  // indices of two_gaussian's parameters
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
    } else if (block.support == Support::unit_interval && block.shape.empty() && !has_fraction) {
      fraction = begin;
      has_fraction = true;
    } else if (block.unit == DataUnit::location && block.shape.empty() && !has_shared_mean) {
      shared_mean = begin;
      has_shared_mean = true;
    } else if (of_components && block.influence != Influence::nothing) {
      names.is_gaussian = false;
    }
  }
  if (!has_weights && !has_means && has_fraction && has_shared_mean) {
    names.is_pair = has_weights = has_means = true;
    names.num_components = num_means = 2;
    names.num_columns = 1;
    names.weights = fraction;
    names.means = shared_mean;
  }
  if (!has_weights || !has_means || !has_spread || names.num_components < fewest_components)
    return std::nullopt;
  // The layout may come from a file, so its blocks may be inconsistent.
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
  require_gaussian(names);
  Mixture m;
  MixtureReader(set, names).read(draw, m);
  std::vector<double> densities;
  for (double value : x) densities.push_back(column_density(m, static_cast<int>(column), value));
  return densities;
}

ColumnMoments column_moments(const DrawSet& set, const MixtureNames& names, std::size_t draw,
                             std::size_t column) {
  require_gaussian(names);
  Mixture m;
  MixtureReader(set, names).read(draw, m);
  Eigen::VectorXd mean, sd;
  moments(m, mean, sd);
  const auto j = static_cast<Eigen::Index>(column);
  return {mean[j], sd[j]};
}

std::array<double, kDensityPoints> density_grid(double mean, double sd) {
  const double step = sd > 0 && std::isfinite(sd) ? std::exp2(std::round(std::log2(sd))) : 0.0;
  const double middle = step > 0 && std::isfinite(mean) ? step * std::round(mean / step) : mean;
  constexpr int kMiddle = kDensityPoints / 2;
  std::array<double, kDensityPoints> points{};
  for (int i = 0; i < kDensityPoints; ++i)
    points[static_cast<std::size_t>(i)] = middle + (i - kMiddle) * step;
  return points;
}

std::size_t append_label_free(DrawSet& set, const MixtureNames& names) {
  const std::size_t first = set.num_quantities();
  const int K = names.num_components, d = names.num_columns;
  for (int k = 0; k < K; ++k) set.add("sorted_weights[" + std::to_string(k) + "]");
  for (const char* name : {names.is_gaussian ? "mixture_mean" : "mixture_location",
                           names.is_gaussian ? "mixture_sd" : "mixture_scale"})
    for (int j = 0; j < d; ++j) set.add(name + ("[" + std::to_string(j)) + "]");
  for (int j = 0; names.is_gaussian && j < d; ++j)
    for (int i = 0; i < kDensityPoints; ++i)
      set.add("mixture_density[" + std::to_string(j) + "," + std::to_string(i) + "]");
  const MixtureReader reader(set, names);
  const std::size_t draws = reader.num_draws();
  const auto at = [&](std::size_t q, std::size_t draw) -> double& {
    return set.values[(first + q) * draws + draw];
  };
  const auto columns = static_cast<std::size_t>(d), components = static_cast<std::size_t>(K);
  Mixture m;
  Eigen::VectorXd mean, sd, mean_of_draws = Eigen::VectorXd::Zero(d), sd_of_draws = mean_of_draws;
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
    mean_of_draws += mean / static_cast<double>(draws);
    sd_of_draws += sd / static_cast<double>(draws);
  }
  if (!names.is_gaussian) return first;
  std::vector<std::array<double, kDensityPoints>> grid;
  for (int j = 0; j < d; ++j) grid.push_back(density_grid(mean_of_draws[j], sd_of_draws[j]));
  for (std::size_t i = 0; i < draws; ++i) {
    reader.read(i, m);
    for (int j = 0; j < d; ++j)
      for (int g = 0; g < kDensityPoints; ++g)
        at(components + 2 * columns + static_cast<std::size_t>(j * kDensityPoints + g), i) =
            column_density(m, j, grid[static_cast<std::size_t>(j)][static_cast<std::size_t>(g)]);
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

std::vector<std::vector<std::size_t>> component_keys(const DrawSet& set, const MixtureNames& names) {
  const auto K = static_cast<std::size_t>(names.num_components);
  std::vector<std::vector<std::size_t>> keys(static_cast<std::size_t>(names.num_columns));
  for (std::size_t j = 0; j < keys.size(); ++j)
    for (std::size_t k = 0; k < K; ++k)
      keys[j].push_back(MixtureReader::mean_of(names, static_cast<int>(k), static_cast<int>(j)));
  for (const bool weights : {false, true})
    for (std::size_t b = 0; b < set.layout.blocks.size(); ++b) {
      const ParameterBlock& block = set.layout.blocks[b];
      const std::size_t begin = set.num_log_densities + static_cast<std::size_t>(set.layout.offset(b));
      if (block.component_axis != 0 || (block.support == Support::simplex) != weights || begin == names.means)
        continue;
      const std::size_t slice = static_cast<std::size_t>(block.size()) / K;
      for (std::size_t s = 0; s < slice; ++s) {
        auto& key = keys.emplace_back();
        for (std::size_t k = 0; k < K; ++k) key.push_back(begin + k * slice + s);
      }
    }
  return keys;
}

Relabelling relabel_by_order(const DrawSet& set, const MixtureNames& names) {
  const int K = names.num_components;
  const std::size_t draws = set.num_chains() * set.num_draws;
  const auto keys = component_keys(set, names);
  Relabelling result{K, std::vector<int>(draws * static_cast<std::size_t>(K))};
  for (std::size_t i = 0; i < draws; ++i) {
    int* permutation = result.permutation.data() + i * static_cast<std::size_t>(K);
    std::iota(permutation, permutation + K, 0);
    std::sort(permutation, permutation + K, [&](int a, int b) {
      for (const auto& key : keys) {
        const auto order = std::strong_order(set.values[key[static_cast<std::size_t>(a)] * draws + i],
                                             set.values[key[static_cast<std::size_t>(b)] * draws + i]);
        if (order != 0) return order < 0;
      }
      return a < b;
    });
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
  if (const auto mixture = find_mixture(set); mixture && mixture->is_pair) {
    double* fraction = set.values.data() + mixture->weights * draws;
    for (std::size_t i = 0; i < draws; ++i)
      if (relabelling.permutation[i * K] == 1) fraction[i] = 1 - fraction[i];
  }
}

}  // namespace emomc
