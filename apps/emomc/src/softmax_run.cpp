#include "softmax_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/files.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "evaluation_config_keys.hpp"
#include "evaluation_report.hpp"
#include "run_log.hpp"
#include "sampling_run.hpp"
#include "signals.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// Rows in the order of the labelled utterances.
SoftmaxCorpus corpus_of(const LabelledFrames& frames, const FunctionalTable& table) {
  std::map<std::string, std::size_t> place;
  for (std::size_t row = 0; row < table.rows.size(); ++row) place[table.rows[row].id] = row;
  SoftmaxCorpus corpus;
  corpus.table.columns = table.columns;
  const std::size_t stride = table.columns.size();
  for (const UtteranceFrames& utterance : frames.features.utterances) {
    const std::size_t row = place.at(utterance.id);
    corpus.table.rows.push_back(table.rows[row]);
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * stride);
    corpus.table.values.insert(corpus.table.values.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
  }
  corpus.class_of = frames.class_of;
  corpus.speaker_of = frames.speaker_of;
  corpus.num_classes = static_cast<int>(frames.num_classes());
  corpus.num_speakers = static_cast<int>(frames.speakers.size());
  return corpus;
}

SoftmaxSettings settings_of(const EvaluationConfig& config) {
  SoftmaxSettings settings;
  settings.prior_sds = config.softmax.prior_sds;
  settings.temper = config.softmax.temper;
  settings.temperature = config.softmax.temperature;
  settings.chains = config.softmax.chains;
  settings.warmup = config.softmax.warmup;
  settings.draws = config.softmax.draws;
  settings.balanced = config.classification.class_prior == ClassPrior::uniform;
  settings.seed = config.run.sampler.seed;
  return settings;
}

// Progress over all stages, and the time that each took. The units of a stage count as many trajectories,
// which decides how much of the remaining time they are expected to take.
class Stages {
 public:
  Stages(const SoftmaxSettings& settings, std::size_t folds, std::size_t sets, Verbosity verbosity)
      : names_(softmax_stages()), verbosity_(verbosity), began_(Clock::now()) {
    constexpr double kFit =
        100;  // trajectories of two chains that the fits of a training set take about as long as
    cost_ = {kFit,
             static_cast<double>(settings.inner_chains) / 2 * (settings.inner_warmup + settings.inner_draws),
             static_cast<double>(settings.chains) / 2 * (settings.warmup + settings.draws)};
    count_ = {sets, settings.temper ? 0 : sets - folds, folds};
  }

  void report(const std::string& stage, std::size_t done, std::size_t all) {
    if (stop_requested()) throw Interrupted("stopped");
    const auto at = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), stage) - names_.begin());
    count_[at] = all;
    if (done == 0) since_ = Clock::now();
    if (done == all) seconds_[stage] = seconds_since(since_);
    double past = 0, left = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double units = static_cast<double>(i < at ? count_[i] : i == at ? done : 0);
      past += units * cost_[i];
      left += (static_cast<double>(count_[i]) - units) * cost_[i];
    }
    const double seconds = seconds_since(began_);
    if (verbosity_ == Verbosity::quiet || past == 0 || left == 0 || seconds < (shown_ == 0 ? 2 : shown_ + 5))
      return;
    shown_ = seconds;
    std::cerr << fmt::format("{}: {} of {}, about {} left in all\n", stage, done, all,
                             duration_text(seconds * left / past));
  }
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  std::vector<std::string> names_;
  Verbosity verbosity_;
  Clock::time_point began_, since_;
  double shown_ = 0;
  std::vector<double> cost_;
  std::vector<std::size_t> count_;
  std::map<std::string, double> seconds_;
};

struct StrictShare {
  std::size_t pairs = 0, within = 0;
  double worst_rhat = 0;
};

