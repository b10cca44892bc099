#include "emomc/sampler/target.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "emomc/core/errors.hpp"
#include "emomc/device/gradient.hpp"
#include "emomc/device/unconstrain.hpp"
#include "target_tables.hpp"

namespace emomc {
namespace {

using device::Transform;
constexpr double kInf = std::numeric_limits<double>::infinity();

void refuse_value(const std::string& name, double value, const std::string& allowed) {
  throw InputError("parameter " + name + ": " + std::to_string(value) +
                   " is outside its support; allowed: " + allowed);
}

bool is_fixed(const device::Element& e) { return e.transform == Transform::fixed; }

/// Returns the index of the element before element i in an order.
std::size_t previous_of(const device::Element& e, std::size_t i) {
  return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) - e.stride);
}

}  // namespace

Target::Target(ParameterLayout layout, const PriorSet& prior, std::span<const double> column_sd)
    : first_argument_(layout.dim()), layout_(with_sampled_arguments(std::move(layout), prior)) {
  for (const auto& [name, _] : prior.blocks) {
    const bool known = std::any_of(layout_.blocks.begin(), layout_.blocks.end(), [&](const auto& block) {
      const auto parts = prior_blocks(block);
      return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.name == name; });
    });
    if (!known) throw InputError("prior." + name + ": the model has no parameter of that name");
  }
  BuiltTarget built = build_target(layout_, prior, column_sd);
  tables_ = std::move(built.tables);
  ranges_ = std::move(built.ranges);
  free_scales_ = std::move(built.free_scales);
  dim_unconstrained_ = built.dim_unconstrained;
  ordered_block_ = built.ordered_block;
  ordered_lists_ = std::move(built.ordered_lists);
  components_differ_ = built.components_differ;
  mixture_ = find_mixture();
  num_angles_ = static_cast<int>(
      std::count_if(tables_.elements.begin(), tables_.elements.end(),
                    [](const device::Element& e) { return e.transform == Transform::angle; }));
}

device::ParameterTable Target::table() const {
  return {tables_.elements.data(),
          tables_.simplices.data(),
          tables_.covariance_rows.data(),
          tables_.conditionals.data(),
          dim(),
          dim_unconstrained_,
          static_cast<int>(tables_.simplices.size()),
          static_cast<int>(tables_.covariance_rows.size()),
          static_cast<int>(tables_.conditionals.size()),
          tables_.log_prior_constant,
          mixture_,
          first_argument_,
          num_angles_};
}

bool Target::is_like(const Target& other) const {
  const auto same_places = [](const device::Element& a, const device::Element& b) {
    return a.transform == b.transform && a.source == b.source && a.rank == b.rank && a.stride == b.stride;
  };
  const TargetTables &a = tables_, &b = other.tables_;
  return layout_ == other.layout_ && dim_unconstrained_ == other.dim_unconstrained_ &&
         a.covariance_rows.size() == b.covariance_rows.size() &&
         a.conditionals.size() == b.conditionals.size() && ordered_block_ == other.ordered_block_ &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    same_places) &&
         std::equal(a.covariance_rows.begin(), a.covariance_rows.end(), b.covariance_rows.begin(),
                    [&](const auto& x, const auto& y) {
                      return x.correlations == y.correlations && same_places(x.scale, y.scale);
                    });
}

device::MixtureLayout Target::find_mixture() const {
  const auto offset_of = [&](Support support, DataUnit unit) {
    for (std::size_t b = 0; b < layout_.blocks.size(); ++b) {
      const ParameterBlock& block = layout_.blocks[b];
      if (block.component_axis == 0 && block.support == support && block.unit == unit && ranges_[b].size > 0)
        return static_cast<int>(b);
    }
    return -1;
  };
  const int weights = offset_of(Support::simplex, DataUnit::none);
  const int means = offset_of(Support::real, DataUnit::location);
  const int scales = offset_of(Support::positive, DataUnit::scale);
  if (weights < 0 || means < 0 || scales < 0) return {};
  // The moves that use this layout exchange the weights, means and scales of components, and nothing else.
  for (std::size_t b = 0; b < layout_.blocks.size(); ++b) {
    const auto index = static_cast<int>(b);
    if (layout_.blocks[b].component_axis == 0 && index != weights && index != means && index != scales)
      return {};
  }
  const auto block = [&](int b) -> const ParameterBlock& {
    return layout_.blocks[static_cast<std::size_t>(b)];
  };
  const auto begin = [&](int b) { return layout_.offset(static_cast<std::size_t>(b)); };
  const int K = block(weights).size();
  if (block(means).size() != block(scales).size() || block(means).shape[0] != K) return {};
  return {K,
          block(means).size() / K,
          begin(weights),
          begin(means),
          begin(scales),
          ordered_block_ ? begin(static_cast<int>(*ordered_block_)) : device::kUnordered};
}

