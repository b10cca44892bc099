#include "distributions.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include "emomc/core/von_mises.hpp"

namespace emomc::expression {
namespace {

constexpr double kMostCounts = 1e15;  // above this, float64 and the library's integers lose counts

double uniform(RandomBits& random) { return (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52; }

double normal(RandomBits& random) {
  const double radius = std::sqrt(-2 * std::log(uniform(random)));
  return radius * std::cos(2 * M_PI * uniform(random));
}

double gamma(double shape, double rate, RandomBits& random) {
  if (!(shape > 0 && rate > 0)) return NAN;
  return std::gamma_distribution<double>(shape, 1)(random) / rate;
}

double poisson(double mean, RandomBits& random) {
  if (!(mean >= 0 && mean < kMostCounts)) return NAN;
  return mean == 0 ? 0 : static_cast<double>(std::poisson_distribution<long>(mean)(random));
}

double binomial(double size, double p, RandomBits& random) {
  if (!(size >= 0 && size < kMostCounts && std::floor(size) == size && p >= 0 && p <= 1)) return NAN;
  return static_cast<double>(std::binomial_distribution<long>(static_cast<long>(size), p)(random));
}

double beta(double a, double b, RandomBits& random) {
  const double x = gamma(a, 1, random), y = gamma(b, 1, random);
  return x / (x + y);
}

double inv_logit(double x) { return 1 / (1 + std::exp(-x)); }

double von_mises(double mu, double kappa, RandomBits& random) {
  if (!(kappa >= 0) || !std::isfinite(mu)) return NAN;
  return angle_about(0, mu + draw_von_mises(
                                 kappa, [&] { return uniform(random); }, [&] { return normal(random); }));
}

double negative_binomial(double mean, double shape, RandomBits& random) {
  if (!(mean > 0 && shape > 0)) return NAN;
  return poisson(gamma(shape, shape / mean, random), random);
}

double skew_normal(double location, double scale, double alpha, RandomBits& random) {
  const double delta = alpha / std::sqrt(1 + alpha * alpha), first = std::abs(normal(random));
  return location + scale * (delta * first + std::sqrt(1 - delta * delta) * normal(random));
}

double positive(double x) { return x > 0 && std::isfinite(x) ? x : NAN; }

}  // namespace

double angle_about(double middle, double x) {
  constexpr double kPi = std::numbers::pi;
  const double angle = middle + std::remainder(x - middle, 2 * kPi);
  return angle >= middle + kPi ? middle - kPi : angle;
}

const std::vector<DistributionInfo>& distributions() {
  static const std::vector<DistributionInfo> all{
#define EMOMC_INFO(name, count) {#name, count},
      EMOMC_EXPRESSION_DISTRIBUTIONS(EMOMC_INFO)
#undef EMOMC_INFO
  };
  return all;
}

double draw(Distribution distribution, const double* a, RandomBits& random) {
  switch (distribution) {
    case Distribution::bernoulli_:
      return binomial(1, a[0], random);
    case Distribution::bernoulli_logit_:
      return binomial(1, inv_logit(a[0]), random);
    case Distribution::beta_:
      return beta(a[0], a[1], random);
    case Distribution::beta_binomial_:
      return binomial(a[0], beta(a[1], a[2], random), random);
    case Distribution::binomial_:
      return binomial(a[0], a[1], random);
    case Distribution::binomial_logit_:
      return binomial(a[0], inv_logit(a[1]), random);
    case Distribution::cauchy_:
      return a[0] + positive(a[1]) * std::tan(M_PI * (uniform(random) - 0.5));
    case Distribution::chi_square_:
      return gamma(a[0] / 2, 0.5, random);
    case Distribution::double_exponential_: {
      const double u = uniform(random) - 0.5;
      return a[0] - positive(a[1]) * std::copysign(std::log1p(-2 * std::abs(u)), u);
    }
    case Distribution::exponential_:
      return -std::log(uniform(random)) / positive(a[0]);
    case Distribution::gamma_:
      return gamma(a[0], a[1], random);
    case Distribution::gumbel_:
      return a[0] - positive(a[1]) * std::log(-std::log(uniform(random)));
    case Distribution::inv_gamma_:
      return positive(a[1]) / gamma(a[0], 1, random);
    case Distribution::logistic_: {
      const double u = uniform(random);
      return a[0] + positive(a[1]) * (std::log(u) - std::log1p(-u));
    }
    case Distribution::lognormal_:
      return std::exp(a[0] + positive(a[1]) * normal(random));
    case Distribution::neg_binomial_:
      return poisson(gamma(a[0], a[1], random), random);
    case Distribution::neg_binomial_2_:
      return negative_binomial(a[0], a[1], random);
    case Distribution::neg_binomial_2_log_:
      return negative_binomial(std::exp(a[0]), a[1], random);
    case Distribution::normal_:
      return a[0] + positive(a[1]) * normal(random);
    case Distribution::pareto_:
      return positive(a[0]) * std::pow(uniform(random), -1 / positive(a[1]));
    case Distribution::poisson_:
      return poisson(a[0], random);
    case Distribution::poisson_log_:
      return poisson(std::exp(a[0]), random);
    case Distribution::rayleigh_:
      return positive(a[0]) * std::sqrt(-2 * std::log(uniform(random)));
    case Distribution::skew_normal_:
      return skew_normal(a[0], positive(a[1]), a[2], random);
    case Distribution::student_t_: {
      const double z = normal(random);
      return a[1] + positive(a[2]) * z / std::sqrt(gamma(a[0] / 2, a[0] / 2, random));
    }
    case Distribution::uniform_:
      return a[0] < a[1] ? a[0] + (a[1] - a[0]) * uniform(random) : NAN;
    case Distribution::von_mises_:
      return von_mises(a[0], a[1], random);
    case Distribution::weibull_:
      return positive(a[1]) * std::pow(-std::log(uniform(random)), 1 / positive(a[0]));
  }
  return NAN;
}

}  // namespace emomc::expression
