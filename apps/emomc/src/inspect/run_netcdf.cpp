#include "run_netcdf.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <mutex>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "expression_run.hpp"
#include "netcdf_file.hpp"
#include "pointwise.hpp"
#include "progress.hpp"
#include "run_predictive.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostDataBytes = 100'000'000;
constexpr std::size_t kMostLogLikelihoods = 125'000'000;

// Returns the log likelihoods [chains x draws x rows].
std::vector<double> log_likelihoods(const std::filesystem::path& directory, const DrawSet& draws) {
  const std::size_t points = draws.num_chains() * draws.num_draws;
  std::vector<double> by_row;
  pointwise({directory, "row", points, kMostLogLikelihoods}, [&](std::span<const double> of_row, double) {
    by_row.insert(by_row.end(), of_row.begin(), of_row.end());
  });
  const std::size_t num_rows = by_row.size() / points;
  std::vector<double> values(by_row.size());
  for (std::size_t row = 0; row < num_rows; ++row)
    for (std::size_t s = 0; s < points; ++s) values[s * num_rows + row] = by_row[row * points + s];
  return values;
}

/// A line of progress whose last count is known only with the first replicate.
struct ReplicateLine {
  std::once_flag begun;
  std::optional<CountLine> count;
  ~ReplicateLine() {
    if (count) count->end();
  }
};

PredictiveOptions predictive_options(const std::filesystem::path& directory, const std::string& group,
                                     std::optional<std::size_t> draws) {
  const auto line = std::make_shared<ReplicateLine>();
  return {.draws = draws, .threads = 0, .on_replicate = [=](std::size_t all) {
            std::call_once(line->begun, [&] {
              line->count.emplace(directory.string() + ": " + group, all, Verbosity::normal);
            });
            line->count->add();
          }};
}

void describe(const PredictiveDraws& drawn, const std::string& group, bool is_asked) {
  if (drawn.is_thinned() && !is_asked)
    std::cerr << fmt::format(
        "note: {} has {} of {} draws of each chain, as many as take 160 MB; --predictive-draws {} takes "
        "all\n",
        group, drawn.draws.size(), drawn.num_draws_of_chain, drawn.num_draws_of_chain);
  if (drawn.num_not_finite > 0)
    std::cerr << fmt::format(
        "emomc: warning: {}: {} of {} replicates have values that are no finite numbers, since a "
        "distribution does not allow its arguments there or they are too large\n",
        group, drawn.num_not_finite, drawn.num_chains * drawn.draws.size());
}

void add_predictive(const std::filesystem::path& directory, const DrawSet& draws,
                    const RunNetcdfOptions& options, NetcdfExtras& extras) {
  if (!options.posterior_predictive && !options.prior_predictive) return;
  const Table data = data_of_run(directory);
  const std::uint64_t seed = read_chains(directory).at(0).header.seed;
  const bool is_asked = options.predictive_draws.has_value();
  const auto how = [&](const char* group) {
    return predictive_options(directory, group, options.predictive_draws);
  };
  if (options.posterior_predictive)
    extras.posterior_predictive = posterior_predictive(simulator_of_run(directory, draws.layout, data), draws,
                                                       seed, how("posterior_predictive"));
  if (options.prior_predictive)
    extras.prior = prior_predictive_of_run(directory, data, seed, how("prior_predictive"));
  if (extras.posterior_predictive) describe(*extras.posterior_predictive, "posterior_predictive", is_asked);
  if (extras.prior) describe(extras.prior->predictive, "prior_predictive", is_asked);
}

}  // namespace

void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, FileWriter write, const RunNetcdfOptions& options) {
  NetcdfExtras extras;
  const RunFacts facts = read_facts(directory / "manifest.json", draws);
  const RunData run_data = read_run_data(directory, kMostDataBytes);
  extras.columns = run_data.columns;
  extras.data_files = run_data.files;
  extras.data_sha256 = run_data.sha256;
  extras.data = run_data.values;
  extras.column_mean = run_data.mean;
  extras.column_sd = run_data.sd;
  extras.scale_floor = facts.scale_floor;
  extras.created_at = utc_now();
  extras.observed = observed_columns_of_run(directory, extras.columns);
  add_predictive(directory, draws, options, extras);
  if (options.log_likelihood) extras.log_likelihood = log_likelihoods(directory, draws);
  const DrawSet warmup = read_run_draws(directory, Phase::warmup);
  extras.warmup = &warmup;
  write_netcdf(file, draws, extras, write);
}

}  // namespace emomc::app
