// The rows of a corpus as softmax regression sees them: sorted, standardised and rotated.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "emomc/speech/softmax_evaluation.hpp"
#include "emomc/speech/speaker_knowledge.hpp"
#include "rotated_rows.hpp"
#include "softmax_model.hpp"

namespace emomc {

/// Rows by speaker and id, so that no result depends on their order in the corpus. Row numbers below are
/// those of this order. Lists of speakers are sorted.
class SoftmaxRows {
 public:
  /// `corpus` must outlive the object. `seed` decides which recordings of a speaker are known beside one.
  SoftmaxRows(const SoftmaxCorpus& corpus, std::uint64_t seed);

  std::size_t size() const { return order_.size(); }
  int num_classes() const { return corpus_.num_classes; }
  const FunctionalTable& table() const { return table_; }  ///< sorted, not standardised
  std::size_t in_corpus(std::size_t row) const { return order_[row]; }
  int class_of(std::size_t row) const { return corpus_.class_of[order_[row]]; }
  int speaker_of(std::size_t row) const { return corpus_.speaker_of[order_[row]]; }
  const Eigen::MatrixXd& x() const { return rotated_.x; }
  const Eigen::MatrixXd& axes() const { return rotated_.axes; }

  /// The rows of `speakers`, or those of all others, increasing.
  std::vector<std::size_t> rows_of(const std::vector<int>& speakers) const;
  std::vector<std::size_t> rows_without(const std::vector<int>& speakers) const;

  /// The rows with a class of all speakers but `excluded`. `balanced`: each class counts alike.
  SoftmaxProblem problem(const std::vector<int>& excluded, double prior_sd, bool balanced) const;

  /// The rows of `excluded`, standardised by what is known of their speakers, given the statistics of all
  /// others. `knowledge` is not own.
  OtherRows less_known(const std::vector<int>& excluded, SpeakerKnowledge knowledge) const;

 private:
  std::vector<std::size_t> enrolment(std::size_t row, std::size_t count) const;

  const SoftmaxCorpus& corpus_;
  std::vector<std::size_t> order_;  // of the corpus's rows
  FunctionalTable table_;
  RotatedRows rotated_;
  std::vector<std::vector<std::size_t>> shuffled_;  // the rows of each speaker, in a random order
  std::vector<std::size_t> place_;                  // of each row in that order
};

}  // namespace emomc
