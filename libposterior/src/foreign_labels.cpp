#include "foreign_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {
namespace {

constexpr double kSwitchedRhat = 1.1;    // R-hat of some component in its own order
constexpr std::size_t kMostParts = 128;  // the time grows with the third power of the number of components
// Share of the excess of R-hat over 1 that may remain in the mended order.
constexpr double kMendedShare = 0.25;
// Switching from draw to draw: two groups of components are separated if the gap between them is below a
// fifth of its median in at most 1 % of the draws. If components switch because they overlap, this happens in
// 10 % of the draws or more.
constexpr double kNearly = 0.2, kNearShare = 0.01;
constexpr double kTraded = 0.05;     // share of draws with other members of the lower group than usual
constexpr double kSamePlace = 0.25;  // difference of a group's mean in these draws, in median gaps
constexpr std::size_t kFewest = 100, kMostDraws = 2000;  // number of draws that are used
constexpr std::size_t kMostValues = 20'000'000;          // number of values in the draws that are used

// Components of an array that may be switched: component k has the quantities members[k], in corresponding
// order.
struct Parts {
  std::string what;
  std::vector<std::vector<std::size_t>> members;
};

class Switching {
 public:
  explicit Switching(const DrawSet& draws) : draws_(draws) {}

  // The order of components in each chain if it removes most of the excess of R-hat; else empty.
  std::vector<std::vector<int>> orders(const Parts& parts) const {
    const std::size_t K = parts.members.size(), chains = draws_.num_chains();
    if (K < 2 || K > kMostParts || chains < 2 || worst_rhat(parts, {}) < kSwitchedRhat) return {};
    std::vector<std::vector<int>> orders(chains, std::vector<int>(K));
    std::iota(orders[0].begin(), orders[0].end(), 0);
    bool any = false;
    for (std::size_t c = 1; c < chains; ++c) {
      std::vector<double> cost(K * K, 0.0);
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t l = 0; l < K; ++l)
          for (std::size_t m = 0; m < parts.members[k].size(); ++m) {
            const auto [there, sd_there] = moments(parts.members[l][m], c);
            const auto [here, sd_here] = moments(parts.members[k][m], 0);
            const double variance = sd_here * sd_here + sd_there * sd_there;
            cost[k * K + l] += variance > 0    ? (here - there) * (here - there) / variance
                               : here == there ? 0.0
                                               : 1e6;
          }
      orders[c] = least_cost_assignment(cost, static_cast<int>(K));
      any = any || orders[c] != orders[0];
    }
    const double raw = worst_rhat(parts, {});
    if (!any || !(worst_rhat(parts, orders) - 1 < kMendedShare * (raw - 1))) return {};
    return orders;
  }

  // The share of draws in which the lower of two groups has other members than in most draws. The result is
  // the maximum over all groupings in which a gap separates the groups in every draw and the values of the
  // groups do not depend on their members.
  double traded(const Parts& parts) const {
    double most = 0;
    if (parts.members.size() < 2) return most;
    for (std::size_t m = 0; m < parts.members[0].size(); ++m) most = std::max(most, traded(parts, m));
    return most;
  }

