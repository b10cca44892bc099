#include "softmax_model.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <stdexcept>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Probabilities from logits, rows of `logits`; log_sum receives the log of each row's sum of exponentials.
void normalise(MatrixXd& logits, VectorXd& log_sum) {
  const VectorXd largest = logits.rowwise().maxCoeff();
  logits = (logits.colwise() - largest).array().exp();
  const VectorXd sum = logits.rowwise().sum();
  logits.array().colwise() /= sum.array();
  log_sum = largest.array() + sum.array().log();
}

}  // namespace

MatrixXd contrasts(int num_classes) {
  // Helmert's: class k + 1 against the mean of those before it.
  MatrixXd result = MatrixXd::Zero(num_classes, num_classes - 1);
  for (int k = 1; k < num_classes; ++k) {
    const double scale = 1 / std::sqrt(static_cast<double>(k) * (k + 1));
    result.col(k - 1).head(k).setConstant(-scale);
    result(k, k - 1) = k * scale;
  }
  return result;
}

SoftmaxDensity::SoftmaxDensity(const SoftmaxProblem& problem)
    : problem_(problem), contrasts_(contrasts(problem.num_classes)), transposed_(problem.x.transpose()) {
  precisions_ = VectorXd::Constant(problem.x.cols(), problem.precision);
  precisions_(problem.x.cols() - 1) = problem.last_precision;
}

void SoftmaxDensity::evaluate(const MatrixXd& weights, VectorXd& log_density, MatrixXd& gradient) const {
  const Eigen::Index n = problem_.x.rows(), columns = cols(), sets = weights.cols() / columns;
  MatrixXd scores = problem_.x * weights;
  log_density.resize(sets);
  MatrixXd logits, residual(n, problem_.num_classes);
  VectorXd log_sum;
  for (Eigen::Index set = 0; set < sets; ++set) {
    auto block = scores.middleCols(set * columns, columns);
    logits.noalias() = block * contrasts_.transpose();
    double sum = 0;
    for (Eigen::Index i = 0; i < n; ++i) sum += problem_.row_weight(i) * logits(i, problem_.truth[i]);
    normalise(logits, log_sum);
    const auto of_set = weights.middleCols(set * columns, columns);
    log_density(set) = sum - problem_.row_weight.dot(log_sum) -
                       0.5 * (of_set.array().square().rowwise().sum() * precisions_.array()).sum();
    residual = -logits;
    for (Eigen::Index i = 0; i < n; ++i) residual(i, problem_.truth[i]) += 1;
    residual.array().colwise() *= problem_.row_weight.array();
    block.noalias() = residual * contrasts_;
  }
  gradient.noalias() = transposed_ * scores;
  gradient.array() -= weights.array().colwise() * precisions_.array();
}

MatrixXd SoftmaxDensity::probabilities(const MatrixXd& weights) const {
  MatrixXd logits = problem_.x * weights * contrasts_.transpose();
  VectorXd log_sum;
  normalise(logits, log_sum);
  return logits;
}

MatrixXd SoftmaxDensity::curvature_times(const MatrixXd& probability, const MatrixXd& direction) const {
  const MatrixXd change = problem_.x * direction * contrasts_.transpose();
  const VectorXd mean = (probability.array() * change.array()).rowwise().sum();
  MatrixXd product = probability.array() * (change.colwise() - mean).array();
  product.array().colwise() *= problem_.row_weight.array();
  MatrixXd result = transposed_ * (product * contrasts_);
  result.array() += direction.array().colwise() * precisions_.array();
  return result;
}

namespace {

// Solves curvature * step = gradient to a relative residual of 1e-4, preconditioned by `scale` [d].
MatrixXd newton_step(const SoftmaxDensity& density, const MatrixXd& probability, const MatrixXd& gradient,
                     const VectorXd& scale) {
  MatrixXd step = MatrixXd::Zero(gradient.rows(), gradient.cols()), rest = gradient;
  MatrixXd scaled = rest.array().colwise() / scale.array(), direction = scaled;
  double product = (rest.array() * scaled.array()).sum();
  const double enough = 1e-8 * gradient.squaredNorm();
  for (int i = 0; i < 300 && rest.squaredNorm() > enough; ++i) {
    const MatrixXd bent = density.curvature_times(probability, direction);
    const double length = product / (direction.array() * bent.array()).sum();
    step += length * direction;
    rest -= length * bent;
    scaled = rest.array().colwise() / scale.array();
    const double next = (rest.array() * scaled.array()).sum();
    direction = scaled + (next / product) * direction;
    product = next;
  }
  return step;
}

// The diagonal of the curvature where all classes are equally probable.
VectorXd mean_curvature(const SoftmaxProblem& problem, const SoftmaxDensity& density) {
  const double k = problem.num_classes;
  return density.precisions() + (problem.x.array().square().colwise() * problem.row_weight.array())
                                        .colwise()
                                        .sum()
                                        .matrix()
                                        .transpose() /
                                    k;
}

}  // namespace

