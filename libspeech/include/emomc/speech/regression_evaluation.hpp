// Evaluates Bayesian linear regression of numbers such as arousal on functionals, speakers left out.
// docs/regression.md says what is computed.
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
  /// Prior standard deviations to choose from, above 0: of what a recording whose functionals are each one
  /// standard deviation from the speaker's mean adds to the prediction, in units of the noise's standard
  /// deviation.
  std::vector<double> prior_sds = {0.1, 0.2, 0.3, 0.6, 1, 2, 3, 6, 10, 20};
  std::optional<double> sd_factor;  ///< of predictive standard deviations; nullopt: learned
  std::uint64_t seed = 0;           ///< decides which recordings of a speaker are known beside one
};

/// A corpus with numbers for each recording. Speakers are numbered from 0.
struct RegressionCorpus {
  FunctionalTable table;        ///< not standardised
  std::vector<int> speaker_of;  ///< [rows]
  int num_speakers = 0;
  std::vector<std::string> dimensions;  ///< what is predicted: "arousal"
  std::vector<double> truth;            ///< rows x dimensions, row-major, finite
};

/// A factor of predictive standard deviations, and how it was found.
struct SdFactor {
  double factor = 1;
  double inner_log_density = 0;  ///< mean, of training speakers left out in turn; NaN: nothing was chosen
};

/// The predictions of one dimension by what is known of the speaker; their scales have the factor in them.
struct RegressionPredictions : SdFactor {
  std::vector<PredictiveT> of_row;  ///< [RegressionFold::rows]
};

struct RegressionFold {
  std::vector<std::size_t> rows;  ///< of the test speakers, increasing; indices into the table
  struct Dimension {
    double prior_sd = 0;                                     ///< the chosen one
    std::array<RegressionPredictions, kNumKnowledge> known;  ///< by SpeakerKnowledge
  };
  std::vector<Dimension> dimensions;
};

/// The name of the only stage that is reported.
inline constexpr const char* kRegressionStage = "regressions";

/// Throws InputError if fewer than two speakers train a fold while something is to be chosen by leaving them
/// out in turn. `most_tested`: the most test speakers of a fold.
void require_inner_speakers(const RegressionSettings& settings, std::size_t speakers,
                            std::size_t most_tested);

/// Collective: ranks have equal arguments, `threads` and `report` apart, and divide the training sets; every
/// rank has all results. They do not depend on the numbers of threads and ranks, on the order of the rows or
/// on the numbers of a fold's test speakers. Throws InputError if fewer than two speakers train a fold while
/// something has to be chosen, if a training set has fewer than four recordings, or where all of them have
/// the same number; StoppedElsewhere; and std::invalid_argument where sizes disagree or a number is not
/// finite.
std::vector<RegressionFold> evaluate_regression(const RegressionCorpus& corpus,
                                                const std::vector<std::vector<int>>& tests,
                                                const RegressionSettings& settings, int threads,
                                                const SoftmaxReport& report,
                                                Communicator& ranks = single_rank());

/// A regression that is trained on a whole corpus, to predict other recordings' numbers with.
struct Regressor {
  std::vector<std::string> columns;  ///< of a row
  CorpusStatistics corpus;           ///< of the training recordings
  std::size_t num_rows = 0;          ///< training recordings
  std::size_t rank = 0;
  std::vector<double> axes;         ///< columns.size() x rank, row-major: principal axes of training rows
  std::vector<double> centre;       ///< [rank] the mean of the rotated training rows
  std::vector<double> eigenvalues;  ///< [rank] sums of squares of the rotated training rows about it
  struct Dimension {
    std::string name;
    double prior_sd = 1;
    double mean = 0;                              ///< of the training recordings' numbers
    double noise_sd = 1;                          ///< the scale of the posterior of the noise
    std::vector<double> weights;                  ///< [rank]
    std::array<SdFactor, kNumKnowledge> factors;  ///< by SpeakerKnowledge
  };
  std::vector<Dimension> dimensions;
};

/// Collective as evaluate_regression(); every rank has the result. Exceptions are those of
/// evaluate_regression.
Regressor train_regression(const RegressionCorpus& corpus, const RegressionSettings& settings, int threads,
                           const SoftmaxReport& report, Communicator& ranks = single_rank());

/// The predictive distribution of each dimension of one recording. `row`: [columns.size()], standardised by
/// what is known of its speaker, `knowledge`. Throws std::invalid_argument where sizes disagree.
std::vector<PredictiveT> predict_numbers(const Regressor& regressor, const std::vector<double>& row,
                                         SpeakerKnowledge knowledge);

}  // namespace emomc
