#include "emomc/posterior/mixture_fits.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/sampler/starts.hpp"

namespace emomc {
namespace {

struct FitterOnGpu {
  std::unique_ptr<Device> device;
  std::unique_ptr<MixtureFitter> fitter;
};

}  // namespace

RunSetup set_up_fits(const RunConfig& config, const Table* table) {
  RunConfig all_rows = config;
  all_rows.shard = Shard::chains;
  RunSetup setup = set_up(all_rows, table, std::nullopt, &single_rank());
  refuse_gpus_without_cuda(config, setup.backend);
  return setup;
}

FitStarts fit_starts(const RunConfig& config, const RunSetup& setup, int most) {
  const MixturePool pool(setup.loaded.data, setup.model, pool_options(config, setup));
  std::vector<std::vector<double>> fits;
  for (const ShortFit& fit : pool.fits()) fits.push_back(fit.theta);
  const auto host = make_device(Backend::cpu);
  const auto engine =
      make_engine(Backend::cpu, setup.model, Precision::float64, pool.rows(), *host, config.threads);
  const auto rows = static_cast<double>(setup.loaded.data.num_rows);
  const auto groups = equal_fits(*engine, fits, rows);
  FitStarts sound, degenerate;
  for (const auto& group : groups) {
    const std::vector<double>& theta = fits[group.front()];
    FitStarts& of = degeneracy(*setup.target, theta, rows).empty() ? sound : degenerate;
    of.points.push_back(
        permute_components(setup.engine->layout(), order_of_prior(*setup.target, theta), theta));
    of.num_fits.push_back(group.size());
  }
  // Degenerate fits are followed only if there are no others.
  std::size_t num_degenerate = 0;
  for (const std::size_t n : degenerate.num_fits) num_degenerate += n;
  const bool are_all_degenerate = sound.points.empty();
  FitStarts result = are_all_degenerate ? std::move(degenerate) : std::move(sound);
  result.num_short_fits = fits.size();
  result.num_degenerate = are_all_degenerate ? 0 : num_degenerate;
  if (result.points.size() > static_cast<std::size_t>(most))
    result.points.resize(static_cast<std::size_t>(most));
  return result;
}

std::unique_ptr<RankTeam<MixtureFitter>> make_fitters(const RunConfig& config, const RunSetup& setup,
                                                      std::size_t most) {
  std::vector<int> gpus = {0};
  if (setup.backend == Backend::cuda && !setup.loaded.data.on_device) gpus = gpus_of(config);
  gpus.resize(std::clamp<std::size_t>(most, 1, gpus.size()));
  return std::make_unique<RankTeam<MixtureFitter>>(
      static_cast<int>(gpus.size()), [&](Communicator& ranks) -> std::shared_ptr<MixtureFitter> {
        const auto on = [&](Device& device) {
          return make_fitter(setup.backend, setup.model, setup.loaded.data, device, config.threads);
        };
        if (ranks.rank() == 0) return on(*setup.device);
        const auto own = std::make_shared<FitterOnGpu>();
        own->device = make_cuda_device(gpus[static_cast<std::size_t>(ranks.rank())]);
        own->fitter = on(*own->device);
        return {own, own->fitter.get()};
      });
}

std::vector<FitResult> fits_from(const std::vector<std::vector<double>>& starts,
                                 RankTeam<MixtureFitter>& fitters, const FitOptions& options,
                                 const FitFinished& finished) {
  using Clock = std::chrono::steady_clock;
  std::vector<FitResult> results(starts.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t done = 0;
  fitters.together([&](const std::shared_ptr<MixtureFitter>& fitter, Communicator& ranks) {
    for (std::size_t i = 0; !ranks.has_failed() && (i = next++) < starts.size();) {
      const auto began = Clock::now();
      results[i] = fitter->fit(starts[i], options);
      const std::chrono::duration<double> seconds = Clock::now() - began;
      const std::lock_guard lock(mutex);
      finished(++done, results[i], seconds.count());
    }
  });
  return results;
}

ChosenFit choose_fit(const std::vector<FitResult>& results, const FitStarts& starts, const RunConfig& config,
                     const RunSetup& setup) {
  const auto rows = static_cast<double>(setup.loaded.data.num_rows);
  ChosenFit chosen;
  chosen.num_degenerate = starts.num_degenerate;
  std::vector<std::vector<double>> points;
  std::vector<std::string> why;
  std::size_t best = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    points.push_back(results[i].theta);
    why.push_back(degeneracy(*setup.target, results[i].theta, rows));
    const bool sound = why[i].empty(), best_is_sound = why[best].empty();
    if (sound != best_is_sound ? sound : results[i].objective > results[best].objective) best = i;
  }
  chosen.best = results[best];
  chosen.degenerate = why[best];
  const auto host = make_device(Backend::cpu);
  // If the rows are on a GPU, only those from which starts are found have been copied to the host.
  const DataSet few = setup.loaded.data.on_device ? spaced_rows(setup.loaded.data, kRowsOfStarts) : DataSet();
  const auto engine = make_engine(Backend::cpu, setup.model, Precision::float64,
                                  few.num_rows > 0 ? few : setup.loaded.data, *host, config.threads);
  for (const auto& group : equal_fits(*engine, points, rows))
    for (const std::size_t i : group) {
      if (std::find(group.begin(), group.end(), best) != group.end())
        chosen.num_reached += starts.num_fits[i];
      if (!why[i].empty() && starts.num_degenerate == 0) chosen.num_degenerate += starts.num_fits[i];
    }
  return chosen;
}

}  // namespace emomc
