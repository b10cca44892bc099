#include "emomc/sampler/best_partition.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {

PartitionSearchSize partition_search_size(std::size_t num_rows, std::size_t num_components,
                                          std::size_t num_draws) {
  constexpr double kMostAdditions = 1e10, kMostNumbers = std::size_t{1} << 25;
  constexpr double kMostCandidates = 200, kDrawsPerCandidate = 4;
  const auto N = static_cast<double>(num_rows), K = static_cast<double>(num_components),
             S = static_cast<double>(num_draws);
  const double pairs = std::min(kMostAdditions / (std::max(N, 1.0) * K), kMostNumbers / (K * K));
  const double candidates = std::clamp(std::sqrt(pairs / kDrawsPerCandidate), 1.0, kMostCandidates);
  const double chosen = std::min(std::floor(candidates), S);
  return {static_cast<std::size_t>(chosen),
          static_cast<std::size_t>(std::clamp(std::floor(pairs / chosen), 1.0, S))};
}

PartitionSearch::PartitionSearch(std::size_t num_components, PartitionSearchSize size)
    : num_components_(num_components),
      size_(size),
      tables_(size.draws * size.candidates * num_components * num_components),
      squares_(size.draws),
      group_sizes_(size.candidates * num_components) {}

void PartitionSearch::add(std::size_t num_rows, std::span<const double* const> probabilities,
                          std::span<const std::uint16_t> groups, ThreadPool& threads) {
  const std::size_t K = num_components_;
  for (std::size_t c = 0; c < size_.candidates; ++c)
    for (std::size_t i = 0; i < num_rows; ++i) ++group_sizes_[c * K + groups[c * num_rows + i]];
  threads.for_each(size_.draws, [&](std::size_t s, int) {
    const double* r = probabilities[s];
    for (std::size_t i = 0; i < num_rows * K; ++i) squares_[s] += r[i] * r[i];
    for (std::size_t c = 0; c < size_.candidates; ++c) {
      double* table = tables_.data() + (s * size_.candidates + c) * K * K;
      const std::uint16_t* group = groups.data() + c * num_rows;
      for (std::size_t i = 0; i < num_rows; ++i) {
        double* of_group = table + group[i] * K;
        for (std::size_t k = 0; k < K; ++k) of_group[k] += r[i * K + k];
      }
    }
  });
  num_rows_ += num_rows;
}

std::vector<double> PartitionSearch::losses() const {
  const std::size_t K = num_components_;
  const auto rows = static_cast<double>(num_rows_);
  std::vector<double> losses(size_.candidates, 0.0);
  if (num_rows_ < 2) return losses;
  for (std::size_t c = 0; c < size_.candidates; ++c) {
    // The next numbers are twice the numbers of pairs i < j that are together in the candidate, in truth, and
    // in both.
    double in_candidate = -rows, in_truth = 0, in_both = 0;
    for (std::size_t g = 0; g < K; ++g)
      in_candidate += std::pow(static_cast<double>(group_sizes_[c * K + g]), 2);
    for (std::size_t s = 0; s < size_.draws; ++s) {
      const double* table = tables_.data() + (s * size_.candidates + c) * K * K;
      double of_components = -squares_[s], of_cells = -squares_[s];
      for (std::size_t k = 0; k < K; ++k) {
        double sum = 0;
        for (std::size_t g = 0; g < K; ++g) {
          sum += table[g * K + k];
          of_cells += table[g * K + k] * table[g * K + k];
        }
        of_components += sum * sum;
      }
      in_truth += of_components / static_cast<double>(size_.draws);
      in_both += of_cells / static_cast<double>(size_.draws);
    }
    losses[c] = std::max(0.0, (in_candidate + in_truth - 2 * in_both) / (rows * (rows - 1)));
  }
  return losses;
}

std::vector<int> names_of_groups(std::span<const double> mass, std::size_t num_components) {
  std::vector<double> cost(mass.begin(), mass.end());
  for (double& x : cost) x = -x;
  return least_cost_assignment(cost, static_cast<int>(num_components));
}

}  // namespace emomc
