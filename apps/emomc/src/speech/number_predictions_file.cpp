#include "number_predictions_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/json_value.hpp"

namespace emomc::app {
namespace {

constexpr std::uintmax_t kMostBytes = 64 << 20;
constexpr std::array<const char*, 6> kEndings{"", "_mean", "_sd", "_low", "_high", "_log_density"};

double number_of(std::string_view text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw InputError(place + "expected a number, not " + excerpt(text));
  return value;
}

std::vector<std::string> dimensions_of(const std::vector<std::string_view>& header,
                                       const std::string& place) {
  std::vector<std::string> dimensions;
  bool fits = header.size() > 2 && (header.size() - 2) % kEndings.size() == 0 && header[0] == "utterance" &&
              header[1] == "speaker";
  for (std::size_t i = 2; fits && i < header.size(); i += kEndings.size()) {
    dimensions.emplace_back(header[i]);
    for (std::size_t j = 0; j < kEndings.size(); ++j)
      fits = fits && header[i + j] == dimensions.back() + kEndings[j];
  }
  if (!fits)
    throw InputError(
        place +
        "expected the columns utterance, speaker, and of each dimension NAME, NAME_mean, NAME_sd, "
        "NAME_low, NAME_high and NAME_log_density");
  return dimensions;
}

}  // namespace

NumberPredictionsFile read_number_predictions(const std::filesystem::path& file) {
  const std::string text = read_text(file, kMostBytes);
  CsvRecords records(file.string(), text);
  const auto place = [&] { return file.string() + ":" + std::to_string(records.line()) + ": "; };
  std::vector<std::string_view> fields;
  if (!records.next(fields)) throw InputError(file.string() + ": the file is empty");
  NumberPredictionsFile result;
  result.dimensions = dimensions_of(fields, place());
  const std::size_t width = fields.size();
  std::set<std::string> seen;
  while (records.next(fields)) {
    if (fields.size() != width)
      throw InputError(fmt::format("{}{} fields, expected {}", place(), fields.size(), width));
    if (!seen.emplace(fields[0]).second)
      throw InputError(place() + "utterance " + excerpt(fields[0]) + " occurs twice");
    result.utterances.emplace_back(fields[0]);
    result.speakers.emplace_back(fields[1]);
    for (std::size_t i = 2; i < width; i += kEndings.size()) {
      const auto number = [&](std::size_t j) { return number_of(fields[i + j], place()); };
      result.values.push_back({number(0), number(1), number(2), number(3), number(4), number(5)});
    }
  }
  if (result.utterances.empty()) throw InputError(file.string() + ": it has no predictions");
  return result;
}

}  // namespace emomc::app
