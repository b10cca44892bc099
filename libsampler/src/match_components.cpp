#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "component_numbers.hpp"
#include "component_reference.hpp"

namespace emomc {
namespace {

using namespace matching;

// Largest number of draws on which starts are compared.
constexpr std::size_t kPilotDraws = 1000;
// Number of draws on which the best start is continued first.
constexpr std::size_t kLearntFrom = 8000;
constexpr int kMostRounds = 30;
constexpr double kPilotWork = 2e9, kWork = 2e10;  // in operations, about a nanosecond each
constexpr double kMostWork = 5e10;                // operations of one round, beyond which nothing is matched
constexpr int kPowers = 15;
constexpr std::size_t kFewestDraws = 50;         // minimum even for the largest models
constexpr std::size_t kMostColumns = 8;          // largest number of columns whose orders are starts
constexpr std::size_t kPivots = 5;               // number of single draws that are starts
constexpr double kNearly = 0.1;                  // share of the median cost of an exchange
constexpr std::size_t kMostTrades = 10'000'000;  // largest number of costs of exchanges that are stored to
                                                 // compute medians
// Draws are divided into chunks, whose sums are added in a fixed order.
constexpr std::size_t kMostChunks = 64, kLeastChunk = 128;

class Matcher {
 public:
  Matcher(const MixtureNames& names, bool has_covariances, ThreadPool& threads)
      : K_(names.num_components),
        d_(names.num_columns),
        has_covariances_(has_covariances),
        threads_(threads),
        scratch_(static_cast<std::size_t>(threads.num_threads())) {}

  // Returns the moments of the sample's components in the order of `permutation`. With a reference,
  // `permutation` is first replaced by the order that matches the reference best, and `changed` is set to
  // whether it has changed.
  Reference moments(const Sample& sample, const Eigen::MatrixXd& shift, const Reference* reference,
                    std::vector<int>& permutation, bool* changed = nullptr) {
    const std::size_t size = std::max(kLeastChunk, (sample.size() + kMostChunks - 1) / kMostChunks);
    const std::size_t num_chunks = (sample.size() + size - 1) / size;
    std::vector<Sums> sums(num_chunks);
    std::vector<char> is_new(num_chunks, 0);
    threads_.for_each(num_chunks, [&](std::size_t c, int worker) {
      Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
      sums[c].clear(K_, d_, has_covariances_);
      std::vector<int> before(static_cast<std::size_t>(K_));
      for (std::size_t i = c * size; i < std::min((c + 1) * size, sample.size()); ++i) {
        const Draw& draw = sample.get(i, scratch.draw);
        int* order = permutation.data() + i * static_cast<std::size_t>(K_);
        if (reference) {
          std::copy_n(order, K_, before.begin());
          std::iota(order, order + K_, 0);
          if (draw.is_finite) {
            find_costs(draw, *reference, scratch.costs);
            if (scratch.costs.allFinite()) match(scratch.costs, order);
          }
          if (!std::equal(before.begin(), before.end(), order)) is_new[c] = 1;
        }
        if (draw.is_finite) sums[c].add(draw, order, shift);
      }
    });
    for (std::size_t c = 1; c < num_chunks; ++c) sums[0].add(sums[c]);
    if (changed) *changed = std::any_of(is_new.begin(), is_new.end(), [](char c) { return c != 0; });
    return sums[0].reference(shift);
  }

  // Alternates between matching and moments until nothing changes.
  Reference follow(Reference reference, const Sample& sample, int most_rounds,
                   std::vector<int>& permutation) {
    permutation.assign(sample.size() * static_cast<std::size_t>(K_), -1);
    bool changed = true;
    for (int round = 0; round < most_rounds && changed; ++round) {
      Reference next = moments(sample, reference.means, &reference, permutation, &changed);
      if (!std::isfinite(next.objective)) break;
      reference = std::move(next);
    }
    return reference;
  }

  // Returns the moments if each draw's components are sorted by key(draw, component).
  Reference sorted(const Sample& sample, const std::function<double(const Draw&, int)>& key) {
    std::vector<int> permutation(sample.size() * static_cast<std::size_t>(K_));
    Eigen::MatrixXd shift = Eigen::MatrixXd::Zero(d_, K_);
    Draw scratch;
    double count = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const Draw& draw = sample.get(i, scratch);
      int* order = permutation.data() + i * static_cast<std::size_t>(K_);
      std::iota(order, order + K_, 0);
      if (!draw.is_finite) continue;
      std::stable_sort(order, order + K_, [&](int a, int b) { return key(draw, a) < key(draw, b); });
      for (int k = 0; k < K_; ++k) shift.col(k) += draw.mixture.means.col(order[k]);
      ++count;
    }
    return moments(sample, shift / std::max(1.0, count), nullptr, permutation);
  }

