#include "emomc/posterior/gradient_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/posterior/row_team.hpp"

namespace emomc {
namespace {

// Maximum numbers of compared coordinates, and of rows evaluated for them; these take fractions of a second.
constexpr std::size_t kMostCompared = 50, kMostRows = 100'000'000, kMostRowsOfReference = 1'000'000;
constexpr std::size_t kEvaluations = 24;  // approximate number of evaluations per coordinate
constexpr double kStep = 1e-3;            // in units of u, for which a change by 1 is large
constexpr double kRelative = 1e-5;        // relative to the derivative
constexpr double kRounding = 1e-14;       // relative to the log density

double log_density(const Target& target, LikelihoodEngine& engine, std::span<const double> u,
                   std::vector<double>& theta) {
  const device::PointDensities densities = target.constrain_with_prior(u, theta);
  double sum = 0;
  engine.sums_by_segment(theta.data(), 1, &sum);
  return sum + densities.log_prior + densities.log_jacobian;
}

}  // namespace

PosteriorGradient posterior_gradient(const Target& target, LikelihoodEngine& engine,
                                     std::span<const double> theta) {
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  target.unconstrain(theta, u);
  return posterior_gradient_at(target, engine, u);
}

PosteriorGradient posterior_gradient_at(const Target& target, LikelihoodEngine& engine,
                                        std::span<const double> u) {
  PosteriorGradient at;
  if (auto* team = dynamic_cast<RowTeam*>(&engine)) {
    team->together([&](LikelihoodEngine& of_rank, Communicator& ranks) {
      PosteriorGradient same = posterior_gradient_at(target, of_rank, u);
      if (ranks.rank() == 0) at = std::move(same);
    });
    return at;
  }
  at.u.assign(u.begin(), u.end());
  at.theta.resize(static_cast<std::size_t>(target.dim()));
  const device::PointDensities densities = target.constrain_with_prior(at.u, at.theta);
  at.log_prior = densities.log_prior;
  at.log_jacobian = densities.log_jacobian;
  const int dim = engine.layout().dim();
  engine.allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  engine.allocate_gradients();
  DeviceArray<double> point(engine.device(), static_cast<std::size_t>(dim)), value(engine.device(), 1),
      gradient(engine.device(), static_cast<std::size_t>(dim));
  point.upload({at.theta.begin(), at.theta.begin() + dim});
  engine.evaluate_with_gradient({1, dim, dim, point.data(), value.data()}, {gradient.data(), dim},
                                {nullptr, 1});
  at.log_likelihood = value.download()[0];
  at.likelihood_gradient = gradient.download();
  at.gradient.resize(at.u.size());
  target.gradient(at.u, at.theta, at.likelihood_gradient, 1, at.gradient);
  return at;
}

GradientCheck check_gradient(const Target& target, LikelihoodEngine& engine, std::span<const double> theta) {
  GradientCheck check;
  if (!engine.capabilities().gradient) return check;
  const PosteriorGradient at = posterior_gradient(target, engine, theta);
  const double value = at.log_likelihood + at.log_prior + at.log_jacobian;
  if (!std::isfinite(value)) return check;
  check.is_done = true;
  std::vector<double> point(at.theta.size()), u = at.u;
  const std::size_t most_rows = engine.name() == "reference" ? kMostRowsOfReference : kMostRows;
  const std::size_t most = std::clamp<std::size_t>(
      most_rows / (kEvaluations * std::max<std::size_t>(1, engine.num_rows())), 1, kMostCompared);
  const std::size_t n = u.size(), stride = std::max<std::size_t>(1, (n + most - 1) / most);
  for (std::size_t i = 0; i < n; i += stride) {
    const auto slope = [&](double step) {
      u[i] = at.u[i] + step;
      const double up = log_density(target, engine, u, point);
      u[i] = at.u[i] - step;
      const double down = log_density(target, engine, u, point);
      u[i] = at.u[i];
      return (up - down) / (2 * step);
    };
    // If the density is narrow in a coordinate, shorter steps are needed. The error is the smallest change
    // between two extrapolations.
    double best = 0, error = INFINITY, step = kStep;
    for (int k = 0; k < 5; ++k, step /= 4) {
      const double coarse = slope(2 * step), fine = slope(step), extrapolated = (4 * fine - coarse) / 3;
      const double change = std::abs(extrapolated - fine) + kRounding * std::abs(value) / step;
      if (change < error) error = change, best = extrapolated;
    }
    const double bound = kRelative * std::abs(best) + 10 * error + 1e-8;
    const double ratio = std::abs(at.gradient[i] - best) / bound;
    ++check.num_compared;
    if (!(ratio <= check.worst_ratio) || check.num_compared == 1) {
      check.worst = i;
      check.derivative = at.gradient[i];
      check.difference = best;
      check.bound = bound;
      check.worst_ratio = ratio;
    }
  }
  return check;
}

std::string describe(const GradientCheck& check) {
  if (!check.is_done) return "";
  if (check.agrees())
    return fmt::format(
        "gradient: at the first start its {} elements agree with differences of the log density",
        check.num_compared);
  return fmt::format(
      "gradient: at the first start element {} is {:.8g}, and differences of the log density give {:.8g}; a "
      "density with a kink there, or a defect of emomc",
      check.worst, check.derivative, check.difference);
}

nlohmann::ordered_json to_json(const GradientCheck& check) {
  return {{"compared", check.num_compared},
          {"agrees", check.agrees()},
          {"worst",
           {{"coordinate", check.worst},
            {"derivative", check.derivative},
            {"difference", check.difference},
            {"bound", check.bound}}}};
}

}  // namespace emomc
