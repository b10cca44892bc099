#include "emomc/speech/softmax_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "rotated_rows.hpp"
#include "softmax_model.hpp"
#include "softmax_prediction.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

const std::vector<std::string> kStages{"penalised fits", "posteriors of inner folds", "posteriors"};

// The training speakers that a fold leaves out in turn: all, or the nearest ones in the circle of all
// speakers, so that neighbouring folds share fits.
std::vector<int> inner_speakers(const std::vector<int>& test, int num_speakers) {
  std::vector<int> inner;
  const int first = test.empty() ? 0 : test.front();
  for (int distance = 1; distance < num_speakers && static_cast<int>(inner.size()) < kMostInnerSpeakers;
       ++distance)
    for (const int side : {1, -1}) {
      const int speaker = ((first + side * distance) % num_speakers + num_speakers) % num_speakers;
      const bool taken = std::find(test.begin(), test.end(), speaker) != test.end() ||
                         std::find(inner.begin(), inner.end(), speaker) != inner.end();
      if (!taken && static_cast<int>(inner.size()) < kMostInnerSpeakers) inner.push_back(speaker);
    }
  return inner;
}

// Everything that is fitted to the speakers that are not `excluded`.
struct TrainedSet {
  std::vector<int> excluded;       // sorted
  std::vector<std::size_t> tests;  // rows of the excluded speakers, increasing
  std::vector<MatrixXd> modes;     // for each prior sd
  std::map<std::size_t, MatrixXd>
      averaged;  // by index of the prior sd: log probabilities over draws, tests x K
};

