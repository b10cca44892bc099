#include "arff_records.hpp"

#include <algorithm>
#include <cctype>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

constexpr const char* kBlanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? ""
                                         : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

ArffRecords::ArffRecords(std::string name, const std::string& text) : name_(std::move(name)), rest_(text) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  std::string_view line;
  while (next_line(line)) {
    std::string_view rest = line;
    const std::string word = lower(take(rest, kBlanks));
    if (word == "@data") {
      if (attributes_.empty()) refuse("@data comes before any @attribute");
      return;
    }
    if (word == "@attribute")
      read_attribute(without_blanks(rest));
    else if (word != "@relation")
      refuse("expected @relation, @attribute or @data");
  }
  throw InputError(name_ + ": there is no @data");
}

bool ArffRecords::next(std::vector<std::string_view>& fields) {
  std::string_view line;
  if (!next_line(line)) return false;
  if (line.front() == '{') refuse("a sparse row; allowed: all values of a row, with commas between them");
  fields.clear();
  unquoted_.clear();
  for (bool goes_on = true; goes_on;) {
    fields.push_back(take(line, ","));
    line = without_blanks(line);
    goes_on = !line.empty() && line.front() == ',';
    if (goes_on)
      line = without_blanks(line.substr(1));
    else if (!line.empty())
      refuse("text after a quote");
  }
  return true;
}

bool ArffRecords::next_line(std::string_view& line) {
  while (!rest_.empty()) {
    const auto end = std::min(rest_.find('\n'), rest_.size());
    line = without_blanks(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    if (!line.empty() && line.front() != '%') return true;
  }
  return false;
}

void ArffRecords::read_attribute(std::string_view rest) {
  attributes_.emplace_back(take(rest, kBlanks));
  const std::string type = lower(without_blanks(rest));
  if (attributes_.back().empty() || type.empty()) refuse("an @attribute has a name and a type");
  const bool is_number =
      type.starts_with("numeric") || type.starts_with("real") || type.starts_with("integer");
  is_text_.push_back(!is_number);
}

void ArffRecords::refuse(const std::string& why) const {
  throw InputError(name_ + ":" + std::to_string(line_) + ": " + why);
}

std::string_view ArffRecords::take(std::string_view& rest, const char* ends) {
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) {
    const auto end = std::min(rest.find_first_of(ends), rest.size());
    const std::string_view word = without_blanks(rest.substr(0, end));
    rest.remove_prefix(end);
    return word;
  }
  const char quote = rest.front();
  std::string& text = unquoted_.emplace_back();
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) {
      text += rest[++i];
    } else if (rest[i] == quote) {
      rest.remove_prefix(i + 1);
      return text;
    } else {
      text += rest[i];
    }
  }
  refuse("a quote is not closed");
}

}  // namespace emomc
