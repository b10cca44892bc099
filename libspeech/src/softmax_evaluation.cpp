#include "emomc/speech/softmax_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "divided_work.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/speech/softmax_classifier.hpp"
#include "prior_sd_weights.hpp"
#include "softmax_fold.hpp"
#include "softmax_horseshoe.hpp"
#include "softmax_model.hpp"
#include "softmax_prediction.hpp"
#include "softmax_rows.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

const std::vector<std::string> kStages{"penalised fits", "posteriors of inner folds", "posteriors"};
constexpr std::array kKnowledge{SpeakerKnowledge::own, SpeakerKnowledge::five, SpeakerKnowledge::one,
                                SpeakerKnowledge::corpus};
static_assert(kKnowledge.size() == kNumKnowledge);

// Log probabilities, averaged over draws, of the rows of a set's excluded speakers and of their clips: rows x
// K.
struct AveragedRows {
  MatrixXd whole, clips;
};
using Averaged = std::array<AveragedRows, kNumKnowledge>;  // indexed by SpeakerKnowledge
constexpr std::size_t kLearnedScale = 0;  // stands for the index of a prior sd if the scales are parameters

// Rows with log probabilities or logits; some of the rows may not be used.
struct RowsOfSet {
  std::vector<std::size_t> rows;
  MatrixXd log_probability;
  std::vector<int> num_frames;  // empty: unknown
};

// A posterior in the average of a fold.
struct WeightedPosterior {
  std::size_t sd;  // index of the prior sd; kLearnedScale
  double weight;
};

struct ChosenSd {
  std::size_t sd;  // index of the prior sd of the penalised fit
  ChosenTemper by_mode;
  std::vector<double> weights;  // of the posteriors given each prior sd
};

// Everything that is fitted to the speakers who are not `excluded`.
struct TrainedSet {
  std::vector<int> excluded;                 // sorted
  std::vector<std::size_t> tests;            // rows of the excluded speakers, increasing
  std::vector<MatrixXd> modes;               // one mode for each prior sd
  std::map<std::size_t, Averaged> averaged;  // indexed by WeightedPosterior::sd
  std::vector<std::size_t> clip_of;          // the row of which each clip is taken
  std::vector<int> clip_frames;
};

class Evaluation {
 public:
  Evaluation(const SoftmaxCorpus& corpus, const std::vector<std::vector<int>>& tests,
             const SoftmaxSettings& settings, DividedWork& work)
      : num_classes_(corpus.num_classes),
        tests_(tests),
        settings_(settings),
        work_(work),
        rows_(corpus, settings.seed, settings.prior),
        sds_(settings.prior_sds) {
    std::sort(sds_.begin(), sds_.end());
    sds_.erase(std::unique(sds_.begin(), sds_.end()), sds_.end());
    require_few_columns(settings.prior, corpus.table.columns.size(), "a table");
    for (const auto& test : tests_) {
      if (is_chosen()) {
        const std::vector<int> inner = inner_speakers(test, corpus.num_speakers);
        if (inner.size() < 2)
          throw InputError(
              "folds: fewer than two training speakers, so that none can be left out to choose by; give "
              "softmax.temper "
              "and one of softmax.prior_sds");
        for (const int speaker : inner) inner_[test].push_back(index_of_set(test, speaker));
      }
      outer_.push_back(index_of_set(test, -1));
    }
  }

  std::vector<SoftmaxFold> run() {
    prepare();
    auto results = work_.run(kStages[2], folds_.size(), [&](std::size_t f) { return predict(f); });
    for (std::size_t f = 0; f < folds_.size(); ++f) take_predictions(results[f], folds_[f]);
    return std::move(folds_);
  }

  // The only fold has no test speakers. Only rank 0 returns the result; it is empty on the other ranks.
  SoftmaxTraining train() {
    prepare();
    SoftmaxTraining result;
    work_.run(kStages[2], 1, [&](std::size_t) {
      fill(result);
      return Numbers();
    });
    return result;
  }

 private:
  bool is_chosen() const { return !settings_.temper || sds_.size() > 1; }

  // The index of the set that excludes these speakers. `speaker` -1: only the test speakers are excluded.
  int index_of_set(std::vector<int> excluded, int speaker) {
    if (speaker >= 0) excluded.push_back(speaker);
    std::sort(excluded.begin(), excluded.end());
    for (std::size_t i = 0; i < sets_.size(); ++i)
      if (sets_[i].excluded == excluded) return static_cast<int>(i);
    sets_.push_back({excluded, rows_.rows_of(excluded), {}, {}, {}, {}});
    return static_cast<int>(sets_.size()) - 1;
  }

