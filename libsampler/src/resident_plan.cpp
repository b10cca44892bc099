#include "resident_plan.hpp"

#include <algorithm>
#include <limits>

#include "block_cycles.hpp"

namespace emomc {
namespace {

// One warp computes a tree of sums, which therefore has at most 32 x 32 leaves: nodes, or pieces of nodes in
// the wide form.
constexpr int kMostNodes = 1024;
// The largest number of pieces if there is one segment; groups of 32 pieces are summed as they arrive.
constexpr int kMostPieces = 2048;
// With more rows, a single chain with one candidate at a time is as fast with separate kernels, which use the
// whole GPU.
constexpr int kMostRowsOfOneChain = 8192;
// The share of the multiprocessors that clusters of four or more thread blocks can use: clusters do not cross
// the GPU's groups of 16 to 18 multiprocessors.
constexpr double kShareOfLargeClusters = 0.85;
// Limits of the wide form. With fewer thread blocks for each chain, or more rows in all chains together (one
// chain has at most those of kMostPieces), separate kernels are as fast.
constexpr int kFewestWideBlocks = 2;
constexpr double kMostWideRows = 3e6;
// The smallest number of rows of a lane in the wide form if registers have room for more.
constexpr int kWideRows = 4;
// With fewer rows than this in a thread block, a further block costs more than it saves.
constexpr int kFewestRows = 256;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

// Returns the cost of a pass of warps over nodes, in units of the arithmetic of one row; the latency is about
// two such units.
int cost_of_pass(int rows_per_lane) {
  constexpr int kWait = 2;
  return rows_per_lane + kWait;
}

// Returns the cost of the passes of a block's warps over its nodes for all lines (WideEvaluation::evaluate).
int wide_cost(int nodes, int lines, int warps, int rows_per_lane) {
  const int passes = nodes < 2 * warps ? ceil_div(nodes * lines, warps) : ceil_div(nodes, warps) * lines;
  return passes * cost_of_pass(rows_per_lane);
}

// Returns the cost of the passes of the evaluating warps over their nodes.
int cost_of_passes(int rows, int rows_per_lane, int evaluators) {
  return ceil_div(ceil_div(rows, kNodeLanes * rows_per_lane), evaluators) * cost_of_pass(rows_per_lane);
}

int best_rows_per_lane(int rows, int evaluators) {
  int best = 1;
  for (int r : {2, 4})
    if (cost_of_passes(rows, r, evaluators) <= cost_of_passes(rows, best, evaluators)) best = r;
  return best;
}

}  // namespace

std::size_t other_shared_bytes(const device::ResidentSizes& sizes) {
  switch (sizes.form) {
    case device::ResidentForm::teams:
      return 8192;
    case device::ResidentForm::lines:
    case device::ResidentForm::wide:
      return 6144;
    default:
      return 4096;
  }
}

namespace {

class Planner {
 public:
  Planner(const DeviceLikelihood& likelihood, const std::vector<ChainPlan>& chains,
          const device::StepView& view, int num_blocks, const ResidentMachine& machine)
      : likelihood_(likelihood),
        chains_(chains),
        view_(view),
        num_blocks_(num_blocks),
        machine_(machine),
        cycles_of_(likelihood, num_blocks),
        largest_(machine.largest_cluster) {
    const ChainLists lists = chain_lists(chains, [&](std::size_t s) -> SegmentSize {
      return {0, likelihood.segment_rows[s]};
    });
    num_lists_ = lists.num_lists();
    most_segments_ = lists.max_segments;
    if (num_lists_ > 0 && most_segments_ <= kMostNodes) {
      const auto [fewest, most] = std::minmax_element(lists.num_rows.begin(), lists.num_rows.end());
      if (*fewest > 0 && *most <= static_cast<double>(kMostPieces) * device::kTileRows)
        rows_ = static_cast<int>(*most);
    }
    while (largest_ > 1 && !has_room_for(largest_)) largest_ /= 2;
  }

  /// Largest number of rows of a chain; 0 if the chains cannot run in this kernel.
  int rows() const { return rows_; }
  int num_chains() const { return static_cast<int>(chains_.size()); }

  /// Cycles of a block of a step if candidates are evaluated one after the other.
  double cycles_of_ahead() const { return cycles_of_.ahead(ceil_div(rows_, largest_), most_segments_); }

