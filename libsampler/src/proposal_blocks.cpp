#include "proposal_blocks.hpp"

#include <algorithm>

#include "emomc/core/errors.hpp"

namespace emomc {

namespace {

// Number of moves by the fitted distribution for each component-wise move. The component-wise moves are
// needed if the fit is poor; if it is good, they contribute little (docs/decisions/moves-by-a-fit.md).
constexpr int kMovesPerWalk = 2;

device::ProposalBlock block_of(int begin, int size, Influence influence, int component) {
  device::ProposalBlock block{};
  block.begin = begin;
  block.size = size;
  block.influence = influence;
  block.component = component;
  block.half = device::kAllChains;
  return block;
}

// Whether theta[element] is a function of some u in [begin, end), according to its transform.
bool depends_on(const device::ParameterTable& table, int element, int begin, int end) {
  const device::Element& e = table.elements[element];
  const auto meets = [&](int first, int last) { return first < end && last >= begin; };
  switch (e.transform) {
    case device::Transform::fixed:
      return false;
    case device::Transform::identity:
    case device::Transform::lower_bound:
    case device::Transform::interval:
      return meets(e.source, e.source);
    case device::Transform::ordered:
    case device::Transform::ordered_above:
    case device::Transform::ordered_interval: {
      const int first = e.source - e.rank * e.stride;
      return meets(std::min(first, e.source), std::max(first, e.source));
    }
    case device::Transform::angle:
      return meets(e.source, e.source + 1);
    case device::Transform::simplex:
      for (int s = 0; s < table.num_simplices; ++s) {
        const device::SimplexBlock& block = table.simplices[s];
        if (element >= block.begin && element < block.begin + block.size)
          return meets(block.source, block.source + block.size - 2);
      }
      return true;
    case device::Transform::covariance:
      return true;
  }
  return true;
}

void find_elements(const Target& target, device::ProposalBlock& block) {
  const device::ParameterTable table = target.table();
  int first = table.dim, last = -1;
  for (int i = 0; i < table.dim; ++i)
    if (depends_on(table, i, block.begin, block.begin + block.size)) {
      first = std::min(first, i);
      last = i;
    }
  block.first_element = last < 0 ? 0 : first;
  block.num_elements = last < 0 ? 0 : last - first + 1;
}

// Adds the scales and the correlations of each matrix as separate blocks.
template <class Add>
void add_covariances(const Target& target, std::size_t b, const Add& add) {
  const ParameterBlock& block = target.layout().blocks[b];
  const Target::Range range = target.unconstrained_range(b);
  const int count = block.component_axis == 0 ? block.shape[0] : 1;
  const int size = range.size / count, scales = target.free_scales(b);
  for (int k = 0; k < count; ++k) {
    const std::string suffix = block.component_axis == 0 ? "[" + std::to_string(k) + "]" : "";
    add("scales" + suffix, range.begin + k * size, scales, block.influence, k);
    add("correlations" + suffix, range.begin + k * size + scales, size - scales, block.influence, k);
  }
}

}  // namespace

int ProposalBlocks::num_moves_by_fit() const {
  return static_cast<int>(
      std::count_if(blocks.begin(), blocks.end(), [](const auto& block) { return block.by_fit != 0; }));
}

bool ProposalBlocks::uses_component_caches() const {
  return std::none_of(blocks.begin(), blocks.end(),
                      [](const auto& block) { return block.influence == Influence::everything; });
}

int ProposalBlocks::num_evaluations() const {
  return static_cast<int>(std::count_if(
      blocks.begin(), blocks.end(), [](const auto& block) { return block.influence != Influence::nothing; }));
}

device::AdaptedLayout ProposalBlocks::adapted_layout(int dim_unconstrained) const {
  const bool dense = shape == ProposalShape::dense;
  const bool fitted = traits.is_fitted();
  return {static_cast<int>(blocks.size()), dim_unconstrained, dense || fitted ? num_dense : 0,
          fitted ? device::AdaptedLayout::fitted_size(dim_unconstrained) : 0,
          device::num_trajectory_numbers(traits.length, dim_unconstrained)};
}

ProposalBlocks plan_blocks(const ProposalTraits& traits, ProposalShape asked, const Target& target) {
  using device::ShapeLearning;
  const device::BlockPlan plan = traits.block_plan;
  ProposalBlocks result;
  result.traits = traits;
  const bool is_asked =
      traits.learning == ShapeLearning::as_asked || traits.learning == ShapeLearning::as_asked_and_fitted;
  result.shape = is_asked                                 ? asked
                 : traits.learning == ShapeLearning::none ? ProposalShape::isotropic
                                                          : ProposalShape::dense;
  const auto add = [&](std::string name, int begin, int size, Influence influence, int component) {
    if (size == 0) return;
    result.blocks.push_back(block_of(begin, size, influence, component));
    result.blocks.back().dense_offset = result.num_dense;
    result.names.push_back(std::move(name));
    result.num_dense += size * size;
  };
  const int dim = target.dim_unconstrained();
  if (plan == device::BlockPlan::whole) {
    add("all", 0, dim, Influence::everything, 0);
  } else if (dim > 0 && plan == device::BlockPlan::halves) {
    for (int half : {0, 1}) {
      result.blocks.push_back(block_of(0, dim, Influence::everything, 0));
      result.blocks.back().half = half;
    }
    result.names = {"half[0]", "half[1]"};
    result.apart = true;
  } else if (dim > 0 && plan == device::BlockPlan::stages) {
    for (int stage : {0, 1}) {
      result.blocks.push_back(block_of(0, dim, Influence::everything, 0));
      result.blocks.back().stage = stage;
    }
    result.names = {"first", "second"};
    result.num_dense = dim * dim;
    result.apart = result.has_stages = true;
  } else {
    for (std::size_t b = 0; b < target.layout().blocks.size(); ++b) {
      const ParameterBlock& block = target.layout().blocks[b];
      const Target::Range range = target.unconstrained_range(b);
      if (block.support == Support::covariance) {
        add_covariances(target, b, add);
        continue;
      }
      const bool sliced = block.support != Support::simplex && block.component_axis == 0 && range.size > 0;
      // Ordered values depend on all earlier ones, so a slice changes more than its own component.
      const bool coupled = target.ordered_block() == b;
      const int num_slices = sliced ? block.shape[0] : 1;
      const bool moves_means =
          sliced && !coupled && block.influence == Influence::component && block.unit == DataUnit::location;
      for (int k = 0; k < num_slices; ++k) {
        add(sliced ? block.name + "[" + std::to_string(k) + "]" : block.name,
            range.begin + k * (range.size / num_slices), range.size / num_slices,
            coupled ? Influence::everything : block.influence, k);
        if (moves_means) result.blocks.back().keeps_heights = 1;
      }
    }
  }
  if (traits.jumps()) {
    constexpr int kFewest = 3;
    if (target.table().mixture.num_components < kFewest)
      throw InputError(
          "sampler.proposal.kind: split_merge is for three or more components with free weights, means and "
          "a scale in each column; allowed here: another kind");
    for (int jump = 0; jump < target.table().mixture.num_components; ++jump) {
      result.blocks.push_back(block_of(0, dim, Influence::everything, 0));
      result.blocks.back().jump = 1;
      result.names.push_back("split_merge[" + std::to_string(jump) + "]");
    }
  }
  if (plan == device::BlockPlan::by_component_and_fit) {
    constexpr int kMost = 2000;
    if (dim > kMost)
      throw InputError(
          "sampler.proposal.kind: crank_nicolson fits a covariance of all free parameters, here " +
          std::to_string(dim) + "; allowed: " + std::to_string(kMost) + " or fewer");
    if (result.shape != ProposalShape::dense) result.num_dense = 0;
    const int num_moves = kMovesPerWalk * static_cast<int>(result.blocks.size());
    for (int move = 0; move < num_moves; ++move) {
      result.blocks.push_back(block_of(0, dim, Influence::everything, 0));
      result.blocks.back().by_fit = 1 + move;
      result.blocks.back().dense_offset = result.num_dense;
      result.names.push_back("all[" + std::to_string(move) + "]");
    }
    result.num_dense += dim * dim;
  }
  if (result.blocks.empty())
    throw InputError("prior: every parameter is fixed, so there is nothing to sample");
  for (auto& block : result.blocks) find_elements(target, block);
  return result;
}

}  // namespace emomc