MatrixXd softmax_mode(const SoftmaxProblem& problem, const MatrixXd& start) {
  const SoftmaxDensity density(problem);
  const VectorXd scale = mean_curvature(problem, density);
  MatrixXd weights = start, gradient, tried;
  VectorXd value, tried_value;
  density.evaluate(weights, value, gradient);
  for (int iteration = 0; iteration < 200; ++iteration) {
    const MatrixXd step = newton_step(density, density.probabilities(weights), gradient, scale);
    const double decrement = (step.array() * gradient.array()).sum();
    if (decrement < 1e-8) return weights;
    double length = 1;
    MatrixXd tried_gradient;
    for (int halving = 0; halving < 40; ++halving, length /= 2) {
      tried = weights + length * step;
      density.evaluate(tried, tried_value, tried_gradient);
      if (tried_value(0) >= value(0) + 1e-4 * length * decrement) break;
    }
    if (!(tried_value(0) > value(0))) return weights;  // no further than rounding
    weights = tried;
    value = tried_value;
    gradient = tried_gradient;
  }
  throw std::runtime_error("softmax_mode: Newton's method has not ended after 200 steps");
}

namespace {

// The problem in other coordinates v, with weights = axes * v, in which the prior of all weights is alike and
// columns are the principal axes of the curvature at the mode, its mean over the contrasts.
struct AlongAxes {
  MatrixXd axes;  // d x d
  SoftmaxProblem problem;
};

AlongAxes along_axes(const SoftmaxProblem& problem, const MatrixXd& mode) {
  const SoftmaxDensity density(problem);
  const VectorXd spread = (1 - density.probabilities(mode).array().square().rowwise().sum()) / density.cols();
  VectorXd scale = VectorXd::Ones(problem.x.cols());
  scale(scale.size() - 1) = std::sqrt(problem.precision / problem.last_precision);
  AlongAxes result;
  result.problem = problem;
  result.problem.last_precision = problem.precision;
  result.problem.x = problem.x * scale.asDiagonal();
  const MatrixXd weighted =
      (spread.array() * problem.row_weight.array()).sqrt().matrix().asDiagonal() * result.problem.x;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> axes(weighted.transpose() * weighted);
  result.axes = scale.asDiagonal() * axes.eigenvectors();
  result.problem.x = problem.x * result.axes;
  return result;
}

// d x (K - 1) The diagonal of the curvature at `weights`.
MatrixXd curvature_at(const SoftmaxProblem& problem, const SoftmaxDensity& density, const MatrixXd& weights) {
  const MatrixXd probability = density.probabilities(weights), c = contrasts(problem.num_classes),
                 mean = probability * c;
  MatrixXd spread = probability * c.cwiseAbs2() - mean.cwiseAbs2();  // n x (K - 1)
  spread.array().colwise() *= problem.row_weight.array();
  MatrixXd result = problem.x.cwiseAbs2().transpose() * spread;
  result.colwise() += density.precisions();
  return result;
}

// The chains' state: d x (num_chains * (K - 1)), a chain's columns together, along the axes of the curvature.
class Chains {
 public:
  Chains(const SoftmaxProblem& problem, const MatrixXd& mode, const SoftmaxSampling& sampling)
      : along_(along_axes(problem, mode)),
        density_(along_.problem),
        sampling_(sampling),
        power_(1 / sampling.temperature) {
    const MatrixXd start = along_.axes.partialPivLu().solve(mode);
    root_mass_ = (power_ * curvature_at(along_.problem, density_, start))
                     .cwiseSqrt()
                     .replicate(1, sampling.num_chains);
    inverse_mass_ = root_mass_.cwiseAbs2().cwiseInverse();
    points_ = start.replicate(1, sampling.num_chains);
    MatrixXd noise(points_.rows(), points_.cols());
    fill_normal(0, device::Purpose::start, noise);
    points_.array() += noise.array() / root_mass_.array();
    evaluate(points_, values_, gradients_);
  }