// Whether the log probability of every (utterance, class) of a fold has converged. `strict` counts those with
// an R-hat of at most 1.01 and 400 effective draws in bulk and tails.
std::vector<Convergence> convergence_of(const SoftmaxFold& fold, std::size_t classes, int chains,
                                        StrictShare& strict, ThreadPool& pool) {
  const std::size_t pairs = fold.rows.size() * classes;
  const std::size_t draws = fold.draw_log_probability.size() / pairs / static_cast<std::size_t>(chains);
  struct Judged {
    double rhat, bulk, tail;
  };
  std::vector<Judged> judged(pairs);
  pool.for_each(pairs, [&](std::size_t pair, int) {
    const DrawsView view{fold.draw_log_probability.data() + pair * draws * static_cast<std::size_t>(chains),
                         draws, static_cast<std::size_t>(chains), 1, static_cast<std::ptrdiff_t>(draws)};
    judged[pair] = {rhat(view), ess_bulk(view), ess_tail(view)};
  });
  std::vector<Convergence> of_class(classes);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const Judged& one = judged[pair];
    Convergence& c = of_class[pair % classes];
    if (c.num_pairs == 0 || !(one.bulk >= c.least_ess)) c.least_ess = one.bulk;
    if (!(one.rhat <= c.worst_rhat)) c.worst_rhat = one.rhat;
    ++c.num_pairs;
    if (one.rhat <= kMostRhat && one.bulk >= kLeastEss) ++c.num_converged;
    ++strict.pairs;
    if (one.rhat <= 1.01 && one.bulk >= 400 && one.tail >= 400) ++strict.within;
    if (!(one.rhat <= strict.worst_rhat)) strict.worst_rhat = one.rhat;
  }
  return of_class;
}

FoldResult result_of(const SoftmaxFold& fold, const SoftmaxPredictions& predictions,
                     std::vector<Convergence> convergence) {
  FoldResult result;
  result.temper = predictions.temper;
  result.inner_log_loss = predictions.inner_log_loss;
  result.utterances = fold.rows;
  result.log_probability = predictions.log_probability;
  result.of_class = std::move(convergence);
  return result;
}

std::string sd_csv(const LabelledFrames& frames, const std::vector<SoftmaxFold>& folds) {
  std::string text = "utterance";
  for (const auto& name : frames.classes) text += ",sd_" + name;
  text += "\n";
  std::map<std::size_t, std::string> lines;
  for (const SoftmaxFold& fold : folds)
    for (std::size_t i = 0; i < fold.rows.size(); ++i) {
      std::string line = frames.features.utterances[fold.rows[i]].id;
      for (std::size_t k = 0; k < frames.num_classes(); ++k)
        line += "," + shortest_text(fold.probability_sd[i * frames.num_classes() + k]);
      lines[fold.rows[i]] = line + "\n";
    }
  for (const auto& [row, line] : lines) text += line;
  return text;
}

nlohmann::ordered_json manifest_of(const SoftmaxJob& job, const std::string& started_at) {
  std::string depends_on;
  for (const WrittenKey& key : written_keys(job.config)) depends_on += key.name + ": " + key.value + "\n";
  return {{"program", {{"name", "emomc"}, {"version", EMOMC_VERSION}}},
          {"kind", "evaluation"},
          {"status", "finished"},
          {"started_at", started_at},
          {"updated_at", utc_now()},
          {"engine", "softmax regression on functionals, on the CPU"},
          {"functionals",
           {{"set", functional_set_name(job.config.features.set)},
            {"version", kFunctionalsVersion},
            {"columns", job.corpus.functionals.columns.size()}}},
          {"seed", job.config.run.sampler.seed},
          {"config_sha256", sha256_hex(depends_on)},
          {"data", {{"sha256", job.corpus.fingerprint.sha256}}}};
}

void add_details(nlohmann::ordered_json& scores, const SoftmaxJob& job, const std::vector<SoftmaxFold>& folds,
                 const StrictShare& strict, const std::map<std::string, double>& seconds, double total) {
  scores["classifier"] = "softmax regression, penalised and as a posterior by Hamiltonian Monte Carlo";
  scores["functionals"] = {{"set", functional_set_name(job.config.features.set)},
                           {"version", kFunctionalsVersion},
                           {"columns", job.corpus.functionals.columns.size()}};
  scores["temperature"] = job.config.softmax.temperature;
  for (const SoftmaxFold& fold : folds) {
    scores["prior_sd_of_fold"].push_back(fold.prior_sd);
    scores["acceptance_of_fold"].push_back(fold.acceptance);
  }
  scores["convergence"]["within_1.01_and_400"] =
      static_cast<double>(strict.within) / static_cast<double>(strict.pairs);
  scores["convergence"]["worst_rhat"] =
      std::isfinite(strict.worst_rhat) ? nlohmann::ordered_json(strict.worst_rhat) : nlohmann::ordered_json();
  scores["seconds"]["recordings to functionals"] = job.extraction_seconds;
  for (const auto& name : softmax_stages())
    if (const auto at = seconds.find(name); at != seconds.end()) scores["seconds"][name] = at->second;
  scores["seconds"]["all"] = total + job.extraction_seconds;
}

}  // namespace

