#include "emomc/speech/regression_evaluation.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "divided_work.hpp"
#include "emomc/core/errors.hpp"
#include "ridge_posterior.hpp"
#include "softmax_fold.hpp"
#include "softmax_rows.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

constexpr std::size_t kLeastRows = 4;  // training rows for a finite predictive variance

bool is_chosen(const RegressionSettings& settings) {
  return !settings.sd_factor || settings.prior_sds.size() > 1;
}

void require_sizes(const RegressionCorpus& corpus, const RegressionSettings& settings) {
  const std::size_t rows = corpus.table.rows.size();
  bool fits = corpus.speaker_of.size() == rows && !corpus.dimensions.empty() && !settings.prior_sds.empty() &&
              corpus.truth.size() == rows * corpus.dimensions.size() &&
              corpus.table.values.size() == rows * corpus.table.columns.size();
  for (const double x : corpus.truth) fits = fits && std::isfinite(x);
  for (const double sd : settings.prior_sds) fits = fits && sd > 0 && std::isfinite(sd);
  if (!fits) throw std::invalid_argument("regression: sizes disagree, or a number is not finite");
}

// The rows of the corpus in the form that softmax regression uses, without classes.
SoftmaxCorpus without_classes(const RegressionCorpus& corpus) {
  SoftmaxCorpus result;
  result.table = corpus.table;
  result.class_of.assign(corpus.table.rows.size(), -1);
  result.speaker_of = corpus.speaker_of;
  result.num_speakers = corpus.num_speakers;
  return result;
}

// Predictions, to whose scales no factor has been applied, and the true numbers.
struct Judged {
  std::vector<double> truth;
  std::vector<PredictiveT> predicted;
};

double mean_log_density(const Judged& judged, double factor) {
  double sum = 0;
  for (std::size_t i = 0; i < judged.truth.size(); ++i) {
    PredictiveT one = judged.predicted[i];
    one.scale *= factor;
    sum += one.log_density(judged.truth[i]);
  }
  return sum / static_cast<double>(judged.truth.size());
}

// The factor between 1/16 and 16 with the largest mean log density, and that density; or the density at a
// given factor.
SdFactor choose_factor(const Judged& judged, std::optional<double> given) {
  if (judged.truth.empty()) throw std::invalid_argument("regression: no rows to choose by");
  if (given) return {*given, mean_log_density(judged, *given)};
  constexpr int kBits = 20;
  const auto [log_factor, loss] = boost::math::tools::brent_find_minima(
      [&](double at) { return -mean_log_density(judged, std::exp(at)); }, std::log(1.0 / 16), std::log(16.0),
      kBits);
  return {std::exp(log_factor), -loss};
}

// Predictions for the rows of the `excluded` speakers, trained on all other speakers.
struct PredictedSet {
  std::vector<int> excluded;       // sorted
  std::vector<std::size_t> tests;  // rows of the excluded speakers, increasing
  double freedom = 0;
  MatrixXd mean, scale;  // rows x (dimensions x prior sds x kinds of knowledge)
};

class Evaluation {
 public:
  Evaluation(const RegressionCorpus& corpus, const std::vector<std::vector<int>>& tests,
             const RegressionSettings& settings, DividedWork& work)
      : corpus_(corpus),
        plain_(without_classes(corpus)),
        tests_(tests),
        settings_(settings),
        work_(work),
        rows_(plain_, settings.seed),
        sds_(settings.prior_sds) {
    std::sort(sds_.begin(), sds_.end());
    for (const auto& test : tests_) {
      std::vector<int> inner;
      if (is_chosen(settings_)) {
        const std::vector<int> speakers = inner_speakers(test, corpus.num_speakers);
        require_inner_speakers(settings_, static_cast<std::size_t>(corpus.num_speakers), test.size());
        for (const int speaker : speakers) inner.push_back(index_of_set(test, speaker));
      }
      inner_.push_back(inner);
      outer_.push_back(index_of_set(test, -1));
    }
    for (const PredictedSet& set : sets_) check_training_rows(set.excluded);
  }

  std::vector<RegressionFold> run() {
    auto results = work_.run(kRegressionStage, sets_.size(), [&](std::size_t i) { return predict(i); });
    for (std::size_t i = 0; i < sets_.size(); ++i) take(results[i], sets_[i]);
    std::vector<RegressionFold> folds;
    for (std::size_t f = 0; f < tests_.size(); ++f) folds.push_back(fold_of(f));
    return folds;
  }

