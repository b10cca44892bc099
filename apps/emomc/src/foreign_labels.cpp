#include "foreign_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc::app {
namespace {

constexpr double kSwitchedRhat = 1.1;    // of some part, as it is
constexpr std::size_t kMostParts = 128;  // the time grows with their number's third power
constexpr double kMendedRhat = 1.05;     // of all parts, in their order

// Parts of an array that may trade places: part k has the quantities members[k], position by position.
struct Parts {
  std::string what;
  std::vector<std::vector<std::size_t>> members;
};

class Switching {
 public:
  explicit Switching(const DrawSet& draws) : draws_(draws) {}

  // The order of parts in each chain, where that mends what is wrong; empty otherwise.
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
    if (!any || !(worst_rhat(parts, orders) < kMendedRhat)) return {};
    return orders;
  }

 private:
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

// Entries of one array along `axis`, in the order of their index there.
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
    if (orders.empty()) return false;
    std::string chains;
    for (std::size_t c = 1; c < orders.size(); ++c) {
      if (orders[c] == orders[0]) continue;
      std::string order;
      for (int k : orders[c]) order += (order.empty() ? "" : " ") + std::to_string(k + 1);
      chains += fmt::format("{}{} has them as {}", chains.empty() ? "" : ", ", draws.chains[c], order);
    }
    sentences.push_back(
        fmt::format("label switching: the {} trade places between chains ({}, against {}); in one "
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

}  // namespace emomc::app
