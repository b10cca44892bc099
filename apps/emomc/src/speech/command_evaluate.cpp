#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/dimension_labels.hpp"
#include "emomc/emotion/evaluation_results.hpp"
#include "emomc/emotion/filter_frequencies.hpp"
#include "emomc/emotion/lone_speakers.hpp"
#include "emomc/emotion/regression_results.hpp"
#include "emomc/emotion/softmax_headlines.hpp"
#include "emomc/emotion/softmax_results.hpp"
#include "emomc/emotion/utterance_groups.hpp"
#include "emomc/posterior/text_table.hpp"
#include "evaluation_comparison.hpp"
#include "evaluation_config.hpp"
#include "evaluation_text.hpp"
#include "fused_run.hpp"
#include "progress.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "regression_run.hpp"
#include "sampling_options.hpp"
#include "sampling_run.hpp"
#include "score_text.hpp"
#include "signals.hpp"
#include "softmax_run.hpp"

namespace emomc::app {
namespace {

struct Options : SamplingOptions {
  int seeds = 0;
  std::vector<std::string> compare;  ///< configurations beside the first one
  std::vector<std::string> by;       ///< columns to add to the key by.columns
  bool json = false;
};

/// The data of an evaluation that do not depend on the seed.
struct Evaluation {
  CorpusFeatures corpus;
  LabelledFrames frames;
  EvaluationPlan plan;
  double extraction_seconds = 0;
};

Evaluation prepare(const EvaluationConfig& config, Verbosity verbosity) {
  check_tables(config);  // mistakes show before recordings are read
  Evaluation e;
  const bool is_softmax = config.classifier == ClassifierKind::softmax;
  const bool has_functionals = config.classifier != ClassifierKind::mixtures;
  const auto began = std::chrono::steady_clock::now();
  e.corpus = load_corpus_features(config.corpus, config.features, threads_of_rank(config.run.threads),
                                  show_recordings(verbosity),
                                  has_functionals ? Functionals::wanted : Functionals::none);
  e.extraction_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (const std::string warning = filters_warning(config, e.corpus); !warning.empty())
    e.corpus.notes.push_back(warning);
  if (const std::string warning = lone_speakers_warning(e.corpus.functionals); !warning.empty())
    e.corpus.notes.push_back(warning);
  const bool has_numbers = config.classifier == ClassifierKind::regression;
  e.frames = has_numbers ? label_with_numbers(e.corpus, config.corpus)
                         : label_frames(std::move(e.corpus.features), config.corpus);
  check_class_prior(e.frames, config.classification);
  e.plan = plan_evaluation(e.frames, config);
  e.frames.groups = groups_of(e.frames, config);
  if (const std::string text = folds_text(e.frames, e.plan, config.folds); !text.empty()) {
    e.corpus.notes.push_back(text);
    // A changed file of the same name makes another evaluation, which --resume must not continue.
    std::string folds;
    for (const Fold& fold : e.plan.folds)
      for (const int speaker : fold.test_speakers)
        folds += std::to_string(speaker) + (speaker == fold.test_speakers.back() ? "\n" : " ");
    e.corpus.fingerprint.sha256 = sha256_hex(e.corpus.fingerprint.sha256 + folds);
  }
  // Corpora with too few speakers are refused.
  if (has_numbers) {
    regression_tests(e.frames, e.plan, config);
  } else if (has_functionals) {
    softmax_tests(e.frames, e.plan, config);
    require_few_columns(config, e.corpus.functionals.columns.size());
  }
  if (!is_softmax && !has_numbers && config.em_baseline) require_class_rows(e.frames, e.plan, config);
  return e;
}

/// Evaluates with one seed. Collective. Returns nothing if a signal stopped the run, and empty results for a
/// regression of numbers that has finished.
std::optional<EvaluationResults> evaluate_seed(const Evaluation& e, const EvaluationConfig& config,
                                               ExistingRun policy, Verbosity verbosity,
                                               nlohmann::ordered_json& scores) {
  if (config.classifier == ClassifierKind::softmax)
    return evaluate_softmax_into({e.frames, e.plan, config, e.corpus, e.extraction_seconds}, policy,
                                 verbosity, scores);
  if (config.classifier == ClassifierKind::regression) {
    const bool is_finished = evaluate_regression_into(
        {e.frames, e.plan, config, e.corpus, e.extraction_seconds}, policy, verbosity, scores);
    return is_finished ? std::optional(EvaluationResults()) : std::nullopt;
  }
  std::vector<std::string> notes = e.corpus.notes;
  notes.push_back(fmt::format("corpus: {}, {}, {}, {}", counted(e.frames.class_of.size(), "utterance"),
                              counted(e.frames.rows.num_rows, "frame"),
                              counted(e.frames.speakers.size(), "speaker"),
                              counted(static_cast<std::size_t>(e.frames.num_classes()), "class", "classes")));
  const auto few = static_cast<std::size_t>(
      std::count_if(e.frames.features.utterances.begin(), e.frames.features.utterances.end(),
                    [](const UtteranceFrames& u) { return u.num_rows < kFewFrames; }));
  if (few > 0)
    notes.push_back(fmt::format("{} with fewer than {} frames, which carry little information",
                                counted(few, "utterance"), kFewFrames));
  return evaluate_mixtures_into({e.frames, e.plan, config, e.corpus.fingerprint, "evaluation", notes},
                                e.corpus, policy, verbosity, scores);
}

// Prints a warning if too few pairs have converged, even with --quiet.
void warn_unconverged(const EvaluationConfig& config, const nlohmann::ordered_json& scores,
                      const std::string& which) {
  if (config.classifier == ClassifierKind::regression) return;  // a regression of numbers has no chains
  const double share = share_converged(scores);
  const char* advice = config.classifier == ClassifierKind::softmax ? "more draws (softmax.draws)"
                       : config.classifier == ClassifierKind::fused
                           ? "more draws (sampler.draws of the mixtures, softmax.draws) or fewer components"
                           : "more draws (sampler.draws) or fewer components";
  if (share < kShareAskedFor)
    std::cerr << fmt::format(
        "emomc: warning: {:.1f} % of (utterance, class) pairs have converged{}, {:.0f} % are required: take "
        "{}\n",
        100 * share, which, 100 * kShareAskedFor, advice);
}

void check_parent(const std::filesystem::path& directory) {
  std::error_code error;
  const auto status = std::filesystem::status(directory, error);
  if (std::filesystem::status_known(status) && !std::filesystem::exists(status)) return;
  std::filesystem::directory_iterator entry(directory, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status))
    throw InputError(directory.string() + ": exists and is no directory; choose another --output");
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("seed-") && name != "scores.json" && name != "predictions.csv")
      throw InputError(directory.string() + ": holds " + name +
                       ", which emomc evaluate --seeds does not write; choose another --output");
  }
  if (error)
    throw InputError(directory.string() + ": cannot be read: " + error.message() +
                     "; choose another --output");
}

