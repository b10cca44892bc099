#include "../resident_chains.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "../resident_plan.hpp"
#include "emomc/core/cuda_check.hpp"
#include "emomc/core/current_device.hpp"
#include "emomc/device/proposals.hpp"

namespace emomc {
namespace {

std::string proposal_type_name(const std::string& kind) {
#define EMOMC_TYPE_NAME(Proposal) \
  if (kind == device::Proposal::name) return "emomc::device::" #Proposal;
  EMOMC_PROPOSALS(EMOMC_TYPE_NAME)
#undef EMOMC_TYPE_NAME
  return {};
}

int attribute(const Device& device, cudaDeviceAttr which) {
  int index = 0, value = 0;
  use_device_of(device.stream());
  EMOMC_CUDA_CHECK(cudaGetDevice(&index));
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, index));
  return value;
}

Stream selected_stream(const Device& device) {
  use_device_of(device.stream());
  return device.stream();
}

class CudaResidentChains final : public ResidentChains {
 public:
  CudaResidentChains(Device& device, const DeviceLikelihood& likelihood, const device::StepView& view,
                     const std::vector<ChainPlan>& chains, const ResidentPlan& plan,
                     const std::string& proposal)
      : stream_(selected_stream(device)),
        plan_(plan),
        view_(view),
        kernel_(resident_source(plan, likelihood, proposal, view.table)) {
    const ResidentNodes nodes = plan_nodes(likelihood, chains, plan.sizes.rows_per_lane, plan.log2_piece);
    nodes_ = {device, nodes.nodes.size()};
    nodes_.upload(nodes.nodes);
    lists_ = {device, nodes.lists};
    work_ = {likelihood.rows,
             nodes_.data(),
             lists_.list_of_chain.data(),
             lists_.first_leaf.data(),
             lists_.first_segment.data(),
             lists_.segment_first.data(),
             lists_.num_rows.data(),
             nodes.lists.max_leaves,
             nodes.lists.max_segments,
             plan.nodes_per_block,
             0,
             plan.resident_nodes,
             likelihood.kept,
             plan.num_blocks,
             plan.log2_piece,
             nullptr};
    if (plan.is_wide()) {
      const auto pieces = static_cast<std::size_t>(device::num_pieces(work_));
      told_ = DeviceArray<device::u64>(
          device,
          chains.size() * 2 * static_cast<std::size_t>(plan.sizes.num_lines) * pieces * device::kToldWords);
      work_.told = told_.data();
    }
    const auto most_shared =
        static_cast<std::size_t>(attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin));
    if (plan.shared_bytes + kernel_.shared() > most_shared) return;
    EMOMC_CUDA_CHECK(cudaFuncSetAttribute(kernel_.function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(plan.shared_bytes)));
    const Launch launch(*this);
    if (plan.is_wide()) {
      int blocks = 0;
      EMOMC_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, kernel_.function(), static_cast<int>(launch.config.blockDim.x), plan.shared_bytes));
      runs_ = blocks * attribute(device, cudaDevAttrMultiProcessorCount) >=
              static_cast<int>(launch.config.gridDim.x);
      return;
    }
    // A GPU without such clusters returns an error or a number of 0.
    int clusters = 0;
    const bool has_answer =
        cudaFuncSetAttribute(kernel_.function(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1) ==
            cudaSuccess &&
        cudaOccupancyMaxActiveClusters(&clusters, kernel_.function(), &launch.config) == cudaSuccess;
    if (!has_answer) cudaGetLastError();
    runs_ = has_answer && clusters > 0;
  }

  int spilled() const { return kernel_.spilled(); }
  /// Whether the GPU has room for a cluster or, in the wide form, for all blocks at once.
  bool runs() const { return runs_; }

  void launch(std::int64_t num_steps) const override {
    use_device_of(stream_);
    device::ResidentWork work = work_;
    work.num_steps = num_steps;
    device::StepView view = view_;
    if (plan_.is_wide())
      EMOMC_CUDA_CHECK(cudaMemsetAsync(told_.data(), 0, told_.size() * sizeof(device::u64), stream_));
    void* arguments[] = {&view, &work};
    const Launch launch(*this);
    check_cuda(cudaLaunchKernelExC(&launch.config, kernel_.function(), arguments),
               "launch of resident_kernel", __FILE__, __LINE__);
  }

  std::string description() const override {
    if (plan_.is_of_teams())
      return "in clusters of " + std::to_string(plan_.num_blocks) + " blocks, up to " +
             std::to_string(plan_.chains_per_block) + " chains in each";
    std::string text = plan_.is_wide() ? "on " + std::to_string(plan_.num_blocks) + " blocks a chain"
                                       : "in clusters of " + std::to_string(plan_.num_blocks) + " blocks";
    if (plan_.sizes.num_lines > 1)
      return text + ", " + std::to_string(plan_.sizes.num_lines) + " candidates of a chain at once";
    const bool ahead = plan_.sizes.form == device::ResidentForm::ahead;
    return text + (ahead ? ", the next candidate prepared meanwhile" : ", one candidate after the other");
  }

 private:
  struct Launch {
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
    explicit Launch(const CudaResidentChains& c) {
      const bool ahead = c.plan_.sizes.form == device::ResidentForm::ahead;
      if (c.plan_.is_wide()) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
      } else {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(c.plan_.num_blocks), 1, 1};
      }
      const int per_block = c.plan_.chains_per_block;
      config.gridDim =
          dim3(static_cast<unsigned>((c.view_.num_chains + per_block - 1) / per_block * c.plan_.num_blocks));
      config.blockDim = dim3(static_cast<unsigned>(
          c.plan_.is_of_teams() ? device::kChainTeams * device::kTeamLanes
                                : 32 * c.plan_.evaluators + (ahead ? 3 * device::kTeamLanes : 0)));
      config.dynamicSmemBytes = c.plan_.shared_bytes;
      config.stream = c.stream_;
      config.attrs = &attribute;
      config.numAttrs = 1;
    }
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;
  };

  Stream stream_;
  ResidentPlan plan_;
  device::StepView view_;
  RuntimeKernel kernel_;
  DeviceArray<device::RowNode> nodes_;
  DeviceChainLists lists_;  // the lists' leaves are nodes
  DeviceArray<device::u64> told_;
  device::ResidentWork work_{};
  bool runs_ = false;
};

