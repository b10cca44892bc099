#include "hmc_chains.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A step of the integrator: kicks of the momenta, each followed by a drift of the points. This is the
// three-stage integrator of Blanes, Casas and Sanz-Serna (2014, "Numerical integrators for the hybrid Monte
// Carlo method"), which evaluates three gradients in a step. In many dimensions it needs fewer gradients than
// the leapfrog at the same acceptance. It is reversible, since its stages are symmetric, and keeps volume.
struct Stage {
  double kick, drift;
};
constexpr double kKick = 0.11888010966548, kDrift = 0.29619504261126;
constexpr Stage kStagesOfStep[] = {
    {kKick, kDrift}, {0.5 - kKick, 1 - 2 * kDrift}, {0.5 - kKick, kDrift}, {kKick, 0}};

// The state of all chains: rows x (num_chains * columns), with the columns of a chain side by side.
class Chains {
 public:
  Chains(const HmcTarget& target, const HmcSampling& sampling, const HmcTuning& tuning)
      : target_(target),
        sampling_(sampling),
        tuning_(tuning),
        power_(1 / sampling.temperature),
        columns_(target.start.cols()) {
    set_root_mass(target.root_mass);
    points_ = target.start.replicate(1, sampling.num_chains);
    MatrixXd noise(points_.rows(), points_.cols());
    fill_normal(0, device::Purpose::start, noise);
    points_.array() += noise.array() / root_mass_.array();
    evaluate(points_, values_, gradients_);
  }

  /// Runs a trajectory of every chain and returns the mean acceptance.
  double step(std::uint64_t number, double step_size) {
    MatrixXd momenta(points_.rows(), points_.cols());
    fill_normal(number, device::Purpose::momentum, momenta);
    momenta.array() *= root_mass_.array();
    const device::RandomSource random{sampling_.seed, number, stream(0)};
    const double time =
        tuning_.shortest + (tuning_.longest - tuning_.shortest) * random.uniform(device::Purpose::length, 0);
    const int steps = static_cast<int>(std::min(1e6, std::ceil(time / step_size)));
    const double length = time / steps;
    MatrixXd points = points_, gradients = gradients_, end = momenta;
    VectorXd values;
    for (int i = 0; i < steps; ++i)
      for (const Stage& stage : kStagesOfStep) {
        end += stage.kick * length * gradients;
        if (stage.drift == 0) continue;
        points.array() += stage.drift * length * end.array() * inverse_mass_.array();
        evaluate(points, values, gradients);
      }
    double sum = 0;
    for (int chain = 0; chain < sampling_.num_chains; ++chain) {
      const auto block = [&](auto& matrix) { return matrix.middleCols(chain * columns_, columns_); };
      const double change = values(chain) - values_(chain) - kinetic(end, chain) + kinetic(momenta, chain);
      const double acceptance = std::isfinite(change) ? std::min(1.0, std::exp(change)) : 0;
      sum += acceptance;
      const device::RandomSource of_chain{sampling_.seed, number, stream(chain)};
      if (!(of_chain.uniform(device::Purpose::acceptance, 0) < acceptance)) continue;
      block(points_) = block(points);
      block(gradients_) = block(gradients);
      values_(chain) = values(chain);
    }
    return sum / sampling_.num_chains;
  }

  MatrixXd point(int chain) const { return points_.middleCols(chain * columns_, columns_); }

  /// `root`: rows x columns
  void set_root_mass(const MatrixXd& root) {
    root_mass_ = root.replicate(1, sampling_.num_chains);
    inverse_mass_ = root_mass_.cwiseAbs2().cwiseInverse();
  }

