#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "classify_models.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/speech/utterance_table.hpp"
#include "progress.hpp"
#include "recordings.hpp"
#include "softmax_model_file.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<double>;

// From this many recordings of a speaker on, their own mean and sd standardise them, as in training.
constexpr std::size_t kOwnRecordings = 10;

/// A recording, or a row of a table; or the reason why it cannot be classified.
struct Given {
  std::string file, speaker, problem;
  std::size_t frames = 0;
  Row row;  // not standardised
};

bool has_table(const SoftmaxModel& model) { return !model.config.features.table.empty(); }

void fill(Given& given, const Recording& recording, FunctionalSet set, DescriptorExtractors& extractors) {
  const FrameDescriptors frames = describe_recording(recording, extractors);
  if (frames.num_frames == 0) throw InputError("no frame: shorter than a window, or silent");
  given.frames = frames.num_frames;
  given.row = functionals(frames, set);
}

std::vector<Given> read_recordings(const std::vector<std::string>& files, const SoftmaxModel& model,
                                   const ClassifyOptions& options) {
  std::vector<Given> all(files.size());
  ThreadPool pool(options.threads);
  std::vector<DescriptorExtractors> extractors(static_cast<std::size_t>(pool.num_threads()));
  CountLine line("features", files.size(), options.quiet ? Verbosity::quiet : Verbosity::normal);
  pool.for_each(files.size(), [&](std::size_t i, int worker) {
    Given& given = all[i];
    given.file = files[i];
    try {
      fill(given, read_audio(files[i]), model.config.features.set,
           extractors[static_cast<std::size_t>(worker)]);
    } catch (const InputError& error) {
      given.problem = problem_of(files[i], error.what());
    }
    line.add();
  });
  line.end();
  return all;
}

std::vector<Given> read_rows(const SoftmaxModel& model, const ClassifyOptions& options) {
  const UtteranceTable table = read_utterance_table(
      options.table, options.table_names.empty() ? model.config.features.table_names : options.table_names);
  if (table.columns != model.classifier.columns) {
    const auto& wanted = model.classifier.columns;
    const auto [here, there] =
        std::mismatch(table.columns.begin(), table.columns.end(), wanted.begin(), wanted.end());
    const auto name = [](auto at, auto end) { return at == end ? "none" : "'" + *at + "'"; };
    throw InputError(fmt::format(
        "--table: {}: its columns are not the {} that the model was trained on; the first other one is {} in "
        "place of {}",
        options.table, wanted.size(), name(here, table.columns.end()), name(there, wanted.end())));
  }
  std::vector<Given> all(table.names.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(i * table.columns.size());
    all[i].file = table.names[i];
    all[i].row.assign(begin, begin + static_cast<std::ptrdiff_t>(table.columns.size()));
  }
  return all;
}

Json line_about(const Given& given, const Row& standardised, SpeakerKnowledge knowledge, Json known,
                const SoftmaxModel& model) {
  const ClassProbabilities p = class_probabilities(model.classifier, standardised, knowledge);
  Json line = line_of(given.file, model.classes, p.mean, p.sd, given.frames);
  if (given.frames == 0) line.erase("frames");  // a row of a table
  line["standardised_by"] = std::move(known);
  return line;
}

// A row by other recordings of its speaker, of which there may be none.
Json line_by_enrolment(const Given& given, const std::vector<std::span<const double>>& others,
                       const SoftmaxModel& model) {
  Row row = given.row;
  standardize_by_enrolment(row, others, model.classifier.corpus);
  const bool is_own = others.size() >= kOwnRecordings;
  return line_about(given, row, is_own ? SpeakerKnowledge::own : knowledge_of(others.size()),
                    standardisation(others.empty() ? "corpus" : "enrolment", others.size()), model);
}

// The lines of the recordings of one speaker.
std::vector<Json> lines_of_speaker(const std::vector<const Given*>& own, const SoftmaxModel& model) {
  std::vector<Json> lines;
  if (own.size() < kOwnRecordings) {
    for (const Given* given : own) {
      std::vector<std::span<const double>> others;
      for (const Given* other : own)
        if (other != given) others.emplace_back(other->row);
      lines.push_back(line_by_enrolment(*given, others, model));
    }
    return lines;
  }
  FunctionalTable table{model.classifier.columns, {}, {}};
  for (const Given* given : own) {
    table.rows.push_back({given->file, "", ""});
    table.values.insert(table.values.end(), given->row.begin(), given->row.end());
  }
  standardize_by_speaker(table);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(i * table.columns.size());
    lines.push_back(line_about(*own[i], {begin, begin + static_cast<std::ptrdiff_t>(table.columns.size())},
                               SpeakerKnowledge::own, standardisation("own", own.size()), model));
  }
  return lines;
}

