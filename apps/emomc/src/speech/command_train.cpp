#include <fmt/format.h>

#include <iostream>

#include "class_model.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/filter_frequencies.hpp"
#include "emomc/posterior/run_files.hpp"
#include "evaluation_config.hpp"
#include "evaluation_run.hpp"
#include "progress.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "regression_run.hpp"
#include "sampling_options.hpp"
#include "sampling_run.hpp"
#include "signals.hpp"
#include "softmax_train.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

int train_once(const SamplingOptions& options) {
  const Verbosity verbosity = is_first() ? options.verbosity() : Verbosity::quiet;
  const EvaluationConfig config = load_evaluation_config(options.config, options.overrides());
  const ExistingRun policy = options.policy();
  const std::filesystem::path directory = options.output;
  if (is_first()) check_run_directory(directory, policy);
  if (config.classifier == ClassifierKind::fused)
    throw InputError(
        "classifier: fused is for emomc evaluate; write classifier: softmax or classifier: mixtures");
  if (config.classifier == ClassifierKind::softmax || config.classifier == ClassifierKind::regression) {
    const int status = config.classifier == ClassifierKind::softmax
                           ? train_softmax_into(config, directory, policy, verbosity)
                           : train_regression_into(config, directory, policy, verbosity);
    if (status != kDone && is_first())
      std::cerr << "stopped; go on with: " << options.command_to_go_on("train") << '\n';
    return status;
  }
  CorpusFeatures corpus = load_corpus_features(
      config.corpus, config.features, threads_of_rank(config.run.threads), show_recordings(verbosity));
  if (const std::string warning = filters_warning(config, corpus); !warning.empty())
    corpus.notes.push_back(warning);
  const LabelledFrames frames = label_frames(std::move(corpus.features), config.corpus);
  check_class_prior(frames, config.classification);
  const EvaluationPlan plan = plan_training(frames, config);
  const SampledPosteriors sampled =
      sample_posteriors({frames, plan, config, corpus.fingerprint, "model", corpus.notes}, policy, verbosity);
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  if (!sampled.finished) {
    std::cerr << "stopped; go on with: " << options.command_to_go_on("train") << '\n';
    return signal_exit_code();
  }
  const EvaluationConfig own = config_of_rank(config);
  UtteranceScorer scorer(frames, sampled.posteriors, own.run);
  const DrawSource draws = [&](std::size_t group, std::size_t most) {
    return read_group_draws(directory, sampled.posteriors, group, most);
  };
  const FoldClassifier learned = classifier_of(frames, plan.folds[0], plan, config, scorer, draws);
  ClassModel model;
  model.classes = frames.classes;
  model.columns = frames.features.columns;
  model.config = config;
  model.sample_rate = corpus.sample_rate;
  model.corpus = corpus.units;
  model.units = frames.units;
  model.classifier = learned.classifier;
  for (std::size_t c = 0; c < frames.num_classes(); ++c) {
    GroupDraws of_class = draws(static_cast<std::size_t>(plan.folds[0].set) * frames.num_classes() + c,
                                static_cast<std::size_t>(config.classification.draws));
    model.num_draws = of_class.num_draws;
    model.theta.push_back(std::move(of_class.theta));
  }
  write_class_model(model, directory);
  mark_finished(directory);
  if (!options.quiet)
    std::cout << fmt::format(
        "{}: {} classes, {} draws each, evidence {} with temper {:.4g}{}{}\n", options.output,
        model.classes.size(), model.num_draws, model.classifier.evidence == Evidence::sum ? "sum" : "mean",
        model.classifier.temper,
        model.classifier.damping_frames > 0
            ? fmt::format(" and {:.0f} damping frames", model.classifier.damping_frames)
            : "",
        std::isnan(learned.inner_log_loss)
            ? ""
            : fmt::format("; log loss of training speakers left out in turn {:.3f}", learned.inner_log_loss));
  return kDone;
}

int train(const SamplingOptions& options) {
  return with_way_on(options.output, options.command_to_go_on("train"), [&] { return train_once(options); });
}

}  // namespace

void add_train(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "train", "Train on a whole corpus: softmax regression, mixtures, or a regression of numbers");
  auto options = std::make_shared<SamplingOptions>();
  command->add_option("-o,--output", options->output, "Model directory to write")->required();
  add_sampling_options(*command, *options);
  command->footer(
      "Example: emomc train configs/emodb.yaml -o models/emodb\n"
      "emomc classify needs model.json and the .npy files of the directory, nothing else.");
  command->callback([options, &status] { status = train(*options); });
}

}  // namespace emomc::app
