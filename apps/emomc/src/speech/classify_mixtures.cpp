#include <iostream>
#include <nlohmann/json.hpp>

#include "classify_models.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "features_config_keys.hpp"
#include "recording_classifier.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;
using Known = RecordingClassifier::Known;

/// The frames of a recording from the command line, or the reason why it has none.
struct Given {
  std::string file, speaker, problem;
  Frames frames;
};

Given read(RecordingClassifier& classifier, const std::string& file) {
  Given given{file, {}, {}, {}};
  try {
    given.frames = classifier.frames_of(read_audio(file));
  } catch (const InputError& error) {
    given.problem = problem_of(file, error.what());
  }
  return given;
}

// The mean and sd that normalise frames, and the entry of a line that states their source.
struct Units {
  ColumnUnits units;
  Json standardisation;
};

bool is_by_speaker(const RecordingClassifier& classifier) {
  return classifier.model().config.features.normalize == Normalization::speaker;
}

// The units of a model that does not normalise by speaker; the mean and sd are not used.
Units units_of_model(const RecordingClassifier& classifier) {
  const Normalization by = classifier.model().config.features.normalize;
  return {{},
          standardisation(by == Normalization::corpus      ? "corpus"
                          : by == Normalization::utterance ? "utterance"
                                                           : "none",
                          0)};
}

// The units of a speaker, computed from the recordings of --speaker-from, of which there is at least one.
Units units_of_others(const ClassifyOptions& options, RecordingClassifier& classifier) {
  std::vector<Frames> frames;
  for (const auto& file : options.speaker_from) {
    Given given = read(classifier, file);
    if (!given.problem.empty()) throw InputError("--speaker-from: " + given.problem);
    frames.push_back(std::move(given.frames));
  }
  std::vector<const Frames*> all;
  for (const Frames& one : frames) all.push_back(&one);
  return {classifier.units_of(all, Known::speaker), standardisation("enrolment", all.size())};
}

// The units of a speaker, computed from the recordings that are classified.
Units units_of_own(const std::vector<const Frames*>& frames, const RecordingClassifier& classifier) {
  const bool is_alone = frames.size() == 1;
  return {classifier.units_of(frames, is_alone ? Known::alone : Known::speaker),
          standardisation(is_alone ? "recording" : "own", frames.size())};
}

Json line_about(const std::string& file, const Frames& frames, const Units& units,
                RecordingClassifier& classifier) {
  const Classified result = classifier.classify(frames, units.units);
  Json line = line_of(file, classifier.model().classes, result.probability, result.spread, result.num_frames);
  if (result.num_frames < kFewFrames)
    line["note"] = "fewer than " + std::to_string(kFewFrames) + " frames carry little information";
  line["standardised_by"] = units.standardisation;
  return line;
}

// Prints a note on the statistics that normalise the frames, which the command line does not specify.
void explain(const ClassifyOptions& options) {
  if (options.quiet) return;
  if (options.files.size() == 1)
    std::cerr << "note: the model normalises by speaker; only this recording of the speaker is known, and "
                 "its mean and sd are shrunk towards the corpus's (--speaker-from adds recordings)\n";
  else
    std::cerr << "note: the model normalises by speaker; the " << options.files.size()
              << " recordings are taken to be of one speaker (--group-by speaker tells speakers apart)\n";
}

int classify_files(const ClassifyOptions& options, RecordingClassifier& classifier) {
  bool failed = false;
  const auto classify = [&](const Given& given, const Units& units) {
    failed = failed || !given.problem.empty();
    print_line(given.problem.empty() ? line_about(given.file, given.frames, units, classifier)
                                     : Json{{"file", given.file}, {"error", given.problem}},
               options.reject_below);
  };
  if (!is_by_speaker(classifier) || !options.speaker_from.empty()) {
    const Units units =
        is_by_speaker(classifier) ? units_of_others(options, classifier) : units_of_model(classifier);
    for (const auto& file : options.files) classify(read(classifier, file), units);
    return failed ? kBadInput : kDone;
  }
  std::map<std::string, std::string> speakers;
  if (options.group_by == "speaker")
    speakers = speakers_of(options.files,
                           options.corpus.empty() ? classifier.model().config.corpus.kind : options.corpus);
  else
    explain(options);
  std::vector<Given> all;
  std::map<std::string, std::vector<const Frames*>> frames_of;
  for (const auto& file : options.files) {
    all.push_back(read(classifier, file));
    if (speakers.contains(file)) all.back().speaker = speakers[file];
  }
  for (const Given& given : all)
    if (given.problem.empty()) frames_of[given.speaker].push_back(&given.frames);
  std::map<std::string, Units> units;
  for (const auto& [speaker, frames] : frames_of) units[speaker] = units_of_own(frames, classifier);
  for (const Given& given : all) classify(given, units[given.speaker]);
  return failed ? kBadInput : kDone;
}

int classify_stream(const ClassifyOptions& options, RecordingClassifier& classifier) {
  if (options.rate > 0) {
    try {
      classifier.require_rate(options.rate);
    } catch (const InputError& error) {
      throw InputError(std::string("--rate: ") + error.what());
    }
  }
  const bool by_speaker = is_by_speaker(classifier), is_alone = by_speaker && options.speaker_from.empty();
  if (is_alone && !options.quiet)
    std::cerr << "note: the model normalises by speaker; only the input is known of the speaker, and its "
                 "mean and sd are shrunk towards the corpus's (--speaker-from adds recordings)\n";
  const Units known = is_alone     ? Units{}
                      : by_speaker ? units_of_others(options, classifier)
                                   : units_of_model(classifier);
  return classify_input(options, classifier.model().sample_rate, [&](const Recording& recording) {
    const Frames frames = classifier.frames_of(recording);
    return line_about("-", frames, is_alone ? units_of_own({&frames}, classifier) : known, classifier);
  });
}

// Refuses options about speakers if the model has no statistics of speakers.
void refuse_speakers(const ClassifyOptions& options, const RecordingClassifier& classifier) {
  if (is_by_speaker(classifier)) return;
  for (const auto& [is_given, option] : {std::pair{!options.speaker_from.empty(), "--speaker-from"},
                                         {!options.group_by.empty(), "--group-by"}})
    if (is_given)
      throw InputError(std::string(option) + ": the model was trained with features.normalize: " +
                       normalization_name(classifier.model().config.features.normalize) +
                       ", which uses no recordings of a speaker; remove the option");
}

}  // namespace

int classify_by_mixtures(const ClassifyOptions& options) {
  RecordingClassifier classifier(read_class_model(options.model), backend_of_name(options.backend),
                                 options.threads);
  if (!options.table.empty())
    throw InputError("--table: the model is of mixtures of frames; allowed: a softmax regression on a table");
  refuse_speakers(options, classifier);
  return options.from_input ? classify_stream(options, classifier) : classify_files(options, classifier);
}

}  // namespace emomc::app