void note(const ClassifyOptions& options, const std::string& text) {
  if (!options.quiet) std::cerr << "note: " << text << '\n';
}

std::vector<Given> enrolment_of(const ClassifyOptions& options, const SoftmaxModel& model) {
  std::vector<Given> others = read_recordings(options.speaker_from, model, options);
  for (const Given& given : others)
    if (!given.problem.empty()) throw InputError("--speaker-from: " + given.problem);
  return others;
}

// Of the enrolment, all but the recording itself.
std::vector<std::span<const double>> others_than(const std::string& file, const std::vector<Given>& all) {
  std::vector<std::span<const double>> rows;
  for (const Given& given : all)
    if (given.file != file) rows.emplace_back(given.row);
  return rows;
}

int print_all(const std::vector<Given>& all, const std::vector<Json>& lines) {
  bool failed = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    failed = failed || !all[i].problem.empty();
    print_line(all[i].problem.empty() ? lines[i] : Json{{"file", all[i].file}, {"error", all[i].problem}});
  }
  return failed ? kBadInput : kDone;
}

int classify_all(const ClassifyOptions& options, const SoftmaxModel& model) {
  std::vector<Given> all =
      has_table(model) ? read_rows(model, options) : read_recordings(options.files, model, options);
  std::vector<Json> lines(all.size());
  if (!options.speaker_from.empty()) {
    const std::vector<Given> known = enrolment_of(options, model);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].problem.empty())
        lines[i] = line_by_enrolment(all[i], others_than(all[i].file, known), model);
    return print_all(all, lines);
  }
  if (options.group_by == "speaker") {
    std::vector<std::string> files;
    for (const Given& given : all) files.push_back(given.file);
    const auto speakers =
        speakers_of(files, options.corpus.empty() ? model.config.corpus.kind : options.corpus);
    for (Given& given : all) given.speaker = speakers.at(given.file);
  } else if (all.size() > 1) {
    note(options, fmt::format("the {} recordings are taken to be of one speaker, and standardised together "
                              "(--group-by speaker tells speakers apart)",
                              all.size()));
  } else {
    note(options,
         "of the speaker nothing is known but this recording; it is standardised by what the training "
         "speakers are like (--speaker-from names recordings of the speaker)");
  }
  std::map<std::string, std::vector<std::size_t>> speakers;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].problem.empty()) speakers[all[i].speaker].push_back(i);
  for (const auto& [speaker, places] : speakers) {
    std::vector<const Given*> own;
    for (const std::size_t i : places) own.push_back(&all[i]);
    std::vector<Json> of_speaker = lines_of_speaker(own, model);
    for (std::size_t i = 0; i < places.size(); ++i) lines[places[i]] = std::move(of_speaker[i]);
  }
  return print_all(all, lines);
}

int classify_stream(const ClassifyOptions& options, const SoftmaxModel& model) {
  const std::vector<Given> known = enrolment_of(options, model);
  if (known.empty())
    note(
        options,
        "of the speaker nothing is known but what comes in; it is standardised by what the training speakers "
        "are like (--speaker-from names recordings of the speaker)");
  DescriptorExtractors extractors;
  return classify_input(options, model.sample_rate, [&](const Recording& recording) {
    Given given{"-", {}, {}, 0, {}};
    fill(given, recording, model.config.features.set, extractors);
    return line_by_enrolment(given, others_than("-", known), model);
  });
}

void check_options(const ClassifyOptions& options, const SoftmaxModel& model) {
  if (options.backend != "cpu")
    throw InputError("--backend " + options.backend + ": softmax regression runs on the CPU; allowed: cpu");
  if (!has_table(model)) {
    if (!options.table.empty())
      throw InputError("--table: the model was trained on functionals of recordings; name recordings");
    return;
  }
  if (options.table.empty())
    throw InputError("the model was trained on the table " + model.config.features.table.string() +
                     ", whose columns are not computed from recordings here; give rows of such a table "
                     "with --table FILE");
  if (!options.speaker_from.empty())
    throw InputError(
        "--speaker-from: names recordings, but the model was trained on a table; allowed: "
        "--group-by speaker, rows of one speaker alone");
}

}  // namespace

int classify_by_softmax(const ClassifyOptions& options) {
  const SoftmaxModel model = read_softmax_model(options.model);
  check_options(options, model);
  return options.from_input ? classify_stream(options, model) : classify_all(options, model);
}

}  // namespace emomc::app
