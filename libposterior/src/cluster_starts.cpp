#include "cluster_starts.hpp"

#include "emomc/sampler/starts.hpp"
#include "emomc/sampler/target.hpp"
#include "emomc/sampler/tempering.hpp"
#include "further_parameters.hpp"

namespace emomc {

ClusterStarts::ClusterStarts(const RunSetup& setup, std::uint64_t seed)
    : setup_(setup),
      seed_(seed),
      partitions_(setup.loaded.data, setup.model),
      further_(centre_of_further(setup.model, setup.loaded.data.dim, *setup.target, seed)) {}

std::vector<double> ClusterStarts::of_chain(std::uint64_t chain) {
  const Target& target = *setup_.target;
  // k-means leads to high modes, but may always find the same one.
  const bool by_kmeans = (chain % kRungStride + chain / kRungStride) % 2 == 0;
  std::vector<double> theta = partitions_.start(by_kmeans ? Seeding::kmeans : Seeding::random_rows, seed_,
                                                static_cast<std::uint32_t>(chain));
  theta.insert(theta.end(), further_.begin(), further_.end());
  theta = target.with_arguments_of(theta);
  theta = permute_components(target.layout(), order_of_prior(target, theta), theta);
  target.move_inside(theta);
  if (first_.empty()) first_ = theta;
  return aligned(target, first_, theta);
}

}  // namespace emomc
