#include "emomc/sampler/starts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/sampler/laplace.hpp"
#include "start_labels.hpp"

namespace emomc {
namespace {

constexpr const char* kFewRows = "a component of fewer rows than columns + 2";
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNearFloor = 1.05;
// Fits are ignored if their log density is lower than the best by more than this plus 1/4 for each parameter.
constexpr double kDepth = 40;
constexpr double kDepthOfImages = 8;
// Bound of the work for all optima: evaluations x (rows x parameters + a constant for each evaluation).
constexpr double kWork = 4e9, kLeastWork = 4e4;

// Bounds of the sum of squared differences of row densities, which is about the squared distance in posterior
// sds.
constexpr double kSameFit = 4, kSameMode = 1;
constexpr double kSameHeight = 0.5;

int num_columns(const ParameterLayout& layout) {
  for (const ParameterBlock& block : layout.blocks)
    if (block.feature_axis >= 0) return block.shape[static_cast<std::size_t>(block.feature_axis)];
  return 1;
}

double distance_of_rows(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Returns how many rows the component with the fewest rows lacks in order not to be degenerate; at most 0 if
// it lacks none.
double rows_lacking(const Target& target, std::span<const double> theta, double num_rows) {
  const ParameterLayout& layout = target.layout();
  const double fewest = std::min(num_columns(layout) + 2.0, num_rows / (2.0 * num_components(layout)));
  double lacking = -fewest;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    if (block.support != Support::simplex || block.component_axis != 0) continue;
    const auto begin = static_cast<std::size_t>(layout.offset(b));
    for (std::size_t k = 0; k < static_cast<std::size_t>(block.size()); ++k)
      if (target.tables().elements[begin + k].transform != device::Transform::fixed)
        lacking = std::max(lacking, fewest - theta[begin + k] * num_rows);
  }
  return lacking;
}

class Finder {
 public:
  Finder(const Target& target, LikelihoodEngine& engine, double num_rows)
      : target_(target),
        engine_(engine),
        num_rows_(num_rows),
        factor_(engine.num_rows() > 0 ? num_rows / static_cast<double>(engine.num_rows()) : 1.0),
        sums_(engine.num_segments()) {}

  double log_likelihood(std::span<const double> theta) {
    engine_.sums_by_segment(theta.data(), 1, sums_.data());
    double total = 0;
    for (const double sum : sums_) total += sum;
    return factor_ * total;
  }

  double log_density_of_u(std::span<const double> u) {
    theta_.resize(static_cast<std::size_t>(target_.dim()));
    const auto densities = target_.constrain_with_prior(u, theta_);
    if (!std::isfinite(densities.log_prior)) return -kInf;
    const double value = log_likelihood(theta_) + densities.log_prior + densities.log_jacobian;
    return std::isnan(value) ? -kInf : value;
  }

  /// Evaluates the posterior at theta; empty if its density is zero.
  std::optional<Optimum> at(std::vector<double> theta) {
    Optimum optimum;
    optimum.log_prior = target_.log_prior(theta);
    if (!std::isfinite(optimum.log_prior)) return {};
    optimum.log_likelihood = log_likelihood(theta);
    if (!std::isfinite(optimum.log_likelihood)) return {};
    optimum.theta = std::move(theta);
    optimum.degenerate = degeneracy(target_, optimum.theta, num_rows_);
    return optimum;
  }

  std::vector<double> rows_of(const Optimum& optimum) {
    std::vector<double> rows(engine_.num_rows());
    engine_.evaluate_rows(optimum.theta.data(), rows.data());
    return rows;
  }

  double distance(const std::vector<double>& a, const std::vector<double>& b) const {
    return factor_ * distance_of_rows(a, b);
  }

