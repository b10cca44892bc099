// Evaluates Bayesian linear regression of numbers, such as arousal, on functionals, with test speakers left
// out of training. docs/regression.md describes the computation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/speech/functional_table.hpp"
#include "emomc/speech/regression_scores.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

struct RegressionSettings {
  /// The prior standard deviations among which one is chosen, above 0. The standard deviation refers to the
  /// contribution to the prediction of a recording whose functionals are each one standard deviation from the
  /// speaker's mean, in units of the noise's standard deviation.
  std::vector<double> prior_sds = {0.1, 0.2, 0.3, 0.6, 1, 2, 3, 6, 10, 20};
  std::optional<double> sd_factor;  ///< factor of predictive standard deviations; nullopt: learned
  std::uint64_t seed = 0;  ///< determines which recordings of a speaker serve as the other, known ones
};

/// A corpus with numbers for each recording. Speakers are numbered from 0.
struct RegressionCorpus {
  FunctionalTable table;        ///< functionals, not standardised
  std::vector<int> speaker_of;  ///< [rows]
  int num_speakers = 0;
  std::vector<std::string> dimensions;  ///< names of what is predicted, such as "arousal"
  std::vector<double> truth;            ///< rows x dimensions, row-major, finite
};

/// A factor of predictive standard deviations, and the criterion by which it was chosen.
struct SdFactor {
  double factor = 1;
  double inner_log_density = 0;  ///< mean over training speakers left out in turn; NaN: nothing was chosen
};

/// The predictions of one dimension with one kind of knowledge of the speaker. Their scales include the
/// factor.
struct RegressionPredictions : SdFactor {
  std::vector<PredictiveT> of_row;  ///< [RegressionFold::rows]
};

struct RegressionFold {
  std::vector<std::size_t> rows;  ///< rows of the test speakers, increasing; indices into the table
  struct Dimension {
    double prior_sd = 0;                                     ///< chosen prior standard deviation
    std::array<RegressionPredictions, kNumKnowledge> known;  ///< indexed by SpeakerKnowledge
  };
  std::vector<Dimension> dimensions;
};

/// The name of the only stage whose progress is reported.
inline constexpr const char* kRegressionStage = "regressions";

/// Throws InputError if fewer than two speakers train a fold and a setting has to be chosen by leaving
/// training speakers out in turn. `most_tested` is the largest number of test speakers of a fold.
void require_inner_speakers(const RegressionSettings& settings, std::size_t speakers,
                            std::size_t most_tested);

/// Evaluates each set of test speakers. Collective: all ranks call this with equal arguments, except
/// `threads` and `report`, and divide the training sets; every rank receives all results. The results do not
/// depend on the numbers of threads and ranks, on the order of the rows or on the numbers of a fold's test
/// speakers. Throws InputError if fewer than two speakers train a fold and something has to be chosen, if a
/// training set has fewer than four recordings, or if all of them have the same number. Throws
/// StoppedElsewhere if another rank has stopped, and std::invalid_argument if sizes disagree or a number is
/// not finite.
std::vector<RegressionFold> evaluate_regression(const RegressionCorpus& corpus,
                                                const std::vector<std::vector<int>>& tests,
                                                const RegressionSettings& settings, int threads,
                                                const SoftmaxReport& report,
                                                Communicator& ranks = single_rank());

/// A regression that was trained on a whole corpus, for predicting other recordings' numbers.
struct Regressor {
  std::vector<std::string> columns;  ///< names of the columns of a row
  CorpusStatistics corpus;           ///< statistics of the training recordings
  std::size_t num_rows = 0;          ///< number of training recordings
  std::size_t rank = 0;
  std::vector<double> axes;         ///< columns.size() x rank, row-major: principal axes of the training rows
  std::vector<double> centre;       ///< [rank] mean of the rotated training rows
  std::vector<double> eigenvalues;  ///< [rank] sums of squares of the rotated training rows about `centre`
  struct Dimension {
    std::string name;
    double prior_sd = 1;
    double mean = 0;                              ///< mean of the training recordings' numbers
    double noise_sd = 1;                          ///< scale of the posterior of the noise
    std::vector<double> weights;                  ///< [rank]
    std::array<SdFactor, kNumKnowledge> factors;  ///< indexed by SpeakerKnowledge
  };
  std::vector<Dimension> dimensions;
};

/// Trains a regression on a whole corpus. Collective as evaluate_regression(); every rank receives the
/// result. Throws the exceptions of evaluate_regression.
Regressor train_regression(const RegressionCorpus& corpus, const RegressionSettings& settings, int threads,
                           const SoftmaxReport& report, Communicator& ranks = single_rank());

/// The predictive distribution of each dimension of one recording. `row` [columns.size()] must be
/// standardised with the kind of knowledge of its speaker that `knowledge` states. Throws
/// std::invalid_argument if the sizes disagree.
std::vector<PredictiveT> predict_numbers(const Regressor& regressor, const std::vector<double>& row,
                                         SpeakerKnowledge knowledge);

}  // namespace emomc
