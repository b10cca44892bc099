#include <netcdf.h>

#include <algorithm>
#include <cstring>

#include "child_process.hpp"
#include "emomc/core/errors.hpp"
#include "netcdf_file.hpp"

namespace emomc::app {
namespace {

constexpr char kLibraryFailed[] = "damaged: the netCDF library failed on it";
constexpr std::size_t kMostValues = std::size_t{1} << 33;
constexpr std::uintmax_t kMostPerByte = 1032;  // of deflate, RFC 1951

// Closes the file on every way out.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {
    if (const int status = nc_open(file.c_str(), NC_NOWRITE, &root_); status != NC_NOERR)
      throw InputError(file.string() + ": this is no netCDF file, or it is damaged (" + nc_strerror(status) +
                       ")");
  }
  ~Reader() { nc_close(root_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  int root() const { return root_; }
  /// A file names sizes of values that it never wrote.
  std::size_t most_values() const {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file_, error);
    return error ? 0 : static_cast<std::size_t>(std::min<std::uintmax_t>(kMostValues, bytes * kMostPerByte));
  }
  void check(int status) const {
    if (status != NC_NOERR) throw InputError(file_.string() + ": damaged: " + nc_strerror(status));
  }
  [[noreturn]] void refuse(const std::string& what) const { throw InputError(file_.string() + ": " + what); }

 private:
  std::filesystem::path file_;
  int root_ = -1;
};

struct Variable {
  int id;
  std::string name;
  std::vector<std::size_t> shape;  ///< chain, draw, ...
};

// Numeric variables over chain and draw, in file order.
std::vector<Variable> variables_of(const Reader& reader, int group) {
  int count = 0;
  reader.check(nc_inq_varids(group, &count, nullptr));
  std::vector<int> ids(static_cast<std::size_t>(count));
  reader.check(nc_inq_varids(group, &count, ids.data()));
  std::vector<Variable> variables;
  for (int id : ids) {
    char name[NC_MAX_NAME + 1];
    nc_type type = 0;
    int num_dims = 0;
    reader.check(nc_inq_var(group, id, name, &type, &num_dims, nullptr, nullptr));
    if (num_dims < 2 || type < NC_BYTE || type > NC_UINT64 || type == NC_CHAR) continue;
    std::vector<int> dims(static_cast<std::size_t>(num_dims));
    reader.check(nc_inq_vardimid(group, id, dims.data()));
    Variable variable{id, name, {}};
    std::vector<std::string> names;
    for (int dim : dims) {
      char dim_name[NC_MAX_NAME + 1];
      std::size_t size = 0;
      reader.check(nc_inq_dim(group, dim, dim_name, &size));
      names.emplace_back(dim_name);
      variable.shape.push_back(size);
    }
    if (names[0] == "chain" && names[1] == "draw") variables.push_back(variable);
  }
  return variables;
}

// Of a group that must be there with one at least; `why` ends the sentence that says it is not.
std::pair<int, std::vector<Variable>> variables_of(const Reader& reader, const std::string& name,
                                                   const std::string& why) {
  int group = -1;
  if (nc_inq_grp_ncid(reader.root(), name.c_str(), &group) != NC_NOERR)
    reader.refuse("there is no group `" + name + "` in it" + why);
  auto variables = variables_of(reader, group);
  if (variables.empty()) reader.refuse("its " + name + " has no variable over chain and draw");
  return {group, std::move(variables)};
}

std::size_t size_of(const Reader& reader, const Variable& variable) {
  std::size_t size = 1;
  for (std::size_t extent : variable.shape) {
    if (extent != 0 && size > reader.most_values() / extent)
      reader.refuse(variable.name + ": more values than its bytes can hold");
    size *= extent;
  }
  return size;
}

// Appends the elements of a variable as quantities.
void append(const Reader& reader, int group, const Variable& variable, DrawSet& draws) {
  const std::size_t size = size_of(reader, variable), rows = draws.num_chains() * draws.num_draws;
  if (variable.shape[0] != draws.num_chains() || variable.shape[1] != draws.num_draws)
    reader.refuse(variable.name + ": other numbers of chains or draws than the variables before");
  if (draws.values.size() + size > kMostValues) reader.refuse("more than 2^33 values");
  std::vector<double> values(size);
  reader.check(nc_get_var_double(group, variable.id, values.data()));
  const std::size_t elements = size / rows;
  std::vector<std::size_t> index(variable.shape.size() - 2, 0);
  for (std::size_t e = 0; e < elements; ++e) {
    std::string name = variable.name;
    for (std::size_t a = 0; a < index.size(); ++a) name += (a ? "," : "[") + std::to_string(index[a]);
    double* to = draws.add(index.empty() ? name : name + "]");
    for (std::size_t row = 0; row < rows; ++row) to[row] = values[row * elements + e];
    for (std::size_t a = index.size(); a-- > 0 && ++index[a] == variable.shape[a + 2];) index[a] = 0;
  }
}

DrawSet read_in_this_process(const std::filesystem::path& file) {
  const Reader reader(file);
  const auto [posterior, variables] =
      variables_of(reader, "posterior", "; this is no InferenceData file of ArviZ");
  DrawSet draws;
  draws.source = file.string();
  draws.program = "ArviZ";
  const std::size_t chains = variables[0].shape[0];
  draws.num_draws = variables[0].shape[1];
  if (chains == 0 || draws.num_draws == 0) reader.refuse("there are no draws in it");
  size_of(reader, variables[0]);
  for (std::size_t c = 0; c < chains; ++c) draws.chains.push_back(std::to_string(c));
  int statistics = -1;
  if (nc_inq_grp_ncid(reader.root(), "sample_stats", &statistics) == NC_NOERR)
    for (const auto& variable : variables_of(reader, statistics)) {
      const bool fits =
          variable.shape.size() == 2 && variable.shape[0] == chains && variable.shape[1] == draws.num_draws;
      if (fits && variable.name == "lp") {
        append(reader, statistics, variable, draws);
        draws.num_log_densities = 1;
      }
      if (fits && variable.name == "diverging") {
        std::vector<double> values(chains * draws.num_draws);
        reader.check(nc_get_var_double(statistics, variable.id, values.data()));
        draws.divergences.assign(chains, 0);
        for (std::size_t i = 0; i < values.size(); ++i)
          draws.divergences[i / draws.num_draws] += values[i] != 0 ? 1 : 0;
      }
    }
  for (const auto& variable : variables) append(reader, posterior, variable, draws);
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
                        draws.divergences.size()})
    put(bytes, n);
  for (const auto& name : draws.names) {
    put(bytes, name.size());
    bytes += name;
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
  const auto quantities = take<std::size_t>(bytes), divergences = take<std::size_t>(bytes);
  for (std::size_t c = 0; c < chains; ++c) draws.chains.push_back(std::to_string(c));
  for (std::size_t q = 0; q < quantities; ++q) {
    const auto size = take<std::size_t>(bytes);
    draws.names.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  for (std::size_t i = 0; i < divergences; ++i) draws.divergences.push_back(take<std::size_t>(bytes));
  draws.values.resize(bytes.size() / sizeof(double));
  std::memcpy(draws.values.data(), bytes.data(), draws.values.size() * sizeof(double));
  return draws;
}

std::string log_likelihood_bytes(const std::filesystem::path& file) {
  const Reader reader(file);
  const auto [group, variables] = variables_of(reader, "log_likelihood", ", which a comparison needs");
  const std::size_t draws = variables[0].shape[0] * variables[0].shape[1];
  if (draws == 0) reader.refuse("there are no draws in it");
  std::string bytes;
  put(bytes, draws);
  for (const Variable& variable : variables) {
    const std::size_t size = size_of(reader, variable);
    if (variable.shape[0] * variable.shape[1] != draws)
      reader.refuse(variable.name + ": other numbers of draws than the variables before");
    std::vector<double> values(size), turned(size);
    reader.check(nc_get_var_double(group, variable.id, values.data()));
    const std::size_t observations = size / draws;
    for (std::size_t s = 0; s < draws; ++s)
      for (std::size_t i = 0; i < observations; ++i) turned[i * draws + s] = values[s * observations + i];
    bytes.append(reinterpret_cast<const char*>(turned.data()), turned.size() * sizeof(double));
  }
  return bytes;
}

}  // namespace

// HDF5 does not survive every damaged file.
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
  result.values.resize(bytes.size() / sizeof(double));
  std::memcpy(result.values.data(), bytes.data(), result.values.size() * sizeof(double));
  return result;
}

}  // namespace emomc::app