 private:
  std::uint32_t stream(int chain) const {
    return sampling_.stream * static_cast<std::uint32_t>(sampling_.num_chains) +
           static_cast<std::uint32_t>(chain);
  }
  double kinetic(const MatrixXd& momenta, int chain) const {
    const Eigen::Index first = chain * columns_;
    return 0.5 * (momenta.middleCols(first, columns_).array().square() *
                  inverse_mass_.middleCols(first, columns_).array())
                     .sum();
  }
  void evaluate(const MatrixXd& points, VectorXd& values, MatrixXd& gradients) const {
    target_.evaluate(points, values, gradients);
    values *= power_;
    gradients *= power_;
  }
  void fill_normal(std::uint64_t number, device::Purpose purpose, MatrixXd& to) const {
    const Eigen::Index per_chain = to.rows() * columns_;
    for (int chain = 0; chain < sampling_.num_chains; ++chain) {
      const device::RandomSource random{sampling_.seed, number, stream(chain)};
      double* first = to.data() + chain * per_chain;
      for (Eigen::Index i = 0; i < per_chain; i += 2) {
        const device::NormalPair pair = random.normal_pair(purpose, static_cast<std::uint32_t>(i / 2));
        first[i] = pair.even;
        if (i + 1 < per_chain) first[i + 1] = pair.odd;
      }
    }
  }

  const HmcTarget& target_;
  HmcSampling sampling_;
  HmcTuning tuning_;
  double power_;
  Eigen::Index columns_;
  MatrixXd root_mass_, inverse_mass_;  // of the same shape as points_
  MatrixXd points_, gradients_;
  VectorXd values_;
};

// Mean and sum of squares of points, coordinate by coordinate (Welford 1962).
class Moments {
 public:
  void add(const MatrixXd& point) {
    if (count_++ == 0) {
      mean_ = point;
      squares_ = MatrixXd::Zero(point.rows(), point.cols());
      return;
    }
    const MatrixXd change = point - mean_;
    mean_ += change / count_;
    squares_.array() += change.array() * (point - mean_).array();
  }
  /// The variance, shrunk towards `before` with the weight of ten points.
  MatrixXd variance(const MatrixXd& before) const {
    constexpr double kPoints = 10;
    return (squares_ + kPoints * before) / (std::max(count_, 1) - 1 + kPoints);
  }

 private:
  int count_ = 0;
  MatrixXd mean_, squares_;
};

// The warm-up step after which the mass is adapted for the time `window` (1, 2 or 3). Each adaptation uses
// the points since the previous time.
int end_of_window(int warmup, int window) { return warmup * window / 4 - 1; }

// Runs the warm-up and returns the step size.
double warm_up(Chains& chains, const HmcTarget& target, const HmcSampling& sampling, const HmcTuning& tuning,
               const std::function<void()>& after_step) {
  double log_step = std::log(tuning.first_step), late_sum = 0;
  int late = 0, since = 0, window = 1;
  Moments moments;
  for (int i = 0; i < sampling.warmup; ++i) {
    const double acceptance = chains.step(static_cast<std::uint64_t>(i) + 1, std::exp(log_step));
    log_step += (acceptance - tuning.acceptance) / std::sqrt(1.0 + i - since);
    if (after_step) after_step();
    if (tuning.adapts_mass && window < 4) {
      for (int chain = 0; chain < sampling.num_chains; ++chain) moments.add(chains.point(chain));
      if (i < end_of_window(sampling.warmup, window)) continue;
      if (++window == 2) {  // at the first points the chains have not settled
        moments = {};
        continue;
      }
      chains.set_root_mass(
          moments.variance(target.root_mass.cwiseAbs2().cwiseInverse()).cwiseSqrt().cwiseInverse());
      moments = {};
      since = i;
      continue;
    }
    if (2 * i < sampling.warmup) continue;
    late_sum += log_step;
    ++late;
  }
  return std::exp(late > 0 ? late_sum / late : log_step);
}

}  // namespace

double sample_hmc(const HmcTarget& target, const HmcSampling& sampling, const HmcTuning& tuning,
                  const HmcDraw& keep, const std::function<void()>& after_step) {
  Chains chains(target, sampling, tuning);
  const double step_size = warm_up(chains, target, sampling, tuning, after_step);
  double mean_acceptance = 0;
  for (int i = 0; i < sampling.draws; ++i) {
    mean_acceptance +=
        chains.step(static_cast<std::uint64_t>(sampling.warmup) + i + 1, step_size) / sampling.draws;
    for (int chain = 0; chain < sampling.num_chains; ++chain) keep(chain, i, chains.point(chain));
    if (after_step) after_step();
  }
  return mean_acceptance;
}

}  // namespace emomc
