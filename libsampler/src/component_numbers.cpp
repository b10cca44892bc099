#include "component_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mixture_reader.hpp"

namespace emomc::matching {
namespace {

constexpr std::size_t kMostDraws = 8000;  // draws are equidistant
constexpr double kApart = 1;              // in sds of the difference

// Returns the name of a key: "means[k,1]" for "means[2,1]".
std::string name_of_key(const std::string& name) {
  const auto open = name.find('[');
  if (open == std::string::npos) return name;
  return name.substr(0, open + 1) + "k" + name.substr(name.find_first_of(",]", open));
}

class Numbering {
 public:
  Numbering(const DrawSet& set, const Relabelling& relabelling)
      : set_(set),
        relabelling_(relabelling),
        all_(set.num_chains() * set.num_draws),
        count_(std::min(all_, kMostDraws)) {}

  // Sorts the numbers by the mean of a key; `least` becomes the smallest distance between successive numbers.
  std::vector<int> order_by(const std::vector<std::size_t>& key, bool decreasing, double& least) const {
    const std::size_t K = key.size();
    std::vector<std::vector<double>> values(K);  // values of finite draws
    std::vector<double> means(K, 0.0), draw(K);
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t at = i * all_ / count_;
      const int* component = relabelling_.permutation.data() + at * K;
      for (std::size_t k = 0; k < K; ++k)
        draw[k] =
            (decreasing ? -1 : 1) * set_.values[key[static_cast<std::size_t>(component[k])] * all_ + at];
      if (!std::all_of(draw.begin(), draw.end(), [](double x) { return std::isfinite(x); })) continue;
      for (std::size_t k = 0; k < K; ++k) values[k].push_back(draw[k]);
    }
    for (std::size_t k = 0; k < K; ++k)
      means[k] =
          std::accumulate(values[k].begin(), values[k].end(), 0.0) / static_cast<double>(values[k].size());
    std::vector<int> order(K);
    std::iota(order.begin(), order.end(), 0);
    least = -1;
    if (values[0].empty()) return order;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return means[static_cast<std::size_t>(a)] < means[static_cast<std::size_t>(b)];
    });
    least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < K; ++k)
      least = std::min(least, distance(values[static_cast<std::size_t>(order[k - 1])],
                                       values[static_cast<std::size_t>(order[k])]));
    return order;
  }

 private:
  // Returns the absolute mean of b - a in units of its sd.
  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    const auto count = static_cast<double>(a.size());
    double mean = 0, largest = 0, square = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      mean += (b[i] - a[i]) / count;
      largest = std::max(largest, std::abs(b[i] - a[i]));
    }
    if (mean == 0) return 0;
    for (std::size_t i = 0; i < a.size(); ++i) square += std::pow((b[i] - a[i] - mean) / largest, 2) / count;
    return std::abs(mean) / largest / std::sqrt(square);
  }

  const DrawSet& set_;
  const Relabelling& relabelling_;
  std::size_t all_, count_;
};

}  // namespace

ComponentNumbers number_matched(const DrawSet& set, const MixtureNames& names,
                                const Relabelling& relabelling) {
  const Numbering numbering(set, relabelling);
  ComponentNumbers best;
  double apart = -2;
  for (const std::vector<std::size_t>& key : component_keys(set, names)) {
    double least = 0;
    std::vector<int> order = numbering.order_by(key, key[0] == names.weights, least);
    if (least > apart) {
      apart = least;
      best = {std::move(order), name_of_key(set.names[key[0]])};
    }
    if (apart >= kApart) break;
  }
  return best;
}

}  // namespace emomc::matching
