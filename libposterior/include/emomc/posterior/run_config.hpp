// What a run samples and how: plain values, which programs fill in and set_up (run_setup.hpp) checks.
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
  CsvFormat format{};  ///< of CSV files; unset members are inferred from the files
  std::vector<CategoryColumn> categories =
      {};  ///< columns of texts; a list without levels: those of the data
  std::vector<ColumnRename> renames = {};
  bool operator==(const DataConfig&) const = default;
};

struct LikelihoodConfig {
  std::string model = ModelSpec{}.name;  ///< one of model_names()
  int components = 8;                    ///< unused where the model has a fixed number
  std::string covariance = ModelSpec{}.covariance;
  Precision precision = Precision::mixed;
  ExpressionSpec expression =
      {};  ///< a likelihood of the user's own, in place of a model, where it has a density or a header
  bool is_expression() const { return !expression.log_density.text.empty() || has_code(); }
  bool has_code() const { return !expression.code.file.empty(); }
  bool operator==(const LikelihoodConfig&) const = default;
};

inline constexpr const char* kAutomatic = "auto";  ///< a kind and a shape of proposals

struct ProposalConfig {
  std::string kind = kAutomatic;     ///< or one of proposal_names(); proposal_choice.hpp
  std::string shape = kAutomatic;    ///< covariance of the increments: isotropic, diagonal, dense or auto
  double target_acceptance = 0.234;  ///< except for blocks of one dimension, which aim at 0.44; not of auto
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
  /// Warmup: auto. The first warm-up has `warmup` steps; later ones are twice as long.
  bool chooses_warmup = true;
  std::int64_t warmup = kFirstWarmup;
  bool chooses_draws = true;    ///< draws: auto. The run continues until its draws have converged
  std::int64_t draws = 20'000;  ///< kept draws of each chain; the maximum if chooses_draws
  std::int64_t thin = 1;
  std::uint64_t seed = 20260101;
  std::string init = "kmeans";  ///< of starts_of_likelihood(), or a parameter file (JSON)
  int init_tries = 100;
  int superchains = 0;  ///< number of groups of chains that share a start; 0: each chain has its own start
  double max_nan_share = 0.01;
  UntilConfig until;
  ProposalConfig proposal;
  Tempering tempering = {};
  bool operator==(const SamplerConfig&) const = default;
};

/// What is known of the model, where the likelihood is no expression. Throws InputError where there is no
/// such model.
const ModelInfo& info_of(const LikelihoodConfig& likelihood);
/// The model, where the likelihood is no expression.
ModelSpec model_of(const LikelihoodConfig& likelihood);

/// When the next checkpoint is written: at the earlier of the two times.
struct CheckpointConfig {
  double seconds = 60;
  std::int64_t steps = 0;  ///< 0: determined by time alone
  bool operator==(const CheckpointConfig&) const = default;
};

struct OutputConfig {
  std::filesystem::path directory = "runs/emomc";
  bool keep_warmup = false;
  bool pointwise = false;
  bool operator==(const OutputConfig&) const = default;
};

/// What several ranks divide among them: chains, or the rows of the data.
enum class Shard { chains, rows };

struct RunConfig {
  DataConfig data;
  LikelihoodConfig likelihood;
  PriorSet prior;            ///< a prior for every block of the model, with defaults filled in
  std::string order_column;  ///< prior.order by the name of a column, which has to be the first; empty: by 0
  SamplerConfig sampler;
  Backend backend = Backend::automatic;
  Shard shard = Shard::chains;
  int threads = 0;  ///< 0: all hardware threads
  /// Of backend cuda: the GPUs over which the chains are spread, by CUDA's numbers; empty: all of the
  /// machine.
  std::vector<int> devices = {};
  CheckpointConfig checkpoint;
  OutputConfig output;
  bool operator==(const RunConfig&) const = default;
};

/// Sets the shape and target of config.sampler.proposal to the defaults of its kind and of the likelihood;
/// not of auto.
void set_proposal_defaults(RunConfig& config);

/// Sets the defaults that depend on config.likelihood, which is stated: priors of a model, and init;
/// standardize, precision and scale_floor of a likelihood of the user's own. Throws InputError where there is
/// no such model.
void set_likelihood_defaults(RunConfig& config);

/// The values of sampler.init that a likelihood has besides a parameter file: "prior", and "kmeans", "em" and
/// "clusters" where it has them.
std::vector<std::string> starts_of_likelihood(const LikelihoodConfig& likelihood);

}  // namespace emomc