class Evaluation {
 public:
  Evaluation(const SoftmaxCorpus& corpus, const std::vector<std::vector<int>>& tests,
             const SoftmaxSettings& settings, int threads, const SoftmaxReport& report)
      : corpus_(corpus), tests_(tests), settings_(settings), report_(report), pool_(threads) {
    FunctionalTable table = sorted_table();
    standardize_by_speaker(table);
    x_ = rotated_rows(table);
    sds_ = settings.prior_sds;
    std::sort(sds_.begin(), sds_.end());
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
    check_classes();
    fit_modes();
    std::vector<SoftmaxFold> folds(tests_.size());
    std::vector<std::size_t> chosen(tests_.size());
    std::set<std::pair<int, std::size_t>> inner_draws;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      chosen[f] = choose(f, folds[f]);
      folds[f].prior_sd = sds_[chosen[f]];
      if (!settings_.temper)
        for (const int set : inner_[tests_[f]]) inner_draws.insert({set, chosen[f]});
    }
    const std::vector<std::pair<int, std::size_t>> jobs(inner_draws.begin(), inner_draws.end());
    in_parallel(1, jobs.size(),
                [&](std::size_t i) { draw(jobs[i].first, jobs[i].second, inner_sampling()); });
    for (std::size_t f = 0; f < folds.size(); ++f) learn_posterior_temper(f, chosen[f], folds[f]);
    in_parallel(2, folds.size(), [&](std::size_t f) { predict(f, chosen[f], folds[f]); });
    return folds;
  }

 private:
  bool is_chosen() const { return !settings_.temper || settings_.prior_sds.size() > 1; }

  // Rows by speaker and id, so that no result depends on their order in the corpus.
  FunctionalTable sorted_table() {
    const auto& rows = corpus_.table.rows;
    order_.resize(rows.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(rows[a].speaker, rows[a].id) < std::pair(rows[b].speaker, rows[b].id);
    });
    FunctionalTable table{corpus_.table.columns, {}, {}};
    const std::size_t stride = table.columns.size();
    for (const std::size_t row : order_) {
      table.rows.push_back(rows[row]);
      const auto begin = corpus_.table.values.begin() + static_cast<std::ptrdiff_t>(row * stride);
      table.values.insert(table.values.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
    }
    return table;
  }

  int class_of(std::size_t sorted) const { return corpus_.class_of[order_[sorted]]; }
  int speaker_of(std::size_t sorted) const { return corpus_.speaker_of[order_[sorted]]; }

  // `speaker` -1: the test speakers alone are left out.
  int index_of_set(std::vector<int> excluded, int speaker) {
    if (speaker >= 0) excluded.push_back(speaker);
    std::sort(excluded.begin(), excluded.end());
    for (std::size_t i = 0; i < sets_.size(); ++i)
      if (sets_[i].excluded == excluded) return static_cast<int>(i);
    TrainedSet set;
    set.excluded = excluded;
    for (std::size_t row = 0; row < order_.size(); ++row)
      if (is_excluded(set, row)) set.tests.push_back(row);
    sets_.push_back(std::move(set));
    return static_cast<int>(sets_.size()) - 1;
  }
  bool is_excluded(const TrainedSet& set, std::size_t row) const {
    return std::binary_search(set.excluded.begin(), set.excluded.end(), speaker_of(row));
  }

  void check_classes() const {
    for (const int outer : outer_) {
      std::set<int> seen;
      for (std::size_t row = 0; row < order_.size(); ++row)
        if (!is_excluded(sets_[outer], row) && class_of(row) >= 0) seen.insert(class_of(row));
      if (static_cast<int>(seen.size()) < corpus_.num_classes)
        throw InputError(
            "folds: a class has no utterance of a training speaker; leave it out by corpus.classes");
    }
  }

  SoftmaxProblem problem_of(const TrainedSet& set, double prior_sd) const {
    SoftmaxProblem problem;
    problem.num_classes = corpus_.num_classes;
    problem.precision = 1 / (prior_sd * prior_sd);
    std::vector<Eigen::Index> rows;
    std::vector<double> count(static_cast<std::size_t>(corpus_.num_classes), 0.0);
    for (std::size_t row = 0; row < order_.size(); ++row) {
      if (is_excluded(set, row) || class_of(row) < 0) continue;
      rows.push_back(static_cast<Eigen::Index>(row));
      problem.truth.push_back(class_of(row));
      ++count[static_cast<std::size_t>(class_of(row))];
    }
    const auto classes =
        static_cast<double>(std::count_if(count.begin(), count.end(), [](double c) { return c > 0; }));
    problem.x = x_(rows, Eigen::all);
    problem.row_weight = Eigen::VectorXd::Ones(problem.x.rows());
    for (std::size_t i = 0; i < rows.size() && settings_.balanced; ++i)
      problem.row_weight(static_cast<Eigen::Index>(i)) =
          static_cast<double>(rows.size()) / classes / count[static_cast<std::size_t>(problem.truth[i])];
    return problem;
  }

  // Logits of the rows of a set's excluded speakers.
  MatrixXd logits_of(const TrainedSet& set, const MatrixXd& weights) const {
    std::vector<Eigen::Index> rows(set.tests.begin(), set.tests.end());
    return x_(rows, Eigen::all) * weights * contrasts(corpus_.num_classes).transpose();
  }

  void in_parallel(std::size_t stage, std::size_t count, const std::function<void(std::size_t)>& work) {
    std::mutex mutex;
    std::size_t done = 0;
    report_(kStages[stage], 0, count);
    pool_.for_each(count, [&](std::size_t i, int) {
      work(i);
      const std::lock_guard lock(mutex);
      report_(kStages[stage], ++done, count);
    });
  }

  void fit_modes() {
    in_parallel(0, sets_.size(), [&](std::size_t i) {
      TrainedSet& set = sets_[i];
      MatrixXd weights = MatrixXd::Zero(x_.cols(), corpus_.num_classes - 1);
      for (const double sd : sds_) {
        weights = softmax_mode(problem_of(set, sd), weights);
        set.modes.push_back(weights);
      }
    });
  }

  SoftmaxSampling inner_sampling() const {
    return {settings_.inner_chains, settings_.inner_warmup, settings_.inner_draws,
            settings_.temperature,  settings_.seed,         0};
  }

  void draw(int index, std::size_t sd, SoftmaxSampling sampling) {
    TrainedSet& set = sets_[static_cast<std::size_t>(index)];
    sampling.stream = static_cast<std::uint32_t>(index);
    const SoftmaxDraws draws = sample_softmax(problem_of(set, sds_[sd]), set.modes[sd], sampling);
    std::vector<MatrixXd> logits;
    for (const MatrixXd& weights : draws.weights) logits.push_back(logits_of(set, weights));
    MatrixXd averaged = averaged_log_probability(logits);
    const std::lock_guard lock(mutex_);
    set.averaged[sd] = std::move(averaged);
  }

  // The rows of the inner folds of fold f, with the log probabilities or logits that `of` gives for a set;
  // rows of a test speaker, which a set excludes too, are left out, as are rows without a class.
  template <class Of>
  std::vector<LabelledRows> inner_rows(std::size_t f, const Of& of) const {
    std::vector<LabelledRows> parts;
    for (const int index : inner_.at(tests_[f])) {
      const TrainedSet& set = sets_[static_cast<std::size_t>(index)];
      LabelledRows part;
      std::vector<Eigen::Index> rows;
      for (std::size_t i = 0; i < set.tests.size(); ++i) {
        const int speaker = speaker_of(set.tests[i]), label = class_of(set.tests[i]);
        if (std::find(tests_[f].begin(), tests_[f].end(), speaker) != tests_[f].end() || label < 0) continue;
        rows.push_back(static_cast<Eigen::Index>(i));
        part.truth.push_back(label);
      }
      part.log_probability = of(set)(rows, Eigen::all);
      parts.push_back(std::move(part));
    }
    return parts;
  }

  // Chooses the prior sd by the modes' log loss: the smallest one whose loss is within kTolerance of the
  // least, because the loss hardly changes from there on while weights grow.
  std::size_t choose(std::size_t f, SoftmaxFold& fold) const {
    constexpr double kTolerance = 0.01;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (!is_chosen()) {
      fold.penalised.temper = settings_.temper.value_or(1);
      fold.penalised.inner_log_loss = nan;
      return 0;
    }
    std::vector<ChosenTemper> losses;
    for (std::size_t sd = 0; sd < sds_.size(); ++sd)
      losses.push_back(
          choose_temper(inner_rows(f, [&](const TrainedSet& set) { return logits_of(set, set.modes[sd]); }),
                        settings_.temper));
    double least = std::numeric_limits<double>::infinity();
    for (const ChosenTemper& one : losses) least = std::min(least, one.log_loss);
    std::size_t sd = 0;
    while (losses[sd].log_loss > least + kTolerance) ++sd;
    fold.penalised.temper = losses[sd].temper;
    fold.penalised.inner_log_loss = losses[sd].log_loss;
    return sd;
  }

  void learn_posterior_temper(std::size_t f, std::size_t sd, SoftmaxFold& fold) const {
    fold.posterior.temper = settings_.temper.value_or(1);
    fold.posterior.inner_log_loss = std::numeric_limits<double>::quiet_NaN();
    if (settings_.temper) return;
    const ChosenTemper learned =
        choose_temper(inner_rows(f, [&](const TrainedSet& set) { return set.averaged.at(sd); }), {});
    fold.posterior.temper = learned.temper;
    fold.posterior.inner_log_loss = learned.log_loss;
  }

  void predict(std::size_t f, std::size_t sd, SoftmaxFold& fold) {
    const auto index = static_cast<std::size_t>(outer_[f]);
    const TrainedSet& set = sets_[index];
    const SoftmaxSampling sampling{settings_.chains, settings_.warmup,
                                   settings_.draws,  settings_.temperature,
                                   settings_.seed,   static_cast<std::uint32_t>(index)};
    const SoftmaxDraws draws = sample_softmax(problem_of(set, sds_[sd]), set.modes[sd], sampling);
    fold.acceptance = draws.acceptance;
    std::vector<MatrixXd> logits;
    for (const MatrixXd& weights : draws.weights) logits.push_back(logits_of(set, weights));
    const MatrixXd mode = tempered_log_probability(logits_of(set, set.modes[sd]), fold.penalised.temper);
    const MatrixXd averaged =
        tempered_log_probability(averaged_log_probability(logits), fold.posterior.temper);
    for (MatrixXd& one : logits) one = tempered_log_probability(one, fold.posterior.temper);
    // From the sorted order to increasing rows of the corpus.
    std::vector<std::pair<std::size_t, Eigen::Index>> places;
    for (std::size_t i = 0; i < set.tests.size(); ++i)
      places.emplace_back(order_[set.tests[i]], static_cast<Eigen::Index>(i));
    std::sort(places.begin(), places.end());
    for (const auto& [row, place] : places) {
      fold.rows.push_back(row);
      for (Eigen::Index k = 0; k < corpus_.num_classes; ++k) {
        fold.penalised.log_probability.push_back(mode(place, k));
        fold.posterior.log_probability.push_back(averaged(place, k));
        append_draws(logits, place, k, fold);
      }
    }
  }

  // The log probability of one class of one row under each draw, and the standard deviation of the
  // probability.
  static void append_draws(const std::vector<MatrixXd>& draws, Eigen::Index row, Eigen::Index k,
                           SoftmaxFold& fold) {
    double sum = 0, squares = 0;
    for (const MatrixXd& draw : draws) {
      const double p = std::exp(draw(row, k));
      fold.draw_log_probability.push_back(draw(row, k));
      sum += p;
      squares += p * p;
    }
    const auto n = static_cast<double>(draws.size());
    fold.probability_sd.push_back(std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n))));
  }

  const SoftmaxCorpus& corpus_;
  std::vector<std::vector<int>> tests_;
  SoftmaxSettings settings_;
  const SoftmaxReport& report_;
  ThreadPool pool_;
  std::mutex mutex_;
  std::vector<double> sds_;         // increasing
  std::vector<std::size_t> order_;  // of the corpus's rows
  MatrixXd x_;                      // rows in that order
  std::vector<TrainedSet> sets_;
  std::vector<int> outer_;                              // a set for each fold
  std::map<std::vector<int>, std::vector<int>> inner_;  // sets of each fold, by its test speakers
};

}  // namespace

std::vector<std::string> softmax_stages() { return kStages; }

std::vector<SoftmaxFold> evaluate_softmax(const SoftmaxCorpus& corpus,
                                          const std::vector<std::vector<int>>& tests,
                                          const SoftmaxSettings& settings, int threads,
                                          const SoftmaxReport& report) {
  const std::size_t rows = corpus.table.rows.size();
  if (corpus.class_of.size() != rows || corpus.speaker_of.size() != rows || settings.prior_sds.empty() ||
      corpus.table.values.size() != rows * corpus.table.columns.size())
    throw std::invalid_argument("evaluate_softmax: sizes disagree");
  return Evaluation(corpus, tests, settings, threads, report).run();
}

}  // namespace emomc
