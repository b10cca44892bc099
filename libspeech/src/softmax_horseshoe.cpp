#include "softmax_horseshoe.hpp"

#include <cmath>
#include <vector>

namespace emomc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SoftmaxProblem without_prior(SoftmaxProblem problem) {
  problem.precision = problem.last_precision = 0;
  return problem;
}

// The scales of weights at one point.
struct Scales {
  VectorXd sd;     // [d - 1] sd of the weights of each column: c a / sqrt(c^2 + a^2), a = tau lambda
  VectorXd local;  // [d - 1] d log sd / d log a = c^2 / (c^2 + a^2)
};

Scales scales_of(const HorseshoePrior& prior, const Eigen::Ref<const VectorXd>& log_local, double log_global,
                 double log_slab) {
  const double global = prior.global_scale * std::exp(log_global),
               slab = prior.slab_scale * std::exp(log_slab);
  // a^2 / c^2; if this overflows, the sd is that of the slab.
  const Eigen::ArrayXd ratio = (log_local.array().exp() * (global / slab)).square();
  return {(slab / (1 + 1 / ratio).sqrt()).matrix(), (1 / (1 + ratio)).matrix()};
}

// A log density up to a constant, and its slope.
struct ValueAndSlope {
  double value, slope;
};
ValueAndSlope log_half_cauchy(double log_x) {
  // log x - log(1 + x^2), for either sign without overflow.
  const double small = std::exp(-2 * std::abs(log_x));
  const double slope = (1 - small) / (1 + small);
  return {-std::abs(log_x) - std::log1p(small), log_x > 0 ? -slope : slope};
}

// The log density of the log of c, where c^2 ~ inverse-gamma(df / 2, df / 2), and its slope.
ValueAndSlope log_slab_density(double log_c) {
  const double e = std::exp(-2 * log_c);
  return {-kSlabDf * log_c - 0.5 * kSlabDf * e, -kSlabDf + kSlabDf * e};
}

}  // namespace

HorseshoePrior horseshoe_prior(const SoftmaxProblem& problem, double relevant_share, double slab_scale,
                               double column_sd) {
  // Piironen and Vehtari, equation 3.12: tau0 = p0 / (p - p0) sigma / sqrt(n). A row has the information 1 /
  // K about a contrast of K equally probable classes; therefore sigma is sqrt(K).
  const double sigma = std::sqrt(static_cast<double>(problem.num_classes));
  const double tau0 =
      relevant_share / (1 - relevant_share) * sigma / std::sqrt(static_cast<double>(problem.x.rows()));
  return {tau0 / column_sd, slab_scale / column_sd};
}

HorseshoeDensity::HorseshoeDensity(const SoftmaxProblem& problem, const HorseshoePrior& prior)
    : problem_(without_prior(problem)),
      likelihood_(problem_),
      prior_(prior),
      d_(problem.x.cols()),
      m_(problem.num_classes - 1) {}

VectorXd HorseshoeDensity::weight_sds(const VectorXd& point) const {
  VectorXd sds(d_);
  sds.head(d_ - 1) = scales_of(prior_, point.segment(d_ * m_, d_ - 1), point(dim() - 2), point(dim() - 1)).sd;
  sds(d_ - 1) = 1 / std::sqrt(kInterceptPrecision);
  return sds;
}

MatrixXd HorseshoeDensity::weights(const VectorXd& point) const {
  return weight_sds(point).asDiagonal() * Eigen::Map<const MatrixXd>(point.data(), d_, m_);
}

void HorseshoeDensity::evaluate(const MatrixXd& points, VectorXd& log_density, MatrixXd& gradient) const {
  const Eigen::Index count = points.cols(), scales_at = d_ * m_, p = d_ - 1;
  MatrixXd weights(d_, count * m_), slopes;
  std::vector<Scales> scales;
  VectorXd sds(d_);
  sds(p) = 1 / std::sqrt(kInterceptPrecision);
  for (Eigen::Index i = 0; i < count; ++i) {
    scales.push_back(
        scales_of(prior_, points.col(i).segment(scales_at, p), points(dim() - 2, i), points(dim() - 1, i)));
    sds.head(p) = scales.back().sd;
    weights.middleCols(i * m_, m_) =
        sds.asDiagonal() * Eigen::Map<const MatrixXd>(points.col(i).data(), d_, m_);
  }
  likelihood_.evaluate(weights, log_density, slopes);
  gradient.resize(points.rows(), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto normals = Eigen::Map<const MatrixXd>(points.col(i).data(), d_, m_);
    const auto of_weights = slopes.middleCols(i * m_, m_);
    // The derivative with respect to the log of each column's sd, without the intercept.
    const VectorXd by_sd =
        (of_weights.array() * weights.middleCols(i * m_, m_).array()).rowwise().sum().head(p);
    const VectorXd by_local = by_sd.cwiseProduct(scales[static_cast<std::size_t>(i)].local);
    sds.head(p) = scales[static_cast<std::size_t>(i)].sd;
    Eigen::Map<MatrixXd>(gradient.col(i).data(), d_, m_) = sds.asDiagonal() * of_weights - normals;
    double prior = -0.5 * normals.squaredNorm();
    for (Eigen::Index j = 0; j < p; ++j) {
      const auto [value, slope] = log_half_cauchy(points(scales_at + j, i));
      prior += value;
      gradient(scales_at + j, i) = by_local(j) + slope;
    }
    const auto global = log_half_cauchy(points(dim() - 2, i)), slab = log_slab_density(points(dim() - 1, i));
    gradient(dim() - 2, i) = by_local.sum() + global.slope;
    gradient(dim() - 1, i) = by_sd.sum() - by_local.sum() + slab.slope;
    log_density(i) += prior + global.value + slab.value;
  }
}

double sample_horseshoe(const HorseshoeDensity& density, const HmcSampling& sampling, const HmcDraw& keep,
                        const std::function<void()>& after_step) {
  HmcTarget target;
  target.evaluate = [&](const MatrixXd& points, VectorXd& values, MatrixXd& gradients) {
    density.evaluate(points, values, gradients);
  };
  // Chains begin at draws from the prior of the normal numbers, with scales within a factor of the prior's
  // scales.
  target.start = MatrixXd::Zero(density.dim(), 1);
  target.root_mass = MatrixXd::Constant(density.dim(), 1, 1 / std::sqrt(sampling.temperature));
  target.root_mass.bottomRows(density.num_scales()) *= 2;
  HmcTuning tuning;
  tuning.first_step = 0.3;
  tuning.acceptance = 0.95;  // with longer steps, fewer draws are effective: docs/softmax.md
  tuning.adapts_mass = true;
  return sample_hmc(target, sampling, tuning, keep, after_step);
}

SoftmaxDraws sample_horseshoe(const SoftmaxProblem& problem, const HorseshoePrior& prior,
                              const HmcSampling& sampling, const std::function<void()>& after_step) {
  const HorseshoeDensity density(problem, prior);
  SoftmaxDraws result;
  result.weights.resize(static_cast<std::size_t>(sampling.num_chains) * sampling.draws);
  result.acceptance = sample_horseshoe(
      density, sampling,
      [&](int chain, int draw, const MatrixXd& point) {
        result.weights[static_cast<std::size_t>(chain) * sampling.draws + draw] =
            density.weights(point.col(0));
      },
      after_step);
  return result;
}

}  // namespace emomc
