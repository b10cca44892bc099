// Classifies recordings by a trained model of one kind and prints a JSON line for each recording.
#pragma once

#include "classify_lines.hpp"

namespace emomc::app {

/// Classifies recordings by a model of mixtures. Returns an exit code: 2 if a recording could not be
/// classified. Throws InputError.
int classify_by_mixtures(const ClassifyOptions& options);

/// Classifies recordings by a softmax regression, or the rows of a table of another program if the model was
/// trained on one. Returns an exit code: 2 if a recording could not be classified. Throws InputError.
int classify_by_softmax(const ClassifyOptions& options);

/// Predicts numbers by a linear regression, for recordings or for the rows of a table, as
/// classify_by_softmax() predicts classes. Returns the same exit codes. Throws InputError.
int predict_by_regression(const ClassifyOptions& options);

}  // namespace emomc::app
