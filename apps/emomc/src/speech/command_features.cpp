#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/filter_frequencies.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/speech/corpus.hpp"
#include "evaluation_config.hpp"
#include "kept_inputs.hpp"
#include "progress.hpp"
#include "run_config_keys.hpp"
#include "sampling_options.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string corpus, path, output, functionals, unparsed = "refuse";
  std::vector<std::string> set;
  int threads = 0;
  bool force = false, json = false, quiet = false;
};

constexpr const char* kRecord =
    "features.json";  // names of the tables that a call wrote; the next call with --force reads this file

constexpr const char* kFunctionals = "functionals.csv";

std::set<std::string> tables_in(const std::filesystem::path& directory) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().extension() == ".csv") names.insert(entry.path().filename().string());
  return names;
}

/// The tables of an earlier call that still exist. A recorded name is ignored unless it names a file of the
/// directory itself.
std::set<std::string> recorded_tables(const std::filesystem::path& directory) {
  const nlohmann::json record = read_manifest(directory / kRecord);
  const std::set<std::string> there = tables_in(directory);
  std::set<std::string> names;
  if (!record.is_object() || !record.contains("tables") || !record["tables"].is_array()) return names;
  for (const auto& name : record["tables"])
    if (name.is_string() && there.contains(name.get<std::string>())) names.insert(name.get<std::string>());
  return names;
}

/// Removes the tables of an earlier call and writes the new ones and a record of them. Adds a note about
/// other tables in the directory, since an evaluation may read them.
std::string replace_tables(CorpusFeatures& corpus, const std::filesystem::path& directory) {
  const std::set<std::string> earlier = recorded_tables(directory);
  std::vector<std::string>& notes = corpus.notes;
  std::set<std::string> now;
  std::string pattern;
  if (corpus.functionals.columns.empty()) {
    pattern = write_feature_tables(corpus.features, directory, &now);
  } else {
    std::filesystem::create_directories(directory);
    write_file_atomically(directory / kFunctionals, functional_table_csv(corpus.functionals));
    now.insert(kFunctionals);
  }
  std::size_t removed = 0;
  for (const auto& name : earlier) {
    std::error_code error;
    if (now.contains(name)) continue;
    if (!std::filesystem::remove(directory / name, error) || error)
      throw MachineError((directory / name).string() + ": cannot be removed: " + error.message());
    ++removed;
  }
  if (removed > 0) notes.push_back(fmt::format("removed: {} tables of an earlier call", removed));
  std::vector<std::string> others;
  for (const auto& name : tables_in(directory))
    if (!now.contains(name)) others.push_back(name);
  if (!others.empty() && !pattern.empty())
    notes.push_back(
        fmt::format("warning: {} holds {} tables that emomc features did not write, and "
                    "evaluation may take them: {}",
                    directory.string(), others.size(), excerpt(joined(others))));
  write_file_atomically(directory / kRecord, nlohmann::ordered_json{{"tables", now}}.dump(1) + "\n");
  return pattern;
}

