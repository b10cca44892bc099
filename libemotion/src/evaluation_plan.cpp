#include "emomc/emotion/evaluation_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "corpus_problems.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/emotion/dimension_labels.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"
#include "file_folds.hpp"

namespace emomc {
namespace {

int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

std::vector<std::string> classes_of(const FeatureSet& features, const CorpusConfig& corpus) {
  std::set<std::string> found;
  for (const auto& utterance : features.utterances) found.insert(utterance.emotion);
  require_classes(corpus, found);
  std::vector<std::string> classes(found.begin(), found.end());
  if (!corpus.classes.empty()) classes = corpus.classes;
  if (classes.size() < 2)
    throw InputError("corpus: " + std::to_string(classes.size()) + " class" +
                     (classes.empty() ? "es" : " (" + classes[0] + ")") +
                     "; telling classes apart needs two or more");
  return classes;
}

// Makes training sets of all speakers except `excluded`; equal sets are made once.
class SetMaker {
 public:
  SetMaker(const LabelledFrames& frames, std::vector<TrainingSet>& sets) : frames_(frames), sets_(sets) {}

  /// The index of the set, or nothing if a class would have no frames.
  std::optional<int> find_or_make(std::vector<int> excluded) {
    std::sort(excluded.begin(), excluded.end());
    if (const auto known = made_.find(excluded); known != made_.end()) return known->second;
    TrainingSet set;
    set.excluded = excluded;
    set.segments_of_class.resize(frames_.num_classes());
    std::vector<int> all;
    for (std::size_t s = 0; s < frames_.segment_speaker.size(); ++s) {
      if (std::binary_search(excluded.begin(), excluded.end(), frames_.segment_speaker[s])) continue;
      all.push_back(static_cast<int>(s));
      if (frames_.segment_class[s] < 0) continue;  // segments of a regression have no class
      set.segments_of_class[static_cast<std::size_t>(frames_.segment_class[s])].push_back(
          static_cast<int>(s));
    }
    std::optional<int> index;
    missing_ = -1;
    for (std::size_t c = 0; c < frames_.num_classes(); ++c)
      if (set.segments_of_class[c].empty()) missing_ = static_cast<int>(c);
    if (missing_ < 0) {
      set.units = column_units(rows_of(frames_.rows, all), frames_.features.dim());
      index = static_cast<int>(sets_.size());
      sets_.push_back(std::move(set));
    }
    return made_[excluded] = index;
  }
  /// The class that was missing from the set that could not be made.
  int missing() const { return missing_; }

