#include "emomc/speech/functional_table.hpp"

#include <charconv>
#include <cmath>
#include <map>

namespace emomc {
namespace {

constexpr double kLeastSd = 1e-12;  // relative to the largest magnitude; less is rounding

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

void standardize(FunctionalTable& table, const std::vector<std::size_t>& rows, std::size_t column) {
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
    double& x = table.values[row * stride + column];
    x = std::isnan(x) ? 0 : x - mean;
    squares += x * x;
  }
  const double sd = std::sqrt(squares / static_cast<double>(rows.size()));
  for (const std::size_t row : rows) {
    double& x = table.values[row * stride + column];
    x = sd > kLeastSd * largest ? x / sd : 0;
  }
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

void standardize_by_speaker(FunctionalTable& table) {
  std::map<std::string, std::vector<std::size_t>> speakers;
  for (std::size_t row = 0; row < table.rows.size(); ++row) speakers[table.rows[row].speaker].push_back(row);
  for (const auto& [speaker, rows] : speakers)
    for (std::size_t column = 0; column < table.columns.size(); ++column) standardize(table, rows, column);
}

}  // namespace emomc
