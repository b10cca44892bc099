#include <fmt/format.h>

#include <iostream>

#include "class_model.hpp"
#include "commands.hpp"
#include "corpus_features.hpp"
#include "emomc/core/errors.hpp"
#include "evaluation_run.hpp"
#include "run_files.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string config, output, backend, seed;
  std::vector<std::string> set;
  bool resume = false, force = false, quiet = false, verbose = false;
};

EvaluationConfig resolved_config(const Options& options) {
  std::vector<std::string> overrides = options.set;
  std::string quoted = "'";
  for (const char c : options.output) quoted += c == '\'' ? "''" : std::string(1, c);
  overrides.push_back("output.directory=" + quoted + "'");
  if (!options.backend.empty()) overrides.push_back("backend=" + options.backend);
  if (!options.seed.empty()) overrides.push_back("sampler.seed=" + options.seed);
  return load_evaluation_config(options.config, overrides);
}

int train(const Options& options) {
  const Verbosity verbosity = options.quiet     ? Verbosity::quiet
                              : options.verbose ? Verbosity::verbose
                                                : Verbosity::normal;
  const EvaluationConfig config = resolved_config(options);
  const ExistingRun policy = options.resume  ? ExistingRun::resume
                             : options.force ? ExistingRun::overwrite
                                             : ExistingRun::refuse;
  const std::filesystem::path directory = options.output;
  check_run_directory(directory, policy);
  CorpusFeatures corpus = load_corpus_features(config.corpus, config.features, config.run.threads, verbosity);
  const LabelledFrames frames = label_frames(std::move(corpus.features), config.corpus);
  check_class_prior(frames, config.classification);
  const EvaluationPlan plan = plan_training(frames, config);
  const SampledPosteriors sampled =
      sample_posteriors({frames, plan, config, corpus.sha256, "model", corpus.notes}, policy, verbosity);
  if (!sampled.finished) {
    std::cerr << "stopped; go on with: emomc train " << options.config << " -o " << options.output
              << " --resume\n";
    return signal_exit_code();
  }
  UtteranceScorer scorer(frames, sampled.posteriors, config.run);
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
  if (!options.quiet)
    std::cout << fmt::format(
        "{}: {} classes, {} draws each, evidence {} with temper {:.4g}{}\n", options.output,
        model.classes.size(), model.num_draws, model.classifier.evidence == Evidence::sum ? "sum" : "mean",
        model.classifier.temper,
        std::isnan(learned.inner_log_loss)
            ? ""
            : fmt::format("; log loss of training speakers left out in turn {:.3f}", learned.inner_log_loss));
  return kDone;
}

}  // namespace

void add_train(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("train", "Sample class posteriors of a whole corpus, to classify with");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration, as of emomc evaluate")->required();
  command->add_option("-o,--output", options->output, "Model directory to write")->required();
  command->add_option("--set", options->set, "Override a key")->allow_extra_args(false);
  command->add_option("--backend", options->backend, "auto, reference, cpu or cuda");
  command->add_option("--seed", options->seed, "Seed (sampler.seed)");
  auto* resume = command->add_flag("--resume", options->resume, "Go on from the checkpoint");
  command->add_flag("--force", options->force, "Replace what an earlier training left")->excludes(resume);
  command->add_flag("-q,--quiet", options->quiet, "Errors only");
  command->add_flag("-v,--verbose", options->verbose, "More detail");
  command->footer(
      "Example: emomc train configs/emodb.yaml -o models/emodb\n"
      "emomc classify needs model.json and draws.npy of the directory, nothing else.");
  command->callback([options, &status] { status = train(*options); });
}

}  // namespace emomc::app
