#include "emomc/emotion/dimension_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/speech/named_column.hpp"
#include "emomc/speech/utterance_table.hpp"

namespace emomc {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// The rows of a table about recordings.
struct Numbers {
  UtteranceTable names;        // without columns
  std::vector<double> values;  // rows x dimensions; NaN: empty
};

double number_of(const NamedColumn& column, std::size_t row, const CorpusConfig& corpus) {
  const std::string& text = column.values[row];
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("corpus.dimensions: {}:{}: the {} of {} {}", column.file, column.lines[row],
                                 column.column, excerpt(column.names[row]), why));
  };
  if (text.empty()) {
    if (corpus.refuse_unparsed)
      refuse("is missing; write corpus: {unparsed: skip} to leave out recordings without it");
    return kMissing;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    refuse("is " + excerpt(text) + "; allowed: a finite number");
  return number;
}

Numbers read_numbers(const CorpusConfig& corpus) {
  const auto& file = corpus.dimensions_file.empty() ? corpus.path : corpus.dimensions_file;
  Numbers numbers;
  for (std::size_t d = 0; d < corpus.dimensions.size(); ++d) {
    const NamedColumn column = read_named_column(file, corpus.dimensions[d]);
    if (column.is_about_speakers)
      throw InputError(
          "corpus.dimensions: " + column.file +
          ": its rows are about speakers; a column recording, path, utterance or file is needed");
    numbers.names.file = column.file;
    numbers.names.names = column.names;
    numbers.names.lines = column.lines;
    numbers.values.resize(column.names.size() * corpus.dimensions.size());
    for (std::size_t row = 0; row < column.names.size(); ++row)
      numbers.values[row * corpus.dimensions.size() + d] = number_of(column, row, corpus);
  }
  return numbers;
}

std::vector<std::optional<std::size_t>> rows_of(const Numbers& numbers,
                                                const std::vector<UtteranceFrames>& utterances) {
  std::vector<std::string> ids;
  for (const UtteranceFrames& utterance : utterances) ids.push_back(utterance.id);
  return rows_of_utterances(numbers.names, ids);
}

}  // namespace

void check_dimensions(const CorpusConfig& corpus) { read_numbers(corpus); }

std::vector<double> dimension_labels(const std::vector<UtteranceFrames>& utterances,
                                     const CorpusConfig& corpus) {
  const Numbers numbers = read_numbers(corpus);
  const auto rows = rows_of(numbers, utterances);
  std::vector<double> labels;
  for (std::size_t u = 0; u < utterances.size(); ++u) {
    const std::optional<std::size_t> row = rows[u];
    if (!row)
      throw InputError(
          fmt::format("corpus.dimensions: {}: recording {} has no row; the first name in the file is {}",
                      numbers.names.file, excerpt(utterances[u].id), excerpt(numbers.names.names[0])));
    for (std::size_t d = 0; d < corpus.dimensions.size(); ++d) {
      labels.push_back(numbers.values[*row * corpus.dimensions.size() + d]);
      if (std::isnan(labels.back()))
        throw InputError(fmt::format("corpus.dimensions: {}:{}: the {} of {} is missing", numbers.names.file,
                                     numbers.names.lines[*row], corpus.dimensions[d],
                                     excerpt(utterances[u].id)));
    }
  }
  return labels;
}

void leave_out_unlabelled(std::vector<UtteranceFrames>& utterances, const CorpusConfig& corpus) {
  if (corpus.refuse_unparsed) return;
  const Numbers numbers = read_numbers(corpus);
  const auto rows = rows_of(numbers, utterances);
  const std::size_t dimensions = corpus.dimensions.size();
  std::vector<UtteranceFrames> kept;
  for (std::size_t u = 0; u < utterances.size(); ++u) {
    const std::optional<std::size_t> row = rows[u];
    if (!row) continue;
    const auto first = numbers.values.begin() + static_cast<std::ptrdiff_t>(*row * dimensions);
    if (std::none_of(first, first + static_cast<std::ptrdiff_t>(dimensions),
                     [](double x) { return std::isnan(x); }))
      kept.push_back(utterances[u]);
  }
  if (kept.empty())
    throw InputError("corpus.dimensions: " + numbers.names.file + ": no recording has a number of each of " +
                     joined(corpus.dimensions));
  utterances = std::move(kept);
}

bool is_taken_in_results(const std::string& name) {
  // Keys of a line of `emomc classify` and columns of predictions.csv.
  static const std::set<std::string> taken{"file",  "frames",  "standardised_by", "note",    "error",
                                           "final", "seconds", "utterance",       "speaker", "knowledge"};
  return taken.contains(name);
}

LabelledFrames label_with_numbers(CorpusFeatures& corpus, const CorpusConfig& config,
                                  const NumbersOf& numbers) {
  const std::size_t before = corpus.features.utterances.size();
  LabelledFrames frames = label_frames(std::move(corpus.features), config, numbers);
  if (const std::size_t left_out = before - frames.features.utterances.size(); left_out > 0)
    corpus.notes.push_back(fmt::format("corpus: {} without a number of {} left out",
                                       counted(left_out, "recording"), joined(config.dimensions)));
  const std::string_view bytes(reinterpret_cast<const char*>(frames.truth.data()),
                               frames.truth.size() * sizeof(double));
  corpus.fingerprint.sha256 = sha256_hex(corpus.fingerprint.sha256 + sha256_hex(bytes));
  return frames;
}

}  // namespace emomc
