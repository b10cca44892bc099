#include "precision_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/device/random.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc::app {
namespace {

// An RMS of 0.01 changes at most one decision in a hundred, and the sampled density by 1 %.
constexpr double kMostRms = 0.01, kMostLargest = 4 * kMostRms;
constexpr double kStep = 2.38;  // distance of two points in posterior sds, over all directions
// The way to the mode is found on a sample of the rows. Evaluations of all rows are fewer if there are many
// rows.
constexpr std::size_t kSample = 10'000, kLarge = 3'000'000, kClimb = 3000, kClimbOfAll = 300,
                      kClimbOfLarge = 60;
constexpr double kNoDensity = -std::numeric_limits<double>::infinity();

/// Evaluates the log posterior density of unconstrained points by an engine.
class Posterior {
 public:
  /// The likelihood is raised to `power`, which compensates for a sample of the rows.
  Posterior(const Target& target, LikelihoodEngine& engine, double power = 1)
      : target_(target), engine_(engine), power_(power), theta_(static_cast<std::size_t>(target.dim())) {
    engine_.allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  }

  /// Returns the log likelihood. operator() adds the log prior and the log Jacobian, which do not depend on
  /// the engine.
  double log_likelihood(std::span<const double> u) {
    target_.constrain(u, theta_);
    return likelihood_at_theta();
  }
  double operator()(std::span<const double> u) {
    const device::PointDensities densities = target_.constrain_with_prior(u, theta_);
    const double sum = power_ * likelihood_at_theta() + densities.log_prior + densities.log_jacobian;
    return std::isfinite(sum) ? sum : kNoDensity;
  }

 private:
  double likelihood_at_theta() {
    double sum = 0;
    engine_.sums_by_segment(theta_.data(), 1, &sum);
    return sum;
  }

  const Target& target_;
  LikelihoodEngine& engine_;
  double power_;
  std::vector<double> theta_;
};

/// Climbs towards the mode along the coordinates, and learns the width of the density along each of them.
class Climb {
 public:
  Climb(Posterior& posterior, std::vector<double> u, std::vector<double> width)
      : posterior_(posterior), u_(std::move(u)), log_density_(posterior(u_)), width_(std::move(width)) {}

  /// Repeats sweeps over the coordinates until a sweep gains almost nothing, or until `evaluations` are
  /// spent.
  void climb(std::size_t evaluations) {
    constexpr std::size_t kOfStep = 3;
    for (double before = kNoDensity; log_density_ - before > 0.1;) {
      before = log_density_;
      for (std::size_t j = 0; j < u_.size(); ++j) {
        if (evaluations < kOfStep) return;
        evaluations -= kOfStep;
        step(j);
      }
    }
  }

  const std::vector<double>& point() const { return u_; }
  double log_density() const { return log_density_; }
  const std::vector<double>& width() const { return width_; }

 private:
  /// Makes a Newton step along coordinate j by differences. Where the density is not concave, moves to the
  /// better side.
  void step(std::size_t j) {
    const double h = width_[j];
    const double above = at(j, h), below = at(j, -h);
    if (!std::isfinite(above) || !std::isfinite(below)) {
      width_[j] = h / 10;
      accept(j, h, above);
      accept(j, -h, below);
      return;
    }
    const double curvature = 2 * log_density_ - above - below;
    double move = above > below ? 3 : -3;
    if (curvature > 0) {
      move = std::clamp(0.5 * (above - below) / curvature, -10.0, 10.0);
      width_[j] = h * std::clamp(1 / std::sqrt(curvature), 0.01, 100.0);
    } else {
      width_[j] = 3 * h;
    }
    const double best_side = std::max(above, below), moved = at(j, move * h);
    if (moved >= best_side)
      accept(j, move * h, moved);
    else
      accept(j, above > below ? h : -h, best_side);
  }

  double at(std::size_t j, double distance) {
    const double here = u_[j];
    u_[j] = here + distance;
    const double value = posterior_(u_);
    u_[j] = here;
    return value;
  }
  void accept(std::size_t j, double distance, double value) {
    if (!(value > log_density_)) return;
    u_[j] += distance;
    log_density_ = value;
  }

