#include "run_netcdf.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "expression_run.hpp"
#include "netcdf_file.hpp"
#include "pointwise.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostDataBytes = 100'000'000;
constexpr std::size_t kMostLogLikelihoods = 125'000'000;

// The log likelihoods, chains x draws x rows.
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

}  // namespace

void write_run_netcdf(const std::filesystem::path& directory, const std::filesystem::path& file,
                      DrawSet draws, FileWriter write, bool with_log_likelihood) {
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
  if (with_log_likelihood) extras.log_likelihood = log_likelihoods(directory, draws);
  const DrawSet warmup = read_run_draws(directory, Phase::warmup);
  extras.warmup = &warmup;
  write_netcdf(file, draws, extras, write);
}

}  // namespace emomc::app
