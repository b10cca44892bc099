// Reads NumPy's .npy, format versions 1 to 3 (numpy.lib.format): little-endian numbers with one or two axes.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "emomc/core/errors.hpp"
#include "table_file.hpp"

namespace emomc {
namespace {

struct Header {
  char kind = 'f';  ///< kind of number: f, i or u
  std::size_t width = 8;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(name + ": " + why);
}

// The text after 'key': in the Python dictionary of the header.
std::string value_of(const std::string& header, const std::string& key, const std::string& name) {
  const auto at = header.find("'" + key + "'");
  const auto colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) refuse(name, "the .npy header has no '" + key + "'");
  const auto begin = header.find_first_not_of(' ', colon + 1);
  if (begin == std::string::npos) refuse(name, "the .npy header is cut off");
  return header.substr(begin);
}

Header parse_header(const std::string& text, const std::string& name) {
  Header header;
  const std::string type = value_of(text, "descr", name);
  if (type.size() < 5 || type[0] != '\'')
    refuse(name, "the .npy array is structured; allowed: one number type");
  const char order = type[1];
  header.kind = type[2];
  header.width =
      std::isdigit(static_cast<unsigned char>(type[3])) ? static_cast<std::size_t>(type[3] - '0') : 0;
  const bool known = (header.kind == 'f' && (header.width == 4 || header.width == 8)) ||
                     ((header.kind == 'i' || header.kind == 'u') &&
                      (header.width == 1 || header.width == 2 || header.width == 4 || header.width == 8));
  if (!known || type[4] != '\'')
    refuse(name, "the .npy type " + type.substr(0, type.find('\'', 1) + 1) +
                     " is not supported; allowed: float32, float64, integers");
  if (order == '>' && header.width > 1)
    refuse(name, "the .npy numbers are big endian; save them little endian");
  header.fortran_order = value_of(text, "fortran_order", name).rfind("True", 0) == 0;
  const std::string shape = value_of(text, "shape", name);
  if (shape[0] != '(') refuse(name, "the .npy shape is malformed");
  for (std::size_t i = 1; i < shape.size() && shape[i] != ')';) {
    if (!std::isdigit(static_cast<unsigned char>(shape[i]))) {
      ++i;
      continue;
    }
    std::size_t extent = 0;
    for (; i < shape.size() && std::isdigit(static_cast<unsigned char>(shape[i])); ++i) {
      if (extent > SIZE_MAX / 16) refuse(name, "the .npy shape is too large");
      extent = 10 * extent + static_cast<std::size_t>(shape[i] - '0');
    }
    header.shape.push_back(extent);
  }
  if (header.shape.empty() || header.shape.size() > 2)
    refuse(name, "the .npy array has " + std::to_string(header.shape.size()) + " axes; allowed: 1 or 2");
  return header;
}

// The number at `from` as a double; nullopt for an integer beyond 2^53 that a double would round.
template <class T>
std::optional<double> load(const char* from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  const auto value = static_cast<double>(x);
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const double beyond = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
    if (value >= beyond || static_cast<T>(value) != x) return std::nullopt;
  }
  return value;
}

std::optional<double> number_at(const Header& h, const char* from) {
  if (h.kind == 'f') return h.width == 4 ? load<float>(from) : load<double>(from);
  if (h.kind == 'i')
    return h.width == 1   ? load<std::int8_t>(from)
           : h.width == 2 ? load<std::int16_t>(from)
           : h.width == 4 ? load<std::int32_t>(from)
                          : load<std::int64_t>(from);
  return h.width == 1   ? load<std::uint8_t>(from)
         : h.width == 2 ? load<std::uint16_t>(from)
         : h.width == 4 ? load<std::uint32_t>(from)
                        : load<std::uint64_t>(from);
}

}  // namespace

TableFile read_npy(const std::filesystem::path& file, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& integers) {
  const std::string name = file.string();
  const std::string content = read_whole_file(file);
  if (content.size() < 10 || content.compare(0, 6, "\x93NUMPY") != 0) refuse(name, "this is no .npy file");
  const int version = static_cast<unsigned char>(content[6]);
  if (version < 1 || version > 3) refuse(name, ".npy version " + std::to_string(version) + " is not known");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(content[i]));
  };
  const std::size_t prefix = version == 1 ? 10 : 12;
  if (content.size() < prefix) refuse(name, "the .npy header is cut off");
  const std::size_t length =
      version == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (content.size() - prefix < length) refuse(name, "the .npy header is cut off");
  const Header header = parse_header(content.substr(prefix, length), name);

  const std::size_t rows = header.shape[0], columns = header.shape.size() == 2 ? header.shape[1] : 1;
  if (rows == 0 || columns == 0) refuse(name, "there are no rows");
  const std::size_t available = content.size() - prefix - length;
  if (columns > available / header.width || rows > available / header.width / columns ||
      rows * columns * header.width != available)
    refuse(name, "the .npy shape (" + std::to_string(rows) + ", " + std::to_string(columns) +
                     ") does not fit the " + std::to_string(available) + " bytes of data");

  TableFile table;
  for (std::size_t j = 0; j < columns; ++j)
    table.columns.push_back(header.shape.size() == 1 ? "x" : "c" + std::to_string(j));
  table.chosen = choose_columns(name, table.columns, wanted);
  std::vector<char> needs_integers;
  for (const auto& column : table.columns)
    needs_integers.push_back(std::find(integers.begin(), integers.end(), column) != integers.end());
  table.num_rows = rows;
  table.values.reserve(rows * table.chosen.size());
  const char* data = content.data() + prefix + length;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j : table.chosen) {
      const std::size_t at = header.fortran_order ? j * rows + i : i * columns + j;
      const auto value = number_at(header, data + at * header.width);
      const auto place = [&] { return "row " + std::to_string(i) + ", column " + std::to_string(j); };
      if (!value)
        refuse(name, place() +
                         " is an integer beyond 2^53 that a double would round; save it as float64 if "
                         "that may be");
      if (!std::isfinite(*value))
        refuse(name, place() + " is " + std::to_string(*value) + "; every value must be a finite number");
      if (needs_integers[j] && !is_integer(*value))
        refuse(name, place() + " is " + std::to_string(*value) +
                         ", no integer, as data.kinds says it is; allowed: integers up to 2^53");
      table.values.push_back(*value);
    }
  return table;
}

}  // namespace emomc
