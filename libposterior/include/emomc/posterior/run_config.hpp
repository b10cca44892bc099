// The settings of a run as plain values, which programs fill in and set_up (run_setup.hpp) checks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/sampler/prior.hpp"
#include "emomc/sampler/stopping.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {

struct DataConfig {
  std::vector<std::string> files;    ///< paths or globs, relative to the working directory
  std::vector<std::string> columns;  ///< empty: all except reserved names
  bool standardize = true;
  CsvFormat format{};  ///< format of CSV files; unset members are inferred from the files
  /// Columns of texts; if a list has no levels, they are taken from the data.
  std::vector<CategoryColumn> categories = {};
  std::vector<ColumnRename> renames = {};
  bool operator==(const DataConfig&) const = default;
};

struct LikelihoodConfig {
  std::string model = ModelSpec{}.name;  ///< one of model_names()
  int components = 8;                    ///< unused where the model has a fixed number
  std::string covariance = ModelSpec{}.covariance;
  Precision precision = Precision::mixed;
  /// A user-defined likelihood; it replaces the model if it has a density or a header.
  ExpressionSpec expression = {};
  bool is_expression() const { return !expression.log_density.text.empty() || has_code(); }
  bool has_code() const { return !expression.code.file.empty(); }
  bool operator==(const LikelihoodConfig&) const = default;
};

/// Value of proposal.kind and proposal.shape that leaves the choice to the program.
inline constexpr const char* kAutomatic = "auto";

struct ProposalConfig {
  std::string kind = kAutomatic;   ///< auto, or one of proposal_names(); see proposal_choice.hpp
  std::string shape = kAutomatic;  ///< covariance of the increments: isotropic, diagonal, dense or auto
  /// Except for blocks of one dimension, which aim at 0.44; unused with kind auto.
  double target_acceptance = 0.234;
  bool operator==(const ProposalConfig&) const = default;
};

/// Conditions under which a run ends before its last draw; 0: the condition is off.
struct UntilConfig {
  double ess = 0;      ///< minimum bulk and tail ESS of every quantity that diagnose judges
  double seconds = 0;  ///< wall time of the run in seconds, including earlier parts of a resumed run
  bool operator==(const UntilConfig&) const = default;
};

struct SamplerConfig {
  int chains = 4;
  /// Whether `warmup: auto` is set. The first warm-up has `warmup` steps; each later one is twice as long.
  bool chooses_warmup = true;
  std::int64_t warmup = kFirstWarmup;
  /// Whether `draws: auto` is set: the run continues until its draws have converged.
  bool chooses_draws = true;
  std::int64_t draws = 20'000;  ///< kept draws of each chain; the maximum if chooses_draws
  std::int64_t thin = 1;
  std::uint64_t seed = 20260101;
  std::string init = "kmeans";  ///< one of starts_of_likelihood(), or a parameter file (JSON)
  int init_tries = 100;
  int superchains = 0;  ///< number of groups of chains that share a start; 0: each chain has its own start
  double max_nan_share = 0.01;
  UntilConfig until;
  ProposalConfig proposal;
  Tempering tempering = {};
  bool operator==(const SamplerConfig&) const = default;
};

/// The description of the model of a likelihood that is no expression. Throws InputError if there is no such
/// model.
const ModelInfo& info_of(const LikelihoodConfig& likelihood);
/// The model of a likelihood that is no expression.
ModelSpec model_of(const LikelihoodConfig& likelihood);

/// When the next checkpoint is written: at the earlier of the two times.
struct CheckpointConfig {
  double seconds = 60;
  std::int64_t steps = 0;  ///< 0: `seconds` alone counts
  bool operator==(const CheckpointConfig&) const = default;
};

struct OutputConfig {
  std::filesystem::path directory = "runs/emomc";
  bool keep_warmup = false;
  bool pointwise = false;
  bool operator==(const OutputConfig&) const = default;
};

/// What several ranks divide among themselves: the chains, or the rows of the data.
enum class Shard { chains, rows };

struct RunConfig {
  DataConfig data;
  LikelihoodConfig likelihood;
  PriorSet prior;  ///< a prior for every block of the model, with defaults filled in
  /// Name of the column that prior.order gives, which must be the first column; empty: order by column 0.
  std::string order_column;
  SamplerConfig sampler;
  Backend backend = Backend::automatic;
  Shard shard = Shard::chains;
  int threads = 0;  ///< 0: all hardware threads
  /// The GPUs among which backend cuda divides the chains, by CUDA's numbers; empty: all GPUs of the machine.
  std::vector<int> devices = {};
  CheckpointConfig checkpoint;
  OutputConfig output;
  bool operator==(const RunConfig&) const = default;
};

/// Sets the shape and target of config.sampler.proposal to the defaults of its kind and of the likelihood.
/// Does nothing if the kind is auto.
void set_proposal_defaults(RunConfig& config);

/// Sets the defaults that depend on config.likelihood, which must be set: for a model the priors and init;
/// for a user-defined likelihood standardize, precision and scale_floor. Throws InputError if there is no
/// such model.
void set_likelihood_defaults(RunConfig& config);

/// The values of sampler.init that a likelihood allows besides a parameter file: always "prior", and for some
/// likelihoods "kmeans", "em" and "clusters".
std::vector<std::string> starts_of_likelihood(const LikelihoodConfig& likelihood);

}  // namespace emomc