  Curvature curvature_for(std::size_t count) const {
    // With sampled prior arguments a mode may not exist.
    const bool has_mode = target_.dim() == engine_.layout().dim();
    const double each = laplace_evaluations(Curvature::full, target_.dim_unconstrained()) *
                        (static_cast<double>(engine_.num_rows()) * target_.dim() + kLeastWork);
    return has_mode && each * static_cast<double>(count) <= kWork ? Curvature::full : Curvature::diagonal;
  }

  void weigh(Optimum& optimum, int times, Curvature curvature) {
    std::vector<double> u(static_cast<std::size_t>(target_.dim_unconstrained()));
    target_.unconstrain(optimum.theta, u);
    const Laplace laplace = laplace_at([this](std::span<const double> at) { return log_density_of_u(at); }, u,
                                       {.curvature = curvature});
    if (curvature == Curvature::full) {
      target_.constrain(laplace.u, optimum.theta);
      optimum.log_likelihood = log_likelihood(optimum.theta);
      optimum.log_prior = target_.log_prior(optimum.theta);
      optimum.degenerate = degeneracy(target_, optimum.theta, num_rows_);
    }
    optimum.sd = laplace.sd;
    optimum.log_mass = laplace.log_mass + std::log(static_cast<double>(times));
  }

 private:
  const Target& target_;
  LikelihoodEngine& engine_;
  double num_rows_, factor_;
  std::vector<double> sums_, theta_;
};

double height(const Optimum& o) { return o.log_likelihood + o.log_prior; }

bool is_higher(const Optimum& a, const Optimum& b) { return height(a) > height(b); }

// Merges equal optima into the highest of them. `same_labels`: optima are equal only if their log priors are
// equal, too.
std::vector<Optimum> merged(Finder& finder, std::vector<Optimum> all, double same, bool same_labels) {
  std::vector<double> heights;
  for (const Optimum& optimum : all) heights.push_back(height(optimum));
  std::vector<Optimum> distinct;
  std::vector<std::vector<double>> rows;
  for (const std::size_t next : from_the_highest(heights)) {
    Optimum& optimum = all[next];
    std::vector<double> own = finder.rows_of(optimum);
    std::size_t i = 0;
    for (; i < distinct.size(); ++i)
      if (distinct[i].degenerate.empty() == optimum.degenerate.empty() &&
          height(distinct[i]) - height(optimum) < same + kSameHeight &&
          (!same_labels || std::abs(distinct[i].log_prior - optimum.log_prior) < kSameHeight) &&
          finder.distance(rows[i], own) < same)
        break;
    if (i < distinct.size()) {
      auto& members = distinct[i].members;
      members.insert(members.end(), optimum.members.begin(), optimum.members.end());
      continue;
    }
    distinct.push_back(std::move(optimum));
    rows.push_back(std::move(own));
  }
  for (Optimum& optimum : distinct) {
    auto& members = optimum.members;
    std::vector<std::size_t> unique;
    for (const std::size_t m : members)
      if (std::find(unique.begin(), unique.end(), m) == unique.end()) unique.push_back(m);
    members = std::move(unique);
  }
  return distinct;
}

}  // namespace

std::size_t Optima::num_degenerate_fits() const {
  std::size_t count = 0;
  for (const Optimum& optimum : degenerate) count += optimum.members.size();
  return count;
}

std::string degeneracy(const Target& target, std::span<const double> theta, double num_rows) {
  const ParameterLayout& layout = target.layout();
  const int K = num_components(layout);
  if (K == 0) return "";
  const auto& tables = target.tables();
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    const auto begin = static_cast<std::size_t>(layout.offset(b)),
               size = static_cast<std::size_t>(block.size());
    if (block.unit == DataUnit::scale && block.support == Support::positive && block.component_axis == 0) {
      // A column in which all components are at the floor is constant and not degenerate.
      const std::size_t columns = size / static_cast<std::size_t>(K);
      for (std::size_t j = 0; j < columns; ++j) {
        int at_floor = 0;
        for (std::size_t i = j; i < size; i += columns) {
          const device::Element& e = tables.elements[begin + i];
          at_floor += device::is_bounded_below(e.transform) && e.bound > 0 &&
                      theta[begin + i] <= kNearFloor * e.bound;
        }
        if (at_floor > 0 && (at_floor < K || K == 1)) return "a scale at its floor";
      }
    }
  }
  for (const auto& row : tables.covariance_rows) {
    const double diagonal = theta[static_cast<std::size_t>(row.begin + row.row)];
    if (row.scale.transform != device::Transform::fixed && row.scale.bound > 0 &&
        diagonal <= kNearFloor * row.scale.bound)
      return "a scale at its floor";
  }
  return rows_lacking(target, theta, num_rows) > 0 ? kFewRows : "";
}

