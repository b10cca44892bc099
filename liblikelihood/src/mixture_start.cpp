#include "emomc/likelihood/mixture_start.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "emomc/core/thread_pool.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t kCandidateRows = 8000, kEmRows = 200000;
constexpr int kLloydRounds = 20, kEmRounds = 30;
constexpr double kSmallestScale = 0.01, kVarianceFloor = 1e-6;

struct Mixture {
  Eigen::VectorXd weights;
  Rows means, variances;  ///< K x d
};

// At most `limit` rows, evenly spaced.
Rows choose_rows(const DataSet& data, std::size_t limit) {
  const std::size_t count = std::min(data.num_rows, limit);
  Rows rows(count, data.dim);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = i * data.num_rows / count;
    for (int j = 0; j < data.dim; ++j)
      rows(static_cast<Eigen::Index>(i), j) =
          data.values[row * static_cast<std::size_t>(data.dim) + static_cast<std::size_t>(j)];
  }
  return rows;
}

class Chooser {
 public:
  Chooser(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt) : source_{seed, attempt, chain} {}
  /// An index with probability proportional to its weight.
  Eigen::Index draw(const Eigen::VectorXd& weights) {
    double left = source_.uniform(device::Purpose::kmeans, next_++) * weights.sum();
    Eigen::Index i = 0;
    for (; i + 1 < weights.size() && left >= weights[i]; ++i) left -= weights[i];
    return i;
  }

 private:
  device::RandomSource source_;
  std::uint32_t next_ = 0;
};

Rows seed_centres(const Rows& x, int K, Chooser& chooser) {
  Rows centres(K, x.cols());
  Eigen::VectorXd distance = Eigen::VectorXd::Ones(x.rows());
  for (int k = 0; k < K; ++k) {
    // All rows used up: any will do.
    if (!(distance.sum() > 0)) distance.setOnes();
    centres.row(k) = x.row(chooser.draw(distance));
    const Eigen::VectorXd to_new = (x.rowwise() - centres.row(k)).rowwise().squaredNorm();
    distance = k == 0 ? to_new : distance.cwiseMin(to_new).eval();
  }
  return centres;
}

Mixture cluster(const Rows& x, int K, Chooser chooser, const std::vector<double>& column_sd) {
  Rows centres = seed_centres(x, K, chooser);
  std::vector<int> nearest(static_cast<std::size_t>(x.rows()), -1);
  Eigen::VectorXd count(K);
  for (int round = 0; round < kLloydRounds; ++round) {
    // |x - c|^2 less |x|^2, which is the same for all centres.
    Rows distance = -2 * x * centres.transpose();
    distance.rowwise() += centres.rowwise().squaredNorm().transpose();
    bool changed = false;
    Rows sums = Rows::Zero(K, x.cols());
    count.setZero();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      Eigen::Index k;
      distance.row(i).minCoeff(&k);
      changed = changed || nearest[static_cast<std::size_t>(i)] != k;
      nearest[static_cast<std::size_t>(i)] = static_cast<int>(k);
      sums.row(k) += x.row(i);
      count[k] += 1;
    }
    if (!changed) break;
    for (int k = 0; k < K; ++k)
      if (count[k] > 0) centres.row(k) = sums.row(k) / count[k];
  }
  Mixture m{Eigen::VectorXd(K), centres, Rows::Zero(K, x.cols())};
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const int k = nearest[static_cast<std::size_t>(i)];
    m.variances.row(k).array() += (x.row(i) - centres.row(k)).array().square();
  }
  for (int k = 0; k < K; ++k) {
    m.weights[k] = (count[k] + 0.5) / (static_cast<double>(x.rows()) + 0.5 * K);
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      const double floor = kSmallestScale * column_sd[static_cast<std::size_t>(j)];
      m.variances(k, j) = count[k] > 1 ? std::max(m.variances(k, j) / count[k], floor * floor)
                                       : std::pow(column_sd[static_cast<std::size_t>(j)], 2);
    }
  }
  return m;
}

