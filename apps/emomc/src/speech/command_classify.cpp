#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "classify_models.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/emotion/regression_model_file.hpp"
#include "emomc/emotion/softmax_model_file.hpp"
#include "emomc/speech/corpus.hpp"

namespace emomc::app {
namespace {

// Refuses a file that is named twice. One of both would be another recording of the speaker, by which the
// other one is standardised. Files that do not exist are reported later.
void refuse_repeated(const std::string& option, const std::vector<std::string>& files) {
  std::map<std::filesystem::path, std::string> seen;
  for (const std::string& file : files) {
    std::error_code error;
    const auto path = std::filesystem::canonical(file, error);
    if (error) continue;
    if (const auto [at, is_new] = seen.emplace(path, file); !is_new)
      throw InputError(option + file +
                       (at->second == file ? ": named twice" : ": the file of " + at->second + " too") +
                       "; a recording would be standardised by itself, so name each one once");
  }
}

// Refuses options that the others leave without effect.
void refuse_unused(const ClassifyOptions& options) {
  if (!options.corpus.empty() && options.group_by.empty())
    throw InputError("--corpus: only --group-by uses this option; remove it, or write --group-by speaker");
  if (!options.table_names.empty() && options.table.empty())
    throw InputError("--table-names: only --table uses this option; remove it, or name a --table");
  if (options.from_input && !options.group_by.empty())
    throw InputError("--group-by: standard input is one recording of one speaker; remove it, or name files");
}

int classify(const ClassifyOptions& options) {
  const bool has_table = !options.table.empty();
  if (options.from_input && (has_table || !options.files.empty()))
    throw InputError("--stdin: files are named too; choose one");
  if (has_table && !options.files.empty()) throw InputError("--table: recordings are named too; choose one");
  if (!options.from_input && !options.only_of_input.empty())
    throw InputError(options.only_of_input + ": only --stdin uses this option; remove it, or use --stdin");
  if (!options.from_input && !has_table && options.files.empty())
    throw InputError("name recordings to classify, or use --stdin or --table");
  refuse_unused(options);
  refuse_repeated("", options.files);
  refuse_repeated("--speaker-from: ", options.speaker_from);
  if (is_regression_model(options.model)) return predict_by_regression(options);
  return is_softmax_model(options.model) ? classify_by_softmax(options) : classify_by_mixtures(options);
}

}  // namespace

void add_classify(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "classify", "Class probabilities of recordings, or predicted numbers: a JSON line for each recording");
  auto options = std::make_shared<ClassifyOptions>();
  command->add_option("MODEL", options->model, "Directory that emomc train wrote")->required();
  command->add_option("FILE", options->files, "Recordings");
  auto* from = command->add_option("--speaker-from", options->speaker_from,
                                   "Other recordings of the same speaker, by which FILEs are standardised");
  command
      ->add_option("--group-by", options->group_by,
                   "speaker: recordings of one speaker, by their names, are standardised together")
      ->check(CLI::IsMember({"speaker"}))
      ->excludes(from);
  command
      ->add_option("--corpus", options->corpus,
                   "With --group-by: the kind of corpus whose file names the recordings have (default: the "
                   "model's corpus)")
      ->check(CLI::IsMember(corpus_kinds()));
  command->add_option("--table", options->table,
                      "In place of FILEs the rows of a table of another program: CSV, ARFF or .npy, with the "
                      "columns of the table that the model was trained on");
  command->add_option("--table-names", options->table_names,
                      "The table's column that names rows; for .npy a text file with a name on each line "
                      "(default: features.table_names of the model)");
  command
      ->add_option("--reject-below", options->reject_below,
                   "Name no class where the largest probability is smaller: predicted is null, rejected true")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--stdin", options->from_input,
                    "Raw 16 bit little-endian mono samples from standard input, as they arrive");
  auto* rate =
      command->add_option("--rate", options->rate, "With --stdin: sample rate in Hz (default: the model's)")
          ->check(CLI::Range(100.0, 1e6));
  auto* every = command->add_option("--every", options->every, "With --stdin: seconds between lines")
                    ->check(CLI::Range(0.01, 3600.0))
                    ->capture_default_str();
  auto* window =
      command->add_option("--window", options->window, "With --stdin: seconds of sound that a line covers")
          ->check(CLI::Range(0.01, 3600.0))
          ->capture_default_str();
  command->add_option("--backend", options->backend, "With mixtures: reference, cpu or cuda")
      ->check(CLI::IsMember({"reference", "cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: all")->check(CLI::Range(0, 4096));
  command->add_flag("-q,--quiet", options->quiet, "No notes");
  command->add_flag_callback(
      "--json", [] {}, "JSON lines, which are printed in any case");
  command->footer(
      "Example: emomc classify models/emodb speech.wav\n"
      "A recording that cannot be classified gives a line with its error; the exit code is then 2.");
  command->callback([options, &status, of_input = std::vector<const CLI::Option*>{rate, every, window}] {
    for (const CLI::Option* option : of_input)
      if (option->count() > 0 && options->only_of_input.empty()) options->only_of_input = option->get_name();
    status = classify(*options);
  });
}

}  // namespace emomc::app