// Returns the form that `kernels` names; empty for `fastest` and `launched`.
std::optional<device::ResidentForm> form_of(StepKernels kernels) {
  switch (kernels) {
    case StepKernels::ahead:
      return device::ResidentForm::ahead;
    case StepKernels::in_turn:
      return device::ResidentForm::in_turn;
    case StepKernels::lines:
      return device::ResidentForm::lines;
    case StepKernels::wide:
      return device::ResidentForm::wide;
    case StepKernels::teams:
      return device::ResidentForm::teams;
    case StepKernels::fastest:
    case StepKernels::launched:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<ResidentChains> make_resident_chains(const LikelihoodEngine& engine, const Ensemble& ensemble,
                                                     const std::string& proposal,
                                                     const ProposalBlocks& blocks,
                                                     const std::vector<ChainPlan>& chains,
                                                     StepKernels kernels, bool caches, std::string& why) {
  const auto likelihood = engine.device_likelihood();
  if (!likelihood) {
    why = "the engine evaluates on the host";
    return nullptr;
  }
  if (blocks.apart) {
    why = "proposal " + proposal + " needs other chains or two tries";
    return nullptr;
  }
  if (why = runtime_compiler_problem(); !why.empty()) return nullptr;
  ResidentMachine machine{
      attribute(engine.device(), cudaDevAttrMultiProcessorCount),
      static_cast<std::size_t>(attribute(engine.device(), cudaDevAttrMaxSharedMemoryPerMultiprocessor)),
      static_cast<std::size_t>(attribute(engine.device(), cudaDevAttrMaxSharedMemoryPerBlockOptin))};
  if (attribute(engine.device(), cudaDevAttrClusterLaunch) == 0) {
    why = "the GPU has no clusters";
    return nullptr;
  }
  const bool all_evaluated =
      std::none_of(blocks.blocks.begin(), blocks.blocks.end(),
                   [](const device::ProposalBlock& b) { return b.influence == Influence::nothing; });
  const ResidentSteps steps{static_cast<int>(blocks.blocks.size()), blocks.num_moves_by_fit() > 0, caches,
                            all_evaluated};
  const auto form = form_of(kernels);
  for (bool may_be_wide = true;;) {
    const auto plan = form ? plan_form(*form, *likelihood, chains, ensemble.view(), steps, machine)
                           : plan_resident(*likelihood, chains, ensemble.view(), steps, machine, may_be_wide);
    if (!plan) {
      if (why.empty())
        why = form ? "the chains do not fit the form that was asked for"
                   : "so many rows or chains are evaluated faster by kernels of their own";
      return nullptr;
    }
    auto result = std::make_unique<CudaResidentChains>(engine.device(), *likelihood, ensemble.view(), chains,
                                                       *plan, proposal_type_name(proposal));
    if (!result->runs())
      why = "the GPU does not run " + std::to_string(plan->num_blocks) + " such blocks at once";
    else if (result->spilled() > kMostSpilled)
      why = "the kernel for this model needs more registers than there are (" +
            std::to_string(result->spilled()) + " bytes of a thread in memory)";
    else
      return result;
    if (plan->is_wide() && !form)
      may_be_wide = false;
    else if (!plan->is_wide() && !result->runs() && plan->num_blocks > 1)
      machine.largest_cluster = plan->num_blocks / 2;
    else
      return nullptr;
  }
}

}  // namespace emomc