std::optional<EvaluationResults> evaluate_softmax_into(const SoftmaxJob& job, ExistingRun policy,
                                                       Verbosity verbosity, nlohmann::ordered_json& scores) {
  const auto began = Clock::now();
  const std::string started_at = utc_now();
  const std::filesystem::path directory = job.config.run.output.directory;
  RunClaim claim(directory, policy);
  if (claim.checkpoint() != nullptr)
    throw InputError(
        directory.string() +
        ": holds an evaluation of mixtures; choose another --output, or write classifier: mixtures");
  const SoftmaxCorpus corpus = corpus_of(job.frames, job.corpus.functionals);
  const SoftmaxSettings settings = settings_of(job.config);
  std::vector<std::vector<int>> tests;
  for (const Fold& fold : job.plan.folds) tests.push_back(fold.test_speakers);
  stop_on_signals();
  claim.begin();
  const auto logger = make_logger(directory, verbosity);
  for (const auto& note : job.corpus.notes) logger->info(note);
  logger->info("{} utterances of {} speakers and {} classes; {} functionals (set {}, version {})",
               corpus.table.rows.size(), corpus.num_speakers, corpus.num_classes, corpus.table.columns.size(),
               functional_set_name(job.config.features.set), kFunctionalsVersion);
  const std::size_t speakers = job.frames.speakers.size();
  const std::size_t inner = std::min<std::size_t>(kMostInnerSpeakers, speakers - 1);
  Stages stages(settings, tests.size(), tests.size() * inner / 2 + tests.size(), verbosity);
  std::vector<SoftmaxFold> folds;
  try {
    folds = evaluate_softmax(corpus, tests, settings, job.config.run.threads,
                             [&](const auto&... args) { stages.report(args...); });
  } catch (const Interrupted&) {
    return std::nullopt;
  }
  EvaluationResults results;
  results.seed = settings.seed;
  results.other = "penalised";
  ThreadPool pool(job.config.run.threads);
  StrictShare strict;
  std::vector<FoldResult> posterior, penalised;
  for (const SoftmaxFold& fold : folds) {
    posterior.push_back(result_of(
        fold, fold.posterior, convergence_of(fold, job.frames.num_classes(), settings.chains, strict, pool)));
    penalised.push_back(result_of(fold, fold.penalised, {}));
  }
  results.posterior = judge_method(job.frames, std::move(posterior), results.seed, &results.utterances);
  results.em = judge_method(job.frames, std::move(penalised), results.seed, nullptr);
  scores = scores_json(job.frames, job.plan, results);
  add_details(scores, job, folds, strict, stages.seconds(), seconds_since(began));
  write_file_atomically(directory / "config.yaml", to_yaml(job.config));
  write_file_atomically(directory / "manifest.json", manifest_of(job, started_at).dump(1) + "\n");
  write_file_atomically(directory / "predictions.csv",
                        predictions_csv(job.frames, results.utterances, results.posterior.predictions));
  write_file_atomically(directory / "predictions_penalised.csv",
                        predictions_csv(job.frames, results.utterances, results.em->predictions));
  write_file_atomically(directory / "probability_sd.csv", sd_csv(job.frames, folds));
  write_file_atomically(directory / "scores.json", scores.dump(1) + "\n");
  if (has_evaluation_report())
    write_file_atomically(directory / "report.html", evaluation_report_html(directory));
  for (const auto& [stage, seconds] : scores["seconds"].items())
    logger->info("{}: {}", stage, duration_text(seconds.get<double>()));
  return results;
}

}  // namespace emomc::app
