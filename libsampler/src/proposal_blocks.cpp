#include "proposal_blocks.hpp"

#include "emomc/core/errors.hpp"

namespace emomc {

namespace {

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

// Adds the blocks of phases to a plan.
class BlockList {
 public:
  BlockList(ProposalBlocks& plan, int phase) : plan_(plan), phase_(phase) {}

  // Adds a block of its own factor, unless it has no parameter.
  void add(std::string name, int begin, int size, Influence influence, int component) {
    if (size == 0) return;
    add_sharing(std::move(name), begin, size, influence, component, plan_.num_dense);
    plan_.num_dense += size * size;
  }
  // Adds a block whose factor is at `dense_offset`.
  void add_sharing(std::string name, int begin, int size, Influence influence, int component,
                   int dense_offset) {
    device::ProposalBlock block{};
    block.begin = begin;
    block.size = size;
    block.influence = influence;
    block.component = component;
    block.phase = phase_;
    block.turn = turn_++;
    block.dense_offset = dense_offset;
    plan_.blocks.push_back(block);
    plan_.names.push_back(std::move(name));
  }

 private:
  ProposalBlocks& plan_;
  int phase_, turn_ = 0;
};

// Adds the scales and the correlations of each matrix as separate blocks.
void add_covariances(const Target& target, std::size_t b, BlockList& list) {
  const ParameterBlock& block = target.layout().blocks[b];
  const Target::Range range = target.unconstrained_range(b);
  const int count = block.component_axis == 0 ? block.shape[0] : 1;
  const int size = range.size / count, scales = target.free_scales(b);
  for (int k = 0; k < count; ++k) {
    const std::string suffix = block.component_axis == 0 ? "[" + std::to_string(k) + "]" : "";
    list.add("scales" + suffix, range.begin + k * size, scales, block.influence, k);
    list.add("correlations" + suffix, range.begin + k * size + scales, size - scales, block.influence, k);
  }
}

// Adds the blocks of a phase with Division::by_component.
void add_components(const Target& target, int phase, ProposalBlocks& plan) {
  BlockList list(plan, phase);
  for (std::size_t b = 0; b < target.layout().blocks.size(); ++b) {
    const ParameterBlock& block = target.layout().blocks[b];
    const Target::Range range = target.unconstrained_range(b);
    if (block.support == Support::covariance) {
      add_covariances(target, b, list);
      continue;
    }
    const bool sliced = block.support != Support::simplex && block.component_axis == 0 && range.size > 0;
    // Ordered values depend on all earlier ones, so a slice changes more than its own component.
    const bool coupled = target.ordered_block() == b;
    const int num_slices = sliced ? block.shape[0] : 1;
    const bool moves_means =
        sliced && !coupled && block.influence == Influence::component && block.unit == DataUnit::location;
    for (int k = 0; k < num_slices; ++k) {
      list.add(sliced ? block.name + "[" + std::to_string(k) + "]" : block.name,
               range.begin + k * (range.size / num_slices), range.size / num_slices,
               coupled ? Influence::everything : block.influence, k);
      if (moves_means) plan.blocks.back().keeps_heights = 1;
    }
  }
}

int number_of_repeats(device::Repeats repeats, const Target& target, const ProposalBlocks& before) {
  switch (repeats) {
    case device::Repeats::once:
      return 1;
    case device::Repeats::for_each_half:
      return 2;
    case device::Repeats::for_each_component:
      return target.table().mixture.num_components;
    case device::Repeats::twice_the_blocks_before:
      return 2 * static_cast<int>(before.blocks.size());
  }
  return 0;
}

// Adds the blocks of a phase with Division::whole. They share one factor: that of the block before them if
// they learn nothing (a second try), else one of their own.
void add_repeats(const Target& target, const PhaseTraits& phase, int number, ProposalBlocks& plan) {
  const int dim = target.dim_unconstrained();
  if (dim == 0) return;
  const bool own = phase.learns != device::Learns::nothing;
  if (phase.moves_by_fit && plan.shape != ProposalShape::dense) plan.num_dense = 0;
  const int offset = own || plan.blocks.empty() ? plan.num_dense : plan.blocks.back().dense_offset;
  const int count = number_of_repeats(phase.repeats, target, plan);
  BlockList list(plan, number);
  for (int turn = 0; turn < count; ++turn) {
    const std::string suffix = phase.repeats == device::Repeats::once ? "" : "[" + std::to_string(turn) + "]";
    list.add_sharing(phase.label + suffix, 0, dim, Influence::everything, 0, offset);
  }
  if (own) plan.num_dense += dim * dim;
}

// Throws InputError if the proposal does not support the target.
void check_phase(const std::string& proposal, const PhaseTraits& phase, const Target& target) {
  if (target.table().mixture.num_components < phase.fewest_components)
    throw InputError("sampler.proposal.kind: " + proposal + " is for " +
                     std::to_string(phase.fewest_components) +
                     " or more components with free weights, means and a scale in each column; allowed here: "
                     "another kind");
  if (phase.most_parameters > 0 && target.dim_unconstrained() > phase.most_parameters)
    throw InputError("sampler.proposal.kind: " + proposal +
                     " fits a covariance of all free parameters, here " +
                     std::to_string(target.dim_unconstrained()) +
                     "; allowed: " + std::to_string(phase.most_parameters) + " or fewer");
}

}  // namespace

int ProposalBlocks::num_moves_by_fit() const {
  return static_cast<int>(std::count_if(blocks.begin(), blocks.end(),
                                        [this](const auto& block) { return phase_of(block).moves_by_fit; }));
}

int ProposalBlocks::first_move_by_fit() const {
  const auto first = std::find_if(blocks.begin(), blocks.end(),
                                  [this](const auto& block) { return phase_of(block).moves_by_fit; });
  return static_cast<int>(first - blocks.begin());
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
          device::num_trajectory_numbers(traits.length(), dim_unconstrained)};
}

ProposalBlocks plan_blocks(const ProposalTraits& traits, ProposalShape asked, const Target& target) {
  using device::ShapeLearning;
  ProposalBlocks result;
  result.traits = traits;
  const bool is_asked =
      traits.learning == ShapeLearning::as_asked || traits.learning == ShapeLearning::as_asked_and_fitted;
  result.shape = is_asked                                 ? asked
                 : traits.learning == ShapeLearning::none ? ProposalShape::isotropic
                                                          : ProposalShape::dense;
  for (int number = 0; number < static_cast<int>(traits.phases.size()); ++number) {
    const PhaseTraits& phase = traits.phases[static_cast<std::size_t>(number)];
    check_phase(traits.name, phase, target);
    if (phase.division == device::Division::by_component)
      add_components(target, number, result);
    else
      add_repeats(target, phase, number, result);
    if (phase.repeats == device::Repeats::for_each_half || phase.when == device::When::if_rejected)
      result.apart = true;
  }
  if (result.blocks.empty())
    throw InputError("prior: every parameter is fixed, so there is nothing to sample");
  for (auto& block : result.blocks) find_elements(target, block);
  return result;
}

}  // namespace emomc
