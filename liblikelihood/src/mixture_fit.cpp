#include "emomc/likelihood/mixture_fit.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "mixture_moments.hpp"
#include "with_model.hpp"

namespace emomc {
namespace {

// Expected moments of the rows of each component, given a theta.
class Expected {
 public:
  Expected(const MomentLayout& layout, const std::vector<double>& moments)
      : layout_(layout), moments_(moments) {}
  double mass(int k) const { return at(k); }
  double mean(int k, int j) const { return at(layout_.first_moment() + k * layout_.dim + j) / mass(k); }
  double square(int k, int j) const { return at(layout_.second_moment() + k * layout_.dim + j) / mass(k); }
  /// Sum of r_k x_i x_j; where products are shared, the sum of x_i x_j over all rows.
  double product(int k, int i, int j) const {
    return at(layout_.second_moment() + k * device::triangle_size(layout_.dim) +
              device::triangle_index(i, j));
  }

 private:
  double at(int i) const { return moments_[static_cast<std::size_t>(i)]; }
  const MomentLayout& layout_;
  const std::vector<double>& moments_;
};

class Maximizer {
 public:
  Maximizer(const MomentLayout& layout, const FitOptions& options) : layout_(layout), options_(options) {}

  void operator()(const device::GaussianMixture& m, const Expected& e, std::vector<double>& theta) const {
    weights_and_means(e, theta);
    double* scales = theta.data() + m.num_components * (1 + m.dim);
    for (int k = 0; k < m.num_components; ++k)
      for (int j = 0; e.mass(k) > kLeastMass && j < m.dim; ++j)
        scales[k * m.dim + j] = std::sqrt(variance(e, k, j));
  }
  void operator()(const device::SphericalMixture& m, const Expected& e, std::vector<double>& theta) const {
    weights_and_means(e, theta);
    double* scales = theta.data() + m.num_components * (1 + m.dim);
    for (int k = 0; k < m.num_components; ++k) {
      if (!(e.mass(k) > kLeastMass)) continue;
      double sum = 0;
      for (int j = 0; j < m.dim; ++j) sum += variance(e, k, j);
      scales[k] = std::sqrt(sum / m.dim);
    }
  }
  void operator()(const device::FullMixture& m, const Expected& e, std::vector<double>& theta) const {
    weights_and_means(e, theta);
    const int size = device::triangle_size(m.dim);
    for (int k = 0; k < m.num_components; ++k) {
      if (!(e.mass(k) > kLeastMass)) continue;
      Eigen::MatrixXd covariance(m.dim, m.dim);
      for (int i = 0; i < m.dim; ++i)
        for (int j = 0; j <= i; ++j)
          covariance(i, j) = e.product(k, i, j) / e.mass(k) - e.mean(k, i) * e.mean(k, j);
      store_factor(covariance, theta.data() + m.num_components * (1 + m.dim) + k * size);
    }
  }
  void operator()(const device::TiedMixture& m, const Expected& e, std::vector<double>& theta) const {
    weights_and_means(e, theta);
    Eigen::MatrixXd covariance(m.dim, m.dim);
    double mass = 0;
    for (int k = 0; k < m.num_components; ++k) mass += e.mass(k);
    for (int i = 0; i < m.dim; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = e.product(0, i, j);
        for (int k = 0; k < m.num_components; ++k)
          if (e.mass(k) > 0) sum -= e.mass(k) * e.mean(k, i) * e.mean(k, j);
        covariance(i, j) = sum / mass;
      }
    store_factor(covariance, theta.data() + m.num_components * (1 + m.dim));
  }
  // Updates the mean given the sigmas, then the sigmas given the mean: conditional maximisation (Meng and
  // Rubin 1993).
  void operator()(const device::TwoGaussian&, const Expected& e, std::vector<double>& theta) const {
    double* sigma = theta.data() + 2;
    double precision = 0, weighted = 0;
    for (int k = 0; k < 2; ++k) {
      precision += e.mass(k) / (sigma[k] * sigma[k]);
      if (e.mass(k) > 0) weighted += e.mass(k) * e.mean(k, 0) / (sigma[k] * sigma[k]);
    }
    theta[0] = e.mass(0) / (e.mass(0) + e.mass(1));
    theta[1] = weighted / precision;
    for (int k = 0; k < 2; ++k)
      if (e.mass(k) > kLeastMass)
        sigma[k] = std::sqrt(held(e.square(k, 0) - 2 * theta[1] * e.mean(k, 0) + theta[1] * theta[1], 0));
  }

