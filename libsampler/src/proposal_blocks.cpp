#include "proposal_blocks.hpp"

#include "emomc/core/errors.hpp"

namespace emomc {

ProposalBlocks plan_blocks(device::BlockPlan plan, const Target& target) {
  ProposalBlocks result;
  const auto add = [&](std::string name, int begin, int size, Influence influence, int component) {
    if (size == 0) return;
    result.blocks.push_back({begin, size, influence, component, result.num_dense});
    result.names.push_back(std::move(name));
    result.num_dense += size * size;
  };
  if (plan == device::BlockPlan::whole) {
    add("all", 0, target.dim_unconstrained(), Influence::everything, 0);
  } else {
    for (std::size_t b = 0; b < target.layout().blocks.size(); ++b) {
      const ParameterBlock& block = target.layout().blocks[b];
      const Target::Range range = target.unconstrained_range(b);
      const bool sliced = block.support != Support::simplex && block.component_axis == 0 && range.size > 0;
      // Ordered values depend on all earlier ones, so a slice changes more than its own component.
      const bool coupled = target.ordered_block() == b;
      const int num_slices = sliced ? block.shape[0] : 1;
      for (int k = 0; k < num_slices; ++k)
        add(sliced ? block.name + "[" + std::to_string(k) + "]" : block.name,
            range.begin + k * (range.size / num_slices), range.size / num_slices,
            coupled ? Influence::everything : block.influence, k);
    }
  }
  if (result.blocks.empty())
    throw InputError("prior: every parameter is fixed, so there is nothing to sample");
  return result;
}

}  // namespace emomc
