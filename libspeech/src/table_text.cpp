#include "table_text.hpp"

#include <fstream>
#include <iterator>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/csv_records.hpp"

namespace emomc {

namespace fs = std::filesystem;

std::string_view trimmed_field(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  text = text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') text = text.substr(1, text.size() - 2);
  return text;
}

std::string content_of(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) throw InputError(file.string() + ": this is a folder, not a file");
  if (!fs::exists(file, error)) throw InputError(file.string() + ": there is no such file");
  if (!fs::is_regular_file(file, error)) throw InputError(file.string() + ": this is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

char find_separator(const std::string& name, const CsvText& csv) {
  if (csv.said_separator != 0) return csv.said_separator;
  char best = ',';
  std::size_t most = 0;
  for (const char separator : {',', ';', '\t'}) {
    try {
      std::vector<std::string_view> header;
      CsvRecords records(name, csv.text, separator);
      if (records.next(header) && header.size() > most) {
        most = header.size();
        best = separator;
      }
    } catch (const InputError&) {  // unbalanced quotes: another separator may fit
    }
  }
  return best;
}

}  // namespace emomc