// A configuration that is compared, with the name of its output directory.
struct Compared {
  std::string name;
  EvaluationConfig config;
};

// Reads and checks all configurations, including the first one. Each is evaluated into a directory that is
// named after its file and lies in the output directory of the first configuration.
std::vector<Compared> configurations_of(const Options& options) {
  std::vector<std::string> files{options.config};
  files.insert(files.end(), options.compare.begin(), options.compare.end());
  std::vector<Compared> all;
  std::filesystem::path parent;
  for (const auto& file : files) {
    Compared one{std::filesystem::path(file).stem().string(),
                 load_evaluation_config(file, options.overrides())};
    if (all.empty()) parent = one.config.run.output.directory;
    for (const Compared& other : all) {
      if (other.name == one.name)
        throw InputError("--compare: " + file + ": another configuration is named " + one.name +
                         " too; results are named after files, so rename one");
      if (!(other.config.corpus == one.config.corpus) || !(other.config.folds == one.config.folds))
        throw InputError("--compare: " + file + ": its corpus or folds differ from those of " +
                         options.config + "; classifiers are compared on the same ones");
    }
    one.config.run.output.directory = parent / one.name;
    all.push_back(std::move(one));
  }
  return all;
}

// Throws InputError if `parent` has an entry that --compare with these configurations does not write.
void check_parent_of(const std::filesystem::path& parent, const std::vector<Compared>& all) {
  std::error_code error;
  if (std::filesystem::exists(parent, error) && !std::filesystem::is_directory(parent, error))
    throw InputError(parent.string() + ": exists and is no directory; choose another --output");
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_known =
        name == "comparison.json" ||
        std::any_of(all.begin(), all.end(), [&](const Compared& one) { return one.name == name; });
    if (!is_known)
      throw InputError(parent.string() + ": holds " + name +
                       ", which emomc evaluate --compare does not write; choose another --output");
  }
}

