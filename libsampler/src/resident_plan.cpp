#include "resident_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace emomc {
namespace {

constexpr int kLargestCluster = 16;
constexpr int kLanes = 32;
// A tree of sums is taken by one warp, 32 x 32 at most.
constexpr int kMostNodes = 1024;
// Static shared memory of the kernel (of lines 3,232 bytes, otherwise 1,312) and what the system takes of
// each block.
constexpr std::size_t kOtherShared = 4096, kOtherSharedOfLines = 6144;
// Beyond, one candidate of one chain at a time is as fast with kernels of its own that use the whole GPU.
constexpr int kMostRowsOfOneChain = 8192;
// Multiprocessors that clusters of four and more find: they do not cross the GPU's parts of 16 to 18.
constexpr double kShareOfLargeClusters = 0.85;
// Fewer rows than this a block: a further block costs more than it saves.
constexpr int kFewestRows = 256;

struct Shape {
  int num_components, dim, coefficients, terms, scratch, pairs;
  int num_coefficients() const { return coefficients; }
  int num_terms() const { return terms; }
  int num_scratch() const { return scratch; }
  int num_pairs() const { return pairs; }
};

int ceil_div(int a, int b) { return (a + b - 1) / b; }

std::size_t rows_of(const DeviceLikelihood& likelihood, const ChainPlan& chain) {
  std::size_t rows = 0;
  for (int s : chain.segments) rows += likelihood.segment_rows[static_cast<std::size_t>(s)];
  return rows;
}

// Cycles for each block of a step that is decided on, fitted to times on an H200 (8 components of 13 columns
// in float32, 100 to 20,000 rows, acceptance 0.23 to 0.27). Only which one is least matters.
struct BlockCycles {
  bool is_whole;        // a step has one block, in which everything changes
  double rows_like_it;  // of that model, which take as long as one of this

  BlockCycles(const DeviceLikelihood& likelihood, int num_blocks)
      : is_whole(num_blocks == 1),
        rows_like_it(likelihood.num_coefficients / 216.0 * (likelihood.real == "float" ? 1 : 2)) {}

  // A segment's sum is one of a warp: all warps take them in turn, of a line one warp does.
  static double segments_of(int count) { return count > 1 ? 350.0 * count : 0; }

  double ahead(int rows, int segments) const {
    constexpr int kWarps = 16;
    return (is_whole ? 14'500 : 9'800) + 2.0 * rows_like_it * rows + segments_of(segments) / kWarps;
  }
  double of_lines(int rows, int segments, int lines) const {
    constexpr double kAcceptance = 0.234;
    const double turn = (is_whole ? 11'500 + 300 * lines : 8'000 + 800 * lines) + 3.5 * rows_like_it * rows +
                        segments_of(segments);
    // Candidates are of use up to the first one that is accepted.
    return turn * kAcceptance / (1 - std::pow(1 - kAcceptance, lines));
  }
};

// Passes of the evaluating warps over their nodes, in units of a row's arithmetic; a pass waits for about
// two.
int cost(int rows, int rows_per_lane, int evaluators) {
  constexpr int kWait = 2;
  return ceil_div(ceil_div(rows, kLanes * rows_per_lane), evaluators) * (rows_per_lane + kWait);
}

int best_rows_per_lane(int rows, int evaluators) {
  int best = 1;
  for (int r : {2, 4})
    if (cost(rows, r, evaluators) <= cost(rows, best, evaluators)) best = r;
  return best;
}

}  // namespace

ResidentNodes plan_nodes(const DeviceLikelihood& likelihood, const std::vector<ChainPlan>& chains,
                         int rows_per_lane) {
  ResidentNodes result;
  std::map<std::vector<int>, int> lists;
  const int node_rows = kLanes * rows_per_lane;
  for (const auto& chain : chains) {
    const auto [entry, is_new] = lists.try_emplace(chain.segments, static_cast<int>(lists.size()));
    result.list_of_chain.push_back(entry->second);
    if (!is_new) continue;
    const int begin = static_cast<int>(result.nodes.size());
    double rows = 0;
    for (int s : chain.segments) {
      const auto segment = static_cast<std::size_t>(s);
      result.segment_first.push_back(static_cast<int>(result.nodes.size()) - begin);
      const auto count = static_cast<device::i64>(likelihood.segment_rows[segment]);
      const device::i64 first =
          static_cast<device::i64>(likelihood.segment_first_tile[segment]) * device::kResidentTile;
      for (device::i64 row = 0; row < count; row += node_rows)
        result.nodes.push_back(
            {first + row, static_cast<int>(std::min<device::i64>(node_rows, count - row))});
      rows += static_cast<double>(count);
    }
    result.segment_first.push_back(static_cast<int>(result.nodes.size()) - begin);
    result.first_node.push_back(static_cast<int>(result.nodes.size()));
    result.first_segment.push_back(static_cast<int>(result.segment_first.size()));
    result.num_rows.push_back(rows);
    result.max_nodes = std::max(result.max_nodes, static_cast<int>(result.nodes.size()) - begin);
    result.max_segments = std::max(result.max_segments, static_cast<int>(chain.segments.size()));
  }
  return result;
}