  /// Plans the form `lines` in the largest cluster for which there is room, with the number of lines for
  /// which a block of a step is shortest. Empty if that is not shorter than `least`; otherwise sets `least`
  /// to its time.
  std::optional<ResidentPlan> lines(double& least) const {
    std::optional<ResidentPlan> best;
    for (int lines = 2; lines <= std::min(largest_, device::kMostLines); lines *= 2) {
      const double cycles = cycles_of_.of_lines(ceil_div(rows_, largest_ / lines), most_segments_, lines);
      if (cycles >= least) continue;
      const ResidentPlan plan = sized(device::ResidentForm::lines, largest_, lines, false);
      if (!fits(plan)) continue;
      least = cycles;
      best = plan;
    }
    return best;
  }

  /// Plans the wide form on all multiprocessors, chosen by the rule of lines().
  std::optional<ResidentPlan> wide(int most_lines, double& least) const {
    const int blocks = machine_.num_multiprocessors / num_chains();
    if (blocks < kFewestWideBlocks || static_cast<double>(rows_) * num_chains() > kMostWideRows)
      return std::nullopt;
    std::optional<ResidentPlan> best;
    for (int lines = 1; lines <= most_lines; lines *= 2) {
      const double cycles = cycles_of_.wide(ceil_div(rows_, blocks), most_segments_, lines);
      if (cycles >= least) continue;
      const auto plan = sized_wide(blocks, lines);
      if (!plan) continue;
      least = cycles;
      best = plan;
    }
    return best;
  }

  /// Plans the form `ahead` for all chains at once, with one thread block on each multiprocessor, in clusters
  /// as large as is useful. Without component caches more chains fit, and the evaluation still takes less
  /// time than the proposals that run at the same time.
  std::optional<ResidentPlan> ahead(bool caches) const {
    const int most_useful = std::max(1, ceil_div(rows_, kFewestRows));
    for (const bool with_caches : {true, false}) {
      if (with_caches && !caches) continue;
      for (int cluster = machine_.largest_cluster; cluster >= 1; cluster /= 2) {
        if (cluster / 2 >= most_useful || !has_room_for(cluster)) continue;
        const ResidentPlan plan = sized(device::ResidentForm::ahead, cluster, 1, with_caches);
        if (fits(plan)) return plan;
      }
    }
    return std::nullopt;
  }

  /// Plans the form `in_turn` for all chains at once, with two thread blocks on each multiprocessor: one
  /// works while the other waits.
  std::optional<ResidentPlan> in_turn(bool caches) const {
    if (num_chains() > 2 * machine_.num_multiprocessors) return std::nullopt;
    for (const bool with_caches : {true, false}) {
      if (with_caches && !caches) continue;
      const ResidentPlan plan = sized(device::ResidentForm::in_turn, 1, 1, with_caches);
      if (plan.shared_bytes + other_shared_bytes(plan.sizes) <= machine_.shared_per_multiprocessor / 2)
        return plan;
    }
    return std::nullopt;
  }

  /// Cycles of a block of a step with separate kernels for its parts.
  double cycles_of_launched(bool caches) const {
    return cycles_of_.launched(static_cast<double>(rows_) * num_chains() / machine_.num_multiprocessors,
                               num_chains(), caches);
  }

  /// Plans the form `teams`, with several chains in each cluster, if that takes less time than `least`.
  std::optional<ResidentPlan> teams(bool caches, double least) const {
    if (num_lists_ > 1) return std::nullopt;
    std::optional<ResidentPlan> best;
    for (int cluster = 1; cluster <= machine_.largest_cluster; cluster *= 2) {
      const int clusters = clusters_at_once(cluster);
      if (clusters == 0) break;
      const int waves = ceil_div(num_chains(), clusters * device::kChainTeams);
      const auto plan = sized_teams(cluster, ceil_div(num_chains(), clusters * waves), caches);
      if (!plan) continue;
      const int outside =
          (plan->nodes_per_block - plan->resident_nodes) * kNodeLanes * plan->sizes.rows_per_lane;
      const double cycles = waves * cycles_of_.of_teams(ceil_div(rows_, cluster), outside, most_segments_,
                                                        plan->chains_per_block, plan->sizes.caches);
      if (cycles >= least) continue;
      least = cycles;
      best = plan;
    }
    return best;
  }

 private:
  int real_bytes() const { return likelihood_.real == "float" ? 4 : 8; }

