#include "classify_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/speech/clips.hpp"
#include "emomc/speech/utterance_table.hpp"
#include "evaluation_config.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;
using Given = GivenRecording;

bool has_table(const RowModel& model) { return !model.table.empty(); }

std::vector<Given> read_recordings(const std::vector<std::string>& files, const RowModel& model,
                                   const ClassifyOptions& options) {
  std::vector<Given> all(files.size());
  ThreadPool pool(options.threads);
  std::vector<DescriptorExtractors> extractors(static_cast<std::size_t>(pool.num_threads()));
  CountLine line("features", files.size(), options.quiet ? Verbosity::quiet : Verbosity::normal);
  pool.for_each(files.size(), [&](std::size_t i, int worker) {
    Given& given = all[i];
    given.file = files[i];
    try {
      given.row =
          utterance_row(read_audio(files[i]), model.set, extractors[static_cast<std::size_t>(worker)]);
    } catch (const InputError& error) {
      given.problem = problem_of(files[i], error.what());
    }
    line.add();
  });
  line.end();
  return all;
}

std::vector<Given> read_rows(const RowModel& model, const EvaluationConfig& config,
                             const ClassifyOptions& options) {
  const UtteranceTable table = read_utterance_table(
      options.table, options.table_names.empty() ? config.features.table_names : options.table_names,
      config.corpus.dimensions);
  if (table.columns != model.columns) {
    const auto& wanted = model.columns;
    const auto [here, there] =
        std::mismatch(table.columns.begin(), table.columns.end(), wanted.begin(), wanted.end());
    const auto name = [](auto at, auto end) { return at == end ? "none" : "'" + *at + "'"; };
    throw InputError(fmt::format(
        "--table: {}: its columns are not the {} that the model was trained on; the first other one is {} in "
        "place of {}",
        options.table, wanted.size(), name(here, table.columns.end()), name(there, wanted.end())));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (!seen.insert(table.names[i]).second)
      throw InputError(fmt::format("--table: {}:{}: {} has two rows", options.table, table.lines[i],
                                   excerpt(table.names[i])));
  std::vector<Given> all(table.names.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(i * table.columns.size());
    all[i].file = table.names[i];
    all[i].row.values.assign(begin, begin + static_cast<std::ptrdiff_t>(table.columns.size()));
    if (std::all_of(all[i].row.values.begin(), all[i].row.values.end(),
                    [](double x) { return std::isnan(x); }))
      all[i].problem = fmt::format("{}:{}: its row has no number", options.table, table.lines[i]);
  }
  return all;
}

Json line_about(const Given& given, const StandardizedRow& row, const RowModel& model) {
  Json line = model.line_about(given, row);
  line["frames"] = given.row.frames;
  if (given.row.frames == 0) line.erase("frames");  // rows of a table have no frames
  line["standardised_by"] = standardisation(row.standardised_by, row.recordings);
  constexpr std::size_t kShortest = kClipFrames.back();
  if (given.row.frames > 0 && given.row.frames < kShortest)
    line["note"] = fmt::format("{} ({} frames): do not rely on it", model.short_is, kShortest);
  return line;
}

Json line_by_enrolment(const Given& given, const std::vector<std::span<const double>>& others,
                       const RowModel& model) {
  return line_about(given, standardized_by_enrolment(given.row.values, others, model.corpus), model);
}

// The configuration with which `emomc train` made the model, or the defaults if another caller trained the
// model. Such a model names no corpus by whose convention recordings are named.
EvaluationConfig config_of(const ClassifyOptions& options, const RowModel& model) {
  if (!model.config.empty()) {
    try {
      return parse_evaluation_config(model.config, "config");
    } catch (const InputError& error) {
      throw InputError(options.model + "/model.json: " + error.what());
    }
  }
  if (options.group_by == "speaker" && options.corpus.empty())
    throw InputError(
        "--group-by speaker: the model has no information on how recordings are named; name a --corpus");
  return {};
}

void note(const ClassifyOptions& options, const std::string& text) {
  if (!options.quiet) std::cerr << "note: " << text << '\n';
}

std::vector<Given> enrolment_of(const ClassifyOptions& options, const RowModel& model) {
  std::vector<Given> others = read_recordings(options.speaker_from, model, options);
  for (const Given& given : others)
    if (!given.problem.empty()) throw InputError("--speaker-from: " + given.problem);
  return others;
}

// The rows of the enrolment except for the row of the recording itself, which may be named by another path:
// equal functionals are those of the same samples.
std::vector<std::span<const double>> others_than(const Given& one, const std::vector<Given>& all) {
  std::vector<std::span<const double>> rows;
  for (const Given& given : all)
    if (given.file != one.file && given.row.values != one.row.values) rows.emplace_back(given.row.values);
  return rows;
}

int print_all(const std::vector<Given>& all, const std::vector<Json>& lines, const ClassifyOptions& options) {
  bool failed = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    failed = failed || !all[i].problem.empty();
    print_line(all[i].problem.empty() ? lines[i] : Json{{"file", all[i].file}, {"error", all[i].problem}},
               options.reject_below);
  }
  return failed ? kBadInput : kDone;
}

