// Evaluates softmax regression on functionals, speakers left out: a penalised fit and a posterior.
// docs/softmax.md says what is computed.
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

/// The prior of the weights of the posterior: one normal distribution for all, whose sd is chosen; or a
/// regularised horseshoe, whose scales are parameters.
enum class SoftmaxPrior { ridge, horseshoe };

/// The most columns that the horseshoe takes.
inline constexpr std::size_t kMostHorseshoeColumns = 200;
/// Its steps of warm-up and draws by default, of folds and of inner folds.
inline constexpr int kHorseshoeWarmup = 400, kHorseshoeDraws = 1000;
inline constexpr int kHorseshoeInnerWarmup = 200, kHorseshoeInnerDraws = 150;
/// Throws InputError if the prior takes fewer columns. `what` they are, for the message.
void require_few_columns(SoftmaxPrior prior, std::size_t columns, const std::string& what);

struct SoftmaxSettings {
  /// Prior standard deviations to choose from, of the logit of a recording whose functionals are each one
  /// standard deviation from the speaker's mean; above 0. With the horseshoe they are those of the penalised
  /// fit alone.
  std::vector<double> prior_sds = {1, 2, 3, 6, 10, 18};
  SoftmaxPrior prior = SoftmaxPrior::ridge;
  double relevant_share =
      0.1;                  ///< of the columns, that is expected to matter; above 0 and below 1; horseshoe
  double slab_scale = 0.5;  ///< of the weight of a standardised column that matters; above 0; horseshoe
  std::optional<double> temper;  ///< a factor of logits; nullopt: learned
  /// SoftmaxTemper::frames, 0 or more; nullopt: learned from clips, where the corpus has them and the temper
  /// is learned, else 0.
  std::optional<double> temper_frames;
  double temperature = 1.0 / 64;  ///< the posterior is raised to the power 1 / temperature
  bool balanced = true;           ///< each class counts alike in training, however many recordings it has
  /// [num_classes] What each class counts in training, above 0, in place of `balanced`; empty: nothing else.
  std::vector<double> class_weights;
  int chains = 4, warmup = 150, draws = 1500;  ///< steps of each chain
  int inner_chains = 2, inner_warmup = 100, inner_draws = 75;
  std::uint64_t seed = 0;
};

/// A corpus whose emotions and speakers are numbered. A label of -1 is that of a row that nobody knows: it is
/// tested, and never trained on.
struct SoftmaxCorpus {
  FunctionalTable table;                  ///< not standardised
  std::vector<int> class_of, speaker_of;  ///< [table.rows.size()]
  int num_classes = 0, num_speakers = 0;
  /// Rows of clips of the table's recordings, whose labels they have, with their frames; there may be none.
  /// They are neither trained on nor tested.
  FunctionalTable clips;
};

/// A factor of logits, and how it was found.
struct SoftmaxTemper {
  double temper = 1;
  double inner_log_loss = 0;  ///< of training speakers left out in turn; NaN: the temper was given
  double frames = 0;          ///< the factor for a recording of n frames is temper * n / (n + frames)
};
/// The share of the temper that a recording of `num_frames` has; 1 where that is unknown, 0.
double share_of_temper(double frames, int num_frames);

/// One classifier of one fold.
struct SoftmaxPredictions : SoftmaxTemper {
  std::vector<double> log_probability;  ///< SoftmaxFold::rows.size() x num_classes
};

struct SoftmaxFold {
  std::vector<std::size_t> rows;  ///< of the test speakers, increasing; indices into the table
  double prior_sd = 0;            ///< the chosen one; with the horseshoe that of the penalised fit
  SoftmaxPredictions penalised;   ///< by the mode, which is the fit with an L2 penalty
  SoftmaxPredictions posterior;   ///< probabilities averaged over draws
  /// The posterior's predictions where less is known of the test speakers than all of their recordings:
  /// SpeakerKnowledge::five, one and corpus. The weights are the same, the temper is learned for each.
  std::array<SoftmaxPredictions, kNumKnowledge - 1> less_known;
  std::vector<double> probability_sd;  ///< rows.size() x num_classes, over draws of the posterior
  /// rows.size() x num_classes x chains x draws: log probabilities under each draw, to judge convergence by.
  std::vector<double> draw_log_probability;
  double acceptance = 0;
  /// The posterior's predictions for the training speakers that were left out in turn, by the posterior of
  /// the other ones, at the temper; empty where the temper was given.
  std::vector<std::size_t> inner_rows;
  std::vector<double> inner_log_probability;  ///< inner_rows.size() x num_classes
};

/// Called after each unit of work, and about twice a second within long ones, never by two threads at once,
/// with the name of the stage, the units done and all units of the stage; with several ranks, those of this
/// rank. It may throw to end the work.
using SoftmaxReport = std::function<void(const std::string& stage, std::size_t done, std::size_t all)>;

/// Another rank's report has thrown, and ends the work of all.
struct StoppedElsewhere : std::runtime_error {
  StoppedElsewhere() : std::runtime_error("softmax regression: another rank has stopped") {}
};

/// The names of the stages, in their order.
std::vector<std::string> softmax_stages();

/// The number of training speakers that are left out in turn to choose the settings of a fold.
inline constexpr int kMostInnerSpeakers = 6;

/// Collective: ranks have equal arguments, `threads` and `report` apart, and divide fits, inner posteriors
/// and folds. Evaluates each set of test speakers; every rank has the results of all folds, but
/// draw_log_probability only of those in its range_of_rank(). The results do not depend on the numbers of
/// threads and ranks, on the order of the rows or on the labels of a fold's test speakers. Throws InputError
/// if a fold's training speakers lack a class or if there are fewer than two of them while something has to
/// be chosen, or if the horseshoe is given more than kMostHorseshoeColumns columns, on every rank;
/// StoppedElsewhere; and std::invalid_argument where sizes disagree.
std::vector<SoftmaxFold> evaluate_softmax(const SoftmaxCorpus& corpus,
                                          const std::vector<std::vector<int>>& tests,
                                          const SoftmaxSettings& settings, int threads,
                                          const SoftmaxReport& report, Communicator& ranks = single_rank());

}  // namespace emomc
