// Hamiltonian Monte Carlo (Neal 2011, "MCMC using Hamiltonian dynamics") of several chains at a time, whose
// densities are evaluated together.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>

namespace emomc {

struct HmcSampling {
  int num_chains = 4, warmup = 150, draws = 500;  ///< steps of each chain
  double temperature = 1;                         ///< draws are from the density to the power 1 / temperature
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  ///< chains of different streams are independent
};

/// A density of points, each of which is a matrix.
struct HmcTarget {
  /// `points`: the chains' points side by side, rows x (chains * columns). Writes the log density of each, up
  /// to a constant, and the gradients in the shape of `points`.
  std::function<void(const Eigen::MatrixXd& points, Eigen::VectorXd& log_density, Eigen::MatrixXd& gradient)>
      evaluate;
  Eigen::MatrixXd start;      ///< rows x columns: chains begin at this plus a normal number / root_mass
  Eigen::MatrixXd root_mass;  ///< rows x columns: of each coordinate, at the temperature of the sampling
};

struct HmcTuning {
  /// Of a trajectory, in time: a quarter of the period of a direction whose curvature is the mass is 1.57,
  /// after which a draw from a normal distribution is independent of the one before; it varies since other
  /// directions have other periods.
  double shortest = 1.2, longest = 4;
  double acceptance = 0.8;   ///< that warm-up adapts the step size to
  double first_step = 0.3;   ///< step size at the beginning of warm-up
  bool adapts_mass = false;  ///< the mass becomes 1 / variance of warm-up's draws of all chains
};

/// Receives the draws: the numbers of chain and draw, and the point, rows x columns.
using HmcDraw = std::function<void(int chain, int draw, const Eigen::MatrixXd& point)>;

/// Calls `keep` with each draw and returns the mean acceptance over all steps after warm-up. Trajectories of
/// chains have the same length at each step; points and momenta are their own. `after_step`, if it is not
/// empty, is called after each step of all chains and may throw.
double sample_hmc(const HmcTarget& target, const HmcSampling& sampling, const HmcTuning& tuning,
                  const HmcDraw& keep, const std::function<void()>& after_step = {});

}  // namespace emomc