bool Target::reaches_edge_of_support() const {
  constexpr double kSparse = 0.1;
  const auto leads_to_edge = [](double exponent) { return exponent < 1 && exponent != 0; };
  const auto reaches = [&](const device::Element& e) {
    switch (e.density) {
      case device::Density::power:
        return e.transform == Transform::simplex && e.a + 1 < kSparse;
      case device::Density::beta:
        return device::is_interval(e.transform) && (leads_to_edge(e.a) || leads_to_edge(e.b));
      case device::Density::gamma:
        return e.transform == Transform::lower_bound && e.bound == 0 && e.a + 1 < kSparse;
      default:
        return false;
    }
  };
  return std::any_of(tables_.elements.begin(), tables_.elements.end(), reaches);
}

double Target::constrain(std::span<const double> u, std::span<double> theta) const {
  return device::constrain(device::HostTeam{}, table(), u.data(), theta.data());
}

device::PointDensities Target::constrain_with_prior(std::span<const double> u,
                                                    std::span<double> theta) const {
  return device::constrain_with_prior(device::HostTeam{}, table(), u.data(), theta.data());
}

double Target::log_prior(std::span<const double> theta) const {
  for (std::size_t i = 0; i < tables_.elements.size(); ++i) {
    const device::Element& e = tables_.elements[i];
    if (device::is_bounded_below(e.transform) && !(theta[i] > e.bound)) return -kInf;
    if (device::is_ordered(e.transform) && e.rank > 0 && !(theta[i] > theta[previous_of(e, i)])) return -kInf;
  }
  for (const auto& row : tables_.covariance_rows) {
    const double diagonal = theta[static_cast<std::size_t>(row.begin + row.row)];
    if (!(diagonal > 0) ||
        !(device::scale_of_row(row, theta.data()) > (is_fixed(row.scale) ? 0.0 : row.scale.bound)))
      return -kInf;
  }
  return device::log_prior(device::HostTeam{}, table(), theta.data());
}

void Target::gradient(std::span<const double> u, std::span<const double> theta,
                      std::span<const double> likelihood_gradient, double beta, std::span<double> out) const {
  std::vector<double> scratch(static_cast<std::size_t>(device::gradient_scratch(table())));
  device::gradient_of_density(device::HostTeam{}, table(), u.data(), theta.data(),
                              likelihood_gradient.empty() ? nullptr : likelihood_gradient.data(), beta,
                              scratch.data(), out.data());
}