  // Clusters of at least four thread blocks can use only a share of the multiprocessors.
  bool has_room_for(int cluster) const {
    return num_chains() * cluster <=
           (cluster <= 2 ? 1.0 : kShareOfLargeClusters) * machine_.num_multiprocessors;
  }
  int clusters_at_once(int cluster) const {
    return static_cast<int>((cluster <= 2 ? 1.0 : kShareOfLargeClusters) * machine_.num_multiprocessors /
                            cluster);
  }
  // A thread has 128 registers. In float64 they suffice for four rows only if no cached sums are read.
  int rows_per_lane(device::ResidentForm form, int rows, int evaluators) const {
    const bool few = !likelihood_.leaves_registers ||
                     (likelihood_.real == "double" && form != device::ResidentForm::lines);
    return std::min(best_rows_per_lane(rows, evaluators), few ? 2 : 4);
  }
  bool fits(const ResidentPlan& plan) const {
    return plan.shared_bytes + other_shared_bytes(plan.sizes) <= machine_.shared_per_block;
  }

  std::size_t bytes_of(const ResidentPlan& plan, const ResidentNodes& nodes) const {
    device::ResidentWork work{};
    work.nodes_per_block = plan.nodes_per_block;
    work.log2_piece = plan.log2_piece;
    work.resident_nodes = plan.resident_nodes;
    work.max_nodes = nodes.lists.max_leaves;
    work.max_segments = nodes.lists.max_segments;
    alignas(16) unsigned char begin = 0;  // base address for computing sizes; never accessed
    return static_cast<std::size_t>(
        device::ResidentPlaces(&begin, view_, likelihood_.sizes, work, plan.sizes).bytes);
  }

  // Returns the plan for a cluster of this many thread blocks.
  ResidentPlan sized(device::ResidentForm form, int cluster, int lines, bool caches) const {
    const bool ahead = form == device::ResidentForm::ahead;
    const int blocks = cluster / lines;  // thread blocks of one line
    ResidentPlan plan;
    plan.num_blocks = cluster;
    plan.evaluators = ahead ? 4 : lines > 1 ? device::kLinesWarps : 8;
    const int rows = rows_per_lane(form, ceil_div(rows_, blocks), plan.evaluators);
    plan.sizes = {real_bytes(), form, lines, rows, caches, num_blocks_ > 1};
    const ResidentNodes nodes = plan_nodes(likelihood_, chains_, rows);
    plan.nodes_per_block = ceil_div(nodes.lists.max_leaves, blocks);
    plan.shared_bytes =
        nodes.lists.max_leaves > kMostNodes ? machine_.shared_per_multiprocessor : bytes_of(plan, nodes);
    return plan;
  }

  std::optional<ResidentPlan> sized_teams(int cluster, int chains_per_block, bool caches) const {
    ResidentPlan plan;
    plan.num_blocks = cluster;
    plan.chains_per_block = chains_per_block;
    plan.evaluators = device::kTeamWarps;
    const bool may_keep = caches && likelihood_.leaves_registers;  // limited by registers
    const int rows = rows_per_lane(device::ResidentForm::teams, ceil_div(rows_, cluster), plan.evaluators);
    plan.sizes = {real_bytes(), device::ResidentForm::teams, 1, rows, may_keep, num_blocks_ > 1};
    const ResidentNodes nodes = plan_nodes(likelihood_, chains_, rows);
    if (nodes.lists.max_leaves > kMostNodes) return std::nullopt;
    plan.nodes_per_block = ceil_div(nodes.lists.max_leaves, cluster);
    if (!place_rows(plan, nodes)) return std::nullopt;
    const auto kept_of_chain = static_cast<std::size_t>(cluster * plan.nodes_per_block * kNodeLanes * rows) *
                               static_cast<std::size_t>(likelihood_.sizes.num_kept_near * real_bytes());
    plan.sizes.caches = may_keep && kept_of_chain * chains_.size() <= likelihood_.kept_bytes;
    return plan;
  }

