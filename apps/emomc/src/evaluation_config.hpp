// The resolved configuration of `emomc evaluate` and `emomc train`: a validated plain value.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emomc/speech/classification.hpp"
#include "emomc/speech/feature_set.hpp"
#include "emomc/speech/mfcc.hpp"
#include "run_config.hpp"

namespace emomc::app {

struct CorpusConfig {
  std::string kind = "tables";  ///< tables, or of corpus_kinds()
  std::filesystem::path path;
  std::string pattern = "{emotion}_{speaker}.csv";  ///< tables only
  std::vector<std::string> classes;                 ///< empty: all that are found
  bool refuse_unparsed = true;                      ///< false: files that cannot be parsed are left out
  bool operator==(const CorpusConfig&) const = default;
};

struct FeaturesConfig {
  Normalization normalize = Normalization::speaker;
  int deltas = 0;
  std::string like = "emomc";  ///< the preset that `mfcc` began with; recordings only
  MfccSettings mfcc;
  double gate_db = 0;  ///< frames this far below the loudest are dropped; 0: none
  bool operator==(const FeaturesConfig&) const = default;
};

enum class FoldsKind { leave_one_speaker_out, k_fold_by_speaker, test_speakers };

struct FoldsConfig {
  FoldsKind kind = FoldsKind::leave_one_speaker_out;
  int count = 0;                           ///< of k_fold_by_speaker
  std::vector<std::string> test_speakers;  ///< of test_speakers
  bool operator==(const FoldsConfig&) const = default;
};

/// What a class's posterior is, beside likelihood and prior.
struct TrainingConfig {
  bool background = true;  ///< the prior is centred on a mixture of all classes, fitted by EM
  /// Of the means about the background's, in its components' sds; none: a parameter of each column.
  std::optional<double> means_sd = 0.15;
  double scales_sd = 0.3;  ///< of the log scales about the background's
  double weights = 64;     ///< rows that the background's weights count as
  double power = 0.1;      ///< of the likelihood: neighbouring frames say much of the same
  bool operator==(const TrainingConfig&) const = default;
};

enum class ClassPrior { uniform, observed, given };

struct ClassificationConfig {
  Rule rule = Rule::predictive;
  std::optional<Evidence> evidence;  ///< none: learned, as the temper is
  std::optional<double> temper;      ///< none: learned
  ClassPrior class_prior = ClassPrior::uniform;
  std::map<std::string, double> class_probabilities;  ///< given
  std::int64_t draws = 400;                           ///< of each class, at equal distances over all chains
  bool operator==(const ClassificationConfig&) const = default;
};

struct EvaluationConfig {
  CorpusConfig corpus;
  FeaturesConfig features;
  FoldsConfig folds;
  TrainingConfig training;
  ClassificationConfig classification;
  bool em_baseline = true;
  RunConfig run;  ///< likelihood, prior, sampler, backend, threads, checkpoint, output; no data
  bool operator==(const EvaluationConfig&) const = default;
};

/// Throws InputError with file, line, key, what is allowed and the nearest known name.
EvaluationConfig load_evaluation_config(const std::filesystem::path& file,
                                        const std::vector<std::string>& overrides = {});
EvaluationConfig parse_evaluation_config(const std::string& yaml, const std::string& name,
                                         const std::vector<std::string>& overrides = {});

/// Every key written out; parse_evaluation_config of it gives an equal value.
std::string to_yaml(const EvaluationConfig& config, YamlComments comments = YamlComments::none);
/// What a file that says only `corpus: {path: features}` means; explained, configs/all_evaluation_keys.yaml.
EvaluationConfig default_evaluation_config();

}  // namespace emomc::app