// One round of EM in place; returns the log likelihood before it.
double em_round(const Rows& x, Mixture& m, const std::vector<double>& column_sd) {
  const Eigen::Index K = m.weights.size(), d = x.cols();
  Eigen::VectorXd constant(K), mass = Eigen::VectorXd::Zero(K);
  const Rows precision = m.variances.cwiseInverse();
  for (Eigen::Index k = 0; k < K; ++k)
    constant[k] = std::log(m.weights[k]) - 0.5 * m.variances.row(k).array().log().sum() -
                  0.5 * static_cast<double>(d) * std::log(2 * std::numbers::pi) -
                  0.5 * (m.means.row(k).array().square() * precision.row(k).array()).sum();
  const Rows squares = x.array().square();
  Rows terms =
      x * (m.means.array() * precision.array()).matrix().transpose() - 0.5 * squares * precision.transpose();
  double log_likelihood = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    auto row = terms.row(i).array();
    row += constant.transpose().array();
    const double top = row.maxCoeff();
    row = (row - top).exp();
    const double sum = row.sum();
    row /= sum;
    log_likelihood += top + std::log(sum);
  }
  mass = terms.colwise().sum().transpose();
  const Rows first = terms.transpose() * x;
  for (Eigen::Index k = 0; k < K; ++k) {
    m.weights[k] = (mass[k] + 1e-9) / (static_cast<double>(x.rows()) + 1e-9 * static_cast<double>(K));
    if (!(mass[k] > 1e-9)) continue;
    m.means.row(k) = first.row(k) / mass[k];
    // About the new mean, so that nothing cancels.
    const Eigen::RowVectorXd second =
        terms.col(k).transpose() * (x.rowwise() - m.means.row(k)).array().square().matrix();
    for (Eigen::Index j = 0; j < d; ++j) {
      const double sd = column_sd[static_cast<std::size_t>(j)];
      m.variances(k, j) = second[j] / mass[k] + kVarianceFloor * sd * sd;
    }
  }
  return log_likelihood;
}

std::vector<double> flat(const Mixture& m) {
  std::vector<double> theta(m.weights.data(), m.weights.data() + m.weights.size());
  theta.insert(theta.end(), m.means.data(), m.means.data() + m.means.size());
  for (Eigen::Index i = 0; i < m.variances.size(); ++i) theta.push_back(std::sqrt(m.variances.data()[i]));
  return theta;
}

Mixture unflat(const std::vector<double>& theta, Eigen::Index d) {
  const auto K = static_cast<Eigen::Index>(theta.size()) / (1 + 2 * d);
  Mixture m;
  m.weights = Eigen::Map<const Eigen::VectorXd>(theta.data(), K);
  m.means = Eigen::Map<const Rows>(theta.data() + K, K, d);
  m.variances = Eigen::Map<const Rows>(theta.data() + K + K * d, K, d).array().square();
  return m;
}

// Rows less their mean, so that the squares in em_round stay small; a mixture's means move with them.
Eigen::RowVectorXd centre(Rows& x) {
  Eigen::RowVectorXd mean = x.colwise().mean();
  x.rowwise() -= mean;
  return mean;
}

std::vector<double> refined(Rows x, const std::vector<double>& theta, int rounds,
                            const std::vector<double>& column_sd) {
  const Eigen::RowVectorXd mean = centre(x);
  Mixture m = unflat(theta, x.cols());
  m.means.rowwise() -= mean;
  for (int round = 0; round < rounds; ++round) em_round(x, m, column_sd);
  m.means.rowwise() += mean;
  return flat(m);
}

// Cholesky factors of diagonal covariances; of a tied one, of the mean of the components' by weight. `result`
// is theta without its scales.
void append_diagonal_factors(const ParameterBlock& block, std::span<const double> theta,
                             std::vector<double>& result) {
  const auto d = static_cast<std::size_t>(block.matrix_dim()), begin = result.size();
  const std::size_t K = (theta.size() - begin) / d, count = block.component_axis == 0 ? K : 1;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < d; ++i) {
      double scale = theta[begin + k * d + i];
      if (block.component_axis != 0) {
        double variance = 0;
        for (std::size_t c = 0; c < K; ++c) variance += theta[c] * std::pow(theta[begin + c * d + i], 2);
        scale = std::sqrt(variance);
      }
      result.insert(result.end(), i, 0.0);
      result.push_back(scale);
    }
}

}  // namespace