  // Returns a single draw as a reference.
  Reference pivot(const Sample& sample, std::size_t i) {
    Draw scratch;
    const Draw& draw = sample.get(i, scratch);
    if (!draw.is_finite) return {};
    std::vector<int> order(static_cast<std::size_t>(K_));
    std::iota(order.begin(), order.end(), 0);
    Sums sums;
    sums.clear(K_, d_, has_covariances_);
    sums.add(draw, order.data(), draw.mixture.means);
    return sums.reference(draw.mixture.means);
  }

  std::vector<Reference> starts(const Sample& sample);
  void find_overlap(const Sample& sample, const Reference& reference, MatchedComponents& result);

 private:
  struct Scratch {
    Draw draw;
    Costs costs;
  };

  int K_, d_;
  bool has_covariances_;
  ThreadPool& threads_;
  std::vector<Scratch> scratch_;
};

std::vector<Reference> Matcher::starts(const Sample& sample) {
  // The between and within variances of all components of all draws give the pooled sd of each column.
  Draw scratch;
  Eigen::VectorXd centre = Eigen::VectorXd::Zero(d_), between = centre, within = centre;
  double weight = 0;
  const auto for_each_draw = [&](const auto& body) {
    for (std::size_t i = 0; i < sample.size(); ++i)
      if (const Draw& draw = sample.get(i, scratch); draw.is_finite) body(draw.mixture);
  };
  for_each_draw([&](const Mixture& m) {
    centre += m.means * m.weights;
    weight += m.weights.sum();
  });
  if (!(weight > 0)) return {};
  centre /= weight;
  for_each_draw([&](const Mixture& m) {
    between += (m.means.colwise() - centre).cwiseAbs2() * m.weights;
    within += m.sds.cwiseAbs2() * m.weights;
  });
  const Eigen::VectorXd scale = (between + within).cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return {};
  between.array() *= scale.array().square();
  // Power iteration approximates the first principal axis of the means.
  Eigen::VectorXd axis = between.cwiseSqrt();
  for (int power = 0; power < kPowers; ++power) {
    Eigen::VectorXd next = Eigen::VectorXd::Zero(d_);
    for_each_draw([&](const Mixture& m) {
      const Eigen::MatrixXd x = scale.asDiagonal() * (m.means.colwise() - centre);
      next += x * m.weights.cwiseProduct(x.transpose() * axis);
    });
    if (!(next.norm() > 0)) break;
    axis = next.normalized();
  }
  axis = axis.cwiseProduct(scale);

  std::vector<Eigen::Index> columns(static_cast<std::size_t>(d_));
  std::iota(columns.begin(), columns.end(), Eigen::Index{0});
  std::stable_sort(columns.begin(), columns.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return between[a] > between[b]; });
  columns.resize(std::min(columns.size(), kMostColumns));
  std::vector<Reference> starts{
      sorted(sample, [&](const Draw& draw, int k) { return axis.dot(draw.mixture.means.col(k) - centre); })};
  for (const Eigen::Index c : columns)
    starts.push_back(sorted(sample, [c](const Draw& draw, int k) { return draw.mixture.means(c, k); }));
  starts.push_back(sorted(sample, [](const Draw& draw, int k) { return draw.mixture.weights[k]; }));
  starts.push_back(
      sorted(sample, [](const Draw& draw, int k) { return draw.mixture.sds.col(k).array().log().sum(); }));
  for (std::size_t p = 0; p < kPivots; ++p)
    starts.push_back(pivot(sample, (2 * p + 1) * sample.size() / (2 * kPivots)));
  std::erase_if(starts, [](const Reference& start) { return !std::isfinite(start.objective); });
  return starts;
}

void Matcher::find_overlap(const Sample& sample, const Reference& reference, MatchedComponents& result) {
  const auto K = static_cast<std::size_t>(K_);
  std::vector<std::vector<double>> trades(K * (K - 1) / 2, std::vector<double>(sample.size(), std::nan("")));
  threads_.for_each(sample.size(), [&](std::size_t i, int worker) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
    const Draw& draw = sample.get(i, scratch.draw);
    if (!draw.is_finite) return;
    const Costs& costs = scratch.costs;
    find_costs(draw, reference, scratch.costs);
    if (!costs.allFinite()) return;
    std::vector<int> order(K);
    match(costs, order.data());
    std::size_t pair = 0;
    for (std::size_t k = 0; k < K; ++k)
      for (std::size_t l = 0; l < k; ++l) {
        const auto a = static_cast<Eigen::Index>(k), b = static_cast<Eigen::Index>(l);
        trades[pair++][i] =
            (costs(order[k], b) - costs(order[k], a)) + (costs(order[l], a) - costs(order[l], b));
      }
  });
  std::size_t pair = 0;
  for (int k = 0; k < K_; ++k)
    for (int l = 0; l < k; ++l) {
      std::vector<double>& costs = trades[pair++];
      std::erase_if(costs, [](double cost) { return std::isnan(cost); });
      if (costs.empty()) continue;
      const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
      std::nth_element(costs.begin(), middle, costs.end());
      const double bound = kNearly * *middle;
      const auto near = std::count_if(costs.begin(), costs.end(), [&](double cost) { return cost <= bound; });
      const double share = static_cast<double>(near) / static_cast<double>(costs.size());
      if (result.first < 0 || share > result.overlap) {
        result.overlap = share;
        result.first = l;
        result.second = k;
      }
    }
}

}  // namespace

