// Hamiltonian Monte Carlo (Neal 2011, "MCMC using Hamiltonian dynamics") with several chains at once, whose
// densities are evaluated together.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>

namespace emomc {

struct HmcSampling {
  int num_chains = 4, warmup = 150, draws = 500;  ///< steps of each chain
  double temperature = 1;  ///< draws are from the density raised to the power 1 / temperature
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  ///< chains of different streams are independent
};

/// A density of points, each of which is a matrix.
struct HmcTarget {
  /// `points` are the chains' points side by side, rows x (chains * columns). Writes the log density of each
  /// point, up to a constant, and the gradients in the shape of `points`.
  std::function<void(const Eigen::MatrixXd& points, Eigen::VectorXd& log_density, Eigen::MatrixXd& gradient)>
      evaluate;
  /// Rows x columns: each chain starts at this plus standard normal numbers / root_mass.
  Eigen::MatrixXd start;
  /// Rows x columns: square root of the mass of each coordinate, at the temperature of the sampling.
  Eigen::MatrixXd root_mass;
};

struct HmcTuning {
  /// Range of the duration of a trajectory. A quarter of the period of a direction whose curvature equals the
  /// mass is 1.57; after that time a draw from a normal distribution is independent of the previous draw. The
  /// duration varies, since other directions have other periods.
  double shortest = 1.2, longest = 4;
  double acceptance = 0.8;   ///< acceptance to which warm-up adapts the step size
  double first_step = 0.9;   ///< step size, of three gradients, at the beginning of warm-up
  bool adapts_mass = false;  ///< whether the mass becomes 1 / variance of the warm-up draws of all chains
};

/// Receives each draw: the numbers of chain and draw, and the point, rows x columns.
using HmcDraw = std::function<void(int chain, int draw, const Eigen::MatrixXd& point)>;

/// Calls `keep` with each draw and returns the mean acceptance over all steps after the warm-up. In each
/// step, the trajectories of all chains have the same duration, in equal steps of at most the step size;
/// points and momenta differ. `after_step`, if it is not empty, is called after each step of all chains and
/// may throw.
double sample_hmc(const HmcTarget& target, const HmcSampling& sampling, const HmcTuning& tuning,
                  const HmcDraw& keep, const std::function<void()>& after_step = {});

}  // namespace emomc
