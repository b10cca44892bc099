#include "mixture_seeding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

constexpr int kLloydRounds = 20;
constexpr double kSmallestScale = 0.01;
constexpr int kNoGroup = -1;

class Chooser {
 public:
  Chooser(std::uint64_t seed, std::uint32_t index) : source_{seed, 0, index} {}
  double uniform() { return source_.uniform(device::Purpose::kmeans, next_++); }
  double normal() { return source_.normal(device::Purpose::start, next_normal_++); }
  /// Draws an index with probability proportional to its weight.
  Eigen::Index draw(const Eigen::VectorXd& weights) {
    double left = uniform() * weights.sum();
    Eigen::Index i = 0;
    for (; i + 1 < weights.size() && left >= weights[i]; ++i) left -= weights[i];
    return i;
  }

 private:
  device::RandomSource source_;
  std::uint32_t next_ = 0, next_normal_ = 0;
};

using Groups = std::vector<int>;  // number of the group of each row

Eigen::VectorXd squared_distances(const SeedRows& x, Eigen::Index row) {
  return (x.rowwise() - x.row(row)).rowwise().squaredNorm();
}

// K rows that are drawn with probability proportional to the squared distance from the nearest earlier one
// (k-means++, Arthur and Vassilvitskii 2007) or uniformly.
SeedRows choose_centres(const SeedRows& x, int K, bool spread_out, Chooser& chooser) {
  SeedRows centres(K, x.cols());
  Eigen::VectorXd weight = Eigen::VectorXd::Ones(x.rows());
  for (int k = 0; k < K; ++k) {
    // If all rows have been used, any row may be drawn.
    if (!(weight.sum() > 0)) weight.setOnes();
    const Eigen::Index row = chooser.draw(weight);
    centres.row(k) = x.row(row);
    if (spread_out) {
      const Eigen::VectorXd to_new = squared_distances(x, row);
      weight = k == 0 ? to_new : weight.cwiseMin(to_new).eval();
    } else {
      weight[row] = 0;
    }
  }
  return centres;
}

Groups nearest(const SeedRows& x, const SeedRows& centres) {
  // The distances are |x - c|^2 - |x|^2; the second term is the same for all centres.
  SeedRows distance = -2 * x * centres.transpose();
  distance.rowwise() += centres.rowwise().squaredNorm().transpose();
  Groups groups(static_cast<std::size_t>(x.rows()));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    Eigen::Index k;
    distance.row(i).minCoeff(&k);
    groups[static_cast<std::size_t>(i)] = static_cast<int>(k);
  }
  return groups;
}

Groups kmeans(const SeedRows& x, int K, Chooser& chooser) {
  SeedRows centres = choose_centres(x, K, true, chooser);
  Groups groups = nearest(x, centres);
  for (int round = 1; round < kLloydRounds; ++round) {
    SeedRows sums = SeedRows::Zero(K, x.cols());
    Eigen::VectorXd count = Eigen::VectorXd::Zero(K);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const int k = groups[static_cast<std::size_t>(i)];
      sums.row(k) += x.row(i);
      count[k] += 1;
    }
    for (int k = 0; k < K; ++k)
      if (count[k] > 0) centres.row(k) = sums.row(k) / count[k];
    Groups next = nearest(x, centres);
    if (next == groups) break;
    groups = std::move(next);
  }
  return groups;
}

// Repeatedly splits a group, drawn with probability proportional to its size, by a hyperplane of random
// direction at a random quantile.
Groups random_splits(const SeedRows& x, int K, Chooser& chooser) {
  constexpr double kLeastShare = 0.1;
  Groups groups(static_cast<std::size_t>(x.rows()), 0);
  for (int k = 1; k < K; ++k) {
    Eigen::VectorXd count = Eigen::VectorXd::Zero(k);
    for (int group : groups) count[group] += 1;
    const auto cut = static_cast<int>(chooser.draw(count));
    Eigen::VectorXd direction(x.cols());
    for (Eigen::Index j = 0; j < x.cols(); ++j) direction[j] = chooser.normal();
    const Eigen::VectorXd along = x * direction;
    std::vector<double> values;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i] == cut) values.push_back(along[static_cast<Eigen::Index>(i)]);
    const double share = kLeastShare + (1 - 2 * kLeastShare) * chooser.uniform();
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    std::nth_element(values.begin(), at, values.end());
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i] == cut && along[static_cast<Eigen::Index>(i)] > *at) groups[i] = k;
  }
  return groups;
}

