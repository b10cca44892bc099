// Joins a table of another program to the recordings of a corpus.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "corpus_problems.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/speech/utterance_table.hpp"

namespace emomc {
namespace {

// If no recording has a row, throws InputError with an example of each side that shows what does not fit.
void refuse_if_nothing_fits(const UtteranceTable& table, const std::vector<Utterance>& wanted,
                            const std::vector<std::optional<std::size_t>>& rows) {
  for (const auto& row : rows)
    if (row) return;
  throw InputError(
      fmt::format("features.table: {}: none of its {} names is that of a recording; its first name is {}, "
                  "the first of the corpus is {}",
                  table.file, table.names.size(), excerpt(table.names[0]), excerpt(wanted[0].id)));
}

// Adds a warning that names columns without a number in any row that is used. Throws InputError if no column
// has one.
void note_columns_without_numbers(const std::string& file, const FunctionalTable& functionals,
                                  std::vector<std::string>& notes) {
  const std::size_t stride = functionals.columns.size(), rows = functionals.rows.size();
  std::vector<std::string> empty;
  for (std::size_t j = 0; j < stride; ++j) {
    std::size_t row = 0;
    while (row < rows && std::isnan(functionals.values[row * stride + j])) ++row;
    if (row == rows) empty.push_back(functionals.columns[j]);
  }
  if (empty.empty() || rows == 0) return;
  const std::string what =
      fmt::format("features.table: {}: {} no number in the row of any recording (empty, NaN or ?): {}", file,
                  empty.size() == 1 ? "a column has" : fmt::format("{} columns have", empty.size()),
                  excerpt(joined(empty)));
  if (empty.size() == stride) throw InputError(what + "; there is no other column");
  notes.push_back("warning: " + what + "; the other columns are used");
}

// Adds a warning that names columns with the same number in all rows of a class, and other numbers in other
// classes.
void note_columns_of_labels(const std::string& file, const FunctionalTable& functionals,
                            std::vector<std::string>& notes) {
  const std::size_t stride = functionals.columns.size();
  std::vector<std::string> labels;
  for (std::size_t j = 0; j < stride; ++j) {
    std::map<std::string, double> of_class;
    std::set<double> distinct;
    bool is_label = true;
    for (std::size_t row = 0; row < functionals.rows.size() && is_label; ++row) {
      const double x = functionals.values[row * stride + j];
      is_label = of_class.emplace(functionals.rows[row].emotion, x).first->second == x;  // false for NaN
      distinct.insert(x);
    }
    const bool has_several_rows = functionals.rows.size() >= 2 * of_class.size();
    if (is_label && has_several_rows && distinct.size() > 1) labels.push_back(functionals.columns[j]);
  }
  if (!labels.empty())
    notes.push_back(
        fmt::format("warning: features.table: {}: one number for each class in {}: {}; if these are labels, "
                    "remove them, since predictions would be made from the truth",
                    file, labels.size() == 1 ? "a column" : fmt::format("{} columns", labels.size()),
                    excerpt(joined(labels))));
}

}  // namespace

CorpusFeatures read_table_of_utterances(const CorpusConfig& corpus, const FeaturesConfig& features) {
  CorpusFeatures result;
  const std::vector<Utterance> wanted = wanted_utterances(corpus, result.notes);
  if (wanted.empty()) return result;
  const UtteranceTable table = read_utterance_table(features.table, features.table_names, corpus.dimensions);
  std::vector<std::string> ids;
  for (const Utterance& utterance : wanted) ids.push_back(utterance.id);
  const auto rows = rows_of_utterances(table, ids);
  refuse_if_nothing_fits(table, wanted, rows);
  FunctionalTable& functionals = result.functionals;
  functionals.columns = table.columns;
  result.features.columns = {"row"};
  const std::size_t stride = table.columns.size();
  std::vector<std::string> missing, repeated;
  std::map<std::string, std::string> first_with_values;  // the first utterance with each hash of a row
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Utterance& utterance = wanted[i];
    const std::optional<std::size_t>& row = rows[i];
    if (!row) {
      missing.push_back(utterance.id + " is not in " + table.file);
      continue;
    }
    const std::span<const double> values(table.values.data() + *row * stride, stride);
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    // If one copy were in the training data of a fold and the other in its test data, the scores would be too
    // high.
    if (const auto [seen, is_new] = first_with_values.emplace(sha256_hex(bytes), utterance.id); !is_new) {
      repeated.push_back(utterance.id + ": the same numbers as " + seen->second);
      continue;
    }
    result.features.utterances.push_back(
        {utterance.id, utterance.speaker, utterance.emotion, result.features.values.size(), 1});
    result.features.values.push_back(0);
    functionals.rows.push_back({utterance.id, utterance.speaker, utterance.emotion});
    functionals.values.insert(functionals.values.end(), values.begin(), values.end());
  }
  note_problems(missing, "recording has no row (features.table)", "recordings have no row (features.table)",
                {.refuse = corpus.refuse_unparsed}, result.notes);
  // Rows of columns without numbers are all equal, so this comes before the message about equal rows.
  note_columns_without_numbers(table.file, functionals, result.notes);
  note_columns_of_labels(table.file, functionals, result.notes);
  note_problems(repeated, "row repeats another", "rows repeat others", {.refuse = corpus.refuse_unparsed},
                result.notes);
  result.notes.push_back(
      fmt::format("table: {}, {} columns, {} rows; {} of them belong to no utterance that is used{}",
                  table.file, stride, table.names.size(), table.names.size() - functionals.rows.size(),
                  table.skipped.empty()
                      ? ""
                      : "; columns that are no numbers of an utterance: " + excerpt(joined(table.skipped))));
  result.units = column_units(result.features.values, 1);
  result.fingerprint.sha256 = sha256_hex(functional_table_csv(functionals));
  result.fingerprint.columns = functionals.columns;
  return result;
}

}  // namespace emomc