  // The only fold has no test speakers.
  Regressor train() {
    const RegressionFold fold = run().front();
    const RidgePosterior posterior = posterior_of({});
    Regressor result;
    result.columns = corpus_.table.columns;
    const std::vector<std::size_t> all = rows_.rows_without({});
    result.corpus = corpus_statistics(rows_.table(), all);
    result.num_rows = all.size();
    const MatrixXd axes = rows_.axes() * posterior.axes();
    const Eigen::RowVectorXd centre = posterior.centre() * posterior.axes();
    result.rank = static_cast<std::size_t>(axes.cols());
    for (Eigen::Index i = 0; i < axes.rows(); ++i)
      for (Eigen::Index j = 0; j < axes.cols(); ++j) result.axes.push_back(axes(i, j));
    result.centre.assign(centre.begin(), centre.end());
    result.eigenvalues.assign(posterior.eigenvalues().begin(), posterior.eigenvalues().end());
    for (std::size_t d = 0; d < corpus_.dimensions.size(); ++d) {
      const auto number = static_cast<Eigen::Index>(d);
      Regressor::Dimension dimension;
      dimension.name = corpus_.dimensions[d];
      dimension.prior_sd = fold.dimensions[d].prior_sd;
      dimension.mean = posterior.mean(number);
      dimension.noise_sd = posterior.noise_sd(number, dimension.prior_sd);
      const Eigen::VectorXd weights = posterior.weights(number, dimension.prior_sd);
      dimension.weights.assign(weights.begin(), weights.end());
      for (std::size_t k = 0; k < kNumKnowledge; ++k) dimension.factors[k] = fold.dimensions[d].known[k];
      result.dimensions.push_back(std::move(dimension));
    }
    return result;
  }

 private:
  // The index of the set that excludes these speakers. `speaker` -1: only the test speakers are excluded.
  int index_of_set(std::vector<int> excluded, int speaker) {
    if (speaker >= 0) excluded.push_back(speaker);
    std::sort(excluded.begin(), excluded.end());
    for (std::size_t i = 0; i < sets_.size(); ++i)
      if (sets_[i].excluded == excluded) return static_cast<int>(i);
    sets_.push_back({excluded, rows_.rows_of(excluded), 0, {}, {}});
    return static_cast<int>(sets_.size()) - 1;
  }

  double truth_of(std::size_t row, std::size_t dimension) const {
    return corpus_.truth[rows_.in_corpus(row) * corpus_.dimensions.size() + dimension];
  }

  void check_training_rows(const std::vector<int>& excluded) const {
    const std::vector<std::size_t> rows = rows_.rows_without(excluded);
    if (rows.size() < kLeastRows)
      throw InputError("folds: " + std::to_string(rows.size()) +
                       " recordings train a fold; a regression needs 4 or more");
    for (std::size_t d = 0; d < corpus_.dimensions.size(); ++d)
      if (std::all_of(rows.begin(), rows.end(),
                      [&](std::size_t row) { return truth_of(row, d) == truth_of(rows[0], d); }))
        throw InputError("folds: all recordings that train a fold have the same " + corpus_.dimensions[d] +
                         ", from which nothing can be learned");
  }

