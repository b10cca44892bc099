#include <algorithm>
#include <cmath>
#include <cstring>

#include "child_process.hpp"
#include "emomc/core/errors.hpp"
#include "netcdf_file.hpp"
#include "netcdf_variables.hpp"

namespace emomc::app {
namespace {

constexpr char kLibraryFailed[] = "damaged: the netCDF library failed on it";
constexpr std::size_t kMostValues = std::size_t{1} << 33;

// Returns the variables of a group, which must exist and have at least one variable. `why` ends the error
// message about a missing group.
std::vector<NetcdfVariable> variables_of(const NetcdfInput& input, const std::string& name,
                                         const std::string& why, std::vector<std::string>& notes) {
  const auto group = input.group(name);
  if (!group) input.refuse("there is no group `" + name + "` in it" + why);
  auto variables = variables_over_draws(input, *group, notes);
  if (variables.empty()) input.refuse("its " + name + " has no variable over chain and draw");
  for (const auto& variable : variables)
    if (variable.num_chains() != variables[0].num_chains() ||
        variable.num_draws() != variables[0].num_draws())
      input.refuse(variable.name + ": other numbers of chains or draws than the variables before");
  if (variables[0].num_chains() == 0 || variables[0].num_draws() == 0)
    input.refuse("there are no draws in it");
  return variables;
}

// Appends each element of a variable as a quantity.
void append(const NetcdfInput& input, const NetcdfVariable& variable, DrawSet& draws) {
  const std::vector<double> values = read_values(input, variable);
  if (draws.values.size() + values.size() > kMostValues) input.refuse("more than 2^33 values");
  const std::size_t rows = draws.num_chains() * draws.num_draws, elements = values.size() / rows;
  const auto shape = variable.element_shape();
  std::vector<std::size_t> index(shape.size(), 0);
  for (std::size_t e = 0; e < elements; ++e) {
    std::string name = variable.name;
    for (std::size_t a = 0; a < index.size(); ++a) name += (a ? "," : "[") + std::to_string(index[a]);
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(e * rows);
    std::copy(from, from + static_cast<std::ptrdiff_t>(rows), draws.add(index.empty() ? name : name + "]"));
    for (std::size_t a = index.size(); a-- > 0 && ++index[a] == shape[a];) index[a] = 0;
  }
}

// Reads lp and diverging of the group sample_stats, which may be missing. The group's other variables
// describe the sampler.
void read_statistics(const NetcdfInput& input, DrawSet& draws) {
  const auto group = input.group("sample_stats");
  if (!group) return;
  std::vector<std::string> others;
  const auto variables = variables_over_draws(input, *group, others);
  for (const auto& note : others) draws.notes.push_back("sample_stats: " + note);
  for (const auto& variable : variables) {
    if (variable.name != "lp" && variable.name != "diverging") continue;
    if (!variable.element_shape().empty() || variable.num_chains() != draws.num_chains() ||
        variable.num_draws() != draws.num_draws)
      input.refuse("sample_stats: " + variable.name + " has another shape than one number for each draw");
    if (variable.name == "lp") {
      append(input, variable, draws);
      draws.num_log_densities = 1;
      continue;
    }
    const std::vector<double> values = read_values(input, variable);
    draws.divergences.assign(draws.num_chains(), 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      // A missing value does not count as a divergence.
      draws.divergences[i / draws.num_draws] += std::abs(values[i]) > 0 ? 1 : 0;
  }
}

DrawSet read_in_this_process(const std::filesystem::path& file) {
  const NetcdfInput input(file);
  DrawSet draws;
  draws.source = file.string();
  draws.program = "ArviZ";
  const auto variables =
      variables_of(input, "posterior", "; this is no InferenceData file of ArviZ", draws.notes);
  draws.num_draws = variables[0].num_draws();
  const std::size_t rows = variables[0].num_chains() * draws.num_draws;
  if (rows > input.most_values()) input.refuse("more draws than its bytes can hold");
  for (std::size_t c = 0; c < variables[0].num_chains(); ++c) draws.chains.push_back(std::to_string(c));
  read_statistics(input, draws);
  for (const auto& variable : variables) append(input, variable, draws);
  return draws;
}

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
T take(std::string_view& bytes) {
  T value;
  if (bytes.size() < sizeof(T)) throw InputError("a truncated answer");
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

std::string to_bytes(const DrawSet& draws) {
  std::string bytes;
  for (std::size_t n : {draws.num_chains(), draws.num_draws, draws.num_log_densities, draws.num_quantities(),
                        draws.divergences.size(), draws.notes.size()})
    put(bytes, n);
  for (const auto* texts : {&draws.names, &draws.notes})
    for (const auto& text : *texts) {
      put(bytes, text.size());
      bytes += text;
    }
  for (std::size_t n : draws.divergences) put(bytes, n);
  bytes.append(reinterpret_cast<const char*>(draws.values.data()), draws.values.size() * sizeof(double));
  return bytes;
}

DrawSet from_bytes(std::string_view bytes, const std::string& source) {
  DrawSet draws;
  draws.source = source;
  draws.program = "ArviZ";
  const auto chains = take<std::size_t>(bytes);
  draws.num_draws = take<std::size_t>(bytes);
  draws.num_log_densities = take<std::size_t>(bytes);
  const auto quantities = take<std::size_t>(bytes), divergences = take<std::size_t>(bytes),
             notes = take<std::size_t>(bytes);
  for (std::size_t c = 0; c < chains; ++c) draws.chains.push_back(std::to_string(c));
  for (std::size_t i = 0; i < quantities + notes; ++i) {
    const auto size = take<std::size_t>(bytes);
    (i < quantities ? draws.names : draws.notes).emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  for (std::size_t i = 0; i < divergences; ++i) draws.divergences.push_back(take<std::size_t>(bytes));
  draws.values.resize(bytes.size() / sizeof(double));
  std::memcpy(draws.values.data(), bytes.data(), draws.values.size() * sizeof(double));
  return draws;
}

std::string log_likelihood_bytes(const std::filesystem::path& file) {
  const NetcdfInput input(file);
  ForeignLogLikelihood result;
  const auto variables = variables_of(input, "log_likelihood", ", which a comparison needs", result.notes);
  std::string bytes;
  put(bytes, variables[0].num_chains() * variables[0].num_draws());
  put(bytes, result.notes.size());
  for (const auto& note : result.notes) {
    put(bytes, note.size());
    bytes += note;
  }
  for (const NetcdfVariable& variable : variables) {
    const std::vector<double> values = read_values(input, variable);
    if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); }))
      input.refuse("log_likelihood: " + variable.name + " has missing values; a comparison needs all");
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return bytes;
}

}  // namespace

// The file is read in a child process, because HDF5 may crash on a damaged file.
DrawSet read_netcdf(const std::filesystem::path& file) {
  const std::string bytes =
      in_child([&] { return to_bytes(read_in_this_process(file)); }, {file.string(), kLibraryFailed});
  return from_bytes(bytes, file.string());
}

ForeignLogLikelihood read_netcdf_log_likelihood(const std::filesystem::path& file) {
  const std::string answer =
      in_child([&] { return log_likelihood_bytes(file); }, {file.string(), kLibraryFailed});
  std::string_view bytes = answer;
  ForeignLogLikelihood result;
  result.num_draws = take<std::size_t>(bytes);
  for (auto notes = take<std::size_t>(bytes); notes > 0; --notes) {
    const auto size = take<std::size_t>(bytes);
    result.notes.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  result.values.resize(bytes.size() / sizeof(double));
  std::memcpy(result.values.data(), bytes.data(), result.values.size() * sizeof(double));
  return result;
}

}  // namespace emomc::app
