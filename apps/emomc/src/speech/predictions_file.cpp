#include "predictions_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/posterior/json_value.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

constexpr std::uintmax_t kMostBytes = 64 << 20;
// The index of the first class's column, which follows utterance, speaker, truth and predicted.
constexpr std::size_t kFirstClass = 4;

double probability(std::string_view text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1 + 1e-9))
    throw InputError(place + "expected a probability, not " + excerpt(text));
  return value;
}

std::vector<std::string> classes_of(const std::vector<std::string_view>& header, const std::string& place) {
  std::vector<std::string> classes;
  const std::vector<std::string_view> labels{"utterance", "speaker", "truth", "predicted"};
  bool fits = header.size() >= kFirstClass + 2 && std::equal(labels.begin(), labels.end(), header.begin());
  for (std::size_t i = kFirstClass; i < header.size(); ++i) {
    fits = fits && header[i].starts_with("p_");
    if (fits) classes.emplace_back(header[i].substr(2));
  }
  if (!fits)
    throw InputError(place +
                     "expected the columns utterance, speaker, truth, predicted and p_CLASS for each class");
  return classes;
}

}  // namespace

PredictionsFile read_predictions(const std::filesystem::path& file) {
  const std::string text = read_text(file, kMostBytes);
  CsvRecords records(file.string(), text);
  const auto place = [&] { return file.string() + ":" + std::to_string(records.line()) + ": "; };
  std::vector<std::string_view> fields;
  if (!records.next(fields)) throw InputError(file.string() + ": the file is empty");
  PredictionsFile result;
  result.classes = classes_of(fields, place());
  const std::size_t width = fields.size();
  std::set<std::string> seen;
  Predictions& p = result.predictions;
  p.num_classes = static_cast<int>(result.classes.size());
  while (records.next(fields)) {
    if (fields.size() != width)
      throw InputError(fmt::format("{}{} fields, expected {}", place(), fields.size(), width));
    const auto truth = std::find(result.classes.begin(), result.classes.end(), fields[2]);
    if (truth == result.classes.end())
      throw InputError(place() + "there is no class " + excerpt(fields[2]) + " among the columns");
    if (!seen.emplace(fields[0]).second)
      throw InputError(place() + "utterance " + excerpt(fields[0]) + " occurs twice");
    result.utterances.emplace_back(fields[0]);
    result.speakers.emplace_back(fields[1]);
    p.truth.push_back(static_cast<int>(truth - result.classes.begin()));
    double sum = 0;
    for (std::size_t i = kFirstClass; i < width; ++i) {
      const double one = probability(fields[i], place());
      p.log_probability.push_back(std::log(one));
      sum += one;
    }
    if (!(std::abs(sum - 1) < 1e-6))
      throw InputError(fmt::format("{}the probabilities sum to {:g}", place(), sum));
  }
  if (result.utterances.empty()) throw InputError(file.string() + ": there is no utterance");
  const std::set<std::string> distinct(result.speakers.begin(), result.speakers.end());
  const std::vector<std::string> names(distinct.begin(), distinct.end());
  for (const auto& speaker : result.speakers)
    p.speaker.push_back(
        static_cast<int>(std::lower_bound(names.begin(), names.end(), speaker) - names.begin()));
  return result;
}

}  // namespace emomc::app
