// Evaluates softmax regression on functionals, by a penalised fit and by a posterior, with test speakers left
// out of training. docs/softmax.md describes the computation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/speech/functional_table.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

/// The prior of the weights: one normal distribution for all weights, averaged over its sd; or a regularised
/// horseshoe, whose scales are parameters.
enum class SoftmaxPrior { ridge, horseshoe };

/// The maximum number of columns with the horseshoe.
inline constexpr std::size_t kMostHorseshoeColumns = 200;
/// Default numbers of warm-up steps with the horseshoe, for folds, and of warm-up steps and draws for inner
/// folds.
inline constexpr int kHorseshoeWarmup = 400;
inline constexpr int kHorseshoeInnerWarmup = 200, kHorseshoeInnerDraws = 150;
/// Throws InputError if `columns` is more than the prior allows. `what` describes the columns in the message.
void require_few_columns(SoftmaxPrior prior, std::size_t columns, const std::string& what);

struct SoftmaxSettings {
  /// The prior standard deviations, above 0, over which the posterior is averaged and of which the penalised
  /// fit uses one. The standard deviation is that of the logit of a recording whose functionals are each one
  /// standard deviation from the speaker's mean. With the horseshoe, they concern only the penalised fit.
  std::vector<double> prior_sds = {1, 3, 10};
  SoftmaxPrior prior = SoftmaxPrior::ridge;
  /// For the horseshoe: expected share of relevant columns; above 0 and below 1.
  double relevant_share = 0.1;
  /// For the horseshoe: scale of the weights of relevant standardised columns; above 0.
  double slab_scale = 0.5;
  std::optional<double> temper;  ///< factor of logits; nullopt: learned
  /// SoftmaxTemper::frames, 0 or more. nullopt: learned from clips if the corpus has clips and the temper is
  /// learned, otherwise 0.
  std::optional<double> temper_frames;
  double temperature = 1.0 / 64;  ///< temperature; the posterior is raised to the power 1 / temperature
  /// Whether each class has the same weight in training, however many recordings it has.
  bool balanced = true;
  /// [num_classes] Weight of each class in training, above 0, in place of `balanced`; empty: `balanced`
  /// determines the weights.
  std::vector<double> class_weights;
  /// Numbers of chains, and of steps of each chain, of each posterior that is averaged.
  int chains = 4, warmup = 150, draws = 1000;
  int inner_chains = 2, inner_warmup = 100, inner_draws = 75;
  std::uint64_t seed = 0;
};

/// A corpus with numbered emotions and speakers. A row whose emotion is unknown has the label -1; it is
/// tested, but not used in training.
struct SoftmaxCorpus {
  FunctionalTable table;                  ///< functionals, not standardised
  std::vector<int> class_of, speaker_of;  ///< [table.rows.size()]
  int num_classes = 0, num_speakers = 0;
  /// Rows of clips of the table's recordings, with the labels of these recordings and the clips' numbers of
  /// frames; may be empty. Clips are used neither in training nor in testing.
  FunctionalTable clips;
};

/// A factor of logits, and the criterion by which it was chosen.
struct SoftmaxTemper {
  double temper = 1;
  double inner_log_loss = 0;  ///< mean over training speakers left out in turn; NaN: nothing was chosen
  double frames = 0;          ///< the factor for a recording of n frames is temper * n / (n + frames)
};
/// The share of the temper for a recording of `num_frames` frames; 1 if that number is 0, which means
/// unknown.
double share_of_temper(double frames, int num_frames);

/// Predictions of one classifier in one fold.
struct SoftmaxPredictions : SoftmaxTemper {
  std::vector<double> log_probability;  ///< SoftmaxFold::rows.size() x num_classes
};

/// A prior sd, and the weight of its posterior in the average over posteriors.
struct WeightedSd {
  double prior_sd, weight;
};

struct SoftmaxFold {
  std::vector<std::size_t> rows;  ///< rows of the test speakers, increasing; indices into the table
  double prior_sd = 0;            ///< prior sd of the penalised fit
  /// The posteriors that are averaged; the weights sum to 1. Empty with the horseshoe, which has one
  /// posterior.
  std::vector<WeightedSd> prior_sds;
  SoftmaxPredictions penalised;  ///< predictions from the posterior mode, which is the fit with an L2 penalty
  SoftmaxPredictions posterior;  ///< probabilities averaged over posterior draws
  /// The posterior's predictions if less is known of a test speaker than all recordings:
  /// SpeakerKnowledge::five, one and corpus. The weights are the same; a temper is learned for each kind of
  /// knowledge.
  std::array<SoftmaxPredictions, kNumKnowledge - 1> less_known;
  std::vector<double> probability_sd;  ///< rows.size() x num_classes: sd over draws of the posterior
  /// For each posterior that is averaged, rows.size() x num_classes x chains x draws of this posterior: log
  /// probabilities under each draw, from which convergence is judged.
  std::vector<std::vector<double>> draw_log_probability;
  double acceptance = 0;  ///< weighted mean over the posteriors
  /// The posterior's predictions, with the temper applied, for training speakers that were left out in turn.
  /// Each prediction uses the posterior of the other training speakers. Empty if the temper was given.
  std::vector<std::size_t> inner_rows;
  std::vector<double> inner_log_probability;  ///< inner_rows.size() x num_classes
};

/// Called after each unit of work, and about twice a second within long units, never by two threads at once.
/// The arguments are the name of the stage, the number of completed units and the number of all units of the
/// stage; with several ranks, these are the units of this rank. An exception of the function ends the work.
using SoftmaxReport = std::function<void(const std::string& stage, std::size_t done, std::size_t all)>;

/// Thrown if another rank's report has thrown an exception, which ends the work of all ranks.
struct StoppedElsewhere : std::runtime_error {
  StoppedElsewhere() : std::runtime_error("softmax regression: another rank has stopped") {}
};

/// The names of the stages, in their order.
std::vector<std::string> softmax_stages();

/// The number of training speakers that are left out in turn to choose the settings of a fold.
inline constexpr int kMostInnerSpeakers = 6;

/// Evaluates each set of test speakers. Collective: all ranks call this with equal arguments, except
/// `threads` and `report`, and divide fits, inner posteriors and folds. Every rank receives the results of
/// all folds, but draw_log_probability only of the folds in its range_of_rank(). The results do not depend on
/// the numbers of threads and ranks, on the order of the rows or on the labels of a fold's test speakers.
/// Throws InputError, on every rank, if a fold's training speakers lack a class, if there are fewer than two
/// of them and something has to be chosen, or if there are more than kMostHorseshoeColumns columns with the
/// horseshoe. Throws StoppedElsewhere if another rank has stopped, and std::invalid_argument if sizes
/// disagree.
std::vector<SoftmaxFold> evaluate_softmax(const SoftmaxCorpus& corpus,
                                          const std::vector<std::vector<int>>& tests,
                                          const SoftmaxSettings& settings, int threads,
                                          const SoftmaxReport& report, Communicator& ranks = single_rank());

}  // namespace emomc
