// The resolved configuration of `emomc run`: a validated plain value. Nothing behind it reads YAML.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/likelihood/csv_format.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/prior.hpp"
#include "emomc/sampler/stopping.hpp"

namespace emomc::app {

struct DataConfig {
  std::vector<std::string> files;    ///< paths or globs, relative to the working directory
  std::vector<std::string> columns;  ///< empty: all but the reserved names
  bool standardize = true;
  CsvFormat format{};  ///< of CSV files; what is left open is found from them
  bool operator==(const DataConfig&) const = default;
};

struct LikelihoodConfig {
  std::string model = "gaussian_mixture";  ///< | two_gaussian
  int components = 8;                      ///< gaussian_mixture only
  std::string covariance = "diagonal";     ///< gaussian_mixture only
  Precision precision = Precision::mixed;
  bool operator==(const LikelihoodConfig&) const = default;
};

struct ProposalConfig {
  std::string kind = "component_wise";  ///< of proposal_names()
  std::string shape = "diagonal";       ///< isotropic | diagonal | dense: covariance of the increments
  double target_acceptance = 0.234;     ///< blocks of one dimension aim at 0.44
  bool operator==(const ProposalConfig&) const = default;
};

/// When a run may end before its last draw; 0: not by this.
struct UntilConfig {
  double ess = 0;      ///< bulk and tail ESS of every quantity that diagnose judges
  double seconds = 0;  ///< wall time of the run, earlier parts of a resumed one included
  bool operator==(const UntilConfig&) const = default;
};

struct SamplerConfig {
  int chains = 4;
  bool chooses_warmup = true;  ///< warmup: auto. The first warm-up has `warmup` steps; it may be doubled
  std::int64_t warmup = kFirstWarmup;
  bool chooses_draws = true;    ///< draws: auto. The run goes on until diagnose finds no fault
  std::int64_t draws = 20'000;  ///< kept per chain; where the run chooses, at most
  std::int64_t thin = 1;
  std::uint64_t seed = 20260101;
  std::string init = "kmeans";  ///< prior | kmeans | em | path of a parameter file (JSON)
  int init_tries = 100;
  int superchains = 0;  ///< groups of chains that begin at one point; 0: each chain at its own
  double max_nan_share = 0.01;
  UntilConfig until;
  ProposalConfig proposal;
  bool operator==(const SamplerConfig&) const = default;
};

/// When a checkpoint is due: whichever comes first.
struct CheckpointConfig {
  double seconds = 60;
  std::int64_t steps = 0;  ///< 0: by time alone
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
  PriorSet prior;  ///< a prior for every block of the model, defaults filled in
  SamplerConfig sampler;
  Backend backend = Backend::automatic;
  int threads = 0;  ///< 0: all
  CheckpointConfig checkpoint;
  OutputConfig output;
  bool operator==(const RunConfig&) const = default;
};

/// Reads and validates a configuration. `overrides` are `key.path=value` of --set, applied before
/// validation. Throws InputError with file, line, key, what is allowed and the nearest known name.
RunConfig load_run_config(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});

/// The same from text; `name` stands for the file in messages.
RunConfig parse_run_config(const std::string& yaml, const std::string& name,
                           const std::vector<std::string>& overrides = {});

/// YAML with every key written out; parse_run_config of it gives an equal value. `comments` adds what
/// each key means and allows, and makes configs/all_keys.yaml from a default value.
enum class YamlComments { none, explained };
std::string to_yaml(const RunConfig& config, YamlComments comments = YamlComments::none);

/// What a file that says only `data: {file: features/sad.csv}` means; explained, configs/all_keys.yaml.
RunConfig default_run_config();

/// The text of a configuration file; throws InputError where there is none. At most 1 MiB and a byte are
/// read: parse_yaml refuses longer ones.
std::string read_config_text(const std::filesystem::path& file);

/// The prior of a block as the configuration spells it: "{normal: {mean: 0, sd: 10}}".
std::string to_yaml(const PriorSet& priors, const std::string& block);

}  // namespace emomc::app