 private:
  const LabelledFrames& frames_;
  std::vector<TrainingSet>& sets_;
  std::map<std::vector<int>, std::optional<int>> made_;
  int missing_ = -1;
};

std::vector<int> without(const std::vector<int>& all, const std::vector<int>& excluded) {
  std::vector<int> rest;
  for (const int speaker : all)
    if (std::find(excluded.begin(), excluded.end(), speaker) == excluded.end()) rest.push_back(speaker);
  return rest;
}

std::vector<std::vector<int>> in_groups(const std::vector<int>& speakers, std::size_t count) {
  std::vector<std::vector<int>> groups(std::min(count, speakers.size()));
  for (std::size_t i = 0; i < speakers.size(); ++i) groups[i % groups.size()].push_back(speakers[i]);
  return groups;
}

std::string names_of(const LabelledFrames& frames, const std::vector<int>& speakers) {
  std::vector<std::string> names;
  for (const int s : speakers) names.push_back(frames.speakers[static_cast<std::size_t>(s)]);
  return joined(names);
}

EvaluationPlan plan(const LabelledFrames& frames, const EvaluationConfig& config,
                    const std::vector<std::vector<int>>& tests) {
  std::vector<int> all(frames.speakers.size());
  std::iota(all.begin(), all.end(), 0);
  EvaluationPlan result;
  SetMaker maker(frames, result.sets);
  for (const auto& test : tests) {
    const auto set = maker.find_or_make(test);
    if (!set)
      throw InputError("folds: without " + names_of(frames, test) + " no frame of class " +
                       frames.classes[static_cast<std::size_t>(maker.missing())] +
                       " is left to train on; leave the class out with corpus.classes");
    result.folds.push_back({*set, test, {}});
  }
  for (const Fold& fold : result.folds) result.sets[static_cast<std::size_t>(fold.set)].is_tested = true;
  // Softmax and linear regressions plan their inner folds themselves.
  const bool is_regression =
      config.classifier == ClassifierKind::softmax || config.classifier == ClassifierKind::regression;
  if (config.classification.temper || is_regression) return result;
  for (Fold& fold : result.folds) {
    for (const auto& group : in_groups(without(all, fold.test_speakers), kMostInnerFolds)) {
      std::vector<int> excluded = fold.test_speakers;
      excluded.insert(excluded.end(), group.begin(), group.end());
      // If only this group has utterances of a class, the class would have no frames without the group.
      if (const auto set = maker.find_or_make(excluded)) fold.inner.push_back({*set, group});
    }
    if (fold.inner.empty())
      throw InputError(
          "classification.temper: learned needs training speakers that can be left out in turn, of whom " +
          std::to_string(frames.speakers.size() - fold.test_speakers.size()) +
          " are too few; write a number, such as classification: {temper: 0.02}");
  }
  return result;
}

}  // namespace

std::vector<std::size_t> utterances_of(const LabelledFrames& frames, const std::vector<int>& speakers) {
  std::vector<std::size_t> found;
  for (std::size_t u = 0; u < frames.speaker_of.size(); ++u)
    if (std::find(speakers.begin(), speakers.end(), frames.speaker_of[u]) != speakers.end())
      found.push_back(u);
  return found;
}

std::vector<double> rows_of(const DataSet& data, const std::vector<int>& segments) {
  std::vector<double> rows;
  const auto dim = static_cast<std::size_t>(data.dim);
  for (const int s : segments) {
    const Segment& segment = data.segments[static_cast<std::size_t>(s)];
    const auto begin = data.values.begin() + static_cast<std::ptrdiff_t>(segment.first_row * dim);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(segment.num_rows * dim));
  }
  return rows;
}

LabelledFrames label_frames(FeatureSet features, const CorpusConfig& corpus, const NumbersOf& numbers) {
  LabelledFrames frames;
  std::erase_if(features.utterances, [](const UtteranceFrames& u) { return u.num_rows == 0; });
  if (features.utterances.empty()) throw InputError("corpus: no utterance has a frame");
  if (corpus.dimensions.empty()) {
    frames.classes = classes_of(features, corpus);
    std::erase_if(features.utterances,
                  [&](const UtteranceFrames& u) { return index_of(frames.classes, u.emotion) < 0; });
  } else if (!numbers) {
    leave_out_unlabelled(features.utterances, corpus);
  }
  std::set<std::string> speakers;
  for (const auto& utterance : features.utterances) speakers.insert(utterance.speaker);
  frames.speakers.assign(speakers.begin(), speakers.end());
  std::stable_sort(features.utterances.begin(), features.utterances.end(),
                   [&](const UtteranceFrames& a, const UtteranceFrames& b) {
                     return std::pair(a.speaker, index_of(frames.classes, a.emotion)) <
                            std::pair(b.speaker, index_of(frames.classes, b.emotion));
                   });
  const std::size_t dim = features.dim();
  std::vector<double> values;
  for (UtteranceFrames& u : features.utterances) {
    const auto begin = features.values.begin() + static_cast<std::ptrdiff_t>(u.first_row * dim);
    u.first_row = values.size() / dim;
    values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(u.num_rows * dim));
    const int speaker = index_of(frames.speakers, u.speaker), label = index_of(frames.classes, u.emotion);
    const bool goes_on = !frames.segment_class.empty() && frames.segment_class.back() == label &&
                         frames.segment_speaker.back() == speaker;
    if (!goes_on) {
      frames.rows.segments.push_back({u.first_row, 0});
      frames.segment_speaker.push_back(speaker);
      frames.segment_class.push_back(label);
    }
    frames.rows.segments.back().num_rows += u.num_rows;
    frames.class_of.push_back(label);
    frames.speaker_of.push_back(speaker);
  }
  frames.units = column_units(values, dim);
  standardize(frames.units, values);
  frames.rows.dim = static_cast<int>(dim);
  frames.rows.num_rows = values.size() / dim;
  frames.rows.values = values;
  features.values = std::move(values);
  frames.features = std::move(features);
  if (!corpus.dimensions.empty()) {
    frames.dimensions = corpus.dimensions;
    frames.truth =
        numbers ? numbers(frames.features.utterances) : dimension_labels(frames.features.utterances, corpus);
  }
  return frames;
}

