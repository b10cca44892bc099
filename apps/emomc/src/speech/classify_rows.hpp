// Lines about recordings, or rows of a table of another program, by any model that takes rows of functionals.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "classify_lines.hpp"
#include "emomc/emotion/standardized_rows.hpp"

namespace emomc::app {

/// A recording, or a row of a table; or the reason why nothing can be said about it.
struct GivenRecording {
  std::string file, speaker, problem;
  UtteranceRow row;
};

/// What such a model takes, and what it says.
struct RowModel {
  std::string name;                         ///< in messages: "softmax regression"
  std::string short_is;                     ///< the note on recordings of less than 18 frames
  FunctionalSet set = FunctionalSet::full;  ///< of recordings' functionals
  std::string table;                        ///< that it was trained on; empty: recordings
  std::string config;                       ///< of `emomc train`; empty: another caller trained it
  double sample_rate = 0;                   ///< of the training recordings, in Hz; 0: they differed
  std::vector<std::string> columns;
  CorpusStatistics corpus;  ///< of the training recordings
  /// The line about a recording whose row has been standardised, without what standardised it.
  std::function<nlohmann::ordered_json(const GivenRecording&, const StandardizedRow&)> line_about;
};

/// Prints a JSON line for each recording or row that `options` name. Returns an exit code: 2 where nothing
/// could be said about one. Throws InputError.
int classify_rows(const ClassifyOptions& options, const RowModel& model);

}  // namespace emomc::app
