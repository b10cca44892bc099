// Draws in netCDF-4 files of ArviZ's InferenceData layout (https://python.arviz.org, schema specification).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// Whether this build has libnetcdf.
bool has_netcdf();

/// What an InferenceData file has beside the draws.
struct NetcdfExtras {
  std::vector<std::string> columns;     ///< of the data: the coordinate `feature`
  std::vector<double> data;             ///< observed_data x, rows x columns; empty: attributes alone
  std::vector<std::string> data_files;  ///< observed_data's attributes
  std::string data_sha256;
  std::vector<double> column_mean, column_sd, scale_floor;  ///< constant_data; empty: left out
  std::string created_at;                                   ///< UTC, ISO 8601
  std::vector<double> log_likelihood;                       ///< chains x draws x rows; empty: left out
  const DrawSet* warmup = nullptr;                          ///< warmup_posterior
};

/// Groups posterior, sample_stats, observed_data, constant_data and warmup_posterior, written by `write`.
/// Throws InputError in a build without libnetcdf, MachineError where the disk fails.
void write_netcdf(const std::filesystem::path& file, const DrawSet& draws, const NetcdfExtras& extras,
                  FileWriter write);

/// The posterior of an InferenceData file: every variable that has dimensions of the names chain and draw, in
/// whatever order, names `x[i,j]` counted from 0; lp of sample_stats as log density. Missing values are NaN,
/// packed ones unpacked. Variables without chains and draws, and text, are named in `notes`. Throws
/// InputError where the file is damaged, another kind of file, or has no posterior, and for a variable that
/// cannot be placed.
DrawSet read_netcdf(const std::filesystem::path& file);

/// Group `log_likelihood` of an InferenceData file: of every observation of all its variables, for every
/// draw.
struct ForeignLogLikelihood {
  std::size_t num_draws = 0;       ///< of all chains
  std::vector<double> values;      ///< observations x draws
  std::vector<std::string> notes;  ///< what was left out, one sentence each
};
/// Throws InputError where there is none, or the file is damaged.
ForeignLogLikelihood read_netcdf_log_likelihood(const std::filesystem::path& file);

}  // namespace emomc::app
