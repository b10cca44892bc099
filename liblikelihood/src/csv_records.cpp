#include "emomc/likelihood/csv_records.hpp"

#include <utility>

#include "emomc/core/errors.hpp"

namespace emomc {

CsvRecords::CsvRecords(std::string name, const std::string& text, char separator, std::size_t first_line)
    : name_(std::move(name)),
      text_(text),
      separator_(separator),
      line_(first_line),
      record_line_(first_line) {
  if (text_.size() >= 3 && text_.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = 3;
}

bool CsvRecords::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  if (at_ >= text_.size()) return false;
  record_line_ = line_;
  for (;;) {
    fields.push_back(field(fields.size() + 1));
    if (at_ >= text_.size()) return true;
    const char separator = text_[at_++];
    if (separator == separator_) continue;
    if (separator == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    return true;
  }
}

std::string_view CsvRecords::field(std::size_t column) {
  if (at_ < text_.size() && text_[at_] == '"') return quoted(column);
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
  return std::string_view(text_).substr(begin, at_ - begin);
}

std::string_view CsvRecords::quoted(std::size_t column) {
  const std::size_t opened = line_;
  std::string value;
  for (++at_;; ++at_) {
    if (at_ >= text_.size())
      throw InputError(name_ + ":" + std::to_string(opened) + ": column " + std::to_string(column) +
                       ": a quote is never closed");
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] != '"') {
      value += text_[at_];
      continue;
    }
    if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      value += '"';
      ++at_;
      continue;
    }
    ++at_;
    break;
  }
  if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r')
    throw InputError(name_ + ":" + std::to_string(line_) + ": column " + std::to_string(column) +
                     ": text follows a closing quote");
  unquoted_.push_back(std::make_unique<std::string>(std::move(value)));
  return *unquoted_.back();
}

}  // namespace emomc