  std::optional<ResidentPlan> sized_wide(int blocks, int lines) const {
    std::optional<ResidentPlan> best;
    int least = 0;
    // Tries the largest number of rows for which a lane has registers, and, if that is large and there are
    // few nodes, also half of it.
    const int most = likelihood_.rows_per_thread;
    for (int rows_per_lane = most; rows_per_lane >= std::min(most, kWideRows) && rows_per_lane > 0;
         rows_per_lane /= 2)
      for (int log2 = 0; kNodeLanes * rows_per_lane << log2 <= device::kTileRows; ++log2) {
        const ResidentNodes nodes = plan_nodes(likelihood_, chains_, rows_per_lane, log2);
        const int pieces = nodes.lists.max_leaves >> log2;
        if (pieces > (most_segments_ > 1 ? kMostNodes : kMostPieces)) continue;
        ResidentPlan plan;
        plan.evaluators = device::kWideWarps;
        plan.sizes = {real_bytes(), device::ResidentForm::wide, lines, rows_per_lane, false, num_blocks_ > 1};
        plan.log2_piece = log2;
        plan.nodes_per_block = ceil_div(pieces, blocks) << log2;
        plan.num_blocks = ceil_div(nodes.lists.max_leaves, plan.nodes_per_block);
        const int cost = wide_cost(plan.nodes_per_block, lines, plan.evaluators, rows_per_lane);
        if (best && (cost > least || (cost == least && rows_per_lane < best->sizes.rows_per_lane))) continue;
        if (!all_blocks_have_rows(plan, nodes) || !place_rows(plan, nodes)) continue;
        least = cost;
        best = plan;
      }
    return best;
  }
  // Returns whether each block has rows of each list. Blocks wait for the results of all other blocks; a
  // block without results could fall behind by more than one turn.
  static bool all_blocks_have_rows(const ResidentPlan& plan, const ResidentNodes& nodes) {
    for (std::size_t list = 0; list + 1 < nodes.lists.first_leaf.size(); ++list)
      if (ceil_div(nodes.lists.first_leaf[list + 1] - nodes.lists.first_leaf[list], plan.nodes_per_block) !=
          plan.num_blocks)
        return false;
    return true;
  }
  // Places as many of a block's nodes in shared memory as fit.
  bool place_rows(ResidentPlan& plan, const ResidentNodes& nodes) const {
    plan.resident_nodes = 0;
    const std::size_t fixed = bytes_of(plan, nodes) + other_shared_bytes(plan.sizes);
    if (fixed > machine_.shared_per_block) return false;
    const auto node_bytes = static_cast<std::size_t>(kNodeLanes * plan.sizes.rows_per_lane *
                                                     likelihood_.sizes.num_columns * real_bytes());
    plan.resident_nodes =
        std::min(plan.nodes_per_block, static_cast<int>((machine_.shared_per_block - fixed) / node_bytes));
    plan.shared_bytes = bytes_of(plan, nodes);
    return true;
  }

  const DeviceLikelihood& likelihood_;
  const std::vector<ChainPlan>& chains_;
  const device::StepView& view_;
  int num_blocks_;  // number of blocks of a step
  const ResidentMachine& machine_;
  BlockCycles cycles_of_;
  std::size_t num_lists_ = 0;  // number of distinct lists of segments that chains read
  int rows_ = 0, most_segments_ = 0;
  int largest_;  // largest cluster for which there is room
};

}  // namespace

std::optional<ResidentPlan> plan_resident(const DeviceLikelihood& likelihood,
                                          const std::vector<ChainPlan>& chains, const device::StepView& view,
                                          const ResidentSteps& steps, const ResidentMachine& machine,
                                          bool may_be_wide) {
  const Planner planner(likelihood, chains, view, steps.num_blocks, machine);
  if (planner.rows() == 0) return std::nullopt;
  const bool launched =
      planner.num_chains() == 1 && steps.num_blocks == 1 && planner.rows() > kMostRowsOfOneChain;
  const auto ahead = launched ? std::nullopt : planner.ahead(steps.caches);
  double least = launched ? std::numeric_limits<double>::infinity() : planner.cycles_of_ahead();
  const auto lines = planner.lines(least);
  if (may_be_wide && steps.all_evaluated) {
    if (!lines && !ahead) least = std::numeric_limits<double>::infinity();
    if (const auto wide = planner.wide(steps.moves_by_fit ? 1 : device::kMostWideLines, least)) return wide;
  }
  if (lines) return lines;
  if (launched) return std::nullopt;
  if (ahead) return ahead;
  const auto in_turn = planner.in_turn(steps.caches);
  return in_turn ? in_turn : planner.teams(steps.caches, planner.cycles_of_launched(steps.caches));
}

std::optional<ResidentPlan> plan_form(device::ResidentForm form, const DeviceLikelihood& likelihood,
                                      const std::vector<ChainPlan>& chains, const device::StepView& view,
                                      const ResidentSteps& steps, const ResidentMachine& machine) {
  const Planner planner(likelihood, chains, view, steps.num_blocks, machine);
  if (planner.rows() == 0) return std::nullopt;
  double least = std::numeric_limits<double>::infinity();
  switch (form) {
    case device::ResidentForm::ahead:
      return planner.ahead(steps.caches);
    case device::ResidentForm::in_turn:
      return planner.in_turn(steps.caches);
    case device::ResidentForm::lines:
      return planner.lines(least);
    case device::ResidentForm::wide:
      if (!steps.all_evaluated) return std::nullopt;
      return planner.wide(steps.moves_by_fit ? 1 : device::kMostWideLines, least);
    case device::ResidentForm::teams:
      return planner.teams(steps.caches, least);
  }
  return std::nullopt;
}

}  // namespace emomc
