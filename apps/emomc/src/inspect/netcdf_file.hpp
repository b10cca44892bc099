// Reads and writes draws in netCDF-4 files with the InferenceData layout of ArviZ (https://python.arviz.org,
// schema specification).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emomc/posterior/predictive.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// Returns whether this build has libnetcdf.
bool has_netcdf();

/// The content of an InferenceData file besides the draws.
struct NetcdfExtras {
  std::vector<std::string> columns;  ///< names of the data's columns; they become the coordinate `feature`
  /// [rows x columns] the data. Each column in `observed` becomes a variable of observed_data, and each other
  /// column one of constant_data. If empty, these groups have no rows.
  std::vector<double> data;
  std::vector<std::string> observed;
  std::vector<std::string> data_files;  ///< attributes of observed_data
  std::string data_sha256;
  std::vector<double> column_mean, column_sd, scale_floor;  ///< in constant_data; each is left out if empty
  std::string created_at;                                   ///< UTC, ISO 8601
  std::vector<double> log_likelihood;  ///< chains x draws x rows; empty: no group log_likelihood
  const DrawSet* warmup = nullptr;     ///< draws for the group warmup_posterior; nullptr: no such group
  std::optional<PredictiveDraws> posterior_predictive = {};  ///< variables as in observed_data
  std::optional<PriorPredictive> prior = {};  ///< draws for the groups prior and prior_predictive
};

/// Writes the groups posterior, sample_stats, log_prior, observed_data and constant_data, and, if given,
/// log_likelihood, warmup_posterior, posterior_predictive, prior and prior_predictive. Variables have the
/// names of columns, in which characters that netCDF does not allow become `_`. The file is made in memory
/// and passed to `write`. Throws InputError in a build without libnetcdf and MachineError if the disk fails.
void write_netcdf(const std::filesystem::path& file, const DrawSet& draws, const NetcdfExtras& extras,
                  FileWriter write);

/// Reads the posterior of an InferenceData file: every variable with the dimensions chain and draw, in any
/// order. Elements are named `x[i,j]` with indices from 0. The variable lp of sample_stats becomes the log
/// density. Missing values are NaN; packed values are unpacked. Variables without chains and draws and
/// variables of text are named in `notes`. Throws InputError if the file is damaged, is of another kind, has
/// no posterior or has a variable that cannot be interpreted, and in a build without libnetcdf.
DrawSet read_netcdf(const std::filesystem::path& file);

/// The group `log_likelihood` of an InferenceData file: the log likelihood of every observation of all its
/// variables under every draw.
struct ForeignLogLikelihood {
  std::size_t num_draws = 0;       ///< over all chains
  std::vector<double> values;      ///< observations x draws
  std::vector<std::string> notes;  ///< what was left out, one sentence each
};
/// Throws InputError if the group is missing or has missing values, if the file is damaged, and in a build
/// without libnetcdf.
ForeignLogLikelihood read_netcdf_log_likelihood(const std::filesystem::path& file);

}  // namespace emomc::app
