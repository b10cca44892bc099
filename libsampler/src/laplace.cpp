#include "emomc/sampler/laplace.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace emomc {
namespace {

constexpr int kStepSearches = 12, kNewtonSteps = 12, kHalvings = 8;
// Decreases of the log density: the search for a step length aims at kDrop and accepts the range from
// kLeastDrop to kMostDrop.
constexpr double kDrop = 0.1, kLeastDrop = 0.02, kMostDrop = 0.5;
constexpr double kLongest = 3.0;  // largest length of a Newton step, in conditional sds
constexpr double kLeastCurvature =
    1e-3;  // bound of eigenvalues of the negative Hessian, in units of conditional sds

class Climber {
 public:
  Climber(const LogDensityOfU& f, std::span<const double> u, double difference)
      : f_(f), difference_(difference), u_(u.begin(), u.end()), here_(f(u)), scale_(u.size()) {
    for (std::size_t i = 0; i < u_.size(); ++i) find_scale(i);
  }

  double here() const { return here_; }
  const std::vector<double>& u() const { return u_; }
  const std::vector<double>& scale() const { return scale_; }

  // Returns negative second differences in units of scale_; also computes the slope.
  Eigen::MatrixXd curvature(Eigen::VectorXd& slope) {
    const auto n = static_cast<Eigen::Index>(u_.size());
    Eigen::VectorXd up(n), down(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      up[i] = at({{i, difference_}});
      down[i] = at({{i, -difference_}});
    }
    slope = (up - down) / (2 * difference_);
    Eigen::MatrixXd h(n, n);
    const double square = difference_ * difference_;
    for (Eigen::Index i = 0; i < n; ++i) {
      h(i, i) = -(up[i] + down[i] - 2 * here_) / square;
      for (Eigen::Index j = 0; j < i; ++j) {
        const double both =
            at({{i, difference_}, {j, difference_}}) + at({{i, -difference_}, {j, -difference_}});
        h(i, j) = h(j, i) = -(both - up[i] - down[i] - up[j] - down[j] + 2 * here_) / (2 * square);
      }
    }
    return h;
  }

  // Moves to u + step * scale, or to a fraction of the step; returns whether the log density rose.
  bool move(Eigen::VectorXd step) {
    const double length = step.cwiseAbs().maxCoeff();
    if (length > kLongest) step *= kLongest / length;
    for (int halving = 0; halving < kHalvings; ++halving, step /= 2) {
      std::vector<double> next = u_;
      for (std::size_t i = 0; i < next.size(); ++i) next[i] += step[static_cast<Eigen::Index>(i)] * scale_[i];
      const double there = f_(next);
      if (!(there > here_)) continue;
      u_ = std::move(next);
      here_ = there;
      return true;
    }
    return false;
  }

  void rescale(const Eigen::MatrixXd& h) {
    for (std::size_t i = 0; i < scale_.size(); ++i) {
      const double c = h(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
      if (c > 0) scale_[i] /= std::sqrt(std::clamp(c, 0.04, 25.0));
    }
  }

 private:
  struct Move {
    Eigen::Index coordinate;
    double by;
  };
  double at(std::initializer_list<Move> moves) {
    std::vector<double> point = u_;
    for (const Move& m : moves) {
      const auto i = static_cast<std::size_t>(m.coordinate);
      point[i] += m.by * scale_[i];
    }
    const double value = f_(point);
    return std::isfinite(value) ? value : here_ - 10;
  }

  // Computes the sd of coordinate i given the others, from a step over which the log density falls by about
  // kDrop.
  void find_scale(std::size_t i) {
    double step = 0.03 * std::max(1.0, std::abs(u_[i])), drop = 0;
    std::vector<double> point = u_;
    for (int search = 0; search < kStepSearches; ++search) {
      point[i] = u_[i] + step;
      const double up = f_(point);
      point[i] = u_[i] - step;
      drop = here_ - 0.5 * (up + f_(point));
      if (drop >= kLeastDrop && drop <= kMostDrop) break;
      if (search + 1 == kStepSearches) break;
      const double factor = drop > 0 && std::isfinite(drop) ? std::sqrt(kDrop / drop) : drop > 0 ? 0.03 : 4.0;
      step *= std::clamp(factor, 0.003, 4.0);
    }
    scale_[i] = step / std::sqrt(2 * (drop > kLeastDrop && std::isfinite(drop) ? drop : kLeastDrop));
  }

  const LogDensityOfU& f_;
  double difference_;
  std::vector<double> u_;
  double here_;
  std::vector<double> scale_;
};

Laplace of(const Climber& climber, const Eigen::MatrixXd& h) {
  const auto n = static_cast<double>(climber.u().size());
  Laplace result{climber.u(), climber.here(), 0, climber.scale()};
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(h);
  const Eigen::VectorXd values = eigen.eigenvalues().cwiseMax(kLeastCurvature);
  double log_det = -values.array().log().sum();
  for (double scale : climber.scale()) log_det += 2 * std::log(scale);
  result.log_mass = climber.here() + 0.5 * (n * std::log(2 * std::numbers::pi) + log_det);
  const Eigen::MatrixXd& v = eigen.eigenvectors();
  result.is_maximum = n == 0 || eigen.eigenvalues()[0] > kLeastCurvature;
  if (result.is_maximum) {
    const Eigen::Map<const Eigen::VectorXd> scale(climber.scale().data(), values.size());
    const Eigen::MatrixXd covariance =
        scale.asDiagonal() * v * values.cwiseInverse().asDiagonal() * v.transpose() * scale.asDiagonal();
    result.covariance.assign(covariance.data(), covariance.data() + covariance.size());
  }
  for (std::size_t i = 0; i < result.sd.size(); ++i)
    result.sd[i] *=
        std::sqrt((v.row(static_cast<Eigen::Index>(i)).array().square().transpose() / values.array()).sum());
  return result;
}

}  // namespace

double laplace_evaluations(Curvature curvature, int dim) {
  const double searches = 8.0 * dim, n = dim;
  return curvature == Curvature::diagonal ? searches : searches + 6 * n * (n + 1);
}

Laplace laplace_at(const LogDensityOfU& log_density, std::span<const double> u,
                   const LaplaceOptions& options) {
  Climber climber(log_density, u, options.difference);
  if (options.curvature == Curvature::diagonal) {
    Laplace result{climber.u(), climber.here(), climber.here(), climber.scale()};
    for (double scale : climber.scale())
      result.log_mass += std::log(scale) + 0.5 * std::log(2 * std::numbers::pi);
    return result;
  }
  Eigen::VectorXd slope;
  Eigen::MatrixXd h = climber.curvature(slope);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(h);
    const Eigen::VectorXd values = eigen.eigenvalues().cwiseAbs().cwiseMax(0.05);
    const Eigen::MatrixXd& v = eigen.eigenvectors();
    const Eigen::VectorXd direction = v * ((v.transpose() * slope).array() / values.array()).matrix();
    if (0.5 * slope.dot(direction) < options.least_increase) break;
    if (!climber.move(direction)) break;
    climber.rescale(h);
    h = climber.curvature(slope);
  }
  return of(climber, h);
}

}  // namespace emomc