int features(const Options& options) {
  std::vector<std::string> overrides{"corpus.kind=" + options.corpus, "corpus.unparsed=" + options.unparsed};
  overrides.push_back("corpus.path=" + yaml_quoted(options.path));
  for (const std::string& setting : options.set) overrides.push_back("features." + setting);
  EvaluationConfig config = parse_evaluation_config("", "--set", overrides);
  const bool of_utterances = !options.functionals.empty();
  if (of_utterances && !options.set.empty())
    throw InputError(
        "--set: settings are for frames, and --functionals writes no frames; give only one of them");
  if (of_utterances) config.features.set = functional_set(options.functionals);
  for (const char* key : {"normalize", "deltas", "gain"})
    if (std::any_of(options.set.begin(), options.set.end(),
                    [&](const std::string& setting) { return setting.starts_with(std::string(key) + "="); }))
      throw InputError(fmt::format(
          "--set: {} is a setting of emomc evaluate; emomc features writes unnormalised cepstra", key));
  const std::filesystem::path directory = options.output;
  if (std::filesystem::exists(directory) && !std::filesystem::is_directory(directory))
    throw InputError(options.output + ": exists and is no directory; choose another -o");
  if (std::filesystem::is_directory(directory) && !std::filesystem::is_empty(directory) && !options.force)
    throw InputError(options.output +
                     ": the directory is not empty; use --force to replace files, or another -o");
  for (const char* name : {kFunctionals, kRecord})
    if (of_utterances || name == kRecord)
      refuse_input_as_output(directory / name, std::vector<std::filesystem::path>{options.path});
  // Tables have the names of classes and speakers, which are not known yet.
  const std::filesystem::path list = std::filesystem::absolute(options.path).lexically_normal();
  if (std::error_code error; !of_utterances && std::filesystem::is_regular_file(list, error) &&
                             std::filesystem::equivalent(list.parent_path(), directory, error))
    throw InputError(options.output + ": the command reads " + options.path +
                     " in this directory, and a table might replace it; choose another -o");
  CorpusFeatures extracted =
      extract_corpus(config.corpus, config.features, options.threads,
                     show_recordings(options.quiet ? Verbosity::quiet : Verbosity::normal),
                     of_utterances ? Functionals::wanted : Functionals::none);
  if (!of_utterances) config.classifier = ClassifierKind::mixtures;  // which uses frames
  if (const std::string warning = filters_warning(config, extracted); !warning.empty())
    extracted.notes.push_back(warning);
  const std::string pattern = replace_tables(extracted, directory);
  std::map<std::string, std::size_t> emotions;
  std::set<std::string> speakers;
  for (const UtteranceFrames& u : extracted.features.utterances) {
    ++emotions[u.emotion];
    speakers.insert(u.speaker);
  }
  nlohmann::ordered_json json{{"directory", options.output},
                              {"pattern", pattern},
                              {"utterances", extracted.features.utterances.size()},
                              {"frames", extracted.features.num_rows()},
                              {"columns", extracted.features.columns},
                              {"speakers", speakers},
                              {"utterances_of_class", emotions},
                              {"notes", extracted.notes}};
  if (of_utterances) {
    json.erase("pattern");
    json["file"] = (directory / kFunctionals).string();
    json["columns"] = extracted.functionals.columns;
    json["set"] = options.functionals;
    json["version"] = kFunctionalsVersion;
  }
  if (options.json) {
    std::cout << json.dump(1) << '\n';
    return kDone;
  }
  if (options.quiet) return kDone;
  for (const auto& note : extracted.notes) std::cout << note << '\n';
  std::cout << counted(speakers.size(), "speaker") << ';';
  for (const auto& [name, count] : emotions) std::cout << fmt::format(" {} {}", name, count);
  if (of_utterances) {
    std::cout << fmt::format("\n{} functionals of each utterance (set {}, version {}) are in {}\n",
                             extracted.functionals.columns.size(), options.functionals, kFunctionalsVersion,
                             (directory / kFunctionals).string());
    return kDone;
  }
  std::cout << fmt::format(
      "\ntables are in {}; evaluate them with corpus: {{kind: tables, path: {}, pattern: {}}}\n",
      options.output, yaml_text(options.output), yaml_text(pattern));
  return kDone;
}

}  // namespace

void add_features(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("features", "Cepstra (MFCCs) or functionals of a corpus of recordings, with labels");
  auto options = std::make_shared<Options>();
  command
      ->add_option("--corpus", options->corpus,
                   "emodb, ravdess, cremad, tess, savee, iemocap, folders or manifest (docs/corpora.md)")
      ->required()
      ->check(CLI::IsMember(corpus_kinds()));
  command->add_option("PATH", options->path, "Where the corpus is; for a manifest the CSV")->required();
  command->add_option("-o,--output", options->output, "Directory for the tables")->required();
  command
      ->add_option("--set", options->set,
                   "A setting (docs/features.md): --set like=librosa --set num_filters=40")
      ->allow_extra_args(false);
  command
      ->add_option("--functionals", options->functionals,
                   "Write functionals.csv, a row for each utterance, in place of frames: cepstra, prosody, "
                   "compact or full (docs/functionals.md)")
      ->check(CLI::IsMember(functional_set_names()));
  command
      ->add_option("--unparsed", options->unparsed,
                   "Recordings that cannot be parsed or read: refuse or skip")
      ->check(CLI::IsMember({"refuse", "skip"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: all")->check(CLI::Range(0, 4096));
  command->add_flag("--force", options->force,
                    "Write into a directory that is not empty; tables of an earlier call are removed");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "Errors only");
  command->footer(
      "Example: emomc features --corpus emodb corpora/emodb -o features/emodb\n"
      "Example: emomc features --corpus emodb corpora/emodb -o functionals/emodb --functionals full");
  command->callback([options, &status] { status = features(*options); });
}

}  // namespace emomc::app
