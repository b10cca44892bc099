#include "emomc/likelihood/mixture_start.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t kKmeansRows = 20000, kEmRows = 200000;
constexpr int kLloydRounds = 20;
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

Mixture kmeans(const Rows& x, int K, Chooser chooser, const std::vector<double>& column_sd) {
  Rows centres = seed_centres(x, K, chooser);
  std::vector<int> nearest(static_cast<std::size_t>(x.rows()), -1);
  Eigen::VectorXd count(K);
  for (int round = 0; round < kLloydRounds; ++round) {
    bool changed = false;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      Eigen::Index k;
      (centres.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&k);
      changed = changed || nearest[static_cast<std::size_t>(i)] != k;
      nearest[static_cast<std::size_t>(i)] = static_cast<int>(k);
    }
    if (!changed) break;
    Rows sums = Rows::Zero(K, x.cols());
    count.setZero();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      sums.row(nearest[static_cast<std::size_t>(i)]) += x.row(i);
      count[nearest[static_cast<std::size_t>(i)]] += 1;
    }
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

void em_round(const Rows& x, Mixture& m, const std::vector<double>& column_sd) {
  const Eigen::Index K = m.weights.size(), d = x.cols();
  Eigen::VectorXd constant(K), mass = Eigen::VectorXd::Zero(K), terms(K);
  for (Eigen::Index k = 0; k < K; ++k)
    constant[k] = std::log(m.weights[k]) - 0.5 * m.variances.row(k).array().log().sum() -
                  0.5 * static_cast<double>(d) * std::log(2 * std::numbers::pi);
  const Rows precision = m.variances.cwiseInverse();
  Rows first = Rows::Zero(K, d), second = Rows::Zero(K, d);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index k = 0; k < K; ++k)
      terms[k] =
          constant[k] - 0.5 * ((x.row(i) - m.means.row(k)).array().square() * precision.row(k).array()).sum();
    terms = (terms.array() - terms.maxCoeff()).exp();
    terms /= terms.sum();
    for (Eigen::Index k = 0; k < K; ++k) {
      if (terms[k] < 1e-300) continue;
      mass[k] += terms[k];
      first.row(k) += terms[k] * x.row(i);
      // About the old mean, so that nothing cancels.
      second.row(k).array() += terms[k] * (x.row(i) - m.means.row(k)).array().square();
    }
  }
  for (Eigen::Index k = 0; k < K; ++k) {
    m.weights[k] = (mass[k] + 1e-9) / (static_cast<double>(x.rows()) + 1e-9 * static_cast<double>(K));
    if (!(mass[k] > 1e-9)) continue;
    const Eigen::RowVectorXd mean = first.row(k) / mass[k];
    const Eigen::RowVectorXd shift = mean - m.means.row(k);
    for (Eigen::Index j = 0; j < d; ++j) {
      const double sd = column_sd[static_cast<std::size_t>(j)];
      m.variances(k, j) =
          std::max(second(k, j) / mass[k] - shift[j] * shift[j], 0.0) + kVarianceFloor * sd * sd;
    }
    m.means.row(k) = mean;
  }
}

std::vector<double> flat(const Mixture& m) {
  std::vector<double> theta(m.weights.data(), m.weights.data() + m.weights.size());
  theta.insert(theta.end(), m.means.data(), m.means.data() + m.means.size());
  for (Eigen::Index i = 0; i < m.variances.size(); ++i) theta.push_back(std::sqrt(m.variances.data()[i]));
  return theta;
}

}  // namespace

std::vector<double> kmeans_start(const DataSet& data, int components, std::uint64_t seed, std::uint32_t chain,
                                 std::uint64_t attempt) {
  const auto sd = column_units(data.values, static_cast<std::size_t>(data.dim)).sd;
  return flat(kmeans(choose_rows(data, kKmeansRows), components, Chooser(seed, chain, attempt), sd));
}

std::vector<double> em_start(const DataSet& data, int components, std::uint64_t seed, std::uint32_t chain,
                             std::uint64_t attempt, int iterations) {
  const auto sd = column_units(data.values, static_cast<std::size_t>(data.dim)).sd;
  Mixture mixture = kmeans(choose_rows(data, kKmeansRows), components, Chooser(seed, chain, attempt), sd);
  const Rows x = choose_rows(data, kEmRows);
  for (int i = 0; i < iterations; ++i) em_round(x, mixture, sd);
  return flat(mixture);
}

}  // namespace emomc