// Returns the exit code after a signal. Collective.
int stopped(const std::string& go_on) {
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  std::cerr << "stopped; go on with: " << go_on << '\n';
  return signal_exit_code();
}

int evaluate_and_compare(const Options& options) {
  const Verbosity verbosity = options.verbosity();
  const ExistingRun policy = options.policy();
  const std::vector<Compared> all = configurations_of(options);
  const std::filesystem::path parent =
      std::filesystem::path(all[0].config.run.output.directory).parent_path();
  if (is_first()) {
    check_parent_of(parent, all);
    for (const Compared& one : all) check_run_directory(one.config.run.output.directory, policy);
  }
  std::string more = " --compare";
  for (const auto& file : options.compare) more += " " + file;
  const std::string go_on = options.command_to_go_on("evaluate", more);
  std::vector<std::filesystem::path> directories;
  for (const Compared& one : all) {
    if (verbosity != Verbosity::quiet) std::cerr << "evaluating " << one.name << '\n';
    const Evaluation e = prepare(one.config, verbosity);
    nlohmann::ordered_json scores;
    const auto results = with_way_on(one.config.run.output.directory, go_on,
                                     [&] { return evaluate_seed(e, one.config, policy, verbosity, scores); });
    if (!results) return stopped(go_on);
    if (!is_first()) continue;
    warn_unconverged(one.config, scores, " with " + one.name);
    directories.emplace_back(one.config.run.output.directory);
  }
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  const auto comparison = compare_evaluations(directories);
  write_file_atomically(parent / "comparison.json", comparison.dump(1) + "\n");
  if (options.json) std::cout << comparison.dump(1) << '\n';
  if (!options.json && !options.quiet)
    std::cout << comparison_text(comparison, terminal_width(STDOUT_FILENO));
  std::cout << std::flush;
  return kDone;
}

// The options of ranks other than the first, which print nothing.
Options silent(Options options) {
  options.quiet = true;
  options.json = false;
  return options;
}

// Says if an option, such as --backend, makes the classifier another one than the configuration alone does.
void note_classifier_by_options(const Options& options, const EvaluationConfig& config) {
  if (options.quiet || config.classifier != ClassifierKind::mixtures) return;
  try {
    if (load_evaluation_config(options.config, {}).classifier == ClassifierKind::mixtures) return;
  } catch (const InputError&) {
    return;  // the configuration is incomplete without the options
  }
  std::cerr << "emomc: note: an option sets a key of mixtures, so the classifier is mixtures of Gaussians; "
               "without it the configuration has another classifier\n";
}

