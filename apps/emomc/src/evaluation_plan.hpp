// Whose frames train which posterior, and whose utterances it scores. A function of the corpus and the
// configuration alone.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/speech/feature_set.hpp"
#include "evaluation_config.hpp"

namespace emomc::app {

/// A corpus as evaluation has it: utterances sorted by speaker and class, columns standardised over all rows
/// for float32's sake (priors speak of each training set's own units), one segment for each speaker and
/// class.
struct LabelledFrames {
  std::vector<std::string> classes, speakers;  ///< sorted, but for classes that the configuration lists
  FeatureSet features;
  std::vector<int> class_of, speaker_of;  ///< [num_utterances]
  ColumnUnits units;                      ///< of the standardisation
  DataSet rows;                           ///< the values again, cut into segments
  std::vector<int> segment_speaker, segment_class;
  std::size_t num_classes() const { return classes.size(); }
};

/// The posteriors of all classes given the frames of all speakers but `excluded`.
struct TrainingSet {
  std::vector<int> excluded;                        ///< sorted
  std::vector<std::vector<int>> segments_of_class;  ///< [num_classes] into LabelledFrames::rows.segments
  ColumnUnits units;                                ///< of its rows, as LabelledFrames has them
  bool is_tested = false;  ///< scores a fold's test speakers; else it only learns the temper
};

struct InnerFold {
  int set;                    ///< trained without the fold's test speakers and `speakers`
  std::vector<int> speakers;  ///< left out
};

struct Fold {
  int set;                         ///< into EvaluationPlan::sets
  std::vector<int> test_speakers;  ///< empty for `emomc train`
  std::vector<InnerFold> inner;    ///< empty where the temper is given
};

struct EvaluationPlan {
  std::vector<TrainingSet> sets;
  std::vector<Fold> folds;
};

/// Throws InputError where a class that the configuration lists does not occur, where there are fewer than
/// two classes, or no frames.
LabelledFrames label_frames(FeatureSet features, const CorpusConfig& corpus);

/// Throws InputError where given class probabilities are not those of all classes.
void check_class_prior(const LabelledFrames& frames, const ClassificationConfig& config);

/// Folds of `emomc evaluate`. Throws InputError where there are too few speakers, or where a training set
/// lacks a class.
EvaluationPlan plan_evaluation(const LabelledFrames& frames, const EvaluationConfig& config);
/// One fold without test speakers: `emomc train`.
EvaluationPlan plan_training(const LabelledFrames& frames, const EvaluationConfig& config);

/// Training speakers are left out one by one, of more than this in so many groups.
inline constexpr int kMostInnerFolds = 10;

/// Utterances of any of `speakers`, in order.
std::vector<std::size_t> utterances_of(const LabelledFrames& frames, const std::vector<int>& speakers);
/// Rows of some segments, one after another.
std::vector<double> rows_of(const DataSet& data, const std::vector<int>& segments);

}  // namespace emomc::app
