// The cross-validation plan: determines which speakers' frames train each posterior, and which utterances are
// scored with each posterior. The plan is a function of the corpus and the configuration alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/speech/feature_set.hpp"

namespace emomc {

/// Groups of utterances by a column of a table about them, such as the speaker's gender.
struct UtteranceGroups {
  std::string column;
  std::vector<std::string> values;  ///< distinct and sorted
  std::vector<int> group_of;        ///< [num_utterances] indices into `values`
};

/// A corpus in the form that an evaluation needs. Utterances are sorted by speaker and class. Columns are
/// standardised over all rows, for the sake of float32; priors, however, are in the units of each training
/// set. Each pair of speaker and class has one segment.
struct LabelledFrames {
  /// Sorted; classes listed in the configuration keep that order.
  std::vector<std::string> classes, speakers;
  FeatureSet features;
  std::vector<int> class_of, speaker_of;            ///< [num_utterances]; for a regression, classes are -1
  ColumnUnits units;                                ///< mean and sd with which all rows were standardised
  DataSet rows;                                     ///< the values of `features`, divided into segments
  std::vector<int> segment_speaker, segment_class;  ///< [num_segments]
  std::vector<UtteranceGroups> groups = {};         ///< groups that are scored, if any
  /// Names of what a regression predicts; in that case there are no classes.
  std::vector<std::string> dimensions = {};
  std::vector<double> truth = {};  ///< num_utterances x dimensions, row-major
  std::size_t num_classes() const { return classes.size(); }
};

/// The training data of the posteriors of all classes: the frames of all speakers except `excluded`.
struct TrainingSet {
  std::vector<int> excluded;  ///< numbers of the speakers, sorted
  /// [num_classes] indices into LabelledFrames::rows.segments.
  std::vector<std::vector<int>> segments_of_class;
  ColumnUnits units;  ///< mean and sd of the set's rows, in the standardised units of LabelledFrames
  /// Whether a fold's test speakers are scored with the set; otherwise the set only serves to learn the
  /// temper.
  bool is_tested = false;
};

/// Training speakers that are left out together to learn the temper of a fold.
struct InnerFold {
  int set;  ///< index into EvaluationPlan::sets; excludes the fold's test speakers and `speakers`
  std::vector<int> speakers;  ///< numbers of the speakers that are left out
};

struct Fold {
  int set;                         ///< index into EvaluationPlan::sets
  std::vector<int> test_speakers;  ///< empty for `emomc train`
  std::vector<InnerFold> inner;    ///< empty if the temper is given
};

struct EvaluationPlan {
  std::vector<TrainingSet> sets;
  std::vector<Fold> folds;
  /// [folds] names from a file; empty: folds are named after their test speakers.
  std::vector<std::string> fold_names = {};
};

/// Returns the numbers of utterances, utterances x dimensions, row-major and finite.
using NumbersOf = std::function<std::vector<double>(const std::vector<UtteranceFrames>&)>;

/// Sorts and standardises the frames. With CorpusConfig::dimensions, utterances have numbers in place of
/// classes: `numbers` returns them; if it is empty, they are read from files (dimension_labels.hpp). Throws
/// InputError if a class that the configuration lists does not occur, if there are fewer than two classes or
/// no frames, and in the cases of dimension_labels().
LabelledFrames label_frames(FeatureSet features, const CorpusConfig& corpus, const NumbersOf& numbers = {});

/// Throws InputError if the given class probabilities are not for exactly the classes of the corpus.
void check_class_prior(const LabelledFrames& frames, const ClassificationConfig& config);

/// The folds of `emomc evaluate`. For FoldsKind::file, they are read from a file. Throws InputError if there
/// are too few speakers, if a training set lacks a class, or if the file does not give each utterance a fold
/// and each speaker only one.
EvaluationPlan plan_evaluation(const LabelledFrames& frames, const EvaluationConfig& config);
/// The test speakers of each fold, and the largest number of test speakers in a fold.
std::vector<std::vector<int>> test_speakers(const EvaluationPlan& plan);
std::size_t most_test_speakers(const EvaluationPlan& plan);
/// Reads the tables that FoldsKind::file, EvaluationConfig::by and CorpusConfig::dimensions name. Throws
/// InputError if a table is missing, is damaged, or lacks the column.
void check_tables(const EvaluationConfig& config);
/// One line on folds that have names: the numbers of speakers and utterances that each fold tests, and the
/// number that only serve for training. Empty for other folds.
std::string folds_text(const LabelledFrames& frames, const EvaluationPlan& plan, const FoldsConfig& folds);
/// The plan of `emomc train`: one fold without test speakers.
EvaluationPlan plan_training(const LabelledFrames& frames, const EvaluationConfig& config);

/// Maximum number of inner folds. To learn the temper, the training speakers are left out one at a time, or
/// in this many groups if there are more speakers.
inline constexpr int kMostInnerFolds = 10;

/// The indices of all utterances of `speakers`, in increasing order.
std::vector<std::size_t> utterances_of(const LabelledFrames& frames, const std::vector<int>& speakers);
/// The rows of some segments, one segment after another: num_rows x dim.
std::vector<double> rows_of(const DataSet& data, const std::vector<int>& segments);

}  // namespace emomc