MatchedComponents match_components(const DrawSet& set, const MixtureNames& names, ThreadPool& threads) {
  const int K = names.num_components, d = names.num_columns;
  const auto components = static_cast<std::size_t>(K);
  const MixtureReader reader(set, names);
  const std::size_t all = reader.num_draws();
  MatchedComponents result;
  result.relabelling = {K, std::vector<int>(all * components)};
  std::vector<int>& permutation = result.relabelling.permutation;
  for (std::size_t i = 0; i < permutation.size(); ++i) permutation[i] = static_cast<int>(i % components);
  result.numbered_by = "the first column's mean in each draw";

  // per_pair and work count operations for one draw in one round.
  const double per_pair = reader.has_covariances() ? 4.0 * d * d : 5.0 * d, count = K;
  const double work = count * count * per_pair + 2 * count * count * count;
  if (static_cast<double>(all) * work > kMostWork) return result;
  const double most_starts = static_cast<double>(kMostColumns + 3 + kPivots);
  const auto sample_of = [&](double draws, std::size_t most) {
    return std::min({all, most, std::max(kFewestDraws, static_cast<std::size_t>(draws))});
  };
  const auto rounds_of = [&](double budget, std::size_t draws) {
    return static_cast<int>(
        std::clamp(budget / (static_cast<double>(draws) * work), 1.0, double{kMostRounds}));
  };
  const Eigen::VectorXd factors = column_factors(reader, d);
  const Sample pilot(reader, K, factors,
                     sample_of(kPilotWork / (most_starts * kMostRounds * work), kPilotDraws), true);
  Matcher matcher(names, reader.has_covariances(), threads);
  Reference best;
  std::vector<int> unused;
  auto starts = matcher.starts(pilot);
  // For a very large model, even kFewestDraws draws are too many for all starts.
  const int rounds = rounds_of(kWork, pilot.size());
  const double passes = kWork / (static_cast<double>(rounds) * static_cast<double>(pilot.size()) * work);
  starts.resize(std::min(starts.size(), static_cast<std::size_t>(std::max(1.0, passes))));
  for (const Reference& start : starts) {
    Reference reference = matcher.follow(start, pilot, rounds, unused);
    if (reference.objective < best.objective) best = std::move(reference);
  }
  if (!std::isfinite(best.objective)) return result;
  const std::size_t learnt_from = sample_of(kWork / (kMostRounds * work), kLearntFrom);
  if (learnt_from < all && learnt_from > pilot.size())
    best = matcher.follow(best, Sample(reader, K, factors, learnt_from, false), kMostRounds, unused);
  best = matcher.follow(best, Sample(reader, K, factors, all, false), rounds_of(kWork, all), permutation);

  const std::size_t pairs = components * (components - 1) / 2;
  const std::size_t judged =
      std::min(all, std::max<std::size_t>(1, std::min(kLearntFrom, kMostTrades / pairs)));
  matcher.find_overlap(Sample(reader, K, factors, judged, false), best, result);

  const ComponentNumbers numbers_of = number_matched(set, names, result.relabelling);
  const std::vector<int>& order = numbers_of.order;
  result.numbered_by = numbers_of.key;
  std::vector<int> old(components);
  for (std::size_t i = 0; i < all; ++i) {
    int* numbers = permutation.data() + i * components;
    std::copy_n(numbers, K, old.begin());
    for (std::size_t k = 0; k < components; ++k) numbers[k] = old[static_cast<std::size_t>(order[k])];
  }
  if (result.first < 0) return result;
  const auto number_of = [&](int k) {
    return static_cast<int>(std::find(order.begin(), order.end(), k) - order.begin());
  };
  const int a = number_of(result.first), b = number_of(result.second);
  result.first = std::min(a, b);
  result.second = std::max(a, b);
  return result;
}

}  // namespace emomc
