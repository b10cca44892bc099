// Reads numbers of recordings, such as arousal and valence, from columns of a table about them.
#pragma once

#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/speech/feature_set.hpp"

namespace emomc {

/// Reads the columns CorpusConfig::dimensions of the corpus's manifest or of dimensions_file, so that errors
/// are found before recordings are read. Throws InputError, one line with file, line and column, for a value
/// that is not a finite number, and for an empty value unless unparsed files are left out.
void check_dimensions(const CorpusConfig& corpus);

/// The numbers of utterances, utterances x dimensions, row-major. Throws InputError as check_dimensions()
/// does, and if an utterance has no row, several rows, or an empty value.
std::vector<double> dimension_labels(const std::vector<UtteranceFrames>& utterances,
                                     const CorpusConfig& corpus);

/// Removes utterances without a row or with an empty value, if the configuration leaves out unparsed files.
/// Throws InputError if no utterance is left.
void leave_out_unlabelled(std::vector<UtteranceFrames>& utterances, const CorpusConfig& corpus);

/// Returns whether results use this name for something else, such as "frames", so that no dimension may have
/// the name.
bool is_taken_in_results(const std::string& name);

/// Calls label_frames() for a corpus on which a regression is trained. Adds a note to `corpus` on how many
/// utterances were left out, and includes the numbers in its fingerprint.
LabelledFrames label_with_numbers(CorpusFeatures& corpus, const CorpusConfig& config,
                                  const NumbersOf& numbers = {});

}  // namespace emomc
