#include "emomc/speech/functional_table.hpp"

#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>

namespace emomc {
namespace {

constexpr double kLeastSd = 1e-12;  // relative to the largest magnitude; a smaller sd is rounding

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

struct MeanAndSd {
  double mean, sd;
};

MeanAndSd units_of(const FunctionalTable& table, const std::vector<std::size_t>& rows, std::size_t column) {
  const std::size_t stride = table.columns.size();
  double sum = 0, number = 0, largest = 0;
  for (const std::size_t row : rows) {
    const double x = table.values[row * stride + column];
    if (std::isnan(x)) continue;
    sum += x;
    number += 1;
    largest = std::max(largest, std::abs(x));
  }
  const double mean = number > 0 ? sum / number : 0;
  double squares = 0;
  for (const std::size_t row : rows) {
    const double x = table.values[row * stride + column];
    if (!std::isnan(x)) squares += (x - mean) * (x - mean);
  }
  const double sd = std::sqrt(squares / static_cast<double>(rows.size()));
  return {mean, sd > kLeastSd * largest ? sd : 0};
}

}  // namespace

std::string functional_table_csv(const FunctionalTable& table) {
  std::string text = "utterance,speaker,emotion";
  for (const auto& column : table.columns) text += ',' + quoted(column);
  text += '\n';
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const UtteranceLabels& labels = table.rows[row];
    text += quoted(labels.id) + ',' + quoted(labels.speaker) + ',' + quoted(labels.emotion);
    for (std::size_t j = 0; j < table.columns.size(); ++j) {
      text += ',';
      const double x = table.values[row * table.columns.size() + j];
      if (std::isnan(x)) continue;
      char buffer[32];
      text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, x).ptr);
    }
    text += '\n';
  }
  return text;
}

SpeakerUnits speaker_units(const FunctionalTable& table, const std::vector<std::size_t>& rows) {
  SpeakerUnits units;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto [mean, sd] = units_of(table, rows, column);
    units.mean.push_back(mean);
    units.sd.push_back(sd);
  }
  return units;
}

void standardize_by(const SpeakerUnits& units, std::span<double> row) {
  if (row.size() != units.mean.size()) throw std::invalid_argument("standardize_by: sizes disagree");
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = std::isnan(row[j]) || units.sd[j] == 0 ? 0 : (row[j] - units.mean[j]) / units.sd[j];
}

void standardize_by_speaker(FunctionalTable& table) {
  std::map<std::string, std::vector<std::size_t>> speakers;
  for (std::size_t row = 0; row < table.rows.size(); ++row) speakers[table.rows[row].speaker].push_back(row);
  const std::size_t stride = table.columns.size();
  for (const auto& [speaker, rows] : speakers) {
    const SpeakerUnits units = speaker_units(table, rows);
    for (const std::size_t row : rows) standardize_by(units, {table.values.data() + row * stride, stride});
  }
}

}  // namespace emomc