Optima find_optima(const Target& target, LikelihoodEngine& engine, std::span<const std::vector<double>> fits,
                   double num_rows, std::size_t most_optima) {
  Finder finder(target, engine, num_rows);
  Optima result;
  result.num_fits = fits.size();
  const auto fit_dim = static_cast<std::size_t>(engine.layout().dim());
  std::vector<Optimum> all;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    std::vector<double> theta = target.with_arguments_of({fits[i].data(), fit_dim});
    // Components take the numbering of the prior before theta is moved into the support.
    theta = label_images(target, theta, 0).front().theta;
    target.move_inside(theta);
    auto optimum = finder.at(std::move(theta));
    if (!optimum) continue;
    optimum->members = {i};
    all.push_back(std::move(*optimum));
  }
  std::vector<Optimum> distinct = merged(finder, std::move(all), kSameFit, false);
  std::vector<Optimum> kept, candidates, lacking_a_part;
  for (Optimum& optimum : distinct) {
    const bool lacks_a_part =
        optimum.degenerate == kFewRows && rows_lacking(target, optimum.theta, num_rows) < 1;
    (optimum.degenerate.empty() ? candidates
     : lacks_a_part             ? lacking_a_part
                                : result.degenerate)
        .push_back(std::move(optimum));
  }
  const double lowest =
      candidates.empty() ? 0 : height(candidates.front()) - kDepth - 0.25 * target.dim_unconstrained();
  for (Optimum& optimum : candidates)
    if (kept.size() < most_optima && height(optimum) > lowest) kept.push_back(std::move(optimum));
  std::vector<Optimum> weighed;
  const Curvature curvature = finder.curvature_for(kept.size());
  result.full_curvature = curvature == Curvature::full;
  // The prior of the weights adds about a row to each component at the posterior's mode.
  for (Optimum& optimum : lacking_a_part) {
    const bool moves =
        kept.size() < 2 * most_optima && finder.curvature_for(kept.size() + 1) == Curvature::full;
    const bool is_high = candidates.empty() || height(optimum) > lowest;
    (moves && is_high ? kept : result.degenerate).push_back(std::move(optimum));
  }
  for (const Optimum& optimum : kept)
    for (const LabelImage& image : label_images(target, optimum.theta, kDepthOfImages)) {
      auto numbered = finder.at(image.theta);
      if (!numbered) continue;
      numbered->members = optimum.members;
      finder.weigh(*numbered, image.times, curvature);
      (numbered->degenerate.empty() ? weighed : result.degenerate).push_back(std::move(*numbered));
    }
  result.found = merged(finder, std::move(weighed), kSameMode, !target.components_are_exchangeable());
  rank_by_mass(result.found);
  std::stable_sort(result.degenerate.begin(), result.degenerate.end(), is_higher);
  // If all optima are degenerate, the highest one represents them; it stays marked as degenerate.
  if (result.found.empty() && !result.degenerate.empty())
    finder.weigh(result.degenerate.front(), 1, Curvature::diagonal);
  return result;
}

