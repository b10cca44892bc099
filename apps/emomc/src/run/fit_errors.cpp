#include "fit_errors.hpp"

#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/laplace.hpp"
#include "run_config_prior.hpp"

namespace emomc::app {
namespace {

// The difference is small enough for third derivatives not to matter, and large enough for the rounding of a
// log likelihood of 1e6 rows.
constexpr LaplaceOptions kPrecise{.difference = 0.05, .least_increase = 1e-6};

}  // namespace

FitObjective::FitObjective(const RunConfig& config, const RunSetup& setup, bool with_prior)
    : setup_(setup),
      host_(make_device(Backend::cpu)),
      engine_(make_engine(Backend::cpu, setup.model, Precision::float64, setup.loaded.data, *host_,
                          config.threads)),
      target_(setup.target.get()),
      with_prior_(with_prior),
      sums_(engine_->num_segments()) {
  if (!with_prior_) {
    flat_ =
        std::make_unique<Target>(engine_->layout(), default_prior(config.likelihood), setup.loaded.column_sd);
    target_ = flat_.get();
  }
  theta_.resize(static_cast<std::size_t>(target_->dim()));
}

double FitObjective::at(std::span<const double> u) {
  target_->constrain(u, theta_);
  engine_->sums_by_segment(theta_.data(), 1, sums_.data());
  double total = with_prior_ ? target_->log_prior(theta_) : 0;
  for (const double sum : sums_) total += sum;
  return std::isfinite(total) ? total : -std::numeric_limits<double>::infinity();
}

std::vector<double> FitObjective::polished(const std::vector<double>& theta) {
  std::vector<double> u(static_cast<std::size_t>(target_->dim_unconstrained()));
  try {
    target_->unconstrain(theta, u);
  } catch (const InputError&) {  // theta is on a bound
    return theta;
  }
  const double before = at(u);
  const Laplace top = laplace_at([this](std::span<const double> point) { return at(point); }, u, kPrecise);
  if (!(top.log_density > before)) return theta;
  std::vector<double> result(theta.size());
  target_->constrain(top.u, result);
  return result;
}

FitObjective::Errors FitObjective::errors_at(const std::vector<double>& theta, double most_work) {
  const auto n = static_cast<std::size_t>(target_->dim_unconstrained());
  const double work = laplace_evaluations(Curvature::full, static_cast<int>(n)) *
                      static_cast<double>(engine_->num_rows()) * static_cast<double>(target_->dim());
  if (most_work > 0 && work > most_work)
    return {{}, "a Hessian of so many rows and parameters takes long; --errors computes it"};
  std::vector<double> u(n);
  try {
    target_->unconstrain(theta, u);
  } catch (const InputError&) {
    return {{}, "the fit is on the bound of a parameter"};
  }
  const Laplace top = laplace_at([this](std::span<const double> point) { return at(point); }, u, kPrecise);
  if (!top.is_maximum)
    return {
        {},
        "the Hessian is not positive definite: along some direction the objective does not fall, or hardly"};
  const auto written = [&](const std::vector<double>& point) {
    std::vector<double> values(theta.size());
    target_->constrain(point, values);
    to_data_units(engine_->layout(), setup_.loaded.units, values);
    to_written(engine_->layout(), values);
    return values;
  };
  // The Jacobian is computed by central differences over a tenth of a standard error.
  std::vector<std::vector<double>> jacobian;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> point = top.u;
    const double step = 0.1 * top.sd[i];
    point[i] = top.u[i] + step;
    std::vector<double> slope = written(point);
    point[i] = top.u[i] - step;
    const std::vector<double> below = written(point);
    for (std::size_t p = 0; p < slope.size(); ++p) slope[p] = (slope[p] - below[p]) / (2 * step);
    jacobian.push_back(std::move(slope));
  }
  Errors result;
  for (std::size_t p = 0; p < theta.size(); ++p) {
    double variance = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        variance += jacobian[i][p] * top.covariance[i * n + j] * jacobian[j][p];
    result.standard_errors.push_back(std::sqrt(std::max(variance, 0.0)));
  }
  return result;
}

}  // namespace emomc::app