  Posterior& posterior_;
  std::vector<double> u_;
  double log_density_;
  std::vector<double> width_;
};

std::vector<double> moved(std::span<const double> u, std::span<const double> direction, double length) {
  std::vector<double> there(u.begin(), u.end());
  for (std::size_t j = 0; j < there.size(); ++j) there[j] += length * direction[j];
  return there;
}

/// Returns the distance from the end of the climb along `direction` at which points on either side are kStep
/// posterior sds apart. Returns 0 if the density there is not concave or not finite.
double half_step(Posterior& posterior, const Climb& climb, std::span<const double> direction) {
  double length = 1 / std::sqrt(static_cast<double>(direction.size()));
  for (int attempt = 0; attempt < 3; ++attempt, length /= 10) {
    const double curvature = 2 * climb.log_density() - posterior(moved(climb.point(), direction, length)) -
                             posterior(moved(climb.point(), direction, -length));
    if (std::isfinite(curvature) && curvature > 0) return length * 0.5 * kStep / std::sqrt(curvature);
  }
  return 0;
}

/// Returns the best of the first `most` starts, unconstrained; empty if no start has a density.
std::vector<double> best_of(const Target& target, Posterior& posterior, std::span<const double> starts,
                            std::size_t most) {
  const auto dim = static_cast<std::size_t>(target.dim());
  std::vector<double> best, u(static_cast<std::size_t>(target.dim_unconstrained()));
  double highest = kNoDensity;
  for (std::size_t s = 0; s < std::min(most, starts.size() / dim); ++s) {
    target.unconstrain(starts.subspan(s * dim, dim), u);
    const double value = posterior(u);
    if (value <= highest) continue;
    highest = value;
    best = u;
  }
  return best;
}

/// Returns a sample of `num_rows` rows at equal distances.
DataSet sample_of(const DataSet& data, std::size_t num_rows) {
  const auto dim = static_cast<std::size_t>(data.dim);
  std::vector<double> values;
  for (std::size_t i = 0; i < num_rows; ++i) {
    const auto row = data.values.begin() + static_cast<std::ptrdiff_t>(i * data.num_rows / num_rows * dim);
    values.insert(values.end(), row, row + static_cast<std::ptrdiff_t>(dim));
  }
  return DataSet::single_segment(data.dim, std::move(values));
}

/// Returns a point near the mode, which a climb from the best start finds on a sample of the rows, followed
/// by the widths along its coordinates. Empty if no start has a density. `engine` evaluates the sample, and
/// `num_rows` is the number of all rows.
std::vector<double> near_mode(const Target& target, LikelihoodEngine& engine, std::span<const double> starts,
                              double num_rows) {
  constexpr std::size_t kMostStarts = 64;
  constexpr double kFirstWidth = 0.1;
  const auto sampled = static_cast<double>(engine.num_rows());
  Posterior posterior(target, engine, sampled > 0 ? num_rows / sampled : 1);
  std::vector<double> start = best_of(target, posterior, starts, kMostStarts);
  if (start.empty()) return start;
  Climb climb(posterior, start, std::vector<double>(start.size(), kFirstWidth));
  climb.climb(kClimb);
  std::vector<double> found = climb.point();
  found.insert(found.end(), climb.width().begin(), climb.width().end());
  return found;
}

void compare(PrecisionError& error, const std::array<double, 2>& exact, const std::array<double, 2>& mixed) {
  if (!std::isfinite(exact[0]) || !std::isfinite(exact[1])) return;
  ++error.num_pairs;
  const double difference = (mixed[1] - exact[1]) - (mixed[0] - exact[0]);
  if (!std::isfinite(difference)) {
    ++error.num_not_finite;
    return;
  }
  error.rms += difference * difference;
  error.mean += std::abs(difference);
  error.largest = std::max(error.largest, std::abs(difference));
}

}  // namespace

