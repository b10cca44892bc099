// Classifies recordings by a trained model and prints a JSON line for each.
#pragma once

#include "classify_lines.hpp"

namespace emomc::app {

/// By a model of mixtures. Returns an exit code: 2 where a recording could not be classified. Throws
/// InputError.
int classify_by_mixtures(const ClassifyOptions& options);

/// By a softmax regression: recordings, or the rows of a table of another program if the model was trained on
/// one. Returns an exit code as above. Throws InputError.
int classify_by_softmax(const ClassifyOptions& options);

/// The same by a regression of numbers. Returns an exit code as above. Throws InputError.
int predict_by_regression(const ClassifyOptions& options);

}  // namespace emomc::app
