// Micro-benchmarks of library functions: build/release/bin/emomc_benchmarks --benchmark_filter=Evaluate
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>

#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/sampler/diagnostics.hpp"

namespace emomc {
namespace {

constexpr int kDim = 13, kComponents = 8;

std::vector<double> parameters() {
  std::vector<double> theta(kComponents, 1.0 / kComponents);
  for (int i = 0; i < kComponents * kDim; ++i) theta.push_back(-2.0 + 0.04 * (i % 101));
  theta.insert(theta.end(), kComponents * kDim, 0.8);
  return theta;
}

DataSet rows(std::size_t count) {
  return DataSet::single_segment(
      kDim, simulate_rows({"gaussian_mixture", kComponents}, kDim, parameters(), count, 1));
}

// The arguments are the number of rows, the number of chains, and 1 for float64.
void Evaluate(benchmark::State& state) {
  const DataSet data = rows(static_cast<std::size_t>(state.range(0)));
  const auto chains = static_cast<int>(state.range(1));
  const auto device = make_device(Backend::cpu);
  const auto engine = make_engine(Backend::cpu, {"gaussian_mixture", kComponents},
                                  state.range(2) ? Precision::float64 : Precision::mixed, data, *device);
  std::vector<ChainPlan> plans;
  std::vector<double> theta;
  for (int c = 0; c < chains; ++c) {
    plans.push_back({static_cast<std::uint64_t>(c), {0}, 1.0, 0});
    const auto point = parameters();
    theta.insert(theta.end(), point.begin(), point.end());
  }
  engine->allocate(plans, ComponentCaches::off);
  std::vector<double> sums(static_cast<std::size_t>(chains));
  while (state.KeepRunning()) {
    engine->sums_by_segment(theta.data(), chains, sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetItemsProcessed(state.iterations() * chains * state.range(0));
}
BENCHMARK(Evaluate)->ArgsProduct({{1000, 10000, 100000}, {1, 16}, {0, 1}})->UseRealTime();

// The arguments are the number of draws and the number of chains.
void RhatAndEss(benchmark::State& state) {
  const auto draws = static_cast<std::size_t>(state.range(0)),
             chains = static_cast<std::size_t>(state.range(1));
  const auto values =
      simulate_rows({"gaussian_mixture", 1}, 1, std::vector<double>{1, 0, 1}, draws * chains, 1);
  const DrawsView view{values.data(), draws, chains, static_cast<std::ptrdiff_t>(chains), 1};
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(rhat(view));
    benchmark::DoNotOptimize(ess_bulk(view));
    benchmark::DoNotOptimize(ess_tail(view));
  }
}
BENCHMARK(RhatAndEss)->Args({1000, 4})->Args({1000, 64});

// Computes all figures of a summary, for 1000 quantities with 64 chains of 1000 draws, on all threads.
void Summaries(benchmark::State& state) {
  constexpr std::size_t quantities = 1000, draws = 1000, chains = 64, distinct = 50;
  const auto values =
      simulate_rows({"gaussian_mixture", 1}, 1, std::vector<double>{1, 0, 1}, distinct * draws * chains, 1);
  std::vector<DrawsView> views;
  for (std::size_t q = 0; q < quantities; ++q)
    views.push_back({values.data() + (q % distinct) * draws * chains, draws, chains, 1, draws});
  ThreadPool threads(0);
  while (state.KeepRunning()) benchmark::DoNotOptimize(summarize(views, threads));
}
BENCHMARK(Summaries)->Unit(benchmark::kMillisecond)->UseRealTime();

void ReadCsv(benchmark::State& state) {
  const auto file = std::filesystem::temp_directory_path() / "emomc_benchmarks.csv";
  {
    std::ofstream out(file);
    for (int j = 0; j < kDim; ++j) out << (j ? "," : "") << 'c' << j;
    const DataSet data = rows(20000);
    for (std::size_t i = 0; i < data.values.size(); ++i) out << (i % kDim ? ',' : '\n') << data.values[i];
    out << '\n';
  }
  while (state.KeepRunning()) benchmark::DoNotOptimize(read_table({{file.string()}, {}}).num_rows);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(file)));
  std::filesystem::remove(file);
}
BENCHMARK(ReadCsv);

void Starts(benchmark::State& state) {
  const DataSet data = rows(5000);
  while (state.KeepRunning())
    benchmark::DoNotOptimize(MixturePool(data, {"gaussian_mixture", kComponents}, {.seed = 1}).best());
}
BENCHMARK(Starts)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace emomc

BENCHMARK_MAIN();