  RidgePosterior posterior_of(const std::vector<int>& excluded) const {
    const std::vector<std::size_t> rows = rows_.rows_without(excluded);
    const std::vector<Eigen::Index> indices(rows.begin(), rows.end());
    MatrixXd numbers(static_cast<Eigen::Index>(rows.size()),
                     static_cast<Eigen::Index>(corpus_.dimensions.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t d = 0; d < corpus_.dimensions.size(); ++d)
        numbers(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(d)) = truth_of(rows[i], d);
    return {rows_.x()(indices, Eigen::seq(0, rows_.axes().cols() - 1)), numbers};
  }

  Eigen::Index column_of(std::size_t dimension, std::size_t sd, std::size_t knowledge) const {
    return static_cast<Eigen::Index>((dimension * sds_.size() + sd) * kNumKnowledge + knowledge);
  }

  RidgePosterior::Turned known_rows(const RidgePosterior& posterior, const PredictedSet& set,
                                    SpeakerKnowledge knowledge) const {
    const Eigen::Index rank = rows_.axes().cols();
    if (knowledge == SpeakerKnowledge::own) {
      const std::vector<Eigen::Index> indices(set.tests.begin(), set.tests.end());
      return posterior.turned(rows_.x()(indices, Eigen::seq(0, rank - 1)));
    }
    const OtherRows others = rows_.less_known(set.excluded, knowledge);
    return posterior.turned(others.x.leftCols(rank), others.outside);
  }

  Numbers predict(std::size_t index) const {
    const PredictedSet& set = sets_[index];
    Numbers result;
    if (set.tests.empty()) return result;  // a fold of `train` has no test speakers
    const RidgePosterior posterior = posterior_of(set.excluded);
    const std::size_t dimensions = corpus_.dimensions.size();
    MatrixXd mean(static_cast<Eigen::Index>(set.tests.size()), column_of(dimensions, 0, 0)), scale = mean;
    for (std::size_t k = 0; k < kNumKnowledge; ++k) {
      const auto rows = known_rows(posterior, set, static_cast<SpeakerKnowledge>(k));
      for (std::size_t d = 0; d < dimensions; ++d)
        for (std::size_t s = 0; s < sds_.size(); ++s) {
          const auto predicted = posterior.predict(rows, static_cast<Eigen::Index>(d), sds_[s]);
          for (std::size_t i = 0; i < predicted.size(); ++i) {
            mean(static_cast<Eigen::Index>(i), column_of(d, s, k)) = predicted[i].mean;
            scale(static_cast<Eigen::Index>(i), column_of(d, s, k)) = predicted[i].scale;
          }
        }
      work_.still_working();
    }
    result.put(posterior.freedom());
    result.put(mean);
    result.put(scale);
    return result;
  }

  static void take(Numbers& from, PredictedSet& set) {
    if (set.tests.empty()) return;
    set.freedom = from.take();
    from.take(set.mean);
    from.take(set.scale);
  }

  PredictiveT prediction_of(const PredictedSet& set, std::size_t place, Eigen::Index column) const {
    const auto row = static_cast<Eigen::Index>(place);
    return {set.mean(row, column), set.scale(row, column), set.freedom};
  }

  // The inner predictions of fold f: for each training speaker that is left out in turn, predictions without
  // that speaker. The rows of test speakers, which each set excludes too, are not included.
  Judged inner_of(std::size_t f, std::size_t dimension, std::size_t sd, std::size_t knowledge) const {
    Judged judged;
    for (const int index : inner_[f]) {
      const PredictedSet& set = sets_[static_cast<std::size_t>(index)];
      for (std::size_t i = 0; i < set.tests.size(); ++i) {
        const int speaker = rows_.speaker_of(set.tests[i]);
        if (std::find(tests_[f].begin(), tests_[f].end(), speaker) != tests_[f].end()) continue;
        judged.truth.push_back(truth_of(set.tests[i], dimension));
        judged.predicted.push_back(prediction_of(set, i, column_of(dimension, sd, knowledge)));
      }
    }
    return judged;
  }

  // The smallest prior sd whose log density is within kTolerance of the largest.
  std::size_t choose_sd(std::size_t f, std::size_t dimension) const {
    constexpr double kTolerance = 0.01;
    if (sds_.size() == 1) return 0;
    std::vector<double> densities;
    for (std::size_t s = 0; s < sds_.size(); ++s)
      densities.push_back(choose_factor(inner_of(f, dimension, s, 0), settings_.sd_factor).inner_log_density);
    const double most = *std::max_element(densities.begin(), densities.end());
    std::size_t sd = 0;
    while (densities[sd] < most - kTolerance) ++sd;
    return sd;
  }

  RegressionFold fold_of(std::size_t f) const {
    const PredictedSet& set = sets_[static_cast<std::size_t>(outer_[f])];
    std::vector<std::size_t> places(set.tests.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return rows_.in_corpus(set.tests[a]) < rows_.in_corpus(set.tests[b]);
    });
    RegressionFold fold;
    for (const std::size_t place : places) fold.rows.push_back(rows_.in_corpus(set.tests[place]));
    for (std::size_t d = 0; d < corpus_.dimensions.size(); ++d) {
      const std::size_t sd = choose_sd(f, d);
      RegressionFold::Dimension& dimension = fold.dimensions.emplace_back();
      dimension.prior_sd = sds_[sd];
      for (std::size_t k = 0; k < kNumKnowledge; ++k) {
        RegressionPredictions& to = dimension.known[k];
        static_cast<SdFactor&>(to) =
            is_chosen(settings_)
                ? choose_factor(inner_of(f, d, sd, k), settings_.sd_factor)
                : SdFactor{settings_.sd_factor.value_or(1), std::numeric_limits<double>::quiet_NaN()};
        for (const std::size_t place : places) {
          PredictiveT one = prediction_of(set, place, column_of(d, sd, k));
          one.scale *= to.factor;
          to.of_row.push_back(one);
        }
      }
    }
    return fold;
  }

  const RegressionCorpus& corpus_;
  SoftmaxCorpus plain_;
  std::vector<std::vector<int>> tests_;
  RegressionSettings settings_;
  DividedWork& work_;
  SoftmaxRows rows_;
  std::vector<double> sds_;  // increasing
  std::vector<PredictedSet> sets_;
  std::vector<int> outer_;               // one set for each fold
  std::vector<std::vector<int>> inner_;  // the inner sets of each fold
};

}  // namespace

void require_inner_speakers(const RegressionSettings& settings, std::size_t speakers,
                            std::size_t most_tested) {
  if (is_chosen(settings) && speakers < most_tested + 2)
    throw InputError(
        "folds: fewer than two training speakers, so that none can be left out to choose by; give "
        "regression.sd_factor and one of regression.prior_sds");
}

std::vector<RegressionFold> evaluate_regression(const RegressionCorpus& corpus,
                                                const std::vector<std::vector<int>>& tests,
                                                const RegressionSettings& settings, int threads,
                                                const SoftmaxReport& report, Communicator& ranks) {
  require_sizes(corpus, settings);
  DividedWork work(ranks, threads, report);
  return Evaluation(corpus, tests, settings, work).run();
}

Regressor train_regression(const RegressionCorpus& corpus, const RegressionSettings& settings, int threads,
                           const SoftmaxReport& report, Communicator& ranks) {
  require_sizes(corpus, settings);
  DividedWork work(ranks, threads, report);
  return Evaluation(corpus, {{}}, settings, work).train();
}

}  // namespace emomc