void check_class_prior(const LabelledFrames& frames, const ClassificationConfig& config) {
  if (config.class_prior != ClassPrior::given) return;
  for (const auto& [name, p] : config.class_probabilities)
    if (index_of(frames.classes, name) < 0)
      throw InputError("classification.class_prior: there is no class " + excerpt(name) +
                       "; found: " + joined(frames.classes));
  for (const auto& name : frames.classes)
    if (!config.class_probabilities.contains(name))
      throw InputError("classification.class_prior: class " + name + " has no probability");
}

EvaluationPlan plan_evaluation(const LabelledFrames& frames, const EvaluationConfig& config) {
  const auto num_speakers = static_cast<int>(frames.speakers.size());
  if (num_speakers < 2)
    throw InputError("folds: the corpus has one speaker (" + frames.speakers[0] +
                     "); leaving a speaker out needs two or more");
  std::vector<int> all(frames.speakers.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<int>> tests;
  switch (config.folds.kind) {
    case FoldsKind::leave_one_speaker_out:
      for (const int s : all) tests.push_back({s});
      break;
    case FoldsKind::k_fold_by_speaker:
      if (config.folds.count > num_speakers)
        throw InputError("folds.k_fold_by_speaker: " + std::to_string(config.folds.count) +
                         " is out of range; allowed: 2 to " + std::to_string(num_speakers) +
                         ", the number of speakers");
      tests = in_groups(all, static_cast<std::size_t>(config.folds.count));
      break;
    case FoldsKind::test_speakers:
      tests.emplace_back();
      for (const auto& name : config.folds.test_speakers) {
        const int s = index_of(frames.speakers, name);
        if (s < 0)
          throw InputError("folds.test_speakers: there is no speaker " + excerpt(name) + "; " +
                           did_you_mean(nearest_name(name, frames.speakers)) +
                           "found: " + joined(frames.speakers));
        tests.back().push_back(s);
      }
      if (tests.back().size() == frames.speakers.size())
        throw InputError("folds.test_speakers: all speakers are listed; leave some to train on");
      break;
    case FoldsKind::file: {
      NamedFolds named = folds_of_file(frames, config.folds);
      EvaluationPlan result = plan(frames, config, named.tests);
      result.fold_names = std::move(named.names);
      return result;
    }
  }
  return plan(frames, config, tests);
}

std::string folds_text(const LabelledFrames& frames, const EvaluationPlan& plan, const FoldsConfig& folds) {
  if (plan.fold_names.empty()) return "";
  std::string text = "folds: by " + folds.column + " of " + folds.file.string() + ": ";
  std::size_t tested = 0;
  for (std::size_t f = 0; f < plan.folds.size(); ++f) {
    const std::vector<int>& speakers = plan.folds[f].test_speakers;
    tested += speakers.size();
    text += (f == 0 ? "" : "; ") + excerpt(plan.fold_names[f]) + " tests " +
            counted(utterances_of(frames, speakers).size(), "utterance") + " of " +
            counted(speakers.size(), "speaker");
  }
  if (const std::size_t rest = frames.speakers.size() - tested; rest > 0)
    text += "; " + counted(rest, "speaker") + " only trained on";
  return text;
}

EvaluationPlan plan_training(const LabelledFrames& frames, const EvaluationConfig& config) {
  return plan(frames, config, {{}});
}

std::vector<std::vector<int>> test_speakers(const EvaluationPlan& plan) {
  std::vector<std::vector<int>> tests;
  for (const Fold& fold : plan.folds) tests.push_back(fold.test_speakers);
  return tests;
}

std::size_t most_test_speakers(const EvaluationPlan& plan) {
  std::size_t most = 0;
  for (const Fold& fold : plan.folds) most = std::max(most, fold.test_speakers.size());
  return most;
}

}  // namespace emomc
