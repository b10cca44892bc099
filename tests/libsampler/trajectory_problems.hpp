// Posteriors for gradient samplers from which exact draws are possible.
#pragma once

#include <functional>
#include <ostream>

#include "trajectory_chains.hpp"

namespace emomc::testing {

struct ExactProblem {
  std::string name;
  TrajectoryProblem problem;
  FixedMetric metric;
  /// Writes an exact draw of u for a chain, made from standard normal and uniform numbers.
  std::function<void(const device::RandomSource&, double* u)> draw;
};

inline void PrintTo(const ExactProblem& exact, std::ostream* out) { *out << exact.name; }

inline double normal_number(const device::RandomSource& random, device::u32 i) {
  return random.normal(device::Purpose::simulation, i);
}

/// The sd of a wide prior, whose log density and gradient the likelihoods below take back.
inline constexpr double kWide = 50;
inline double without_prior(int n, const double* x, double* gradient) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += 0.5 * x[i] * x[i] / (kWide * kWide);
    if (gradient) gradient[i] = x[i] / (kWide * kWide);
  }
  return sum;
}

/// Returns two correlated normal coordinates with sds 1 and 3, and a third, independent one with sd 0.5.
inline ExactProblem correlated_normal(const FixedMetric& metric) {
  constexpr double kRho = 0.8, kSd[] = {1, 3, 0.5};
  const auto log_density = [=](int, const double* x, double* gradient) {
    const double value = without_prior(3, x, gradient);
    const double a = x[0] / kSd[0], b = x[1] / kSd[1], c = x[2] / kSd[2], rest = 1 - kRho * kRho;
    if (gradient) {
      gradient[0] -= (a - kRho * b) / rest / kSd[0];
      gradient[1] -= (b - kRho * a) / rest / kSd[1];
      gradient[2] -= c / kSd[2];
    }
    return value - 0.5 * (a * a - 2 * kRho * a * b + b * b) / rest - 0.5 * c * c;
  };
  return {"correlated_normal",
          {real_target(3, kWide), log_density},
          metric,
          [=](const device::RandomSource& random, double* u) {
            const double a = normal_number(random, 0);
            u[0] = kSd[0] * a;
            u[1] = kSd[1] * (kRho * a + std::sqrt(1 - kRho * kRho) * normal_number(random, 1));
            u[2] = kSd[2] * normal_number(random, 2);
          }};
}

/// Returns a density in which x_0 is standard normal and x_1 is normal(x_0^2 - 1, 0.5).
inline ExactProblem banana() {
  const auto log_density = [](int, const double* x, double* gradient) {
    const double value = without_prior(2, x, gradient);
    const double z = (x[1] - x[0] * x[0] + 1) / 0.5;
    if (gradient) {
      gradient[0] += -x[0] + z * 2 * x[0] / 0.5;
      gradient[1] += -z / 0.5;
    }
    return value - 0.5 * x[0] * x[0] - 0.5 * z * z;
  };
  return {"banana",
          {real_target(2, kWide), log_density},
          {0.2},
          [](const device::RandomSource& random, double* u) {
            u[0] = normal_number(random, 0);
            u[1] = u[0] * u[0] - 1 + 0.5 * normal_number(random, 1);
          }};
}

/// Returns Neal's funnel, flattened: v is normal(0, 1), and the others are normal(0, exp(v / 2)).
inline ExactProblem funnel() {
  const auto log_density = [](int, const double* x, double* gradient) {
    double value = without_prior(3, x, gradient) - 0.5 * x[0] * x[0];
    if (gradient) gradient[0] -= x[0];
    const double precision = std::exp(-x[0]);
    for (int i = 1; i < 3; ++i) {
      value -= 0.5 * x[i] * x[i] * precision + 0.5 * x[0];
      if (gradient) {
        gradient[0] += 0.5 * x[i] * x[i] * precision - 0.5;
        gradient[i] -= x[i] * precision;
      }
    }
    return value;
  };
  return {"funnel",
          {real_target(3, kWide), log_density},
          {0.5},
          [](const device::RandomSource& random, double* u) {
            u[0] = normal_number(random, 0);
            for (device::u32 i = 1; i < 3; ++i) u[i] = std::exp(u[0] / 2) * normal_number(random, i);
          }};
}

/// Returns Student's t with 5 degrees of freedom in two coordinates.
inline ExactProblem heavy_tails() {
  constexpr double kDf = 5;
  const auto log_density = [](int, const double* x, double* gradient) {
    double value = without_prior(2, x, gradient);
    for (int i = 0; i < 2; ++i) {
      value -= 0.5 * (kDf + 1) * std::log1p(x[i] * x[i] / kDf);
      if (gradient) gradient[i] -= (kDf + 1) * x[i] / (kDf + x[i] * x[i]);
    }
    return value;
  };
  return {"heavy_tails",
          {real_target(2, kWide), log_density},
          {0.8},
          [](const device::RandomSource& random, double* u) {
            for (device::u32 i = 0; i < 2; ++i) {
              double squares = 0;
              for (device::u32 j = 1; j <= 5; ++j)
                squares += std::pow(normal_number(random, 10 * (i + 1) + j), 2);
              u[i] = normal_number(random, i) / std::sqrt(squares / kDf);
            }
          }};
}

/// Returns a simplex, positive parameters with a floor, and ordered ones, all distributed as their prior.
inline ExactProblem constrained() {
  PriorSet prior = mixture_prior();
  prior.order = "means";
  const Target target(mixture_layout(3, 1), prior, std::vector<double>(1, 1.0));
  const auto nothing = [dim = target.dim()](int, const double*, double* gradient) {
    if (gradient) std::fill_n(gradient, dim, 0.0);
    return 0.0;
  };
  return {"constrained", {target, nothing}, {0.5}, [target](const device::RandomSource& random, double* u) {
            const auto theta = target.draw_from_prior(random.seed, random.chain, random.step);
            target.unconstrain(theta, {u, static_cast<std::size_t>(target.dim_unconstrained())});
          }};
}

}  // namespace emomc::testing
