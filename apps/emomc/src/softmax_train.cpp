#include "softmax_train.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "emomc/speech/softmax_classifier.hpp"
#include "run_log.hpp"
#include "sampling_run.hpp"
#include "signals.hpp"
#include "softmax_job.hpp"
#include "softmax_model_file.hpp"

namespace emomc::app {
namespace {

constexpr double kShareAskedFor = 0.95;  // of pairs of an utterance and a class, docs/emotion.md

SoftmaxModel model_of(const LabelledFrames& frames, const CorpusFeatures& corpus,
                      const EvaluationConfig& config, SoftmaxClassifier classifier) {
  SoftmaxModel model;
  model.classes = frames.classes;
  model.config = config;
  model.sample_rate = corpus.sample_rate;
  model.trained_on.speakers = frames.speakers;
  for (const UtteranceFrames& utterance : frames.features.utterances)
    ++model.trained_on.utterances_of_class[utterance.emotion];
  model.trained_on.data_sha256 = corpus.fingerprint.sha256;
  model.classifier = std::move(classifier);
  return model;
}

double converged_share(const std::vector<Convergence>& classes) {
  Convergence all;
  for (const Convergence& one : classes) {
    all.num_pairs += one.num_pairs;
    all.num_converged += one.num_converged;
  }
  return all.share();
}

}  // namespace

int train_softmax_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                       ExistingRun policy, Verbosity verbosity) {
  const std::string started_at = utc_now();
  RunClaim claim(directory, policy);
  if (claim.checkpoint() != nullptr)
    throw InputError(directory.string() +
                     ": holds a model of mixtures; choose another -o, or write classifier: mixtures");
  CorpusFeatures corpus = load_corpus_features(config.corpus, config.features, config.run.threads, verbosity,
                                               Functionals::wanted);
  const LabelledFrames frames = label_frames(std::move(corpus.features), config.corpus);
  check_class_prior(frames, config.classification);
  const SoftmaxCorpus rows = softmax_corpus(frames, corpus.functionals);
  const SoftmaxSettings settings = softmax_settings(config);
  require_inner_speakers(settings, frames.speakers.size(), 0);
  stop_on_signals();
  claim.begin();
  const auto logger = make_logger(directory, verbosity);
  for (const auto& note : corpus.notes) logger->info(note);
  logger->info("{} utterances of {} speakers and {} classes; {}", rows.table.rows.size(), rows.num_speakers,
               rows.num_classes, functionals_text(config, rows.table.columns.size()));
  const std::size_t inner = std::min<std::size_t>(kMostInnerSpeakers, frames.speakers.size());
  SoftmaxStages stages(settings, 1, inner + 1, verbosity);
  SoftmaxTraining training;
  try {
    training = train_softmax(rows, settings, config.run.threads,
                             [&](const auto&... args) { stages.report(args...); });
  } catch (const Interrupted&) {
    return signal_exit_code();
  }
  ThreadPool pool(config.run.threads);
  StrictShare strict;
  const double share = converged_share(
      softmax_convergence(training.fold, frames.num_classes(), settings.chains, strict, pool));
  nlohmann::ordered_json manifest = softmax_manifest(config, corpus, "model", started_at);
  manifest["convergence"] = {{"of", "log p(class | training utterance)"},
                             {"pairs", strict.pairs},
                             {"converged", share},
                             {"acceptance", training.fold.acceptance}};
  for (const auto& [stage, seconds] : stages.seconds()) manifest["seconds"][stage] = seconds;
  const SoftmaxModel model = model_of(frames, corpus, config, std::move(training.classifier));
  write_file_atomically(directory / "config.yaml", to_yaml(config));
  write_softmax_model(model, directory);
  write_file_atomically(directory / "manifest.json", manifest.dump(1) + "\n");
  const SoftmaxTemper& own = model.classifier.tempers[0];
  if (verbosity != Verbosity::quiet)
    std::cout << fmt::format(
        "{}: softmax regression on {}, {} and {}; {} draws, prior sd {:g}, temper {:.4g}{}; {:.1f} % of "
        "(training utterance, class) pairs have converged\n",
        directory.string(), functionals_text(config, model.classifier.columns.size()),
        counted(model.classes.size(), "class", "classes"), counted(rows.table.rows.size(), "utterance"),
        model.classifier.num_draws, model.classifier.prior_sd, own.temper,
        std::isnan(own.inner_log_loss)
            ? ""
            : fmt::format("; log loss of training speakers left out in turn {:.3f}", own.inner_log_loss),
        100 * share);
  std::cout << std::flush;
  if (share < kShareAskedFor)
    std::cerr << fmt::format(
        "emomc: warning: {:.1f} % of (training utterance, class) pairs have converged, {:.0f} % are asked "
        "for: take more draws (softmax.draws)\n",
        100 * share, 100 * kShareAskedFor);
  return 0;
}

}  // namespace emomc::app
