// Runs the proposals on two densities without data: a normal in 100 dimensions with correlations 0.9^|i - j|
// and sds from 0.1 to 10, and a banana, x ~ N(0, 10^2), y ~ N(0.03 (x^2 - 100), 1). Prints one line of JSON
// for each density and proposal, which proposals.py reads. The arguments are kinds of proposals; none: all.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "libsampler/function_engine.hpp"
#include "libsampler/keeper.hpp"

namespace emomc {
namespace {

/// A log density and, if `gradient` is not null, its gradient.
using Density = double (*)(const double* x, double* gradient);

double correlated_normal(const double* x, double* gradient) {
  // The density is a first-order autoregression: x_i = sd_i z_i, and z_i given z_{i-1} is N(0.9 z_{i-1}, 1 -
  // 0.81).
  static const std::vector<double> sd = [] {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) values.push_back(std::pow(10.0, (i - 50) / 50.0));
    return values;
  }();
  static const double kScale = std::sqrt(0.19);
  double sum = 0, before = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const double z = x[i] / sd[i], scale = i == 0 ? 1 : kScale;
    const double residual = (z - 0.9 * before) / scale;
    sum -= 0.5 * residual * residual;
    before = z;
    if (!gradient) continue;
    gradient[i] = -residual / scale / sd[i];
    if (i > 0) gradient[i - 1] += 0.9 * residual / scale / sd[i - 1];
  }
  return sum;
}

double banana(const double* x, double* gradient) {
  const double y = x[1] - 0.03 * (x[0] * x[0] - 100);
  if (gradient) {
    gradient[0] = -0.01 * x[0] + 0.06 * x[0] * y;
    gradient[1] = -y;
  }
  return -0.005 * x[0] * x[0] - 0.5 * y * y;
}

void measure(const char* name, int dim, Density density, const std::string& kind) {
  ParameterLayout layout;
  layout.blocks.push_back({"x", {dim}, Support::real, DataUnit::none, Influence::everything, 0, -1});
  PriorSet prior;
  prior.blocks["x"] = {PriorFamily::normal, {{{}, {0}}, {{}, {1e3}}}};
  const Target target(layout, prior, {});
  const bool others = proposal_use(kind).other_chains, gradient = proposal_use(kind).gradient;
  const int chains = others ? std::max(2 * dim, 16) : 4;
  constexpr int kLeapfrogs = 8;  // of a step, about
  const int of_step = kind == "component_wise" ? dim : gradient && kind != "mala" ? kLeapfrogs : 1;
  const std::int64_t steps = 600'000 / (chains * of_step) + 1000;
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (int c = 0; c < chains; ++c) {
    plans.push_back({static_cast<std::uint64_t>(c), {}, 1.0, 0});
    const device::RandomSource random{1, 0, static_cast<device::u32>(c)};
    for (int i = 0; i < dim; ++i)
      starts.push_back(random.normal(device::Purpose::start, static_cast<device::u32>(i)));
  }
  const auto device = make_host_device();
  testing::FunctionEngine engine(
      *device, layout, [density](int, const double* x, double* slopes) { return density(x, slopes); });
  RunOptions options;
  options.warmup = steps / 4;
  options.thin = std::max<std::int64_t>(1, steps / 4000);
  options.draws = steps / options.thin;
  options.seed = 1;
  testing::Keeper keeper;
  const ProposalSpec proposal{kind, ProposalShape::dense, default_target_acceptance(kind)};
  const RunResult result = run_chains(engine, target, proposal, plans, options, starts, keeper);
  double worst = INFINITY, rhat_worst = 0;
  const auto n = static_cast<std::size_t>(options.draws), width = static_cast<std::size_t>(chains);
  for (int i = 0; i < dim; ++i) {
    const DrawsView view{keeper.theta.data() + i, n, width, static_cast<std::ptrdiff_t>(width) * dim, dim,
                         others ? width : 1};
    worst = std::min(worst, std::min(ess_bulk(view), ess_tail(view)));
    rhat_worst = std::max(rhat_worst, rhat(view));
  }
  const double evaluations = gradient ? static_cast<double>(engine.num_gradients)
                                      : static_cast<double>(options.draws * options.thin) * chains *
                                            evaluations_per_step(proposal, target);
  std::printf(
      "{\"target\": \"%s\", \"proposal\": \"%s\", \"ess\": %.6g, \"rhat\": %.4g, \"evaluations\": %.6g, "
      "\"seconds\": %.4g}\n",
      name, kind.c_str(), worst, rhat_worst, evaluations, result.sampling_seconds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace emomc

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);  // kinds; none: all
  for (const std::string& kind : emomc::proposal_names()) {
    if (emomc::proposal_use(kind).mixtures_only) continue;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), kind) == wanted.end()) continue;
    emomc::measure("normal 100-d", 100, emomc::correlated_normal, kind);
    emomc::measure("banana", 2, emomc::banana, kind);
  }
}
