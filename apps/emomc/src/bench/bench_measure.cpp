#include "bench_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "run_config_prior.hpp"

namespace emomc::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Typical parameter values of a fit of a mass peak by a pair of components.
const std::vector<double> kPair{0.7, 0.3, 0.8, 2.2};

// Random parameters of a mixture: weights of about 1/K, means in [-2.5, 2.5], scales in [0.5, 1.3].
std::vector<double> mixture_parameters(int K, int d) {
  const device::RandomSource random{20260101, 0, 0};
  device::u32 next = 0;
  const auto uniform = [&] { return random.uniform(device::Purpose::start, next++); };
  std::vector<double> theta;
  double total = 0;
  for (int k = 0; k < K; ++k) {
    theta.push_back(0.5 + uniform());
    total += theta.back();
  }
  for (double& w : theta) w /= total;
  for (int i = 0; i < K * d; ++i) theta.push_back(2.5 * (2 * uniform() - 1));
  for (int i = 0; i < K * d; ++i) theta.push_back(0.5 + 0.8 * uniform());
  return theta;
}

// Runs `repeat(n)` with increasing n until it takes `seconds`; returns the seconds of one repetition.
template <class F>
double time_per_repetition(double seconds, F repeat) {
  repeat(1);  // excluded from the timing: first launches, page faults, cold caches
  for (long n = 1;; n *= 2) {
    const auto begin = Clock::now();
    repeat(n);
    const double taken = seconds_since(begin);
    if (taken >= seconds || n > (1L << 40)) return taken / static_cast<double>(n);
    if (taken > 0 && taken * 64 < seconds) n *= 16;
  }
}

enum class Wanted { value, value_and_gradient };

constexpr int kPerGraph = 16;  // evaluations that one captured graph holds

// Returns the seconds of one evaluation of one parameter vector. The graph is launched `repetitions` times,
// or, without that number, until bench.seconds have passed.
double seconds_per_evaluation(LikelihoodEngine& engine, const std::vector<double>& theta,
                              const BenchCase& bench, Wanted wanted = Wanted::value,
                              std::optional<long> repetitions = std::nullopt) {
  Device& device = engine.device();
  const auto dim = static_cast<int>(theta.size());
  std::vector<double> all;
  for (int c = 0; c < bench.chains; ++c) all.insert(all.end(), theta.begin(), theta.end());
  DeviceArray<double> points(device, all.size()), values(device, static_cast<std::size_t>(bench.chains));
  DeviceArray<double> gradients(device, all.size());
  points.upload(all);
  const EnsembleView view{bench.chains, dim, dim, points.data(), values.data()};
  if (wanted == Wanted::value_and_gradient) engine.allocate_gradients();
  const auto graph = device.capture([&] {
    for (int i = 0; i < kPerGraph; ++i)
      if (wanted == Wanted::value)
        engine.evaluate(view, {nullptr, bench.chains});
      else
        engine.evaluate_with_gradient(view, {gradients.data(), dim}, {nullptr, bench.chains});
  });
  const auto repeat = [&](long n) {
    for (long i = 0; i < n; ++i) device.launch(*graph);
    device.synchronize();
  };
  double seconds = 0;
  if (repetitions) {
    repeat(1);
    const auto begin = Clock::now();
    repeat(*repetitions);
    seconds = seconds_since(begin) / static_cast<double>(*repetitions);
  } else {
    seconds = time_per_repetition(bench.seconds, repeat);
  }
  return seconds / kPerGraph / bench.chains;
}

// Measures the time between segment boundaries, which excludes the capture of graphs and the last copies. The
// first two segments are excluded, since their lengths are guesses; later lengths are adapted to the speed.
// The measurement ends after at least three segments and `seconds`, or, with a slow engine, after ten times
// `seconds`.
class StepTimer final : public DrawHandler {
 public:
  explicit StepTimer(double seconds) : seconds_(seconds) {}
  void on_draws(const DrawBatch&) override {}
  Continue on_progress(const Progress& progress) override {
    if (progress.step < progress.warmup) return Continue::yes;
    ++calls_;
    if (calls_ <= kWarmingCalls) {
      first_step_ = progress.step;
      begin_ = Clock::now();
    } else {
      per_step_ = seconds_since(begin_) / static_cast<double>(progress.step - first_step_);
    }
    const double since = seconds_since(begin_);
    const bool enough =
        calls_ > kWarmingCalls + 2 ? since > seconds_ : calls_ > kWarmingCalls && since > 10 * seconds_;
    return enough ? Continue::stop : Continue::yes;
  }
  double seconds_per_step() const { return per_step_; }

 private:
  static constexpr long kWarmingCalls = 2;
  double seconds_, per_step_ = 0;
  long calls_ = 0;
  std::int64_t first_step_ = 0;
  Clock::time_point begin_;
};

Target target_of(const BenchCase& bench, const ParameterLayout& layout) {
  const std::vector<double> column_sd(static_cast<std::size_t>(bench.dim), 1.0);
  return {layout, default_prior({.model = bench.model, .covariance = bench.covariance}), column_sd};
}

