// Computes class probabilities of recordings with a trained model.
#pragma once

#include <memory>
#include <vector>

#include "class_model.hpp"
#include "emomc/emotion/recordings.hpp"

namespace emomc::app {

/// The weight of the corpus's mean and variance, as a number of frames, when they are combined with the mean
/// and variance of a single recording whose speaker is otherwise unknown.
inline constexpr double kCorpusFrames = 200;

struct Classified {
  std::size_t predicted = 0;
  std::vector<double> probability;  ///< [num_classes]
  std::vector<double> spread;       ///< [num_classes] sd of the probability over draws
  std::size_t num_frames = 0;
};

class RecordingClassifier {
 public:
  /// Throws InputError if the model was trained on tables, not on recordings.
  RecordingClassifier(ClassModel model, Backend backend, int threads);

  const ClassModel& model() const { return model_; }
  /// Throws InputError if the model cannot be used at this sample rate, because the upper end of its filters
  /// is half the sample rate of the training recordings and would differ.
  void require_rate(double sample_rate) const;
  /// The frames of a recording with the model's MFCC settings and deltas, not normalised. Throws InputError
  /// if there are no frames, and the exceptions of require_rate().
  Frames frames_of(const Recording& recording);

  /// What is known about a speaker whose mean and standard deviation normalise the frames: several recordings
  /// (speaker), or one recording only (alone).
  enum class Known { speaker, alone };
  /// The mean and sd of all frames of `recordings`. With Known::alone they are shrunk towards the mean and sd
  /// of the corpus, with weight kCorpusFrames.
  ColumnUnits units_of(const std::vector<const Frames*>& recordings, Known known) const;

  /// Classifies a recording. `units` are the mean and sd of its speaker (see units_of); they are used only if
  /// the model normalises by speaker.
  Classified classify(const Frames& frames, const ColumnUnits& units);

 private:
  ClassModel model_;
  Backend backend_;
  int threads_;
  std::unique_ptr<Device> device_;
  Extractors extractors_;
};

}  // namespace emomc::app