 private:
  // The same share for the members at position m. The components are sorted by value, and each gap between
  // neighbours is tried.
  double traded(const Parts& parts, std::size_t m) const {
    const std::size_t K = parts.members.size(), all = draws_.num_chains() * draws_.num_draws;
    const std::size_t count = std::min({all, kMostDraws, kMostValues / K});
    if (count < kFewest) return 0;
    std::vector<std::pair<double, std::size_t>> sorted(K);
    const auto sort_draw = [&](std::size_t i) {
      for (std::size_t k = 0; k < K; ++k)
        sorted[k] = {draws_.values[parts.members[k][m] * all + i * all / count], k};
      std::sort(sorted.begin(), sorted.end());
    };
    std::vector<std::vector<double>> gaps(K - 1, std::vector<double>(count));
    bool is_whole = true;  // integers such as ranks and indicators change their order by nature
    for (std::size_t k = 0; k < K; ++k) {
      const double* x = draws_.values.data() + parts.members[k][m] * all;
      if (!std::all_of(x, x + all, [](double v) { return std::isfinite(v); })) return 0;
      is_whole = is_whole && std::all_of(x, x + all, [](double v) { return v == std::round(v); });
    }
    if (is_whole) return 0;
    for (std::size_t i = 0; i < count; ++i) {
      sort_draw(i);
      for (std::size_t j = 0; j + 1 < K; ++j) gaps[j][i] = sorted[j + 1].first - sorted[j].first;
    }
    std::vector<std::size_t> cuts;  // j where the gap between sorted[j] and sorted[j + 1] separates groups
    std::vector<double> medians(K - 1);
    for (std::size_t j = 0; j + 1 < K; ++j) {
      const auto middle = gaps[j].begin() + static_cast<std::ptrdiff_t>(count / 2);
      std::nth_element(gaps[j].begin(), middle, gaps[j].end());
      medians[j] = *middle;
      const auto near = std::count_if(gaps[j].begin(), gaps[j].end(),
                                      [&](double gap) { return gap <= kNearly * medians[j]; });
      if (static_cast<double>(near) <= kNearShare * static_cast<double>(count)) cuts.push_back(j);
    }
    std::vector<std::map<std::uint64_t, Grouping>> groupings(cuts.size());
    for (std::size_t i = 0; i < count && !cuts.empty(); ++i) {
      sort_draw(i);
      double sum = 0;
      for (const auto& [x, k] : sorted) sum += x;
      std::uint64_t lower = 0;
      double below = 0;
      std::size_t c = 0;
      for (std::size_t j = 0; j + 1 < K && c < cuts.size(); ++j) {
        lower += hash(sorted[j].second);
        below += sorted[j].first;
        if (cuts[c] != j) continue;
        Grouping& grouping = groupings[c++][lower];
        ++grouping.count;
        grouping.below += below / static_cast<double>(j + 1);
        grouping.above += (sum - below) / static_cast<double>(K - j - 1);
      }
    }
    double most = 0;
    for (std::size_t c = 0; c < cuts.size(); ++c)
      most = std::max(most, traded(groupings[c], medians[cuts[c]], static_cast<double>(count)));
    return most;
  }