double seconds_per_step(LikelihoodEngine& engine, const std::vector<double>& theta, const BenchCase& bench,
                        const std::string& proposal, std::string& kernels) {
  const Target target = target_of(bench, engine.layout());
  std::vector<ChainPlan> plans;
  std::vector<double> starts;
  for (int c = 0; c < bench.chains; ++c) {
    plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
    starts.insert(starts.end(), theta.begin(), theta.end());
  }
  RunOptions options;
  // The duration of prefetched steps and of steps with component caches depends on the acceptance rate. The
  // proposal scale is therefore adapted first.
  constexpr std::int64_t kUntilFitted = 70, kUntilScaled = 1000, kUntilScaledWithCaches = 120;
  constexpr std::size_t kMostPrefetched = 3'000'000;  // rows times chains
  const bool prefetched = bench.backend == Backend::cuda &&
                          bench.rows * static_cast<std::size_t>(bench.chains) <= kMostPrefetched;
  if (prefetched)
    options.warmup = kUntilScaled;
  else if (proposal_use(proposal).fitted)
    options.warmup = kUntilFitted;
  options.thin = 1'000'000'000;  // no draw is stored, so that only steps are timed
  options.draws = 1;
  options.seed = 1;
  const ProposalSpec spec{proposal, ProposalShape::diagonal, 0.234};
  const SamplerMemory memory = sampler_memory(engine.device().kind(), {&target, 1}, spec, plans);
  options.caches = caches_that_fit(engine, target, spec, plans, memory);
  if (bench.backend == Backend::cuda && options.caches == ComponentCaches::on)
    options.warmup = std::max(options.warmup, kUntilScaledWithCaches);
  options.kernels = bench.kernels;
  StepTimer timer(bench.seconds);
  kernels = run_chains(engine, target, spec, plans, options, starts, timer).stepping;
  return timer.seconds_per_step() / bench.chains;
}

// Returns the model itself, or the mixture of Gaussians that forms its first blocks.
ModelSpec fitted_model(const ModelSpec& model) {
  const ModelInfo* fitted = model_of_starts(model_info(model));
  return fitted == nullptr ? model : ModelSpec{fitted->name, model.components, fitted->covariance};
}

// Returns typical parameters: those of a mixture's components, followed by a draw from the default prior for
// the remaining parameters.
std::vector<double> parameters_of(const BenchCase& bench, const ModelSpec& model) {
  if (is_pair(model_info(model))) return kPair;
  const ParameterLayout layout = model_layout(model, bench.dim);
  std::vector<double> theta;
  if (is_mixture(model_info(model)))
    theta = in_layout(model_layout(fitted_model(model), bench.dim),
                      mixture_parameters(bench.components, bench.dim));
  if (theta.size() == static_cast<std::size_t>(layout.dim())) return theta;
  std::vector<double> drawn = target_of(bench, layout).draw_from_prior(20260101, 0, 0);
  std::copy(theta.begin(), theta.end(), drawn.begin());
  return drawn;
}

// Simulates rows from fitted_model(); the times do not depend on the values of the rows.
DataSet simulated_data(const BenchCase& bench, const ModelSpec& model, std::span<const double> theta) {
  const ModelSpec fitted = fitted_model(model);
  const auto dim = static_cast<std::size_t>(model_layout(fitted, bench.dim).dim());
  return DataSet::single_segment(bench.dim,
                                 simulate_rows(fitted, bench.dim, theta.first(dim), bench.rows, 20260101));
}

}  // namespace

BenchResult measure(const BenchCase& bench) {
  const ModelSpec model{bench.model, bench.components, bench.covariance};
  const std::vector<double> theta = parameters_of(bench, model);
  const DataSet data = simulated_data(bench, model, theta);
  const auto device = make_device(bench.backend);
  const auto engine = make_engine(bench.backend, model, bench.precision, data, *device, bench.threads);
  std::vector<ChainPlan> plans;
  for (int c = 0; c < bench.chains; ++c) plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
  engine->allocate(plans, ComponentCaches::off);
  BenchResult result;
  result.device = bench.backend == Backend::cuda ? device->description() : "SIMD " + cpu_simd_name();
  if (bench.backend == Backend::reference) result.device = "one thread";
  result.microseconds_per_evaluation = 1e6 * seconds_per_evaluation(*engine, theta, bench);
  if (bench.gradient) {
    if (engine->capabilities().gradient)
      result.microseconds_per_gradient =
          1e6 * seconds_per_evaluation(*engine, theta, bench, Wanted::value_and_gradient);
    return result;
  }
  result.microseconds_per_step =
      1e6 * seconds_per_step(*engine, theta, bench, bench.proposal, result.step_kernels);
  result.microseconds_per_sweep =
      1e6 * seconds_per_step(*engine, theta, bench, "component_wise", result.sweep_kernels);
  return result;
}