 private:
  // A component with a smaller expected number of rows keeps mean and scale.
  static constexpr double kLeastMass = 1e-10;

  double smallest(int j) const {
    return options_.smallest_scale.empty() ? 0.0 : options_.smallest_scale[static_cast<std::size_t>(j)];
  }
  double held(double variance, int j) const {
    return std::max(variance, std::max(smallest(j) * smallest(j), 1e-300));
  }
  double variance(const Expected& e, int k, int j) const {
    return held(e.square(k, j) - e.mean(k, j) * e.mean(k, j), j);
  }
  void weights_and_means(const Expected& e, std::vector<double>& theta) const {
    const int K = layout_.num_components, d = layout_.dim;
    double total = 0;
    for (int k = 0; k < K; ++k) total += e.mass(k);
    for (int k = 0; k < K; ++k) {
      theta[static_cast<std::size_t>(k)] = e.mass(k) / total;
      for (int j = 0; e.mass(k) > kLeastMass && j < d; ++j)
        theta[static_cast<std::size_t>(K + k * d + j)] = e.mean(k, j);
    }
  }
  // Only the lower triangle of `covariance` is filled. Eigenvalues cannot be bounded one by one. Where the
  // matrix is not positive definite, or a row's conditional sd is below the smallest scale, the diagonal is
  // increased.
  void store_factor(Eigen::MatrixXd& covariance, double* out) const {
    const int d = layout_.dim;
    for (double raise = 0;; raise = raise > 0 ? 2 * raise : 1) {
      Eigen::MatrixXd raised = covariance;
      for (int i = 0; i < d; ++i)
        raised(i, i) += raise * std::max(smallest(i) * smallest(i), 1e-12 * covariance(i, i) + 1e-300);
      const Eigen::LLT<Eigen::MatrixXd> cholesky(raised);
      const Eigen::MatrixXd factor = cholesky.matrixL();
      bool enough = cholesky.info() == Eigen::Success && factor.allFinite();
      for (int i = 0; i < d; ++i) enough = enough && factor(i, i) >= smallest(i) && factor(i, i) > 0;
      if (!enough && raise < 1e30) continue;
      for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) *out++ = factor(i, j);
      return;
    }
  }

  const MomentLayout& layout_;
  const FitOptions& options_;
};

// The expected complete-data log likelihood, up to a constant.
template <class Model>
double expected_log_likelihood(const Model& model, const MomentLayout& layout, const Expected& e,
                               const double* theta) {
  const int K = layout.num_components, d = layout.dim;
  double sum = 0;
  for (int k = 0; k < K; ++k) {
    if (!(e.mass(k) > 0)) continue;
    sum += e.mass(k) * std::log(model.weight(theta, k));
    if constexpr (has_factor<Model>) {
      Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(d, d), scatter(d, d);
      for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) {
          const double mi = model.mean(theta, k, i), mj = model.mean(theta, k, j);
          factor(i, j) = model.factor(theta, k, i, j);
          // Shared products are counted once, with component 0.
          const bool shared = layout.second == SecondMoments::shared_products;
          const double product = shared ? (k == 0 ? e.product(0, i, j) : 0.0) : e.product(k, i, j);
          scatter(i, j) = scatter(j, i) =
              product + e.mass(k) * (mi * mj - mi * e.mean(k, j) - mj * e.mean(k, i));
        }
      const auto lower = factor.triangularView<Eigen::Lower>();
      lower.solveInPlace(scatter);
      sum -=
          e.mass(k) * factor.diagonal().array().log().sum() + 0.5 * lower.solve(scatter.transpose()).trace();
    } else {
      for (int j = 0; j < d; ++j) {
        const double mean = model.mean(theta, k, j), scale = model.scale(theta, k, j);
        const double square = e.square(k, j) - 2 * mean * e.mean(k, j) + mean * mean;
        sum -= e.mass(k) * (std::log(scale) + 0.5 * square / (scale * scale));
      }
    }
  }
  return sum;
}