int evaluate(const Options& given) {
  const Options options = is_first() ? given : silent(given);
  if (!options.compare.empty()) return evaluate_and_compare(options);
  const Verbosity verbosity = options.verbosity();
  EvaluationConfig config = load_evaluation_config(options.config, options.overrides());
  if (config.classifier == ClassifierKind::regression && options.seeds > 0)
    throw InputError(
        "--seeds: a regression has no random numbers but the choice of known recordings; evaluate it once");
  if (is_first()) note_classifier_by_options(options, config);
  const ExistingRun policy = options.policy();
  const std::filesystem::path directory = config.run.output.directory;
  if (options.seeds == 0 && is_first()) check_run_directory(directory, policy);
  const Evaluation e = prepare(config, verbosity);
  const std::string go_on = options.command_to_go_on(
      "evaluate", options.seeds > 0 ? fmt::format(" --seeds {}", options.seeds) : "");
  nlohmann::ordered_json scores_of_one;
  const auto evaluate_one = [&] {
    return with_way_on(config.run.output.directory, go_on,
                       [&] { return evaluate_seed(e, config, policy, verbosity, scores_of_one); });
  };
  if (options.seeds == 0) {
    const auto results = evaluate_one();
    if (!results) return stopped(go_on);
    if (!is_first()) return wait_for_first();
    enter(RankPhase::finishing);
    if (options.json) std::cout << scores_of_one.dump(1) << '\n';
    if (!options.json && !options.quiet)
      std::cout << scores_text(scores_of_one, terminal_width(STDOUT_FILENO));
    std::cout << std::flush;
    warn_unconverged(config, scores_of_one, "");
    return kDone;
  }
  if (is_first()) check_parent(directory);
  std::vector<EvaluationResults> all;
  std::vector<nlohmann::ordered_json> known;   // [seeds] scores by knowledge of the speaker
  std::vector<nlohmann::ordered_json> groups;  // [seeds] scores by columns
  double least_converged = std::nan("");
  for (int seed = 1; seed <= options.seeds; ++seed) {
    config.run.sampler.seed = static_cast<std::uint64_t>(seed);
    config.run.output.directory = directory / fmt::format("seed-{}", seed);
    auto results = evaluate_one();
    if (!results) return stopped(go_on);
    if (!is_first()) continue;
    if (!options.json && !options.quiet)
      std::cout << fmt::format("seed {}\n", seed) << scores_text(scores_of_one, terminal_width(STDOUT_FILENO))
                << '\n'
                << std::flush;
    all.push_back(std::move(*results));
    least_converged = std::fmin(least_converged, share_converged(scores_of_one));
    if (scores_of_one.contains("known_of_speaker")) known.push_back(scores_of_one["known_of_speaker"]);
    if (const auto& posterior = scores_of_one["posterior"]; posterior.contains("by"))
      groups.push_back(posterior["by"]);
  }
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  auto scores = scores_of_seeds(e.frames, all);
  scores["least_share_converged"] = least_converged;
  if (!known.empty()) scores["known_of_speaker"] = mean_by_knowledge(known);
  if (!groups.empty()) scores["posterior"]["by"] = mean_by_group(groups);
  write_file_atomically(directory / "predictions.csv",
                        predictions_csv(e.frames, all[0].utterances, averaged_over_seeds(all)));
  write_file_atomically(directory / "scores.json", scores.dump(1) + "\n");
  if (options.json) std::cout << scores.dump(1) << '\n';
  if (!options.json && !options.quiet) std::cout << text_of_seeds(scores);
  std::cout << std::flush;
  warn_unconverged(config, scores, " with the worst seed");
  return kDone;
}

}  // namespace

void add_evaluate(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("evaluate",
                                     "Cross-validated recognition of emotions, by softmax regression or "
                                     "class posteriors, or of numbers such "
                                     "as arousal");
  auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->output, "Directory to write (output.directory)");
  auto* seed = add_sampling_options(*command, *options);
  command
      ->add_option("--seeds", options->seeds,
                   "Seeds 1 to N one after another, the mean of their scores, and their averaged predictions")
      ->check(CLI::Range(1, 1000))
      ->excludes(seed);
  command
      ->add_option("--compare", options->compare,
                   "Other configurations of the same corpus and folds: each is evaluated into a directory of "
                   "its own below --output, and their differences are printed with intervals over speakers")
      ->excludes("--seeds");
  command
      ->add_option("--by", options->by,
                   "Scores for each value of these columns too (by.columns): of the corpus's manifest, or of "
                   "the CSV that by.file names, as gender; several with commas or blanks between them")
      ->type_name("COLUMN")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "Print the scores as JSON");
  command->footer(
      "Example: emomc evaluate configs/thesis.yaml --output runs/thesis\n"
      "Example: emomc evaluate softmax.yaml --output runs/both --compare mixtures.yaml\n"
      "Example: emomc evaluate corpora.yaml --by gender,corpus --set 'folds={file: folds.csv}'\n"
      "Writes predictions.csv, scores.json and report.html; docs/emotion.md says what they mean.");
  command->callback([options, &status] {
    std::string columns;
    for (const std::string& column : options->by)
      columns += (columns.empty() ? "" : ", ") + yaml_quoted(column);
    if (!columns.empty()) options->set.push_back("by.columns=[" + columns + "]");
    status = evaluate(*options);
  });
}

}  // namespace emomc::app
