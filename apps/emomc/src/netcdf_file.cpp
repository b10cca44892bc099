#include "netcdf_file.hpp"

#include "emomc/core/errors.hpp"

#ifdef EMOMC_HAVE_NETCDF
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "child_process.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 33;

class Writer {
 public:
  explicit Writer(const std::filesystem::path& file) : file_(file) {
    check(nc_create(file.c_str(), NC_NETCDF4 | NC_CLOBBER, &root_));
  }
  ~Writer() {
    if (root_ >= 0) nc_close(root_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  int root() const { return root_; }
  void close() {
    const int id = std::exchange(root_, -1);
    check(nc_close(id));
  }
  int group(const char* name) const {
    int id = -1;
    check(nc_def_grp(root_, name, &id));
    return id;
  }
  int dimension(int group, const std::string& name, std::size_t size) const {
    int id = -1;
    check(nc_def_dim(group, name.c_str(), size, &id));
    return id;
  }
  // A dimension with the coordinate 0, 1, ...
  int counted(int group, const std::string& name, std::size_t size) const {
    const int id = dimension(group, name, size);
    std::vector<long long> index(size);
    std::iota(index.begin(), index.end(), 0);
    int variable = -1;
    check(nc_def_var(group, name.c_str(), NC_INT64, 1, &id, &variable));
    check(nc_put_var_longlong(group, variable, index.data()));
    return id;
  }
  int named(int group, const std::string& name, const std::vector<std::string>& values) const {
    const int id = dimension(group, name, values.size());
    std::vector<const char*> pointers;
    for (const auto& value : values) pointers.push_back(value.c_str());
    int variable = -1;
    check(nc_def_var(group, name.c_str(), NC_STRING, 1, &id, &variable));
    check(nc_put_var_string(group, variable, pointers.data()));
    return id;
  }
  void doubles(int group, const std::string& name, const std::vector<int>& dims, const double* values) const {
    int variable = -1;
    check(nc_def_var(group, name.c_str(), NC_DOUBLE, static_cast<int>(dims.size()), dims.data(), &variable));
    check(nc_put_var_double(group, variable, values));
  }
  void attribute(int group, const std::string& name, const std::string& value) const {
    check(nc_put_att_text(group, NC_GLOBAL, name.c_str(), value.size(), value.c_str()));
  }
  void check(int status) const {
    if (status != NC_NOERR)
      throw MachineError(file_.string() + ": cannot be written: " + nc_strerror(status));
  }

 private:
  std::filesystem::path file_;
  int root_ = -1;
};

// Axes beyond chain and draw, shared by the variables of a group.
class Axes {
 public:
  Axes(const Writer& writer, int group, const NetcdfExtras& extras)
      : writer_(writer), group_(group), extras_(extras) {}

  std::vector<int> of(const QuantityArray& array) {
    std::vector<int> dims;
    int features = 0;
    for (int a = 0; a < static_cast<int>(array.shape.size()); ++a) {
      const auto size = static_cast<std::size_t>(array.shape[static_cast<std::size_t>(a)]);
      const bool is_feature =
          std::find(array.feature_axes.begin(), array.feature_axes.end(), a) != array.feature_axes.end();
      if (a == array.component_axis)
        dims.push_back(counted("component", size));
      else if (is_feature)
        dims.push_back(feature(features++, size));
      else
        dims.push_back(counted(array.name + "_dim_" + std::to_string(a), size));
    }
    return dims;
  }
  int feature(int which, std::size_t size) {
    const std::string name = which == 0 ? "feature" : "feature_" + std::to_string(which);
    if (extras_.columns.size() != size) return counted(name, size);
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    return known_[name] = writer_.named(group_, name, extras_.columns);
  }
  int counted(std::string name, std::size_t size) {
    // The same name with another size is another dimension.
    while (sizes_.contains(name) && sizes_[name] != size) name += "_";
    sizes_[name] = size;
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    return known_[name] = writer_.counted(group_, name, size);
  }

 private:
  const Writer& writer_;
  int group_;
  const NetcdfExtras& extras_;
  std::map<std::string, int> known_;
  std::map<std::string, std::size_t> sizes_;
};

void write_attributes(const Writer& writer, int group, const DrawSet& draws, const NetcdfExtras& extras) {
  writer.attribute(group, "created_at", extras.created_at);
  writer.attribute(group, "creation_library", "emomc");
  writer.attribute(group, "creation_library_version", EMOMC_VERSION);
  writer.attribute(group, "inference_library", draws.program);
  writer.attribute(group, "inference_library_version", EMOMC_VERSION);
}

void write_posterior(const Writer& writer, int group, const DrawSet& draws, const NetcdfExtras& extras) {
  write_attributes(writer, group, draws, extras);
  Axes axes(writer, group, extras);
  const int chain = writer.counted(group, "chain", draws.num_chains()),
            draw = writer.counted(group, "draw", draws.num_draws);
  const std::size_t rows = draws.num_chains() * draws.num_draws;
  std::vector<double> values;
  for (const QuantityArray& array : arrays_of(draws, draws.num_quantities() - draws.num_log_densities)) {
    std::vector<int> dims{chain, draw};
    for (int id : axes.of(array)) dims.push_back(id);
    const std::size_t size = array.quantities.size();
    values.resize(rows * size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t row = 0; row < rows; ++row)
        values[row * size + i] = draws.values[array.quantities[i] * rows + row];
    writer.doubles(group, array.name, dims, values.data());
  }
}

void write_statistics(const Writer& writer, const DrawSet& draws, const NetcdfExtras& extras) {
  const int group = writer.group("sample_stats");
  write_attributes(writer, group, draws, extras);
  const int chain = writer.counted(group, "chain", draws.num_chains()),
            draw = writer.counted(group, "draw", draws.num_draws);
  const std::size_t rows = draws.num_chains() * draws.num_draws;
  for (std::size_t q = 0; q < draws.num_log_densities; ++q)
    writer.doubles(group, q == 0 ? "lp" : draws.names[q], {chain, draw}, draws.values.data() + q * rows);
  if (draws.acceptance.empty()) return;
  std::vector<std::string> names;
  std::vector<double> rates;
  for (const auto& block : draws.acceptance) names.push_back(block.name);
  for (std::size_t c = 0; c < draws.num_chains(); ++c)
    for (const auto& block : draws.acceptance)
      rates.push_back(static_cast<double>(block.accepted[c]) /
                      std::max(1.0, static_cast<double>(block.proposed[c])));
  const int block = writer.named(group, "block", names);
  writer.doubles(group, "acceptance_rate", {chain, block}, rates.data());
}

void write_data(const Writer& writer, const DrawSet& draws, const NetcdfExtras& extras) {
  const int observed = writer.group("observed_data");
  write_attributes(writer, observed, draws, extras);
  writer.attribute(observed, "sha256", extras.data_sha256);
  std::string files;
  for (const auto& file : extras.data_files) files += (files.empty() ? "" : "\n") + file;
  writer.attribute(observed, "files", files);
  const std::size_t columns = extras.columns.size();
  if (!extras.data.empty() && columns > 0) {
    Axes axes(writer, observed, extras);
    const int row = writer.dimension(observed, "row", extras.data.size() / columns);
    writer.doubles(observed, "x", {row, axes.feature(0, columns)}, extras.data.data());
  }
  const int constant = writer.group("constant_data");
  write_attributes(writer, constant, draws, extras);
  Axes axes(writer, constant, extras);
  const std::pair<const char*, const std::vector<double>*> known[] = {{"column_mean", &extras.column_mean},
                                                                      {"column_sd", &extras.column_sd},
                                                                      {"scale_floor", &extras.scale_floor}};
  for (const auto& [name, values] : known)
    if (!values->empty() && values->size() == columns)
      writer.doubles(constant, name, {axes.feature(0, columns)}, values->data());
}

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

std::size_t size_of(const Reader& reader, const Variable& variable) {
  std::size_t size = 1;
  for (std::size_t extent : variable.shape) {
    if (extent != 0 && size > kMostValues / extent) reader.refuse(variable.name + ": more than 2^33 values");
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

}  // namespace

bool has_netcdf() { return true; }

void write_netcdf(const std::filesystem::path& file, const DrawSet& draws, const NetcdfExtras& extras) {
  const std::filesystem::path beside = file.string() + ".part-" + std::to_string(::getpid());
  try {
    Writer writer(beside);
    write_attributes(writer, writer.root(), draws, extras);
    write_posterior(writer, writer.group("posterior"), draws, extras);
    write_statistics(writer, draws, extras);
    write_data(writer, draws, extras);
    if (!extras.log_likelihood.empty()) {
      const int group = writer.group("log_likelihood");
      write_attributes(writer, group, draws, extras);
      const int chain = writer.counted(group, "chain", draws.num_chains()),
                draw = writer.counted(group, "draw", draws.num_draws),
                row = writer.dimension(group, "row",
                                       extras.log_likelihood.size() / (draws.num_chains() * draws.num_draws));
      writer.doubles(group, "x", {chain, draw, row}, extras.log_likelihood.data());
    }
    if (extras.warmup && extras.warmup->num_draws > 0)
      write_posterior(writer, writer.group("warmup_posterior"), *extras.warmup, extras);
    writer.close();
    std::error_code error;
    std::filesystem::rename(beside, file, error);
    if (error) throw MachineError(file.string() + ": cannot be written: " + error.message());
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
}

namespace {

DrawSet read_in_this_process(const std::filesystem::path& file) {
  const Reader reader(file);
  int posterior = -1;
  if (nc_inq_grp_ncid(reader.root(), "posterior", &posterior) != NC_NOERR)
    reader.refuse("there is no group `posterior` in it; this is no InferenceData file of ArviZ");
  const auto variables = variables_of(reader, posterior);
  if (variables.empty()) reader.refuse("its posterior has no variable over chain and draw");
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
  int group = -1;
  if (nc_inq_grp_ncid(reader.root(), "log_likelihood", &group) != NC_NOERR)
    reader.refuse("there is no group `log_likelihood` in it, which a comparison needs");
  const auto variables = variables_of(reader, group);
  if (variables.empty()) reader.refuse("its log_likelihood has no variable over chain and draw");
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
  const std::string bytes = in_child([&] { return to_bytes(read_in_this_process(file)); },
                                     file.string() + ": damaged: the netCDF library failed on it");
  return from_bytes(bytes, file.string());
}

ForeignLogLikelihood read_netcdf_log_likelihood(const std::filesystem::path& file) {
  const std::string answer = in_child([&] { return log_likelihood_bytes(file); },
                                      file.string() + ": damaged: the netCDF library failed on it");
  std::string_view bytes = answer;
  ForeignLogLikelihood result;
  result.num_draws = take<std::size_t>(bytes);
  result.values.resize(bytes.size() / sizeof(double));
  std::memcpy(result.values.data(), bytes.data(), result.values.size() * sizeof(double));
  return result;
}

}  // namespace emomc::app

#else

namespace emomc::app {

namespace {
[[noreturn]] void refuse(const std::filesystem::path& file) {
  throw InputError(file.string() + ": this build has no netCDF; install libnetcdf-dev and build again");
}
}  // namespace

bool has_netcdf() { return false; }
void write_netcdf(const std::filesystem::path& file, const DrawSet&, const NetcdfExtras&) { refuse(file); }
DrawSet read_netcdf(const std::filesystem::path& file) { refuse(file); }
ForeignLogLikelihood read_netcdf_log_likelihood(const std::filesystem::path& file) { refuse(file); }

}  // namespace emomc::app

#endif
