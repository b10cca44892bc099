// The cross-validation plan: whose frames train which posterior, and whose utterances are scored with it. It
// is a function of the corpus and the configuration alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/speech/feature_set.hpp"

namespace emomc {

/// Utterances by a column of a table about them, such as the speaker's gender.
struct UtteranceGroups {
  std::string column;
  std::vector<std::string> values;  ///< distinct and sorted
  std::vector<int> group_of;        ///< [num_utterances] into values
};

/// A corpus in the form that an evaluation needs: utterances sorted by speaker and class, columns
/// standardised over all rows for the sake of float32 (priors are stated in the units of each training set),
/// and one segment for each speaker and class.
struct LabelledFrames {
  std::vector<std::string> classes, speakers;  ///< sorted; classes that the configuration lists in its order
  FeatureSet features;
  std::vector<int> class_of, speaker_of;            ///< [num_utterances]; of a regression classes are -1
  ColumnUnits units;                                ///< mean and sd by which all rows were standardised
  DataSet rows;                                     ///< the same values, divided into segments
  std::vector<int> segment_speaker, segment_class;  ///< [num_segments]
  std::vector<UtteranceGroups> groups = {};         ///< by which scores are given, if any
  std::vector<std::string> dimensions = {};         ///< what a regression predicts; there are no classes then
  std::vector<double> truth = {};                   ///< num_utterances x dimensions, row-major
  std::size_t num_classes() const { return classes.size(); }
};

/// The training data of the posteriors of all classes: the frames of all speakers except `excluded`.
struct TrainingSet {
  std::vector<int> excluded;                        ///< sorted
  std::vector<std::vector<int>> segments_of_class;  ///< [num_classes] into LabelledFrames::rows.segments
  ColumnUnits units;       ///< mean and sd of the set's rows, which LabelledFrames has standardised
  bool is_tested = false;  ///< a fold's test speakers are scored with it; false: it only learns the temper
};

/// A set of training speakers that are left out to learn the temper of a fold.
struct InnerFold {
  int set;  ///< index into EvaluationPlan::sets; excludes the fold's test speakers and `speakers`
  std::vector<int> speakers;  ///< the speakers that are left out
};

struct Fold {
  int set;                         ///< index into EvaluationPlan::sets
  std::vector<int> test_speakers;  ///< empty for `emomc train`
  std::vector<InnerFold> inner;    ///< empty if the temper is given
};

struct EvaluationPlan {
  std::vector<TrainingSet> sets;
  std::vector<Fold> folds;
  std::vector<std::string> fold_names = {};  ///< [folds] as a file has them; empty: by their test speakers
};

/// The numbers of utterances, utterances x dimensions, row-major and finite.
using NumbersOf = std::function<std::vector<double>(const std::vector<UtteranceFrames>&)>;

/// Sorts and standardises the frames. With CorpusConfig::dimensions utterances have numbers in place of
/// classes, those that `numbers` gives, or, without it, of files (dimension_labels.hpp). Throws InputError if
/// a class that the configuration lists does not occur, or if there are fewer than two classes or no frames,
/// and as dimension_labels() does.
LabelledFrames label_frames(FeatureSet features, const CorpusConfig& corpus, const NumbersOf& numbers = {});

/// Throws InputError if the given class probabilities are not for exactly the classes of the corpus.
void check_class_prior(const LabelledFrames& frames, const ClassificationConfig& config);

/// The folds of `emomc evaluate`; those of FoldsKind::file are read from there. Throws InputError if there
/// are too few speakers, if a training set lacks a class, or if the file does not give each utterance a fold
/// and each speaker only one.
EvaluationPlan plan_evaluation(const LabelledFrames& frames, const EvaluationConfig& config);
/// The test speakers of each fold, and the most of a fold.
std::vector<std::vector<int>> test_speakers(const EvaluationPlan& plan);
std::size_t most_test_speakers(const EvaluationPlan& plan);
/// Reads the tables that FoldsKind::file, EvaluationConfig::by and CorpusConfig::dimensions name. Throws
/// InputError where one is not there, is damaged, or lacks its column.
void check_tables(const EvaluationConfig& config);
/// One line on folds that have names: how many speakers and utterances each tests, and how many are only
/// trained on. Empty for other folds.
std::string folds_text(const LabelledFrames& frames, const EvaluationPlan& plan, const FoldsConfig& folds);
/// The plan of `emomc train`: one fold without test speakers.
EvaluationPlan plan_training(const LabelledFrames& frames, const EvaluationConfig& config);

/// To learn the temper, the training speakers are left out one at a time; if there are more than this many,
/// in this many groups.
inline constexpr int kMostInnerFolds = 10;

/// The indices of the utterances of any of `speakers`, in increasing order.
std::vector<std::size_t> utterances_of(const LabelledFrames& frames, const std::vector<int>& speakers);
/// The rows of some segments, one segment after another: num_rows x dim.
std::vector<double> rows_of(const DataSet& data, const std::vector<int>& segments);

}  // namespace emomc
