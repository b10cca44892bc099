// Classifies recordings, or rows of a table of another program, by any model whose input is rows of
// functionals, and prints a line for each.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "classify_lines.hpp"
#include "emomc/emotion/standardized_rows.hpp"

namespace emomc::app {

/// A recording, or a row of a table; or the reason (`problem`) why it cannot be classified.
struct GivenRecording {
  std::string file, speaker, problem;
  UtteranceRow row;
};

/// A model whose input is rows of functionals.
struct RowModel {
  std::string name;                         ///< name in messages, such as "softmax regression"
  std::string short_is;                     ///< beginning of the note on recordings of less than 18 frames
  FunctionalSet set = FunctionalSet::full;  ///< set of the recordings' functionals
  std::string table;                        ///< table on which the model was trained; empty: recordings
  std::string config;      ///< configuration of `emomc train`; empty: another caller trained the model
  double sample_rate = 0;  ///< sample rate of the training recordings in Hz; 0: the rates differed
  std::vector<std::string> columns;
  CorpusStatistics corpus;  ///< statistics of the training recordings
  /// Returns the line for a recording whose row has been standardised, without the entry about the
  /// standardisation.
  std::function<nlohmann::ordered_json(const GivenRecording&, const StandardizedRow&)> line_about;
};

/// Prints a JSON line for each recording or row that `options` name. Returns an exit code: 2 if a recording
/// could not be classified. Throws InputError.
int classify_rows(const ClassifyOptions& options, const RowModel& model);

}  // namespace emomc::app
