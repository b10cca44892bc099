#include "softmax_model.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <stdexcept>

namespace emomc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Computes probabilities in each row of `logits`; log_sum receives the log of each row's sum of exponentials.
void normalise(MatrixXd& logits, VectorXd& log_sum) {
  const VectorXd largest = logits.rowwise().maxCoeff();
  logits = (logits.colwise() - largest).array().exp();
  const VectorXd sum = logits.rowwise().sum();
  logits.array().colwise() /= sum.array();
  log_sum = largest.array() + sum.array().log();
}

}  // namespace

MatrixXd contrasts(int num_classes) {
  // Helmert contrasts: class k + 1 against the mean of the classes before it.
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

// The diagonal of the curvature at the point where all classes are equally probable.
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
    if (!(tried_value(0) > value(0))) return weights;  // the improvement is no larger than rounding
    weights = tried;
    value = tried_value;
    gradient = tried_gradient;
  }
  throw std::runtime_error("softmax_mode: Newton's method has not ended after 200 steps");
}

namespace {

// The problem in coordinates v, with weights = axes * v. In these coordinates the prior of all weights is the
// same, and the columns are the principal axes of the curvature at the mode, averaged over the contrasts.
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

// The diagonal of the curvature at `weights`: d x (K - 1).
MatrixXd curvature_at(const SoftmaxProblem& problem, const SoftmaxDensity& density, const MatrixXd& weights) {
  const MatrixXd probability = density.probabilities(weights), c = contrasts(problem.num_classes),
                 mean = probability * c;
  MatrixXd spread = probability * c.cwiseAbs2() - mean.cwiseAbs2();  // n x (K - 1)
  spread.array().colwise() *= problem.row_weight.array();
  MatrixXd result = problem.x.cwiseAbs2().transpose() * spread;
  result.colwise() += density.precisions();
  return result;
}

}  // namespace

SoftmaxDraws sample_softmax(const SoftmaxProblem& problem, const MatrixXd& mode, const HmcSampling& sampling,
                            const std::function<void()>& after_step) {
  const AlongAxes along = along_axes(problem, mode);
  const SoftmaxDensity density(along.problem);
  HmcTarget target;
  target.evaluate = [&](const MatrixXd& points, VectorXd& values, MatrixXd& gradients) {
    density.evaluate(points, values, gradients);
  };
  target.start = along.axes.partialPivLu().solve(mode);
  target.root_mass =
      (1 / sampling.temperature * curvature_at(along.problem, density, target.start)).cwiseSqrt();
  SoftmaxDraws result;
  result.weights.resize(static_cast<std::size_t>(sampling.num_chains) * sampling.draws);
  result.acceptance = sample_hmc(
      target, sampling, {},
      [&](int chain, int draw, const MatrixXd& point) {
        result.weights[static_cast<std::size_t>(chain) * sampling.draws + draw] = along.axes * point;
      },
      after_step);
  return result;
}

}  // namespace emomc
