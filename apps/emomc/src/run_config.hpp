// The resolved configuration of `emomc run`: a validated plain value. Code that uses it never reads YAML.
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

namespace emomc::app {

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
  bool chooses_draws = true;    ///< draws: auto. The run continues until diagnose finds no fault
  std::int64_t draws = 20'000;  ///< kept draws of each chain; the maximum if chooses_draws
  std::int64_t thin = 1;
  std::uint64_t seed = 20260101;
  std::string init = "kmeans";  ///< "prior", "kmeans", "em" or the path of a parameter file (JSON)
  int init_tries = 100;
  int superchains = 0;  ///< number of groups of chains that share a start; 0: each chain has its own start
  double max_nan_share = 0.01;
  UntilConfig until;
  ProposalConfig proposal;
  bool operator==(const SamplerConfig&) const = default;
};

/// What is known of the model, where the likelihood is no expression. Throws InputError where there is no
/// such model.
const ModelInfo& info_of(const LikelihoodConfig& likelihood);

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

struct RunConfig {
  DataConfig data;
  LikelihoodConfig likelihood;
  PriorSet prior;            ///< a prior for every block of the model, with defaults filled in
  std::string order_column;  ///< prior.order by the name of a column, which has to be the first; empty: by 0
  SamplerConfig sampler;
  Backend backend = Backend::automatic;
  int threads = 0;  ///< 0: all hardware threads
  CheckpointConfig checkpoint;
  OutputConfig output;
  bool operator==(const RunConfig&) const = default;
};

/// Reads and validates a configuration. `overrides` are the `key.path=value` of --set, applied before
/// validation. Throws InputError with file, line, key, the allowed values and the nearest known name.
RunConfig load_run_config(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});

/// The same for a text; `name` is the file's name in messages.
RunConfig parse_run_config(const std::string& yaml, const std::string& name,
                           const std::vector<std::string>& overrides = {});

/// YAML with every key written out; parse_run_config of this text gives an equal value.
/// YamlComments::explained adds the meaning and the allowed values of each key; for a default value this
/// gives configs/all_keys.yaml.
enum class YamlComments { none, explained };
std::string to_yaml(const RunConfig& config, YamlComments comments = YamlComments::none);

/// The configuration of a file that contains only `data: {file: features/sad.csv}`; see
/// YamlComments::explained.
RunConfig default_run_config();

/// The text of a configuration file. At most 1 MiB plus one byte are read, and parse_yaml refuses texts
/// longer than 1 MiB. Throws InputError if the file is missing or cannot be read.
std::string read_config_text(const std::filesystem::path& file);

/// Throws InputError if `path` (a file, a folder or a glob in the configuration file `config`, at `key`) is
/// not there from the working directory, but is beside the configuration.
void refuse_path_beside(const std::filesystem::path& config, const std::string& key, const std::string& path);

/// The prior of a block as the configuration spells it: "{normal: {mean: 0, sd: 10}}".
std::string to_yaml(const PriorSet& priors, const std::string& block);

}  // namespace emomc::app
