// Class probabilities of recordings by a trained model.
#pragma once

#include <memory>
#include <vector>

#include "class_model.hpp"
#include "recordings.hpp"

namespace emomc::app {

/// Frames of a single recording that the corpus's mean and variance count as, where nothing else is known of
/// its speaker.
inline constexpr double kCorpusFrames = 200;

struct Classified {
  std::size_t predicted = 0;
  std::vector<double> probability;  ///< [num_classes]
  std::vector<double> spread;       ///< [num_classes] sd of the probability over draws
  std::size_t num_frames = 0;
};

class RecordingClassifier {
 public:
  /// Throws InputError where the model's frames are no cepstra of recordings.
  RecordingClassifier(ClassModel model, Backend backend, int threads);

  const ClassModel& model() const { return model_; }
  /// Frames with the model's settings and deltas, not normalised. Throws InputError where there are none, or
  /// where the sample rate is another than the model's and the filters would hear other frequencies.
  Frames frames_of(const Recording& recording);

  /// What a speaker's frames are normalised by. `alone`: of one recording with nothing else known, shrunk
  /// towards the corpus.
  enum class Known { speaker, alone };
  ColumnUnits units_of(const std::vector<const Frames*>& recordings, Known known) const;

  /// `units`: of the recording's speaker (units_of); looked at where the model normalises by speaker.
  Classified classify(const Frames& frames, const ColumnUnits& units);

 private:
  ClassModel model_;
  Backend backend_;
  int threads_;
  std::unique_ptr<Device> device_;
  Extractors extractors_;
};

}  // namespace emomc::app