  // Computes everything except the posteriors of the folds.
  void prepare() {
    check_classes();
    fit_modes();
    folds_.resize(tests_.size());
    choose_sds();
    std::set<std::pair<int, std::size_t>> inner_draws;
    for (std::size_t f = 0; f < folds_.size(); ++f)
      if (!settings_.temper)
        for (const int set : inner_[tests_[f]])
          for (const WeightedPosterior& one : posteriors_[f]) inner_draws.insert({set, one.sd});
    const std::vector<std::pair<int, std::size_t>> jobs(inner_draws.begin(), inner_draws.end());
    auto drawn = work_.run(kStages[1], jobs.size(),
                           [&](std::size_t i) { return draw_inner(jobs[i].first, jobs[i].second); });
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      TrainedSet& set = sets_[static_cast<std::size_t>(jobs[i].first)];
      for (AveragedRows& of : set.averaged[jobs[i].second]) {
        drawn[i].take(of.whole);
        drawn[i].take(of.clips);
      }
      drawn[i].take(set.clip_of);
      drawn[i].take(set.clip_frames);
    }
    learn_tempers();
  }

  void check_classes() const {
    for (const int outer : outer_) {
      std::set<int> seen;
      for (const std::size_t row : rows_.rows_without(sets_[static_cast<std::size_t>(outer)].excluded))
        if (rows_.class_of(row) >= 0) seen.insert(rows_.class_of(row));
      if (static_cast<int>(seen.size()) < num_classes_)
        throw InputError(
            "folds: a class has no utterance of a training speaker; leave it out by corpus.classes");
    }
  }

  // The logits of rows standardised by all recordings of their speakers.
  MatrixXd logits_of(const std::vector<std::size_t>& rows, const MatrixXd& weights) const {
    const std::vector<Eigen::Index> indices(rows.begin(), rows.end());
    return rows_.x()(indices, Eigen::all) * weights * contrasts(num_classes_).transpose();
  }

  void fit_modes() {
    auto fits = work_.run(kStages[0], sets_.size(), [&](std::size_t i) {
      Numbers result;
      MatrixXd weights = MatrixXd::Zero(rows_.x().cols(), num_classes_ - 1);
      for (const double sd : sds_) {
        weights = softmax_mode(rows_.problem(sets_[i].excluded, sd, settings_), weights);
        result.put(weights);
        work_.still_working();
      }
      return result;
    });
    for (std::size_t i = 0; i < sets_.size(); ++i)
      for (std::size_t sd = 0; sd < sds_.size(); ++sd) {
        MatrixXd& mode = sets_[i].modes.emplace_back();
        fits[i].take(mode);
        if (mode.rows() != rows_.x().cols())
          throw MachineError(
              "softmax regression: ranks differ in the rotation of the rows; use equal machines");
      }
  }

  bool is_ridge() const { return settings_.prior == SoftmaxPrior::ridge; }

  // Draws from the posterior of set `index`. Each set and prior sd has its own random stream.
  SoftmaxDraws draws_of(std::size_t index, std::size_t sd, HmcSampling sampling) const {
    sampling.temperature = settings_.temperature;
    sampling.seed = settings_.seed;
    sampling.stream = static_cast<std::uint32_t>(index * sds_.size() + sd);
    const TrainedSet& set = sets_[index];
    const SoftmaxProblem problem = rows_.problem(set.excluded, sds_[sd], settings_);
    const auto after_step = [&] { work_.still_working(); };
    if (is_ridge()) return sample_softmax(problem, set.modes[sd], sampling, after_step);
    const HorseshoePrior prior =
        horseshoe_prior(problem, settings_.relevant_share, settings_.slab_scale, rows_.column_sd());
    return sample_horseshoe(problem, prior, sampling, after_step);
  }
  SoftmaxDraws outer_draws(std::size_t f, const WeightedPosterior& posterior) const {
    return draws_of(static_cast<std::size_t>(outer_[f]), posterior.sd,
                    {settings_.chains, settings_.warmup, settings_.draws, 1, 0, 0});
  }

  // The prior sd of weights in directions in which no row has a component; without a rotation there are none.
  double outside_sd(std::size_t sd) const {
    return is_ridge() ? sds_[sd] * std::sqrt(settings_.temperature) : 0;
  }

  // The probabilities of rows that did not determine the rotation.
  MatrixXd others_probability(const OtherRows& rows, std::size_t sd, const SoftmaxDraws& draws) const {
    std::vector<MatrixXd> logits;
    for (std::size_t d = 0; d < draws.weights.size(); ++d) {
      logits.push_back(logits_of_others(rows, draws.weights[d], outside_sd(sd), settings_.seed, d));
      work_.still_working();
    }
    return averaged_log_probability(logits);
  }

  // Log probabilities of a set's excluded rows and their clips, for each kind of knowledge.
  Numbers draw_inner(int index, std::size_t sd) const {
    const TrainedSet& set = sets_[static_cast<std::size_t>(index)];
    const SoftmaxDraws draws =
        draws_of(static_cast<std::size_t>(index), sd,
                 {settings_.inner_chains, settings_.inner_warmup, settings_.inner_draws, 1, 0, 0});
    Numbers result;
    ClippedRows clips;
    for (const SpeakerKnowledge knowledge : kKnowledge) {
      if (knowledge == SpeakerKnowledge::own) {
        std::vector<MatrixXd> logits;
        for (const MatrixXd& weights : draws.weights) logits.push_back(logits_of(set.tests, weights));
        result.put(averaged_log_probability(logits));
      } else {
        result.put(others_probability(rows_.less_known(set.excluded, knowledge), sd, draws));
      }
      MatrixXd of_clips;
      if (!settings_.temper_frames && rows_.has_clips()) {
        clips = rows_.clips(set.excluded, knowledge);
        if (!clips.of.empty()) of_clips = others_probability(clips.rows, sd, draws);
      }
      result.put(of_clips);
    }
    result.put(clips.of);
    result.put(clips.num_frames);
    return result;
  }

  // The inner folds' rows of fold f, with the values that `of` returns for a set. Rows of a test speaker,
  // which each set excludes too, and rows without a class are left out.
  template <class Of>
  std::vector<LabelledRows> inner_rows(std::size_t f, const Of& of) const {
    std::vector<LabelledRows> parts;
    for (const int index : inner_.at(tests_[f])) {
      const TrainedSet& set = sets_[static_cast<std::size_t>(index)];
      const RowsOfSet given = of(set);
      LabelledRows part;
      std::vector<Eigen::Index> rows;
      for (std::size_t i = 0; i < given.rows.size(); ++i) {
        const int speaker = rows_.speaker_of(given.rows[i]), label = rows_.class_of(given.rows[i]);
        if (std::find(tests_[f].begin(), tests_[f].end(), speaker) != tests_[f].end() || label < 0) continue;
        rows.push_back(static_cast<Eigen::Index>(i));
        part.truth.push_back(label);
        part.rows.push_back(rows_.in_corpus(given.rows[i]));
        if (!given.num_frames.empty()) part.num_frames.push_back(given.num_frames[i]);
      }
      if (rows.empty()) continue;
      part.log_probability = given.log_probability(rows, Eigen::all);
      parts.push_back(std::move(part));
    }
    return parts;
  }

  // Chooses the prior sd of the penalised fit by the least log loss of the modes, and weights the posteriors
  // by the same predictions.
  ChosenSd choose_sd(std::size_t f) const {
    if (!is_chosen())
      return {0, {settings_.temper.value_or(1), std::numeric_limits<double>::quiet_NaN()}, {1}};
    std::vector<ChosenTemper> losses;
    MatrixXd log_density;
    for (std::size_t sd = 0; sd < sds_.size(); ++sd) {
      const auto parts = inner_rows(f, [&](const TrainedSet& set) {
        return RowsOfSet{set.tests, logits_of(set.tests, set.modes[sd]), {}};
      });
      losses.push_back(choose_temper(parts, settings_.temper));
      log_density.conservativeResize(static_cast<Eigen::Index>(parts.size()),
                                     static_cast<Eigen::Index>(sd) + 1);
      for (std::size_t p = 0; p < parts.size(); ++p)
        log_density(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(sd)) =
            log_density_of(parts[p], losses[sd].temper);
    }
    const auto best = std::min_element(
        losses.begin(), losses.end(),
        [](const ChosenTemper& a, const ChosenTemper& b) { return a.log_loss < b.log_loss; });
    return {static_cast<std::size_t>(best - losses.begin()), *best, posterior_weights(log_density)};
  }

  void choose_sds() {
    auto results = work_.run("", folds_.size(), [&](std::size_t f) {
      const ChosenSd chosen = choose_sd(f);
      Numbers result;
      for (const double x : {static_cast<double>(chosen.sd), chosen.by_mode.temper, chosen.by_mode.log_loss})
        result.put(x);
      result.put(chosen.weights);
      return result;
    });
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      chosen_.push_back(static_cast<std::size_t>(results[f].take()));
      folds_[f].prior_sd = sds_[chosen_[f]];
      folds_[f].penalised.temper = results[f].take();
      folds_[f].penalised.inner_log_loss = results[f].take();
      std::vector<double> weights;
      results[f].take(weights);
      posteriors_.emplace_back();
      if (!is_ridge()) posteriors_.back().push_back({kLearnedScale, 1});
      for (std::size_t sd = 0; is_ridge() && sd < weights.size(); ++sd)
        if (weights[sd] > 0) {
          posteriors_.back().push_back({sd, weights[sd]});
          folds_[f].prior_sds.push_back({sds_[sd], weights[sd]});
        }
    }
  }

  // Averages over the posteriors of fold f.
  AveragedRows averaged_of(const TrainedSet& set, std::size_t f, SpeakerKnowledge knowledge) const {
    std::vector<MatrixXd> whole, clips;
    std::vector<double> weights;
    for (const WeightedPosterior& one : posteriors_[f]) {
      const AveragedRows& rows = set.averaged.at(one.sd)[static_cast<std::size_t>(knowledge)];
      whole.push_back(rows.whole);
      clips.push_back(rows.clips);
      weights.push_back(one.weight);
    }
    return {mixed_log_probability(whole, weights), mixed_log_probability(clips, weights)};
  }
  std::vector<LabelledRows> inner_posteriors(std::size_t f, SpeakerKnowledge knowledge) const {
    return inner_rows(f, [&](const TrainedSet& set) {
      return RowsOfSet{set.tests, averaged_of(set, f, knowledge).whole, rows_.num_frames_of(set.tests)};
    });
  }

  SoftmaxTemper temper_of(std::size_t f, SpeakerKnowledge knowledge) const {
    if (settings_.temper)
      return {*settings_.temper, std::numeric_limits<double>::quiet_NaN(),
              settings_.temper_frames.value_or(0)};
    const auto whole = inner_posteriors(f, knowledge);
    const auto clips = inner_rows(f, [&](const TrainedSet& set) {
      return RowsOfSet{set.clip_of, averaged_of(set, f, knowledge).clips, set.clip_frames};
    });
    const double frames = settings_.temper_frames ? *settings_.temper_frames : choose_frames(whole, clips);
    const ChosenTemper learned = choose_temper(whole, {}, frames);
    return {learned.temper, learned.log_loss, frames};
  }

  void keep_inner(std::size_t f) {
    SoftmaxFold& fold = folds_[f];
    for (const LabelledRows& part : inner_posteriors(f, SpeakerKnowledge::own)) {
      fold.inner_rows.insert(fold.inner_rows.end(), part.rows.begin(), part.rows.end());
      const MatrixXd logs = tempered_log_probability(
          shared_by_frames(part.log_probability, fold.posterior.frames, part.num_frames),
          fold.posterior.temper);
      for (Eigen::Index i = 0; i < logs.rows(); ++i)
        for (Eigen::Index k = 0; k < logs.cols(); ++k) fold.inner_log_probability.push_back(logs(i, k));
    }
  }

  void learn_tempers() {
    auto results = work_.run("", folds_.size(), [&](std::size_t f) {
      Numbers result;
      for (const SpeakerKnowledge knowledge : kKnowledge) {
        const SoftmaxTemper learned = temper_of(f, knowledge);
        for (const double x : {learned.temper, learned.inner_log_loss, learned.frames}) result.put(x);
      }
      return result;
    });
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      for (std::size_t i = 0; i < kNumKnowledge; ++i) {
        SoftmaxTemper& learned = i == 0 ? folds_[f].posterior : folds_[f].less_known[i - 1];
        for (double* x : {&learned.temper, &learned.inner_log_loss, &learned.frames}) *x = results[f].take();
      }
      if (!settings_.temper) keep_inner(f);
    }
  }

  Numbers predict(std::size_t f) {
    SoftmaxFold& fold = folds_[f];
    const TrainedSet& set = sets_[static_cast<std::size_t>(outer_[f])];
    std::vector<WeightedLogits> logits;
    std::vector<double> weights;
    std::array<std::vector<MatrixXd>, kNumKnowledge> averages;
    for (const WeightedPosterior& one : posteriors_[f]) {
      const SoftmaxDraws draws = outer_draws(f, one);
      logits.push_back(logits_under(draws, one.weight, set.tests, fold));
      weights.push_back(one.weight);
      for (std::size_t i = 1; i < kNumKnowledge; ++i)
        averages[i].push_back(
            others_probability(rows_.less_known(set.excluded, kKnowledge[i]), one.sd, draws));
    }
    const std::vector<Eigen::Index> places = append_predictions(
        rows_, set.tests, logits_of(set.tests, set.modes[chosen_[f]]), std::move(logits), fold);
    const std::vector<int> num_frames = rows_.num_frames_of(set.tests);
    for (std::size_t i = 1; i < kNumKnowledge; ++i) {
      SoftmaxPredictions& to = fold.less_known[i - 1];
      const MatrixXd averaged = mixed_log_probability(averages[i], weights);
      const MatrixXd logs =
          tempered_log_probability(shared_by_frames(averaged, to.frames, num_frames), to.temper);
      for (const Eigen::Index place : places)
        for (Eigen::Index k = 0; k < num_classes_; ++k) to.log_probability.push_back(logs(place, k));
    }
    Numbers result;
    put_predictions(fold, result);
    return result;
  }

  // The logits of rows standardised by all recordings of their speakers. Adds the posterior's part of the
  // fold's mean acceptance.
  WeightedLogits logits_under(const SoftmaxDraws& draws, double weight, const std::vector<std::size_t>& rows,
                              SoftmaxFold& fold) const {
    fold.acceptance += weight * draws.acceptance;
    WeightedLogits logits{weight, {}};
    for (const MatrixXd& weights : draws.weights) logits.draws.push_back(logits_of(rows, weights));
    return logits;
  }

  void fill(SoftmaxTraining& training) {
    constexpr std::size_t kMostRows = 300;
    training.fold = std::move(folds_[0]);
    training.classifier = classifier_without_draws(rows_, training.fold, settings_);
    std::vector<std::size_t> judged;
    const std::size_t count = std::min(kMostRows, rows_.size());
    for (std::size_t i = 0; i < count; ++i) judged.push_back(i * rows_.size() / count);
    const auto all = static_cast<std::size_t>(settings_.chains) * static_cast<std::size_t>(settings_.draws);
    const std::size_t kept = std::min(static_cast<std::size_t>(kClassifierDraws), all);
    std::vector<WeightedLogits> logits;
    double weight = 0;  // of all posteriors so far
    for (const WeightedPosterior& one : posteriors_[0]) {
      const SoftmaxDraws draws = outer_draws(0, one);
      logits.push_back(logits_under(draws, one.weight, judged, training.fold));
      weight += one.weight;
      const auto end = static_cast<std::size_t>(std::lround(weight * static_cast<double>(kept)));
      append_draws(draws, end - training.classifier.num_draws, is_ridge() ? sds_[one.sd] : 0,
                   training.classifier);
    }
    const TrainedSet& set = sets_[static_cast<std::size_t>(outer_[0])];
    append_predictions(rows_, judged, logits_of(judged, set.modes[chosen_[0]]), std::move(logits),
                       training.fold);
  }

  int num_classes_;
  std::vector<std::vector<int>> tests_;
  SoftmaxSettings settings_;
  DividedWork& work_;
  SoftmaxRows rows_;
  std::vector<double> sds_;  // increasing
  std::vector<TrainedSet> sets_;
  std::vector<int> outer_;                              // one set for each fold
  std::map<std::vector<int>, std::vector<int>> inner_;  // inner sets, indexed by the fold's test speakers
  std::vector<SoftmaxFold> folds_;
  std::vector<std::size_t> chosen_;  // index of the prior sd of each fold's penalised fit
  std::vector<std::vector<WeightedPosterior>> posteriors_;  // of each fold
};

}  // namespace

std::vector<std::string> softmax_stages() { return kStages; }

void require_few_columns(SoftmaxPrior prior, std::size_t columns, const std::string& what) {
  if (prior == SoftmaxPrior::horseshoe && columns > kMostHorseshoeColumns)
    throw InputError("softmax.prior: horseshoe takes at most " + std::to_string(kMostHorseshoeColumns) +
                     " columns, and " + what + " has " + std::to_string(columns) +
                     "; write softmax.prior: ridge, or take fewer columns");
}

std::vector<SoftmaxFold> evaluate_softmax(const SoftmaxCorpus& corpus,
                                          const std::vector<std::vector<int>>& tests,
                                          const SoftmaxSettings& settings, int threads,
                                          const SoftmaxReport& report, Communicator& ranks) {
  require_sizes(corpus, settings);
  DividedWork work(ranks, threads, report);
  return Evaluation(corpus, tests, settings, work).run();
}

SoftmaxTraining train_softmax(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings, int threads,
                              const SoftmaxReport& report, Communicator& ranks) {
  require_sizes(corpus, settings);
  DividedWork work(ranks, threads, report);
  return Evaluation(corpus, {{}}, settings, work).train();
}

}  // namespace emomc
