// Sorts, standardises and rotates the rows of a corpus for softmax regression.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/speech/softmax_evaluation.hpp"
#include "emomc/speech/speaker_knowledge.hpp"
#include "rotated_rows.hpp"
#include "softmax_model.hpp"

namespace emomc {

/// Throws std::invalid_argument if sizes disagree.
void require_sizes(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings);

/// Clips of rows, standardised and rotated.
struct ClippedRows {
  OtherRows rows;
  std::vector<std::size_t> of;  ///< the row of which each clip is taken
  std::vector<int> num_frames;
};

/// Rows sorted by speaker and id, so that no result depends on the order in the corpus. Row numbers below
/// refer to the sorted order. Lists of speakers are sorted.
class SoftmaxRows {
 public:
  /// `corpus` must outlive the object. `seed` determines which other recordings of a speaker are the known
  /// ones. The rows are rotated only for the prior ridge.
  SoftmaxRows(const SoftmaxCorpus& corpus, std::uint64_t seed, SoftmaxPrior prior = SoftmaxPrior::ridge);

  std::size_t size() const { return order_.size(); }
  int num_classes() const { return corpus_.num_classes; }
  const FunctionalTable& table() const { return table_; }  ///< sorted, not standardised
  std::size_t in_corpus(std::size_t row) const { return order_[row]; }
  int class_of(std::size_t row) const { return corpus_.class_of[order_[row]]; }
  int speaker_of(std::size_t row) const { return corpus_.speaker_of[order_[row]]; }
  const Eigen::MatrixXd& x() const { return rotated_.x; }
  const Eigen::MatrixXd& axes() const { return rotated_.axes; }
  /// The sd of an unrotated column of x() if the sd of the table's column is 1.
  double column_sd() const { return 1 / std::sqrt(static_cast<double>(table_.columns.size())); }

  /// The rows of `speakers`, or the rows of all other speakers, in increasing order.
  std::vector<std::size_t> rows_of(const std::vector<int>& speakers) const;
  std::vector<std::size_t> rows_without(const std::vector<int>& speakers) const;

  /// The rows with a class, of all speakers except `excluded`. Classes are weighted as in `settings`.
  SoftmaxProblem problem(const std::vector<int>& excluded, double prior_sd,
                         const SoftmaxSettings& settings) const;

  /// The rows of `excluded`, standardised by the given knowledge of their speakers and the corpus statistics
  /// of all other speakers. `knowledge` is not own.
  OtherRows less_known(const std::vector<int>& excluded, SpeakerKnowledge knowledge) const;

  /// The clips of the rows of `excluded`, standardised by knowledge of their speakers, which consists of
  /// whole recordings.
  ClippedRows clips(const std::vector<int>& excluded, SpeakerKnowledge knowledge) const;
  bool has_clips() const { return !corpus_.clips.rows.empty(); }
  /// The numbers of frames of the recordings of `rows`; empty: unknown.
  std::vector<int> num_frames_of(const std::vector<std::size_t>& rows) const;

 private:
  std::vector<std::size_t> enrolment(std::size_t row, std::size_t count) const;
  // Standardises `values`, which are the functionals of `row` or of a clip of that row.
  void standardize_less_known(std::span<double> values, std::size_t row, SpeakerKnowledge knowledge,
                              const CorpusStatistics& corpus) const;

  const SoftmaxCorpus& corpus_;
  std::vector<std::size_t> order_;  // row in the corpus of each sorted row
  FunctionalTable table_;
  RotatedRows rotated_;
  std::vector<std::vector<std::size_t>> shuffled_;  // the rows of each speaker, in a random order
  std::vector<std::size_t> place_;                  // [rows] place of each row in that random order
  std::vector<std::vector<std::size_t>> clips_;     // [rows] clips of each row, from long to short
};

}  // namespace emomc
