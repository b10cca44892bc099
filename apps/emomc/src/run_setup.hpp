// From a RunConfig to what run_chains needs; shared by run and check. Everything a user can get wrong is
// found here, before anything is written.
#pragma once

#include <memory>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/sampler/target.hpp"
#include "run_config.hpp"
#include "start_report.hpp"

namespace emomc::app {

/// The data as read, and as the likelihood sees them.
struct LoadedData {
  Table table;  ///< its values moved to `data`
  DataSet data;
  ColumnUnits units;              ///< of `data`; of the standardised columns, or close to those
  std::vector<double> column_sd;  ///< of `data`'s columns
  std::vector<std::string> constant_columns;
  DataFingerprint fingerprint;  ///< of the values in use
};

/// Draws before which `sampler.until.seconds` does not end a run.
inline constexpr std::int64_t kFirstDecision = 100;

/// Rows first_row .. first_row + num_rows - 1 of `values`, row-major in `dim` columns.
DataPart data_part(const std::string& name, const std::vector<double>& values, std::size_t dim,
                   std::size_t first_row, std::size_t num_rows);

LoadedData load_data(const DataConfig& config, const ModelSpec& model);
/// One line each of what is used, what is skipped, and what deserves a warning.
std::vector<std::string> describe(const LoadedData& loaded);
std::vector<std::string> warnings(const LoadedData& loaded);

/// The objects of a run.
struct RunSetup {
  LoadedData loaded;
  ModelSpec model;
  Backend backend = Backend::cpu;  ///< resolved
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;
  std::unique_ptr<Target> target;  ///< in the sampler's units, whatever units the priors are stated in
  double log_prior_offset =
      0;  ///< added to its log prior: the density in the units that priors are stated in
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
  SamplerMemory memory;
  RunOptions options;
  StartReport starts;  ///< of find_starts (chain_starts.hpp)
};

/// Component caches where the proposal uses them and they fit into 80 % of the free memory with what else the
/// chains take; the draws are the same without.
ComponentCaches caches_that_fit(const LikelihoodEngine& engine, const Target& target,
                                const ProposalSpec& proposal, const std::vector<ChainPlan>& plans,
                                const SamplerMemory& sampler);

RunSetup set_up(const RunConfig& config);

ProposalShape shape_of_name(const std::string& name);  ///< of isotropic, diagonal, dense
std::string backend_name(Backend backend);
Backend backend_of_name(const std::string& name);  ///< of auto, reference, cpu, cuda
std::string sha256_hex(std::string_view bytes);
/// Of names and values of the columns in use.
std::string hash_table(const Table& table);

}  // namespace emomc::app