std::optional<ResidentPlan> plan_resident(const DeviceLikelihood& likelihood,
                                          const std::vector<ChainPlan>& chains, const device::StepView& view,
                                          int num_blocks, bool caches, const ResidentMachine& machine) {
  std::size_t most_rows = 0;
  int most_segments = 0;
  for (const auto& chain : chains) {
    const std::size_t rows = rows_of(likelihood, chain);
    if (rows == 0 || chain.segments.size() > kMostNodes) return std::nullopt;
    most_rows = std::max(most_rows, rows);
    most_segments = std::max(most_segments, static_cast<int>(chain.segments.size()));
  }
  if (most_rows > static_cast<std::size_t>(kMostNodes) * kLanes * 4) return std::nullopt;
  const int rows = static_cast<int>(most_rows), num_chains = static_cast<int>(chains.size());
  const bool launched = num_chains == 1 && num_blocks == 1 && rows > kMostRowsOfOneChain;
  const Shape shape{likelihood.num_components, likelihood.dim,         likelihood.num_coefficients,
                    likelihood.num_terms,      likelihood.num_scratch, likelihood.num_pairs};

  // With a cluster of this size in this form: what it takes.
  const auto sized = [&](device::ResidentForm form, int cluster, int lines, bool with_caches) {
    const bool ahead = form == device::ResidentForm::ahead;
    const int blocks = cluster / lines;  // of a line
    ResidentPlan plan;
    plan.form = form;
    plan.cluster = cluster;
    plan.lines = lines;
    plan.evaluators = ahead ? 4 : lines > 1 ? 16 : 8;
    plan.rows_per_lane = best_rows_per_lane(ceil_div(rows, blocks), plan.evaluators);
    plan.sizes = {likelihood.real == "float" ? 4 : 8,
                  ahead || lines > 1 ? 2 : 1,
                  plan.rows_per_lane,
                  with_caches,
                  num_blocks > 1,
                  lines};
    const ResidentNodes nodes = plan_nodes(likelihood, chains, plan.rows_per_lane);
    plan.nodes_per_block = ceil_div(nodes.max_nodes, blocks);
    device::ResidentWork work{};
    work.nodes_per_block = plan.nodes_per_block;
    work.max_nodes = nodes.max_nodes;
    work.max_segments = nodes.max_segments;
    alignas(16) unsigned char begin = 0;  // counted from, and nothing else
    plan.shared_bytes =
        static_cast<std::size_t>(device::ResidentPlaces(&begin, view, shape, work, plan.sizes).bytes);
    if (nodes.max_nodes > kMostNodes) plan.shared_bytes = machine.shared_per_multiprocessor;
    return plan;
  };
  const auto fits = [&](const ResidentPlan& plan) {
    return plan.shared_bytes + (plan.lines > 1 ? kOtherSharedOfLines : kOtherShared) <=
           machine.shared_per_block;
  };
  // Clusters of at least four find so many multiprocessors.
  const auto has_room_for = [&](int cluster) {
    return num_chains * cluster <= (cluster <= 2 ? 1.0 : kShareOfLargeClusters) * machine.num_multiprocessors;
  };
  // As large a cluster as there is room for, in as many lines as makes a block of a step shortest, where that
  // is shorter than one candidate after the other.
  int largest = kLargestCluster;
  while (largest > 1 && !has_room_for(largest)) largest /= 2;
  std::optional<ResidentPlan> best;
  const BlockCycles cycles_of(likelihood, num_blocks);
  double least = cycles_of.ahead(ceil_div(rows, largest), most_segments);
  for (int lines = 2; lines <= largest; lines *= 2) {
    const double cycles = cycles_of.of_lines(ceil_div(rows, largest / lines), most_segments, lines);
    if (cycles >= least) continue;
    const ResidentPlan plan = sized(device::ResidentForm::lines, largest, lines, false);
    if (!fits(plan)) continue;
    least = cycles;
    best = plan;
  }
  if (best) return best;
  if (launched) return std::nullopt;
  // All chains at once, a block on each multiprocessor, in clusters as large as is of use. Without the caches
  // of components more fits, and the evaluation is still shorter than the proposals beside it.
  const int most_useful = std::max(1, ceil_div(rows, kFewestRows));
  for (const bool with_caches : {true, false}) {
    if (with_caches && !caches) continue;
    for (int cluster = kLargestCluster; cluster >= 1; cluster /= 2) {
      if (cluster / 2 >= most_useful || !has_room_for(cluster)) continue;
      const ResidentPlan plan = sized(device::ResidentForm::ahead, cluster, 1, with_caches);
      if (fits(plan)) return plan;
    }
  }
  // All chains at once, two blocks on each multiprocessor: one works while the other waits.
  if (num_chains <= 2 * machine.num_multiprocessors)
    for (const bool with_caches : {true, false}) {
      if (with_caches && !caches) continue;
      const ResidentPlan plan = sized(device::ResidentForm::in_turn, 1, 1, with_caches);
      if (plan.shared_bytes + kOtherShared <= machine.shared_per_multiprocessor / 2) return plan;
    }
  return std::nullopt;
}

KernelSource resident_source(const ResidentPlan& plan, const DeviceLikelihood& likelihood,
                             const std::string& proposal, const device::ParameterTable& table) {
  const auto number = [](int n) { return std::to_string(n); };
  const std::string space = "emomc::device::";
  KernelSource source;
  source.header = "emomc/device/resident_chain.cuh";
  source.kernel = space + "resident_kernel<" + space + "ResidentConfig<" + proposal + ", " +
                  likelihood.model + ", " + likelihood.real + ", " + number(likelihood.num_components) +
                  ", " + number(likelihood.dim) + ", " + number(plan.rows_per_lane) + ", " + space +
                  (plan.form == device::ResidentForm::ahead   ? "ResidentForm::ahead"
                   : plan.form == device::ResidentForm::lines ? "ResidentForm::lines"
                                                              : "ResidentForm::in_turn") +
                  ", " + number(plan.evaluators) + ", " + (plan.sizes.caches ? "true" : "false") + ", " +
                  (plan.sizes.neighbours ? "true" : "false") + ", " + number(plan.lines) + ">>";
  if (table.num_covariance_rows + table.num_conditionals == 0) source.defines = {"EMOMC_PLAIN_TABLE=1"};
  return source;
}

}  // namespace emomc