  /// A trajectory of every chain; returns their mean acceptance.
  double step(std::uint64_t number, double step_size) {
    const Eigen::Index columns = density_.cols();
    MatrixXd momenta(points_.rows(), points_.cols());
    fill_normal(number, device::Purpose::momentum, momenta);
    momenta.array() *= root_mass_.array();
    const device::RandomSource random{sampling_.seed, number, stream(0)};
    const double time = kShortest + (kLongest - kShortest) * random.uniform(device::Purpose::length, 0);
    const int leapfrogs = std::max(1, static_cast<int>(std::lround(time / step_size)));
    MatrixXd points = points_, gradients = gradients_, end = momenta;
    VectorXd values;
    for (int i = 0; i < leapfrogs; ++i) {
      end += 0.5 * step_size * gradients;
      points.array() += step_size * end.array() * inverse_mass_.array();
      evaluate(points, values, gradients);
      end += 0.5 * step_size * gradients;
    }
    double sum = 0;
    for (int chain = 0; chain < sampling_.num_chains; ++chain) {
      const auto block = [&](auto& matrix) { return matrix.middleCols(chain * columns, columns); };
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

  /// The weights of the problem that was given.
  MatrixXd point(int chain) const {
    return along_.axes * points_.middleCols(chain * density_.cols(), density_.cols());
  }

 private:
  // About a quarter of the period of a direction whose curvature is the mass, after which a draw from a
  // normal distribution is independent of the one before; it varies since other directions have other
  // periods.
  static constexpr double kShortest = 1.2, kLongest = 4;

  std::uint32_t stream(int chain) const {
    return sampling_.stream * static_cast<std::uint32_t>(sampling_.num_chains) +
           static_cast<std::uint32_t>(chain);
  }
  double kinetic(const MatrixXd& momenta, int chain) const {
    const Eigen::Index first = chain * density_.cols(), columns = density_.cols();
    return 0.5 * (momenta.middleCols(first, columns).array().square() *
                  inverse_mass_.middleCols(first, columns).array())
                     .sum();
  }
  void evaluate(const MatrixXd& points, VectorXd& values, MatrixXd& gradients) const {
    density_.evaluate(points, values, gradients);
    values *= power_;
    gradients *= power_;
  }
  void fill_normal(std::uint64_t number, device::Purpose purpose, MatrixXd& to) const {
    const Eigen::Index per_chain = to.rows() * density_.cols();
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

  AlongAxes along_;  // density_ refers to it
  SoftmaxDensity density_;
  SoftmaxSampling sampling_;
  double power_;
  MatrixXd root_mass_, inverse_mass_;  // of the shape of points_
  MatrixXd points_, gradients_;
  VectorXd values_;
};

}  // namespace

SoftmaxDraws sample_softmax(const SoftmaxProblem& problem, const MatrixXd& mode,
                            const SoftmaxSampling& sampling, const std::function<void()>& after_step) {
  constexpr double kTarget = 0.8;
  Chains chains(problem, mode, sampling);
  double log_step = std::log(0.3), late_sum = 0;
  int late = 0;
  for (int i = 0; i < sampling.warmup; ++i) {
    const double acceptance = chains.step(static_cast<std::uint64_t>(i) + 1, std::exp(log_step));
    log_step += (acceptance - kTarget) / std::sqrt(1.0 + i);
    if (after_step) after_step();
    if (2 * i < sampling.warmup) continue;
    late_sum += log_step;
    ++late;
  }
  const double step_size = std::exp(late > 0 ? late_sum / late : log_step);
  SoftmaxDraws result;
  result.weights.resize(static_cast<std::size_t>(sampling.num_chains) * sampling.draws);
  for (int i = 0; i < sampling.draws; ++i) {
    result.acceptance +=
        chains.step(static_cast<std::uint64_t>(sampling.warmup) + i + 1, step_size) / sampling.draws;
    for (int chain = 0; chain < sampling.num_chains; ++chain)
      result.weights[static_cast<std::size_t>(chain) * sampling.draws + i] = chains.point(chain);
    if (after_step) after_step();
  }
  return result;
}

}  // namespace emomc