  // The draws whose lower group has the same members: their number, and sums of the means of both groups.
  struct Grouping {
    double count = 0, below = 0, above = 0;
  };
  static double traded(const std::map<std::uint64_t, Grouping>& groupings, double gap, double count) {
    Grouping most;
    for (const auto& [lower, grouping] : groupings)
      if (grouping.count > most.count) most = grouping;
    double traded = 0;
    for (const auto& [lower, grouping] : groupings) {
      const double below = grouping.below / grouping.count - most.below / most.count,
                   above = grouping.above / grouping.count - most.above / most.count;
      if (std::max(std::abs(below), std::abs(above)) < kSamePlace * gap) traded += grouping.count;
    }
    return (traded - most.count) / count;
  }
  // The hash of a component. Sums of hashes identify sets (the mixer of splitmix64, Steele, Lea and Flood
  // 2014).
  static std::uint64_t hash(std::size_t k) {
    std::uint64_t x = (k + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  const double* chain(std::size_t q, std::size_t c) const {
    return draws_.values.data() + (q * draws_.num_chains() + c) * draws_.num_draws;
  }
  std::pair<double, double> moments(std::size_t q, std::size_t c) const {
    const DrawsView view{chain(q, c), draws_.num_draws, 1, 1, 0};
    return {draws_mean(view), draws_sd(view)};
  }
  double worst_rhat(const Parts& parts, const std::vector<std::vector<int>>& orders) const {
    double worst = 0;
    std::vector<double> values(draws_.num_chains() * draws_.num_draws);
    for (std::size_t k = 0; k < parts.members.size(); ++k)
      for (std::size_t m = 0; m < parts.members[k].size(); ++m) {
        for (std::size_t c = 0; c < draws_.num_chains(); ++c) {
          const std::size_t part = orders.empty() ? k : static_cast<std::size_t>(orders[c][k]);
          std::copy_n(chain(parts.members[part][m], c), draws_.num_draws,
                      values.data() + c * draws_.num_draws);
        }
        const double r = rhat({values.data(), draws_.num_draws, draws_.num_chains(), 1,
                               static_cast<std::ptrdiff_t>(draws_.num_draws)});
        if (!std::isnan(r)) worst = std::max(worst, r);
      }
    return worst;
  }

  const DrawSet& draws_;
};

// The entries of one array along `axis`, in the order of their index there.
Parts along_axis(const NameBlock& block, std::size_t axis) {
  std::map<int, std::vector<std::pair<std::vector<int>, std::size_t>>> by_index;
  for (std::size_t i = 0; i < block.size; ++i) {
    std::vector<int> rest = block.indices[i];
    const int index = rest[axis];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    by_index[index].push_back({rest, block.begin + i});
  }
  Parts parts{"components of " + block.name, {}};
  for (auto& [index, entries] : by_index) {
    std::sort(entries.begin(), entries.end());
    parts.members.emplace_back();
    for (const auto& entry : entries) parts.members.back().push_back(entry.second);
    if (parts.members.back().size() != parts.members.front().size()) return {};
  }
  return parts;
}

std::string without_number(const std::string& name) {
  const auto end = name.find_last_not_of("0123456789");
  return end == std::string::npos || end + 1 == name.size() ? "" : name.substr(0, end + 1);
}

}  // namespace

std::vector<std::string> switched_labels(const DrawSet& draws) {
  const Switching switching(draws);
  std::vector<std::string> sentences;
  const auto look_at = [&](const Parts& parts) {
    const auto orders = switching.orders(parts);
    if (orders.empty()) {
      const double traded = switching.traded(parts);
      if (traded < kTraded) return false;
      sentences.push_back(
          fmt::format("label switching: the {} change places from draw to draw (in {:.0f} % of the draws "
                      "their order differs from the usual one)",
                      parts.what, 100 * traded));
      return true;
    }
    std::string chains;
    for (std::size_t c = 1; c < orders.size(); ++c) {
      if (orders[c] == orders[0]) continue;
      std::string order;
      for (int k : orders[c]) order += (order.empty() ? "" : " ") + std::to_string(k + 1);
      chains += fmt::format("{}{} has them as {}", chains.empty() ? "" : ", ", draws.chains[c], order);
    }
    sentences.push_back(
        fmt::format("label switching: the {} change places between chains ({}, against {}); in one "
                    "order the chains agree",
                    parts.what, chains, draws.chains[0]));
    return true;
  };
  const auto blocks = blocks_of_names(draws.names);
  std::map<std::string, std::vector<const NameBlock*>> stems;
  for (const NameBlock& block : blocks) {
    if (block.begin < draws.num_log_densities) continue;
    const std::size_t axes = block.indices[0].size();
    if (axes > 0 && !look_at(along_axis(block, 0)) && axes > 1) look_at(along_axis(block, axes - 1));
    if (const std::string stem = without_number(block.name); !stem.empty()) stems[stem].push_back(&block);
  }
  for (const auto& [stem, members] : stems) {
    Parts parts{"arrays " + stem + "1, " + stem + "2, ...", {}};
    for (const NameBlock* block : members) {
      if (block->size != members[0]->size) continue;
      parts.members.emplace_back(block->size);
      std::iota(parts.members.back().begin(), parts.members.back().end(), block->begin);
    }
    look_at(parts);
  }
  return sentences;
}

}  // namespace emomc