template <class Model>
class Fitter final : public MixtureFitter {
 public:
  Fitter(const Model& model, std::size_t num_rows, std::unique_ptr<MomentEngine> engine)
      : model_(model), layout_(moment_layout(model)), num_rows_(num_rows), engine_(std::move(engine)) {}

  FitResult fit(std::span<const double> start, const FitOptions& options) override {
    const Maximizer maximize(layout_, options);
    FitResult result;
    result.theta.assign(start.begin(), start.end());
    MomentSums sums = moments(result.theta);
    const auto objective = [&](const MomentSums& at, const std::vector<double>& theta) {
      return at.log_likelihood + (options.log_prior ? options.log_prior(theta) : 0.0);
    };
    result.log_likelihood = sums.log_likelihood;
    result.objective = objective(sums, result.theta);
    if (!std::isfinite(result.objective)) throw InputError("fit: the start has no finite density");
    while (!result.converged && result.rounds < options.max_rounds) {
      const Expected expected(layout_, sums.moments);
      std::vector<double> next = result.theta;
      if (options.raise)
        next = options.raise(next, [&](std::span<const double> theta) {
          return expected_log_likelihood(model_, layout_, expected, theta.data());
        });
      else
        maximize(model_, expected, next);
      MomentSums next_sums = moments(next);
      const double rise = objective(next_sums, next) - result.objective;
      // At the maximum, rounding errors may lower the objective a little. A large decrease, or NaN, is
      // neither a step of EM nor convergence; the previous point is kept.
      const double rounding = kRounding * (1 + std::abs(result.objective));
      result.converged = rise >= -rounding && rise <= options.tolerance * static_cast<double>(num_rows_);
      ++result.rounds;
      if (options.on_round) options.on_round();
      if (!(rise >= 0)) break;
      sums = std::move(next_sums);
      result.theta = std::move(next);
      result.log_likelihood = sums.log_likelihood;
      result.objective += rise;
    }
    return result;
  }

 private:
  static constexpr double kRounding = 1e-6;

  // theta may have other parameters after those of the likelihood, which are left out here.
  MomentSums moments(const std::vector<double>& theta) {
    return engine_->compute({theta.begin(), theta.begin() + model_.num_parameters()});
  }

  Model model_;
  MomentLayout layout_;
  std::size_t num_rows_;
  std::unique_ptr<MomentEngine> engine_;
};

}  // namespace

std::unique_ptr<MixtureFitter> make_fitter(Backend backend, const ModelSpec& spec, const DataSet& data,
                                           Device& device, int num_threads) {
  return with_model(spec, data.dim, [&](const auto& model) -> std::unique_ptr<MixtureFitter> {
    using Model = std::remove_cvref_t<decltype(model)>;
    if constexpr (Model::has_em) {
      if (backend != Backend::cuda) check_on_host(data);
      auto engine = backend == Backend::cuda ? make_cuda_moments(model, data, device)
                                             : make_cpu_moments(model, data, num_threads);
      return std::make_unique<Fitter<Model>>(model, data.num_rows, std::move(engine));
    } else {
      throw InputError("model " + spec.name + " has no EM");
    }
  });
}

}  // namespace emomc
