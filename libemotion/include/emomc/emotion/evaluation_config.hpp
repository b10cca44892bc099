// The configuration of `emomc evaluate` and `emomc train` as a plain value, which callers in C++ and Python
// fill in and the program reads from YAML.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emomc/posterior/run_config.hpp"
#include "emomc/speech/classification.hpp"
#include "emomc/speech/feature_set.hpp"
#include "emomc/speech/functionals.hpp"
#include "emomc/speech/mfcc.hpp"
#include "emomc/speech/regression_evaluation.hpp"
#include "emomc/speech/softmax_evaluation.hpp"

namespace emomc {

struct CorpusConfig {
  std::string kind = "tables";  ///< "tables", or one of corpus_kinds()
  std::filesystem::path path;
  std::string pattern = "{emotion}_{speaker}.csv";  ///< tables only
  std::vector<std::string> classes;                 ///< empty: all classes that occur
  bool refuse_unparsed = true;                      ///< false: files that cannot be parsed are left out
  /// Labels that replace labels of the corpus, for example {"joy", "happiness"}.
  std::map<std::string, std::string> labels = {};
  /// Columns of numbers that a regression predicts, such as arousal; empty for all other classifiers.
  std::vector<std::string> dimensions = {};
  /// Table of recordings with these columns; empty: the manifest.
  std::filesystem::path dimensions_file = {};
  bool operator==(const CorpusConfig&) const = default;
};

struct FeaturesConfig {
  Normalization normalize = Normalization::speaker;
  int deltas = 1;
  /// Whether the mean over the utterance is subtracted from the column c0 of frames; mixtures only.
  bool remove_gain = true;
  std::string like = "emomc";  ///< the preset of which `mfcc` is a modification; recordings only
  MfccSettings mfcc;
  double gate_db = 0;  ///< frames more than this below the loudest frame are dropped; 0: none
  FunctionalSet set = FunctionalSet::full;  ///< functionals of an utterance for softmax regression
  std::filesystem::path table;  ///< file of another program whose rows replace functionals; empty: none
  /// Column of that table with the names, or for .npy a file of names; empty: found automatically.
  std::string table_names;
  bool operator==(const FeaturesConfig&) const = default;
};

enum class FoldsKind { leave_one_speaker_out, k_fold_by_speaker, test_speakers, file };

struct FoldsConfig {
  FoldsKind kind = FoldsKind::leave_one_speaker_out;
  int count = 0;                           ///< number of folds; k_fold_by_speaker only
  std::vector<std::string> test_speakers;  ///< test_speakers only
  std::filesystem::path file = {};         ///< a table of recordings or speakers; kind `file` only
  std::string column = "fold";  ///< column of `file`; recordings with the same value are tested together
  std::vector<std::string> test = {};  ///< values that are tested together; empty: each value in turn
  bool operator==(const FoldsConfig&) const = default;
};

/// The groups of utterances that are scored in addition to all utterances together.
struct GroupsConfig {
  std::vector<std::string> columns;  ///< columns of `file`; empty: no groups
  std::filesystem::path file = {};   ///< a table of recordings or speakers; empty: the corpus's manifest
  bool operator==(const GroupsConfig&) const = default;
};

/// How the posterior of a class is formed, in addition to likelihood and prior.
struct TrainingConfig {
  /// Whether the prior is centred on a mixture of all classes, the background, fitted by EM.
  bool background = true;
  /// Prior sd of the means around the background's means, in units of the sds of the background's components;
  /// nullopt: a sampled parameter for each column.
  std::optional<double> means_sd = 0.15;
  double scales_sd = 0.3;  ///< prior sd of the log scales around those of the background
  double weights = 64;     ///< number of rows that the background's weights count as
  double power = 0.1;  ///< power of the likelihood: neighbouring frames carry much of the same information
  bool operator==(const TrainingConfig&) const = default;
};

/// The classifier: softmax regression on functionals of utterances; mixtures of frames; both, with their
/// probabilities multiplied; or linear regression of numbers, CorpusConfig::dimensions, on functionals.
enum class ClassifierKind { softmax, mixtures, fused, regression };

/// Settings of softmax regression; docs/softmax.md describes them.
struct SoftmaxConfig {
  SoftmaxPrior prior = SoftmaxPrior::ridge;
  std::vector<double> prior_sds = SoftmaxSettings().prior_sds;
  double relevant_share = SoftmaxSettings().relevant_share;  ///< SoftmaxPrior::horseshoe only
  double slab_scale = SoftmaxSettings().slab_scale;          ///< SoftmaxPrior::horseshoe only
  double temperature = SoftmaxSettings().temperature;
  std::optional<double> temper;         ///< nullopt: learned
  std::optional<double> temper_frames;  ///< nullopt: learned
  int chains = SoftmaxSettings().chains, warmup = SoftmaxSettings().warmup, draws = SoftmaxSettings().draws;
  bool operator==(const SoftmaxConfig&) const = default;
};

/// Sets the values whose defaults depend on the prior: temperature, warm-up, draws, and the set of
/// functionals, since the horseshoe allows only few columns.
void set_defaults_of_prior(SoftmaxPrior prior, SoftmaxConfig& softmax, FeaturesConfig& features);

/// The names that softmax_prior() accepts: "ridge", "horseshoe".
std::vector<std::string> softmax_prior_names();
/// Throws InputError for an unknown name.
SoftmaxPrior softmax_prior(const std::string& name);
std::string softmax_prior_name(SoftmaxPrior prior);

/// Settings of linear regression; docs/regression.md describes them.
struct RegressionConfig {
  std::vector<double> prior_sds = RegressionSettings().prior_sds;
  std::optional<double> sd_factor;  ///< nullopt: learned
  bool operator==(const RegressionConfig&) const = default;
};

enum class ClassPrior { uniform, observed, given };

struct ClassificationConfig {
  Rule rule = Rule::predictive;
  std::optional<Evidence> evidence;  ///< nullopt: learned, together with the temper
  std::optional<double> temper;      ///< nullopt: learned
  ClassPrior class_prior = ClassPrior::uniform;
  std::map<std::string, double> class_probabilities;  ///< ClassPrior::given only
  std::int64_t draws = 400;  ///< number of draws of each class, evenly spaced over all chains
  bool operator==(const ClassificationConfig&) const = default;
};

struct EvaluationConfig {
  CorpusConfig corpus;
  ClassifierKind classifier = ClassifierKind::mixtures;
  FeaturesConfig features;
  FoldsConfig folds;
  GroupsConfig by;
  SoftmaxConfig softmax;        ///< ClassifierKind::softmax and fused only
  RegressionConfig regression;  ///< ClassifierKind::regression only
  TrainingConfig training;
  ClassificationConfig classification;
  bool em_baseline = true;
  /// Likelihood, prior, sampler, backend, threads, checkpoint and output; its data are not used.
  RunConfig run;
  bool operator==(const EvaluationConfig&) const = default;
};

}  // namespace emomc
