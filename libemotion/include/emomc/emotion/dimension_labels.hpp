// Numbers of recordings, such as arousal and valence, from columns of a table about them.
#pragma once

#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/speech/feature_set.hpp"

namespace emomc {

/// Reads the columns CorpusConfig::dimensions, of the corpus's manifest or of dimensions_file, so that
/// mistakes show before recordings are read. Throws InputError, one line with file, line and column, for a
/// value that is no finite number, and for an empty one unless unparsed files are left out.
void check_dimensions(const CorpusConfig& corpus);

/// The numbers of utterances, utterances x dimensions, row-major. Throws InputError as check_dimensions()
/// does, and where an utterance has no row, several rows, or an empty value.
std::vector<double> dimension_labels(const std::vector<UtteranceFrames>& utterances,
                                     const CorpusConfig& corpus);

/// Removes utterances without a row or with an empty value, where the configuration leaves out unparsed
/// files. Throws InputError if none is left.
void leave_out_unlabelled(std::vector<UtteranceFrames>& utterances, const CorpusConfig& corpus);

/// Whether results have another thing of this name, such as frames, so that no dimension can have it.
bool is_taken_in_results(const std::string& name);

/// label_frames() of a corpus that a regression is for. Notes in `corpus` how many utterances have been left
/// out, and makes the numbers a part of its fingerprint.
LabelledFrames label_with_numbers(CorpusFeatures& corpus, const CorpusConfig& config,
                                  const NumbersOf& numbers = {});

}  // namespace emomc