// Small groups of the rows nearest to a random row; the number of rows is between d + 2 and an even share,
// uniform on a log scale. With `rest_in_last` the last group has all remaining rows; otherwise the remaining
// rows belong to no group.
Groups local_groups(const SeedRows& x, int K, bool rest_in_last, Chooser& chooser) {
  const auto n = static_cast<double>(x.rows());
  Groups groups(static_cast<std::size_t>(x.rows()), kNoGroup);
  Eigen::VectorXd free = Eigen::VectorXd::Ones(x.rows());
  for (int k = 0; k < K; ++k) {
    if (!(free.sum() > 0)) break;
    const Eigen::Index row = chooser.draw(free);
    const double least = std::min(static_cast<double>(x.cols()) + 2, n / K), most = n / K;
    const auto size =
        static_cast<std::size_t>(std::llround(least * std::pow(most / least, chooser.uniform())));
    const Eigen::VectorXd distance = squared_distances(x, row);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i] == kNoGroup) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return distance[static_cast<Eigen::Index>(a)] < distance[static_cast<Eigen::Index>(b)];
    });
    const bool all = rest_in_last && k == K - 1;
    for (std::size_t i = 0; i < order.size() && (all || i < size); ++i) {
      groups[order[i]] = k;
      free[static_cast<Eigen::Index>(order[i])] = 0;
    }
  }
  return groups;
}

std::vector<double> moments(const SeedRows& x, int K, const Groups& groups) {
  const Eigen::Index d = x.cols();
  Eigen::VectorXd count = Eigen::VectorXd::Zero(K);
  SeedRows mean = SeedRows::Zero(K, d), variance = SeedRows::Zero(K, d);
  double total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const int k = groups[static_cast<std::size_t>(i)];
    if (k == kNoGroup) continue;
    count[k] += 1;
    mean.row(k) += x.row(i);
    total += 1;
  }
  for (int k = 0; k < K; ++k)
    if (count[k] > 0) mean.row(k) /= count[k];
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const int k = groups[static_cast<std::size_t>(i)];
    if (k != kNoGroup) variance.row(k).array() += (x.row(i) - mean.row(k)).array().square();
  }
  std::vector<double> theta;
  for (int k = 0; k < K; ++k) theta.push_back((count[k] + 0.5) / (total + 0.5 * K));
  theta.insert(theta.end(), mean.data(), mean.data() + mean.size());
  for (int k = 0; k < K; ++k)
    for (Eigen::Index j = 0; j < d; ++j)
      theta.push_back(count[k] > 1 ? std::max(std::sqrt(variance(k, j) / count[k]), kSmallestScale) : 1.0);
  return theta;
}

}  // namespace

std::vector<double> seed_mixture(const SeedRows& x, int K, Seeding seeding, std::uint64_t seed,
                                 std::uint32_t index) {
  Chooser chooser(seed, index);
  switch (seeding) {
    case Seeding::random_rows:
      return moments(x, K, nearest(x, choose_centres(x, K, false, chooser)));
    case Seeding::random_splits:
      return moments(x, K, random_splits(x, K, chooser));
    case Seeding::local_groups:
      return moments(x, K, local_groups(x, K, index % 2 == 0, chooser));
    case Seeding::kmeans:
    case Seeding::given:
      break;
  }
  return moments(x, K, kmeans(x, K, chooser));
}

}  // namespace emomc