BenchResult measure(BenchCase& bench, const RunConfig& config) {
  const LoadedExpression own =
      load_expression(config.data, config.likelihood.expression, bench.backend, bench.chains);
  bench.rows = own.loaded.data.num_rows;
  const Target target(own.expression->layout(), config.prior, std::span<const double>());
  std::vector<double> theta = target.draw_from_prior(config.sampler.seed, 0, 0);
  theta.resize(static_cast<std::size_t>(own.expression->layout().dim()));
  const auto device = make_device(bench.backend);
  const auto engine =
      make_engine(bench.backend, own.model, bench.precision, own.loaded.data, *device, bench.threads);
  std::vector<ChainPlan> plans;
  for (int c = 0; c < bench.chains; ++c) plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
  engine->allocate(plans, ComponentCaches::off);
  BenchResult result;
  result.device = bench.backend == Backend::cuda ? device->description() : own.compiler;
  if (bench.backend == Backend::reference) result.device = "one thread";
  result.microseconds_per_evaluation = 1e6 * seconds_per_evaluation(*engine, theta, bench);
  if (engine->capabilities().gradient)
    result.microseconds_per_gradient =
        1e6 * seconds_per_evaluation(*engine, theta, bench, Wanted::value_and_gradient);
  return result;
}

namespace {

SharedRowsResult measure_shared_rows(const BenchCase& bench, const ModelSpec& model,
                                     const std::vector<double>& theta, const DataSet& data, int num_ranks) {
  const auto n = static_cast<std::size_t>(num_ranks);
  const int processors =
      bench.threads > 0 ? bench.threads : static_cast<int>(std::thread::hardware_concurrency());
  const int threads = std::max(1, processors / num_ranks);
  const Wanted wanted = bench.gradient ? Wanted::value_and_gradient : Wanted::value;
  std::vector<ChainPlan> plans;
  for (int c = 0; c < bench.chains; ++c) plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});

  SharedRowsResult result;
  std::vector<double> alone(n), together(n);
  std::vector<std::exception_ptr> thrown(n);
  auto ranks = make_thread_ranks(num_ranks);
  const auto work = [&](std::size_t r) {
    const int rank = static_cast<int>(r);
    const auto device = bench.backend == Backend::cuda ? make_cuda_device(rank) : make_device(bench.backend);
    const auto seconds_of = [&](const DataSet& rows, Communicator* over, std::optional<long> repetitions) {
      const auto engine = make_engine(bench.backend, model, bench.precision, rows, *device, threads, over);
      engine->allocate(plans, ComponentCaches::off);
      return seconds_per_evaluation(*engine, theta, bench, wanted, repetitions);
    };
    {
      const RankRange own = range_of_rank(data.num_rows, rank, num_ranks);
      const auto dim = static_cast<std::ptrdiff_t>(data.dim);
      alone[r] = seconds_of(DataSet::single_segment(
                                data.dim, {data.values.begin() + static_cast<std::ptrdiff_t>(own.first) * dim,
                                           data.values.begin() + static_cast<std::ptrdiff_t>(own.end) * dim}),
                            nullptr, std::nullopt);
    }
    // All ranks must do the same number of evaluations, because each evaluation is collective.
    const double each = alone[r] * kPerGraph * bench.chains;
    const long repetitions = from_first(*ranks[r], static_cast<long>(std::ceil(bench.seconds / each)));
    together[r] = seconds_of(data, ranks[r].get(), repetitions);
    if (r > 0) return;
    result.device = bench.backend == Backend::cuda ? device->description() : "SIMD " + cpu_simd_name();
    result.way = num_ranks > 1 && bench.backend == Backend::cuda ? "NCCL" : "";
  };
  std::vector<std::thread> workers;
  for (std::size_t r = 0; r < n; ++r)
    workers.emplace_back([&, r] {
      try {
        work(r);
      } catch (...) {
        thrown[r] = std::current_exception();
        ranks[r]->fail(1);
      }
    });
  for (auto& worker : workers) worker.join();
  // The error of the rank that failed first explains more than the errors of the ranks that waited for it.
  for (const bool of_itself : {true, false})
    for (const auto& error : thrown) {
      if (!error) continue;
      try {
        std::rethrow_exception(error);
      } catch (const PeerError&) {
        if (!of_itself) throw;
      }
    }
  const double slowest = *std::max_element(together.begin(), together.end());
  result.microseconds_per_evaluation = 1e6 * slowest;
  result.communication =
      num_ranks == 1 ? 0 : std::max(0.0, 1 - *std::max_element(alone.begin(), alone.end()) / slowest);
  return result;
}

}  // namespace

std::vector<SharedRowsResult> measure_shared_rows(const BenchCase& bench, const std::vector<int>& num_ranks) {
  const ModelSpec model{bench.model, bench.components, bench.covariance};
  const std::vector<double> theta = parameters_of(bench, model);
  const DataSet data = simulated_data(bench, model, theta);
  std::vector<SharedRowsResult> results;
  for (const int ranks : num_ranks) results.push_back(measure_shared_rows(bench, model, theta, data, ranks));
  return results;
}

}  // namespace emomc::app
