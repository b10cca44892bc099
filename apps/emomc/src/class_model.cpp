#include "class_model.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/posterior/json_value.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "input_kind.hpp"
#include "run_config.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 1;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30;  // of draws.npy
constexpr std::uintmax_t kMostJsonBytes = std::uintmax_t{16}
                                          << 20;            // JSON takes up to 32 times as much memory
constexpr std::uintmax_t kMostHeaderBytes = 4096;           // of draws.npy
static_assert(std::endian::native == std::endian::little);  // the byte order that the .npy header states

// The draws in NumPy's format 1.0 (NEP 1): float64, C order, classes x draws x dim.
std::string npy_of(const ClassModel& model) {
  const std::size_t dim = model.theta[0].size() / model.num_draws;
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(model.classes.size()) + ", " + std::to_string(model.num_draws) + ", " +
                       std::to_string(dim) + "), }";
  constexpr std::size_t kPreamble = 10, kAlign = 64;
  header.resize((kPreamble + header.size() + 1 + kAlign - 1) / kAlign * kAlign - kPreamble - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  for (const auto& theta : model.theta)
    bytes.append(reinterpret_cast<const char*>(theta.data()), theta.size() * sizeof(double));
  return bytes;
}

std::string read_bytes(const std::filesystem::path& file, std::uintmax_t most_bytes) {
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

std::vector<double> finite_numbers(const nlohmann::json& json, std::size_t count, const std::string& name) {
  auto values = json.get<std::vector<double>>();
  if (values.size() != count) throw InputError(name + " has another length");
  for (const double x : values)
    if (!std::isfinite(x)) throw InputError(name + " has a value that is not finite");
  return values;
}

ColumnUnits units_of(const nlohmann::json& json, std::size_t dim, const std::string& name) {
  ColumnUnits units{finite_numbers(json.at("mean"), dim, name + ".mean"),
                    finite_numbers(json.at("sd"), dim, name + ".sd")};
  for (const double sd : units.sd)
    if (!(sd > 0)) throw InputError(name + ".sd has a value that is not positive");
  return units;
}

// The size of all draws in bytes. No more is read than model.json states.
std::size_t draws_bytes(const ClassModel& model, std::size_t dim) {
  std::size_t bytes = sizeof(double);
  for (const std::size_t factor : {model.classes.size(), model.num_draws, dim}) {
    if (factor == 0 || bytes > kMostBytes / factor) throw InputError("draws is out of range");
    bytes *= factor;
  }
  return bytes;
}

void read_draws(const std::filesystem::path& file, const std::string& sha256, ClassModel& model) {
  ParameterLayout layout = model_layout(model.likelihood(), static_cast<int>(model.columns.size()));
  const auto dim = static_cast<std::size_t>(layout.dim());
  const std::size_t values = draws_bytes(model, dim) / sizeof(double);
  const std::string bytes = read_bytes(file, values * sizeof(double) + kMostHeaderBytes);
  if (bytes.size() <= values * sizeof(double))
    throw InputError("draws.npy is of another size than model.json says");
  if (sha256 != sha256_hex(bytes)) throw InputError("draws.npy is damaged, or another model's");
  const char* begin = bytes.data() + bytes.size() - values * sizeof(double);
  for (std::size_t c = 0; c < model.classes.size(); ++c) {
    std::vector<double> theta(model.num_draws * dim);
    std::memcpy(theta.data(), begin + c * theta.size() * sizeof(double), theta.size() * sizeof(double));
    for (const double x : theta)
      if (!std::isfinite(x)) throw InputError("draws.npy has a value that is not finite");
    model.theta.push_back(std::move(theta));
  }
}

}  // namespace

void write_class_model(const ClassModel& model, const std::filesystem::path& directory) {
  const std::string draws = npy_of(model);
  const Json json{{"emomc_model", kVersion},
                  {"classes", model.classes},
                  {"columns", model.columns},
                  {"sample_rate", model.sample_rate},
                  {"corpus", {{"mean", model.corpus.mean}, {"sd", model.corpus.sd}}},
                  {"units", {{"mean", model.units.mean}, {"sd", model.units.sd}}},
                  {"evidence", model.classifier.evidence == Evidence::sum ? "sum" : "mean"},
                  {"temper", model.classifier.temper},
                  {"log_prior", model.classifier.log_prior},
                  {"draws", model.num_draws},
                  {"draws_sha256", sha256_hex(draws)},
                  {"config", to_yaml(model.config)}};
  write_file_atomically(directory / "draws.npy", draws);
  write_file_atomically(directory / "model.json", json.dump(1) + "\n");
}

ClassModel read_class_model(const std::filesystem::path& directory) {
  refuse_if_no_model(directory);
  const auto file = directory / "model.json";
  const std::string text = read_bytes(file, kMostJsonBytes);
  try {
    const nlohmann::json json = parse_json(text);
    if (json.is_discarded()) throw InputError("damaged, or no model of emomc train");
    if (json.at("emomc_model").get<int>() != kVersion) throw InputError("it is of another version");
    ClassModel model;
    model.classes = json.at("classes").get<std::vector<std::string>>();
    model.columns = json.at("columns").get<std::vector<std::string>>();
    const std::size_t dim = model.columns.size();
    if (model.classes.size() < 2 || dim == 0) throw InputError("it has no classes or columns");
    model.config = parse_evaluation_config(json.at("config").get<std::string>(), "config");
    model.sample_rate = json.at("sample_rate").get<double>();
    model.corpus = units_of(json.at("corpus"), dim, "corpus");
    model.units = units_of(json.at("units"), dim, "units");
    model.classifier.rule = model.config.classification.rule;
    const auto evidence = json.at("evidence").get<std::string>();
    if (evidence != "sum" && evidence != "mean") throw InputError("evidence is neither sum nor mean");
    model.classifier.evidence = evidence == "sum" ? Evidence::sum : Evidence::mean;
    model.classifier.temper = json.at("temper").get<double>();
    if (!(model.classifier.temper > 0) || !std::isfinite(model.classifier.temper))
      throw InputError("temper is out of range");
    model.classifier.log_prior = finite_numbers(json.at("log_prior"), model.classes.size(), "log_prior");
    model.num_draws = json.at("draws").get<std::size_t>();
    read_draws(directory / "draws.npy", json.at("draws_sha256").get<std::string>(), model);
    return model;
  } catch (const InputError& error) {
    throw InputError(file.string() + ": " + error.what());
  } catch (const nlohmann::json::exception&) {
    throw InputError(file.string() + ": damaged, or no model of emomc train");
  }
}

}  // namespace emomc::app