void Target::unconstrain(std::span<const double> theta, std::span<double> u) const {
  const auto names = element_names(layout_);
  const auto refuse = [&](std::size_t i, const std::string& allowed) {
    refuse_value(names[i], theta[i], allowed);
  };
  for (std::size_t i = 0; i < tables_.elements.size(); ++i) {
    const device::Element& e = tables_.elements[i];
    const double x = theta[i];
    if (!std::isfinite(x)) refuse(i, "finite numbers");
    if (device::is_interval(e.transform) && !(x > e.bound && x < e.bound + e.width))
      refuse(i, "strictly between its bounds");
    if (device::is_bounded_below(e.transform) && !(x > e.bound))
      refuse(i, "above " + std::to_string(e.bound));
    if (device::is_ordered(e.transform) && e.rank > 0) {
      const std::size_t before = previous_of(e, i);
      if (!(x > theta[before]))
        refuse(i, "above " + names[before] + ", which is " + std::to_string(theta[before]));
    }
    if (e.transform == Transform::angle) {
      if (std::abs(x) > device::kPi) refuse(i, "from -pi to pi");
      const device::Direction direction = device::direction_of(x);
      u[static_cast<std::size_t>(e.source)] = direction.x;
      u[static_cast<std::size_t>(e.source) + 1] = direction.y;
    }
    if (device::has_own_coordinate(e.transform))
      u[static_cast<std::size_t>(e.source)] =
          device::unconstrain_element(e, theta.data(), static_cast<int>(i));
  }
  for (const auto& row : tables_.covariance_rows) unconstrain_row(row, theta, u);
  for (const auto& block : tables_.simplices) {
    const double* w = theta.data() + block.begin;
    double sum = 0;
    for (int k = 0; k < block.size; ++k) {
      if (!(w[k] > 0)) refuse(static_cast<std::size_t>(block.begin + k), "above 0");
      sum += w[k];
    }
    if (std::abs(sum - 1) > 1e-6) refuse(static_cast<std::size_t>(block.begin), "weights that sum to 1");
    device::unconstrain_simplex(
        block, [w](int k) { return device::log(w[k]); }, u.data());
  }
}

void Target::unconstrain_row(const device::CovarianceRow& row, std::span<const double> theta,
                             std::span<double> u) const {
  const auto at = [&](int j) { return theta[static_cast<std::size_t>(row.begin + j)]; };
  const auto names = [&] { return element_names(layout_)[static_cast<std::size_t>(row.begin + row.row)]; };
  const double scale = device::scale_of_row(row, theta.data());
  if (!(at(row.row) > 0)) refuse_value(names(), at(row.row), "a positive definite matrix");
  if (!is_fixed(row.scale)) {
    if (!(scale > row.scale.bound))
      refuse_value(names(), scale * scale, "above " + std::to_string(row.scale.bound * row.scale.bound));
    u[static_cast<std::size_t>(row.scale.source)] = device::log(scale - row.scale.bound);
  }
  if (row.correlations == device::kFixedCorrelations) return;
  // rest is the squared norm of the row's elements from j on, summed from the end to avoid cancellation.
  double rest = at(row.row) * at(row.row);
  for (int j = row.row - 1; j >= 0; --j) {
    const double ratio = at(j) / std::sqrt(rest);  // sinh(u)
    u[static_cast<std::size_t>(row.correlations + j)] = std::asinh(ratio);
    rest += at(j) * at(j);
  }
}

void Target::sort_list(std::size_t block, std::span<double> theta) const {
  const auto begin = static_cast<std::size_t>(layout_.offset(block));
  const auto values = theta.subspan(begin, static_cast<std::size_t>(layout_.blocks[block].size()));
  std::sort(values.begin(), values.end());
  if (tables_.elements[begin].rank > 0) std::reverse(values.begin(), values.end());
}

std::vector<double> Target::with_arguments_of(std::span<const double> theta) const {
  // Lower bounds of the deviations that determine a scale, for values that are (nearly) equal.
  constexpr double kLeastShare = 0.1, kLeast = 1e-3;
  std::vector<double> result(theta.begin(), theta.end());
  result.resize(static_cast<std::size_t>(dim()));
  struct Values {
    double sum = 0, squares = 0;
    int count = 0;
  };
  const auto value_of = [&](const device::ConditionalElement& e) {
    const auto at = static_cast<std::size_t>(e.element);
    const double x = e.is_row ? device::scale_of_row(tables_.covariance_rows[at], result.data()) : result[at];
    return e.density == device::ConditionalDensity::lognormal ? std::log(std::max(x, 1e-300)) : x;
  };
  std::map<int, Values> locations, scales;
  for (const auto& e : tables_.conditionals) {
    auto& values = locations[e.from_location];
    values.sum += value_of(e);
    ++values.count;
  }
  for (const auto& [from, values] : locations)
    if (from != device::kConstant) result[static_cast<std::size_t>(from)] = values.sum / values.count;
  for (const auto& e : tables_.conditionals) {
    auto& values = scales[e.from_scale];
    const double location =
        e.from_location == device::kConstant ? e.location : result[static_cast<std::size_t>(e.from_location)];
    const double x = value_of(e);
    const double deviation = std::max({std::abs(x - location), kLeastShare * std::abs(x), kLeast});
    values.sum += std::abs(x);
    values.squares += deviation * deviation;
    ++values.count;
    if (e.from_scale == device::kConstant) continue;
    result[static_cast<std::size_t>(e.from_scale)] = e.density == device::ConditionalDensity::exponential
                                                         ? values.count / std::max(values.sum, kLeast)
                                                         : std::sqrt(values.squares / values.count);
  }
  return result;
}

