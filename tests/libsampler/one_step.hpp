// One step of a proposal from exact draws of the target. By detailed balance the pair (x, y), where x is from
// the target and y is the state after one block, is exchangeable; a step of several blocks leaves the target
// invariant.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <optional>
#include <vector>

#include "emomc/device/metropolis.hpp"
#include "ensemble.hpp"
#include "mixture_target.hpp"

namespace emomc::testing {

using namespace device;

// A proposal of the test, with one phase or several.
template <class... P>
struct Of {
  static constexpr const char* name = "of_this_test";
  static constexpr device::ShapeLearning learning = device::ShapeLearning::as_asked;
  using Phases = device::Schedule<P...>;
};
enum class Break { nothing, jacobian, second_try };

struct Statistics {
  double worst_exchange = 0;    ///< |z| of E f(x) g(y) - g(x) f(y), largest over pairs
  double worst_stationary = 0;  ///< |z| of E f(y) - f(x), largest over functions
  double acceptance = 0;
};

// Returns functions of u, label-free and others, whose expectations change with a wrong kernel.
inline std::vector<double> features(const double* u, int n) {
  std::vector<double> f;
  for (int i = 0; i < n; ++i) {
    f.push_back(u[i]);
    f.push_back(u[i] * u[i]);
  }
  return f;
}

inline constexpr int kWholeStep = -1;

// Moves exact draws of the prior, which is the target (the likelihood is flat), by one block or by a step.
template <class Proposal>
Statistics one_step(const Target& target, IncrementShape shape, int block, Break broken = Break::nothing,
                    int rounds = 10, std::optional<double> log_scale = std::nullopt) {
  const auto device = make_host_device();
  ProposalBlocks blocks = plan_blocks(traits_of<Proposal>(), static_cast<ProposalShape>(shape), target);
  constexpr int num_chains = 4000;
  std::vector<ChainPlan> plans;
  for (std::uint64_t c = 0; c < num_chains; ++c) plans.push_back({c, {0}, 1.0, 0});
  Ensemble ensemble(*device, {&target, 1}, blocks, plans, 99, {1});
  const StepView& view = ensemble.view();
  std::vector<double> adapted(static_cast<std::size_t>(view.adapted_layout.size()), 0.8);
  for (int b = 0; b < view.num_blocks; ++b)
    adapted[static_cast<std::size_t>(b)] = log_scale.value_or(-0.7 + 0.1 * b);
  if (blocks.traits.is_fitted()) {
    // The fit is a t about (0.2, 0.2, ...) with 0.8 in every element of L on and below the diagonal.
    const int n = target.dim_unconstrained();
    Eigen::MatrixXd lower = Eigen::MatrixXd::Constant(n, n, 0.8).triangularView<Eigen::Lower>();
    double* fitted = adapted.data() + view.adapted_layout.fitted();
    Eigen::Map<Eigen::MatrixXd>(fitted, n, n) = lower.inverse();
    std::fill_n(fitted + n * n, n, 0.2);
    fitted[n * n + n] = 1;
  }
  ensemble.upload_adapted(adapted);

  const int dim_u = target.dim_unconstrained();
  const auto num_features = static_cast<std::size_t>(2 * dim_u);
  std::vector<double> exchange(num_features * num_features), exchange_square(exchange);
  std::vector<double> shift(num_features), shift_square(num_features);
  double accepted = 0, total = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> u(static_cast<std::size_t>(num_chains * dim_u));
    for (int c = 0; c < num_chains; ++c)
      target.unconstrain(
          target.draw_from_prior(5, static_cast<std::uint32_t>(c), static_cast<std::uint64_t>(round)),
          {u.data() + c * dim_u, static_cast<std::size_t>(dim_u)});
    ensemble.upload_points(u, {&target, 1});
    ensemble.upload_step(round);
    // A whole step is made if its blocks depend on one another.
    const bool whole = blocks.apart || block == kWholeStep;
    const int first = whole ? 0 : block, last = whole ? view.num_blocks - 1 : block;
    for (int b = first; b <= last; ++b) {
      for (int c = 0; c < num_chains; ++c) {
        transition<Proposal>(HostTeam{}, view, c, kNoBlock, b);
        view.candidate.log_likelihood[c] = 0;
        if (broken == Break::jacobian) view.candidate.log_jacobian[c] = view.current.log_jacobian[c] = 0;
      }
      for (int c = 0; c < num_chains; ++c) {
        if (broken == Break::second_try) view.first_density[c] = -kInfinity;
        transition<Proposal>(HostTeam{}, view, c, b, kNoBlock);
        accepted += view.accepted[c];
      }
    }
    for (int c = 0; c < num_chains; ++c) {
      const auto fx = features(u.data() + c * dim_u, dim_u);
      const auto fy = features(view.current.u + static_cast<std::ptrdiff_t>(c) * view.ld_u, dim_u);
      for (std::size_t i = 0; i < num_features; ++i) {
        shift[i] += fy[i] - fx[i];
        shift_square[i] += (fy[i] - fx[i]) * (fy[i] - fx[i]);
        for (std::size_t j = i + 1; j < num_features; ++j) {
          const double e = fx[i] * fy[j] - fx[j] * fy[i];
          exchange[i * num_features + j] += e;
          exchange_square[i * num_features + j] += e * e;
        }
      }
      total += 1;
    }
  }
  Statistics statistics;
  statistics.acceptance = accepted / total;
  for (std::size_t i = 0; i < num_features; ++i) {
    if (shift_square[i] > 0)
      statistics.worst_stationary =
          std::max(statistics.worst_stationary, std::abs(shift[i]) / std::sqrt(shift_square[i]));
    for (std::size_t j = i + 1; j < num_features; ++j)
      if (const double square = exchange_square[i * num_features + j]; square > 0)
        statistics.worst_exchange =
            std::max(statistics.worst_exchange, std::abs(exchange[i * num_features + j]) / std::sqrt(square));
  }
  return statistics;
}

inline Target small_target() {
  const std::vector<double> sd(1, 1.0);
  return Target(mixture_layout(2, 1), mixture_prior(), sd);
}

}  // namespace emomc::testing