PrecisionError measure_mixed_precision(const RunConfig& config, RunSetup& setup,
                                       std::span<const double> starts, Verbosity verbosity) {
  PrecisionError error;
  if (!setup.row_model || config.likelihood.precision != Precision::mixed ||
      setup.backend == Backend::reference || starts.empty())
    return error;
  if (num_row_devices(setup) > 1) return error;  // one GPU may not have room for all rows in float64
  error.is_measured = true;
  const MemoryPlan own = setup.engine->plan({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  error.fits = 2.5 * static_cast<double>(own.total()) < static_cast<double>(setup.device->free_bytes());
  if (!error.fits) return error;

  const DataSet& data = setup.loaded.data;
  const auto engine_of = [&](const DataSet& rows) {
    return make_engine(setup.backend, setup.row_model, Precision::float64, rows, *setup.device,
                       config.threads);
  };
  const std::vector<double> near =
      near_mode(*setup.target, *engine_of(sample_of(data, std::min(data.num_rows, kSample))), starts,
                static_cast<double>(data.num_rows));
  if (near.empty()) return error;
  const bool is_large = data.num_rows > kLarge;
  const std::size_t pairs = is_large ? 8 : 16, p = near.size() / 2;
  CountLine progress("mixed precision against float64: pairs of points", pairs, verbosity);
  const auto exact_engine = engine_of(data);
  Posterior exact(*setup.target, *exact_engine), mixed(*setup.target, *setup.engine);
  const auto middle = near.begin() + static_cast<std::ptrdiff_t>(p);
  Climb climb(exact, {near.begin(), middle}, {middle, near.end()});
  climb.climb(is_large ? kClimbOfLarge : kClimbOfAll);
  for (std::size_t i = 0; i < pairs; ++i) {
    const device::RandomSource random{config.sampler.seed, i, 0};
    std::vector<double> direction(p);
    for (std::size_t j = 0; j < p; ++j)
      direction[j] =
          climb.width()[j] * random.normal(device::Purpose::simulation, static_cast<device::u32>(j));
    const double half = half_step(exact, climb, direction);
    progress.add();
    if (!(half > 0)) continue;
    std::array<double, 2> of_exact{}, of_mixed{};
    for (const std::size_t side : {0, 1}) {
      const std::vector<double> point = moved(climb.point(), direction, side == 0 ? -half : half);
      of_exact[side] = exact.log_likelihood(point);
      of_mixed[side] = mixed.log_likelihood(point);
    }
    compare(error, of_exact, of_mixed);
  }
  progress.end();
  if (const auto finite = static_cast<double>(error.num_pairs - error.num_not_finite); finite > 0) {
    error.rms = std::sqrt(error.rms / finite);
    error.mean /= finite;
  }
  return error;
}

StartLines describe(const PrecisionError& error) {
  StartLines lines;
  if (!error.is_measured) return lines;
  const std::string advice = "; likelihood.precision: double has no such error";
  if (!error.fits) {
    lines.said.emplace_back(
        "mixed precision was not compared with float64: memory does not suffice for both");
  } else if (error.num_pairs == 0) {
    lines.said.emplace_back(
        "mixed precision was not compared with float64: near the starts no two neighbouring points have a "
        "finite density");
  } else if (error.num_not_finite > 0) {
    lines.warned.push_back(
        fmt::format("likelihood.precision: mixed: the log density is not finite in {} of {} pairs of points "
                    "where float64's is{}",
                    error.num_not_finite, error.num_pairs, advice));
  } else {
    const std::string measured = fmt::format(
        "differences of log densities a step apart are off by {:.1e} RMS, {:.1e} at most, from float64's "
        "({} pairs near the best start)",
        error.rms, error.largest, error.num_pairs);
    if (error.rms > kMostRms || error.largest > kMostLargest)
      lines.warned.push_back(
          fmt::format("likelihood.precision: mixed: {}; more than {} RMS changes the posterior{}, and "
                      "columns nearer to 0, or in other units, have a smaller one",
                      measured, kMostRms, advice));
    else
      lines.said.push_back(
          fmt::format("mixed precision: {}: at most {:.0f} of 10,000 decisions to accept differ", measured,
                      std::ceil(1e4 * error.mean)));
  }
  return lines;
}

nlohmann::ordered_json to_json(const PrecisionError& error) {
  if (!error.is_measured) return nullptr;
  return {{"pairs", error.num_pairs},
          {"not_finite", error.num_not_finite},
          {"rms", error.rms},
          {"largest", error.largest},
          {"mean", error.mean}};
}

}  // namespace emomc::app
