#include "emomc/emotion/model_files.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/posterior/json_value.hpp"

namespace emomc {
namespace {

static_assert(std::endian::native == std::endian::little);  // the byte order that the .npy header states

std::string npy_header(const std::vector<std::size_t>& shape) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) header += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  header += "), }";
  constexpr std::size_t kPreamble = 10, kAlign = 64;
  header.resize((kPreamble + header.size() + 1 + kAlign - 1) / kAlign * kAlign - kPreamble - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

}  // namespace

std::string npy_of(const std::vector<std::size_t>& shape, std::span<const double> values) {
  std::string bytes = npy_header(shape);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return bytes;
}

std::string read_model_file(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError(file.string() + ": no such file; allowed: a directory that emomc train wrote");
  const auto size = std::filesystem::file_size(file, error);
  if (error || size > most_bytes) throw InputError(file.string() + ": too large to be a model");
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError(file.string() + ": cannot be read");
  return text.str();
}

void read_model_json(const std::filesystem::path& directory, int oldest, int newest,
                     const std::function<void(const nlohmann::json&)>& read) {
  const auto file = directory / "model.json";
  const std::string text = read_model_file(file, kMostModelJsonBytes);
  try {
    const nlohmann::json json = parse_json(text);
    if (json.is_discarded()) throw InputError("damaged, or no model of emomc train");
    const int version = json.at("emomc_model").get<int>();
    if (version < oldest || version > newest) throw InputError("it is of another version");
    read(json);
  } catch (const InputError& error) {
    throw InputError(file.string() + ": " + error.what());
  } catch (const nlohmann::json::exception&) {
    throw InputError(file.string() + ": damaged, or no model of emomc train");
  }
}

bool has_model_of(const std::filesystem::path& directory, const std::string& classifier) {
  std::error_code error;
  const auto file = directory / "model.json";
  if (!std::filesystem::is_regular_file(file, error)) return false;
  const nlohmann::json json = parse_json(read_model_file(file, kMostModelJsonBytes));
  return json.is_object() && json.contains("classifier") && json["classifier"] == classifier;
}

std::size_t count_of(const std::vector<std::size_t>& shape, const std::string& name) {
  std::size_t bytes = sizeof(double);
  for (const std::size_t factor : shape) {
    if (factor == 0 || bytes > kMostModelBytes / factor) throw InputError(name + " is out of range");
    bytes *= factor;
  }
  return bytes / sizeof(double);
}

std::vector<double> read_npy_numbers(const std::filesystem::path& file, const std::vector<std::size_t>& shape,
                                     const std::string& sha256) {
  const std::string name = file.filename().string(), header = npy_header(shape);
  const std::size_t count = count_of(shape, name), size = header.size() + count * sizeof(double);
  constexpr std::size_t kMore = 4096;  // so that a file with a few bytes more gives the message below
  const std::string bytes = read_model_file(file, size + kMore);
  if (bytes.size() != size || !bytes.starts_with(header))
    throw InputError(name + " is of another size than model.json says");
  if (sha256 != sha256_hex(bytes)) throw InputError(name + " is damaged, or another model's");
  std::vector<double> values(count);
  std::memcpy(values.data(), bytes.data() + header.size(), count * sizeof(double));
  for (const double x : values)
    if (!std::isfinite(x)) throw InputError(name + " has a value that is not finite");
  return values;
}

std::vector<double> finite_numbers(const nlohmann::json& json, std::size_t count, const std::string& name) {
  auto values = json.get<std::vector<double>>();
  if (values.size() != count) throw InputError(name + " has another length");
  for (const double x : values)
    if (!std::isfinite(x)) throw InputError(name + " has a value that is not finite");
  return values;
}

}  // namespace emomc