std::vector<std::size_t> from_the_highest(std::span<const double> heights) {
  constexpr double kRounding = 1e-7;
  std::vector<std::size_t> order(heights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return heights[a] > heights[b]; });
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = begin + 1;
    while (end != order.end() &&
           heights[*(end - 1)] - heights[*end] <= kRounding * (1 + std::abs(heights[*end])))
      ++end;
    std::sort(begin, end);
    begin = end;
  }
  return order;
}

std::vector<std::vector<std::size_t>> equal_fits(LikelihoodEngine& engine,
                                                 std::span<const std::vector<double>> fits, double num_rows) {
  const double factor = num_rows / static_cast<double>(engine.num_rows());
  std::vector<std::vector<double>> rows;
  std::vector<double> log_likelihood;
  for (const auto& theta : fits) {
    rows.emplace_back(engine.num_rows());
    engine.evaluate_rows(theta.data(), rows.back().data());
    log_likelihood.push_back(std::accumulate(rows.back().begin(), rows.back().end(), 0.0));
  }
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t i : from_the_highest(log_likelihood)) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return distance_of_rows(rows[group.front()], rows[i]) * factor < kSameFit;
    });
    if (same != groups.end())
      same->push_back(i);
    else
      groups.push_back({i});
  }
  return groups;
}

std::vector<std::size_t> nearest_fits(LikelihoodEngine& engine, std::span<const std::vector<double>> among,
                                      std::span<const std::vector<double>> fits) {
  std::vector<std::vector<double>> rows(among.size(), std::vector<double>(engine.num_rows()));
  for (std::size_t a = 0; a < among.size(); ++a) engine.evaluate_rows(among[a].data(), rows[a].data());
  std::vector<std::size_t> nearest;
  std::vector<double> own(engine.num_rows());
  for (const auto& fit : fits) {
    engine.evaluate_rows(fit.data(), own.data());
    std::vector<double> distances;
    for (const auto& other : rows) distances.push_back(distance_of_rows(other, own));
    const double least = *std::min_element(distances.begin(), distances.end());
    const auto first = std::find_if(distances.begin(), distances.end(), [&](double d) {
      // a difference below this bound can be due to rounding alone
      return d <= least + 1e-9 * static_cast<double>(own.size());
    });
    nearest.push_back(static_cast<std::size_t>(first - distances.begin()));
  }
  return nearest;
}

void rank_by_mass(std::vector<Optimum>& found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Optimum& a, const Optimum& b) { return a.log_mass > b.log_mass; });
  double total = 0;
  for (const Optimum& o : found) total += std::exp(o.log_mass - found.front().log_mass);
  for (Optimum& o : found) o.share = std::exp(o.log_mass - found.front().log_mass) / total;
}

std::size_t num_heavy(const std::vector<Optimum>& found) {
  std::size_t count = 0;
  while (count < found.size() && found[count].share > kLeastShareOfAChain) ++count;
  return found.empty() ? 0 : std::max<std::size_t>(count, 1);
}

std::size_t optimum_of_chain(const std::vector<Optimum>& found, std::uint64_t seed, std::uint32_t chain) {
  const std::size_t heavy = num_heavy(found);
  if (chain < heavy) return chain;
  const device::RandomSource random{seed, ~std::uint64_t{1}, chain};
  double total = 0;
  for (std::size_t i = 0; i < heavy; ++i) total += found[i].share;
  double left = total * random.uniform(device::Purpose::start, 0);
  std::size_t i = 0;
  for (; i + 1 < heavy && left >= found[i].share; ++i) left -= found[i].share;
  return i;
}

std::vector<double> moved_about(const Target& target, const Optimum& optimum, std::span<const double> theta,
                                double times, std::uint64_t seed, std::uint32_t chain) {
  const device::RandomSource random{seed, ~std::uint64_t{0}, chain};
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  target.unconstrain(theta, u);
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] += times * optimum.sd[i] * random.normal(device::Purpose::start, static_cast<device::u32>(i));
  std::vector<double> moved(theta.size());
  target.constrain(u, moved);
  return moved;
}

}  // namespace emomc