void Target::move_inside(std::vector<double>& theta) const {
  constexpr double kAboveFloor = 1.01, kSmallest = 1e-3, kInsideInterval = 1e-3;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const device::Element& e = tables_.elements[i];
    if (device::is_bounded_below(e.transform) && !(theta[i] > e.bound))
      theta[i] = e.bound > 0 ? kAboveFloor * e.bound : kSmallest;
    if (e.transform == Transform::fixed) theta[i] = e.bound;
    if (e.transform == Transform::angle) theta[i] = std::remainder(theta[i], 2 * device::kPi);
    if (e.transform == Transform::interval)
      theta[i] = std::clamp(theta[i], e.bound + kInsideInterval * e.width,
                            e.bound + (1 - kInsideInterval) * e.width);
  }
  for (const auto& block : tables_.simplices)
    for (int k = 0; k < block.size; ++k) {
      double& weight = theta[static_cast<std::size_t>(block.begin + k)];
      weight = std::max(weight, device::kLeastValue);
    }
  for (const auto& row : tables_.covariance_rows) {
    double* values = theta.data() + row.begin;
    double scale = device::scale_of_row(row, theta.data());
    const double wanted = is_fixed(row.scale)       ? row.scale.bound
                          : scale > row.scale.bound ? scale
                          : row.scale.bound > 0     ? kAboveFloor * row.scale.bound
                                                    : kSmallest;
    const bool fixed = row.correlations == device::kFixedCorrelations;
    for (int j = 0; j <= row.row; ++j) {
      if (fixed)
        values[j] = wanted * tables_.elements[static_cast<std::size_t>(row.begin + j)].bound;
      else if (wanted != scale)
        values[j] = scale > 0 ? values[j] * (wanted / scale) : (j == row.row ? wanted : 0.0);
    }
  }
  for (std::size_t b : ordered_lists_) {
    sort_list(b, theta);
    // Values that were clamped to the same bound are separated again.
    const auto begin = static_cast<std::size_t>(layout_.offset(b)),
               size = static_cast<std::size_t>(layout_.blocks[b].size());
    for (std::size_t rank = 0; rank < size; ++rank) {
      const bool is_increasing = tables_.elements[begin].rank == 0;
      const std::size_t i = is_increasing ? begin + rank : begin + size - 1 - rank;
      const device::Element& e = tables_.elements[i];
      if (e.transform == Transform::ordered_interval) {
        const double part = kInsideInterval * e.width / static_cast<double>(size);
        theta[i] = std::clamp(theta[i], e.bound + part * static_cast<double>(rank + 1),
                              e.bound + e.width - part * static_cast<double>(size - rank));
      } else if (rank > 0 && !(theta[i] > theta[previous_of(e, i)])) {
        theta[i] = theta[previous_of(e, i)] + kSmallest * (1 + std::abs(theta[previous_of(e, i)]));
      }
    }
  }
  if (!ordered_block_) return;
  // The prior is invariant to permutations of the components, so they can be sorted by the first coordinate.
  const ParameterBlock& block = layout_.blocks[*ordered_block_];
  const int K = block.shape[0], stride = block.size() / K;
  std::vector<int> order(static_cast<std::size_t>(K));
  for (int k = 0; k < K; ++k) order[static_cast<std::size_t>(k)] = k;
  const double* values = theta.data() + layout_.offset(*ordered_block_);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return values[a * stride] < values[b * stride]; });
  theta = permute_components(layout_, order, theta);
}

}  // namespace emomc
