#include "softmax_train.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/emotion/lone_speakers.hpp"
#include "emomc/emotion/softmax_results.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "evaluation_run.hpp"
#include "evaluation_text.hpp"
#include "progress.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "restarted_claim.hpp"
#include "run_log.hpp"
#include "signals.hpp"
#include "softmax_stages.hpp"

namespace emomc::app {
namespace {

std::string prior_text(const SoftmaxClassifier& classifier) {
  if (classifier.prior != SoftmaxPrior::ridge) return "prior " + softmax_prior_name(classifier.prior);
  if (classifier.prior_sds.size() == 1) return fmt::format("prior sd {:g}", classifier.prior_sds[0].prior_sd);
  std::string text;
  for (const DrawsOfSd& one : classifier.prior_sds)
    text += fmt::format("{}{} with prior sd {:g}", text.empty() ? "" : ", ", one.num_draws, one.prior_sd);
  return text;
}

}  // namespace

int train_softmax_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                       ExistingRun policy, Verbosity verbosity) {
  if (config.corpus.kind == "tables")
    throw InputError(
        "corpus.kind: tables: a model of functionals of frames could classify nothing, because it is not "
        "known how the frames are made from recordings; train it on recordings (emodb, folders, manifest, "
        "...)");
  const std::string started_at = utc_now();
  std::optional<RunClaim> claim;
  claim_to_restart(directory, policy, ResultKind::model, config, claim);
  const EvaluationConfig of_rank = config_of_rank(config);
  CorpusFeatures corpus = load_corpus_features(config.corpus, config.features, of_rank.run.threads,
                                               show_recordings(verbosity), Functionals::wanted);
  if (const std::string warning = lone_speakers_warning(corpus.functionals); !warning.empty())
    corpus.notes.push_back(warning);
  const LabelledFrames frames = label_frames(std::move(corpus.features), config.corpus);
  check_class_prior(frames, config.classification);
  const SoftmaxSettings settings = softmax_settings(config);
  require_inner_speakers(settings, frames.speakers.size(), 0);
  require_few_columns(config, corpus.functionals.columns.size());
  refuse_other_corpora(config, corpus);
  stop_on_signals();
  if (claim) claim->begin();
  const std::size_t utterances = frames.class_of.size(), columns = corpus.functionals.columns.size();
  if (is_first()) {
    const auto logger = make_logger(directory, verbosity);
    for (const auto& note : corpus.notes) logger->info(note);
    logger->info("{} utterances of {} speakers and {} classes; {}, prior {}", utterances,
                 frames.speakers.size(), frames.num_classes(), functionals_text(config, columns),
                 softmax_prior_name(config.softmax.prior));
    if (is_several())
      logger->info("fits and inner posteriors are divided among {} ranks ({})", world().size(),
                   world().kind());
  }
  settle();
  const std::size_t inner = std::min<std::size_t>(kMostInnerSpeakers, frames.speakers.size());
  SoftmaxStages stages(settings, 1, inner + 1, verbosity);
  std::optional<TrainedSoftmax> result = work_together(stages, [&](const SoftmaxReport& report) {
    return train_softmax(frames, corpus, of_rank, report, world());
  });
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  if (!result) return signal_exit_code();
  TrainedSoftmax& trained = *result;
  SoftmaxModel& model = trained.model;
  model.config = to_yaml(config);
  model.trained_on.corpus = config.corpus.kind + " " + config.corpus.path.string();
  nlohmann::ordered_json manifest = regression_manifest(config, corpus, "model", started_at);
  manifest["convergence"] = {{"of", "log p(class | training utterance)"},
                             {"pairs", trained.strict.pairs},
                             {"converged", trained.converged},
                             {"acceptance", trained.acceptance}};
  for (const auto& [stage, seconds] : stages.seconds()) manifest["seconds"][stage] = seconds;
  write_file_atomically(directory / "config.yaml", model.config);
  write_softmax_model(model, directory);
  write_file_atomically(directory / "manifest.json", manifest.dump(1) + "\n");
  const SoftmaxTemper& own = model.classifier.tempers[0];
  if (verbosity != Verbosity::quiet)
    std::cout << fmt::format(
        "{}: softmax regression on {}, {} and {}; {} draws, {}, temper {:.4g}{}; {:.1f} % of "
        "(training utterance, class) pairs have converged\n",
        directory.string(), functionals_text(config, columns),
        counted(model.classes.size(), "class", "classes"), counted(utterances, "utterance"),
        model.classifier.num_draws, prior_text(model.classifier), own.temper,
        std::isnan(own.inner_log_loss)
            ? ""
            : fmt::format("; log loss of training speakers left out in turn {:.3f}", own.inner_log_loss),
        100 * trained.converged);
  std::cout << std::flush;
  if (trained.converged < kShareAskedFor)
    std::cerr << fmt::format(
        "emomc: warning: {:.1f} % of (training utterance, class) pairs have converged, {:.0f} % are "
        "required: take more draws (softmax.draws)\n",
        100 * trained.converged, 100 * kShareAskedFor);
  return 0;
}

}  // namespace emomc::app
