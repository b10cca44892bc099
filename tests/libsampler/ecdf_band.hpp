// Tests whether ranks are uniform by a simultaneous band for their cumulated counts (Saeilynoja, Buerkner and
// Vehtari 2022, "Graphical test for discrete uniformity and its applications in goodness-of-fit evaluation
// and multiple sample comparison", section 2). The false-alarm rate comes from their recursion, not from
// simulation, so that it can be 1e-9.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace emomc::testing {

/// The inclusive limits of the number of ranks <= j, for j = 0 .. largest_rank - 1.
struct EcdfBand {
  std::vector<int> lower, upper;
  /// Exact probability that `n` independent uniform ranks leave the band somewhere.
  double false_alarm_rate = 0;
};

class EcdfBands {
 public:
  /// Prepares bands for `n` ranks, each uniform on 0 .. largest_rank.
  EcdfBands(int n, int largest_rank) : n_(n), largest_(largest_rank) {
    log_factorial_.assign(1, 0.0);
    for (int i = 1; i <= n; ++i) log_factorial_.push_back(log_factorial_.back() + std::log(i));
  }

  /// Returns the narrowest band of binomial quantiles whose false-alarm rate is at most `rate`.
  EcdfBand band(double rate) const {
    double low = std::log(rate / (4 * largest_)), high = std::log(rate);  // rate of a single point
    EcdfBand best = of_point_rate(std::exp(low));
    for (int round = 0; round < 12; ++round) {
      const double middle = 0.5 * (low + high);
      EcdfBand candidate = of_point_rate(std::exp(middle));
      if (candidate.false_alarm_rate <= rate) {
        best = std::move(candidate);
        low = middle;
      } else {
        high = middle;
      }
    }
    return best;
  }

 private:
  double probability(int count, int of, double p) const {
    const auto log_of = [&](int i) { return log_factorial_[static_cast<std::size_t>(i)]; };
    if (p >= 1) return count == of ? 1.0 : 0.0;
    return std::exp(log_of(of) - log_of(count) - log_of(of - count) + count * std::log(p) +
                    (of - count) * std::log1p(-p));
  }

  // At each point the probability beyond each limit is at most point_rate / 2.
  EcdfBand of_point_rate(double point_rate) const {
    EcdfBand band;
    for (int j = 0; j < largest_; ++j) {
      const double p = (j + 1.0) / (largest_ + 1);
      int lower = 0, upper = n_;
      for (double below = probability(0, n_, p); below <= point_rate / 2;)
        below += probability(++lower, n_, p);
      for (double above = probability(n_, n_, p); above <= point_rate / 2;)
        above += probability(--upper, n_, p);
      band.lower.push_back(lower);
      band.upper.push_back(upper);
    }
    band.false_alarm_rate = rate_of(band);
    return band;
  }

  // The cumulated counts are a Markov chain: of the ranks above j - 1, each equals j with probability 1 /
  // (largest + 1 - j).
  double rate_of(const EcdfBand& band) const {
    std::vector<double> inside{1.0};
    int first = 0;  // the count that inside[0] stands for
    double outside = 0;
    for (int j = 0; j < largest_; ++j) {
      const int lower = band.lower[static_cast<std::size_t>(j)],
                upper = band.upper[static_cast<std::size_t>(j)];
      const double p = 1.0 / (largest_ + 1 - j);
      std::vector<double> next(static_cast<std::size_t>(upper - lower + 1), 0.0);
      for (std::size_t i = 0; i < inside.size(); ++i) {
        const int count = first + static_cast<int>(i), rest = n_ - count;
        double kept = 0;
        // The probability of a larger count is below 1e-20.
        const double most = rest * p + 60 + 12 * std::sqrt(rest * p);
        for (int to = std::max(lower, count); to <= upper && to - count <= most; ++to) {
          const double transition = probability(to - count, rest, p);
          kept += transition;
          next[static_cast<std::size_t>(to - lower)] += inside[i] * transition;
        }
        outside += inside[i] * std::max(0.0, 1 - kept);
      }
      inside = std::move(next);
      first = lower;
    }
    return outside;
  }

  int n_, largest_;
  std::vector<double> log_factorial_;
};

/// Returns the largest distance by which the cumulated counts leave the band, in ranks, or 0 if they stay
/// inside. counts[r] is the number of ranks equal to r.
inline int outside_band(const EcdfBand& band, std::span<const int> counts) {
  int cumulated = 0, worst = 0;
  for (std::size_t j = 0; j < band.lower.size(); ++j) {
    cumulated += counts[j];
    worst = std::max({worst, band.lower[j] - cumulated, cumulated - band.upper[j]});
  }
  return worst;
}

}  // namespace emomc::testing