MixtureStarts::MixtureStarts(const DataSet& data, int components, std::uint64_t seed)
    : data_(data),
      seed_(seed),
      column_sd_(column_units(data.values, static_cast<std::size_t>(data.dim)).sd),
      clusterings_(kCandidates),
      refined_(kCandidates),
      log_likelihood_(kCandidates) {
  Rows x = choose_rows(data, kCandidateRows);
  const Eigen::RowVectorXd mean = centre(x);
  ThreadPool pool(0);
  pool.for_each(kCandidates, [&](std::size_t i, int) {
    Mixture m = cluster(x, components, Chooser(seed, static_cast<std::uint32_t>(i), 0), column_sd_);
    const auto in_place = [&] {
      Mixture moved = m;
      moved.means.rowwise() += mean;
      return flat(moved);
    };
    clusterings_[i] = in_place();
    for (int round = 0; round < kEmRounds; ++round) log_likelihood_[i] = em_round(x, m, column_sd_);
    refined_[i] = in_place();
  });
}

std::size_t MixtureStarts::best_of_drawn(std::uint32_t chain, std::uint64_t attempt) const {
  const device::RandomSource random{seed_, attempt, chain};
  std::size_t best = kCandidates;
  for (std::uint32_t i = 0; i < kDrawnPerChain; ++i) {
    const auto candidate = static_cast<std::size_t>(random.uniform(device::Purpose::start, i) *
                                                    static_cast<double>(kCandidates));
    if (best == kCandidates || log_likelihood_[candidate] > log_likelihood_[best]) best = candidate;
  }
  return best;
}

std::vector<double> MixtureStarts::kmeans(std::uint32_t chain, std::uint64_t attempt) const {
  return clusterings_[best_of_drawn(chain, attempt)];
}

std::vector<double> MixtureStarts::em(std::uint32_t chain, std::uint64_t attempt) const {
  const std::vector<double>& candidate = refined_[best_of_drawn(chain, attempt)];
  return data_.num_rows <= kCandidateRows
             ? candidate
             : refined(choose_rows(data_, kEmRows), candidate, kEmRounds, column_sd_);
}

std::vector<double> MixtureStarts::ranked(std::size_t rank) const {
  std::vector<std::size_t> order(kCandidates);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return log_likelihood_[a] > log_likelihood_[b]; });
  return refined_.at(order.at(rank));
}

std::vector<double> refine_by_em(const DataSet& data, const std::vector<double>& theta, int rounds) {
  return refined(choose_rows(data, data.num_rows), theta, rounds,
                 column_units(data.values, static_cast<std::size_t>(data.dim)).sd);
}

std::vector<double> in_layout(const ParameterLayout& layout, std::span<const double> theta) {
  std::vector<double> result(theta.begin(), theta.end());
  const ParameterBlock& scales = layout.blocks.back();
  const bool is_covariance = scales.support == Support::covariance;
  if (scales.feature_axis >= 0 && !is_covariance) return result;
  const auto begin = static_cast<std::size_t>(layout.offset(layout.blocks.size() - 1));
  if (is_covariance) {
    result.resize(begin);
    append_diagonal_factors(scales, theta, result);
    return result;
  }
  const auto K = static_cast<std::size_t>(scales.shape[0]), d = (theta.size() - begin) / K;
  result.resize(begin + K);
  for (std::size_t k = 0; k < K; ++k) {
    double squares = 0;
    for (std::size_t j = 0; j < d; ++j) squares += theta[begin + k * d + j] * theta[begin + k * d + j];
    result[begin + k] = std::sqrt(squares / static_cast<double>(d));
  }
  return result;
}

std::vector<int> order_like(const ParameterLayout& layout, std::span<const double> reference,
                            std::span<const double> theta) {
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    if (block.unit != DataUnit::location || block.component_axis != 0 || block.feature_axis != 1) continue;
    const int K = block.shape[0], d = block.shape[1];
    const Eigen::Map<const Rows> ours(theta.data() + layout.offset(b), K, d),
        theirs(reference.data() + layout.offset(b), K, d);
    Rows distance(K, K);
    for (int k = 0; k < K; ++k) distance.row(k) = (ours.rowwise() - theirs.row(k)).rowwise().squaredNorm();
    std::vector<int> order(static_cast<std::size_t>(K));
    for (int pair = 0; pair < K; ++pair) {
      Eigen::Index to, from;
      distance.minCoeff(&to, &from);
      order[static_cast<std::size_t>(to)] = static_cast<int>(from);
      distance.row(to).setConstant(std::numeric_limits<double>::infinity());
      distance.col(from).setConstant(std::numeric_limits<double>::infinity());
    }
    return order;
  }
  std::vector<int> identity;
  for (const auto& block : layout.blocks)
    if (block.component_axis == 0 && identity.empty())
      for (int k = 0; k < block.shape[0]; ++k) identity.push_back(k);
  return identity;
}

}  // namespace emomc