int classify_all(const ClassifyOptions& options, const RowModel& model, const EvaluationConfig& config) {
  std::vector<Given> all =
      has_table(model) ? read_rows(model, config, options) : read_recordings(options.files, model, options);
  std::vector<Json> lines(all.size());
  if (!options.speaker_from.empty()) {
    const std::vector<Given> known = enrolment_of(options, model);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].problem.empty()) lines[i] = line_by_enrolment(all[i], others_than(all[i], known), model);
    return print_all(all, lines, options);
  }
  if (options.group_by == "speaker") {
    std::vector<std::string> files;
    for (const Given& given : all) files.push_back(given.file);
    const auto speakers = speakers_of(files, options.corpus.empty() ? config.corpus.kind : options.corpus);
    for (Given& given : all) given.speaker = speakers.at(given.file);
  } else if (const auto read = std::count_if(all.begin(), all.end(),
                                             [](const Given& given) { return given.problem.empty(); });
             read > 1) {
    note(options, fmt::format("the {} recordings are taken to be of one speaker, and standardised together "
                              "(--group-by speaker tells speakers apart)",
                              read));
  } else if (read == 1) {
    note(options,
         "only this recording of the speaker is known; it is standardised by statistics of the training "
         "speakers (--speaker-from adds recordings of the speaker)");
  }
  std::map<std::string, std::vector<std::size_t>> speakers;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].problem.empty()) speakers[all[i].speaker].push_back(i);
  for (const auto& [speaker, places] : speakers) {
    std::vector<std::span<const double>> own;
    for (const std::size_t i : places) own.emplace_back(all[i].row.values);
    const std::vector<StandardizedRow> rows = standardized_speaker(own, model.corpus);
    for (std::size_t i = 0; i < places.size(); ++i)
      lines[places[i]] = line_about(all[places[i]], rows[i], model);
  }
  return print_all(all, lines, options);
}

int classify_stream(const ClassifyOptions& options, const RowModel& model) {
  try {
    if (options.rate > 0) DescriptorExtractor{options.rate};
  } catch (const InputError& error) {
    throw InputError(std::string("--rate: ") + error.what());
  }
  const std::vector<Given> known = enrolment_of(options, model);
  if (known.empty())
    note(options,
         "only the input is known of the speaker; it is standardised by statistics of the training speakers "
         "(--speaker-from adds recordings of the speaker)");
  DescriptorExtractors extractors;
  return classify_input(options, model.sample_rate, [&](const Recording& recording) {
    const Given given{"-", {}, {}, utterance_row(recording, model.set, extractors)};
    return line_by_enrolment(given, others_than(given, known), model);
  });
}

void check_options(const ClassifyOptions& options, const RowModel& model) {
  if (options.backend != "cpu")
    throw InputError("--backend " + options.backend + ": " + model.name + " runs on the CPU; allowed: cpu");
  if (!has_table(model)) {
    if (!options.table.empty())
      throw InputError("--table: the model was trained on functionals of recordings; name recordings");
    return;
  }
  if (options.table.empty())
    throw InputError("the model was trained on the table " + model.table +
                     ", whose columns are not computed from recordings here; give rows of such a table "
                     "with --table FILE");
  if (!options.speaker_from.empty())
    throw InputError(
        "--speaker-from: names recordings, but the model was trained on a table; allowed: "
        "--group-by speaker, rows of one speaker alone");
}

}  // namespace

int classify_rows(const ClassifyOptions& options, const RowModel& model) {
  check_options(options, model);
  const EvaluationConfig config = config_of(options, model);
  return options.from_input ? classify_stream(options, model) : classify_all(options, model, config);
}

}  // namespace emomc::app
