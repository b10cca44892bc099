#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "emomc/core/utf8.hpp"
#include "netcdf_file.hpp"
#include "netcdf_output.hpp"

namespace emomc::app {
namespace {

// The dimensions of arrays besides chain and draw; the variables of a group share them.
class Axes {
 public:
  Axes(const NetcdfWriter& writer, int group, const NetcdfExtras& extras)
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
    // A dimension of the same name but another size needs another name.
    while (sizes_.contains(name) && sizes_[name] != size) name += "_";
    sizes_[name] = size;
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    return known_[name] = writer_.counted(group_, name, size);
  }

 private:
  const NetcdfWriter& writer_;
  int group_;
  const NetcdfExtras& extras_;
  std::map<std::string, int> known_;
  std::map<std::string, std::size_t> sizes_;
};

void write_attributes(const NetcdfWriter& writer, int group, const DrawSet& draws,
                      const NetcdfExtras& extras) {
  writer.attribute(group, "created_at", extras.created_at);
  writer.attribute(group, "creation_library", "emomc");
  writer.attribute(group, "creation_library_version", EMOMC_VERSION);
  writer.attribute(group, "inference_library", draws.program);
  writer.attribute(group, "inference_library_version", EMOMC_VERSION);
}

void write_posterior(const NetcdfWriter& writer, int group, const DrawSet& draws,
                     const NetcdfExtras& extras) {
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

void write_statistics(const NetcdfWriter& writer, const DrawSet& draws, const NetcdfExtras& extras) {
  const int group = writer.group("sample_stats");
  write_attributes(writer, group, draws, extras);
  const int chain = writer.counted(group, "chain", draws.num_chains()),
            draw = writer.counted(group, "draw", draws.num_draws);
  const std::size_t rows = draws.num_chains() * draws.num_draws;
  for (std::size_t q = 0; q < draws.num_log_densities; ++q)
    writer.doubles(group, q == 0 ? "lp" : draws.names[q], {chain, draw}, draws.values.data() + q * rows);
  if (!draws.statistics.empty()) {
    // These are the names of ArviZ's schema.
    const std::pair<const char*, double (*)(const DrawStatistics&)> known[] = {
        {"acceptance_rate", [](const DrawStatistics& s) { return s.acceptance; }},
        {"step_size", [](const DrawStatistics& s) { return s.step_size; }},
        {"energy", [](const DrawStatistics& s) { return s.energy; }},
        {"tree_depth", [](const DrawStatistics& s) { return static_cast<double>(s.tree_depth); }},
        {"n_steps", [](const DrawStatistics& s) { return static_cast<double>(s.num_leapfrogs); }}};
    std::vector<double> values(rows);
    for (const auto& [name, of] : known) {
      std::transform(draws.statistics.begin(), draws.statistics.end(), values.begin(), of);
      writer.doubles(group, name, {chain, draw}, values.data());
    }
    std::vector<signed char> diverging(rows);
    std::transform(draws.statistics.begin(), draws.statistics.end(), diverging.begin(),
                   [](const DrawStatistics& s) { return static_cast<signed char>(s.divergent); });
    writer.flags(group, "diverging", {chain, draw}, diverging.data());
  }
  if (draws.acceptance.empty() || !draws.statistics.empty()) return;
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

/// Returns the name of the variable for a column. Characters that netCDF does not allow become `_`, and a
/// name that a dimension or another column already has gets a `_` at its end.
std::string variable_name(const std::string& column, std::set<std::string>& taken) {
  constexpr std::size_t kLongest = 200;  // bytes; netCDF allows 256
  const bool is_text = is_utf8(column) && column.size() <= kLongest;
  std::string name = column.substr(0, kLongest);
  for (char& c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f || c == '/' || (code >= 0x80 && !is_text)) c = '_';
  }
  while (!name.empty() && name.back() == ' ') name.pop_back();
  const bool begins_well = !name.empty() && (std::isalnum(static_cast<unsigned char>(name[0])) != 0 ||
                                             name[0] == '_' || static_cast<unsigned char>(name[0]) >= 0x80);
  if (!begins_well) name = "_" + name;
  while (!taken.insert(name).second) name += "_";
  return name;
}

/// Returns the name of each column's variable, which is the same in all groups.
std::map<std::string, std::string> variable_names(const NetcdfExtras& extras) {
  std::set<std::string> taken{"chain", "draw", "row", "feature", "column_mean", "column_sd", "scale_floor"};
  std::map<std::string, std::string> names;
  for (const std::string& column : extras.columns) names[column] = variable_name(column, taken);
  return names;
}

bool are_whole(std::span<const double> values) {
  constexpr double kLargest = 9007199254740992;  // 2^53
  return std::all_of(values.begin(), values.end(),
                     [](double x) { return std::abs(x) <= kLargest && std::floor(x) == x; });
}

/// Returns the values [chains x draws x rows] of one variable.
std::span<const double> of_variable(const PredictiveDraws& drawn, std::size_t v) {
  const std::size_t size = drawn.num_chains * drawn.draws.size() * drawn.num_rows;
  return std::span(drawn.values).subspan(v * size, size);
}

/// Returns the columns that become integers in the file, so that ArviZ recognises counts: the data and all
/// replicates of these columns are whole numbers.
std::set<std::string> integer_columns(const NetcdfExtras& extras) {
  std::map<std::string, bool> whole;
  const auto look_at = [&](const PredictiveDraws& drawn) {
    for (std::size_t v = 0; v < drawn.variables.size(); ++v) {
      bool& is = whole.try_emplace(drawn.variables[v], true).first->second;
      is = is && are_whole(of_variable(drawn, v));
    }
  };
  if (extras.posterior_predictive) look_at(*extras.posterior_predictive);
  if (extras.prior) look_at(extras.prior->predictive);
  std::set<std::string> integers;
  for (std::size_t j = 0; j < extras.columns.size(); ++j) {
    const auto at = whole.find(extras.columns[j]);
    if (at == whole.end() || !at->second) continue;
    std::vector<double> column;
    for (std::size_t i = j; i < extras.data.size(); i += extras.columns.size())
      column.push_back(extras.data[i]);
    if (are_whole(column)) integers.insert(at->first);
  }
  return integers;
}

void write_rows(const NetcdfWriter& writer, int observed, int constant, const NetcdfExtras& extras) {
  const std::size_t columns = extras.columns.size();
  if (columns == 0 || extras.data.empty()) return;
  const std::map<std::string, std::string> names = variable_names(extras);
  const std::set<std::string> integers = integer_columns(extras);
  const std::size_t num_rows = extras.data.size() / columns;
  std::map<int, int> row_of;  // the dimension `row` of each group
  std::vector<double> values(num_rows);
  for (std::size_t j = 0; j < columns; ++j) {
    const std::string& column = extras.columns[j];
    const bool is_observed =
        std::find(extras.observed.begin(), extras.observed.end(), column) != extras.observed.end();
    const int group = is_observed ? observed : constant;
    if (!row_of.contains(group)) row_of[group] = writer.counted(group, "row", num_rows);
    if (writer.has(group, names.at(column))) continue;  // Unicode treats the two names as the same
    for (std::size_t i = 0; i < num_rows; ++i) values[i] = extras.data[i * columns + j];
    if (integers.contains(column))
      writer.integers(group, names.at(column), {row_of[group]}, values.data());
    else
      writer.doubles(group, names.at(column), {row_of[group]}, values.data());
  }
}

void write_data(const NetcdfWriter& writer, const DrawSet& draws, const NetcdfExtras& extras) {
  const int observed = writer.group("observed_data");
  write_attributes(writer, observed, draws, extras);
  writer.attribute(observed, "sha256", extras.data_sha256);
  std::string files;
  for (const auto& file : extras.data_files) files += (files.empty() ? "" : "\n") + file;
  writer.attribute(observed, "files", files);
  const int constant = writer.group("constant_data");
  write_attributes(writer, constant, draws, extras);
  Axes axes(writer, constant, extras);
  const std::pair<const char*, const std::vector<double>*> known[] = {{"column_mean", &extras.column_mean},
                                                                      {"column_sd", &extras.column_sd},
                                                                      {"scale_floor", &extras.scale_floor}};
  for (const auto& [name, values] : known)
    if (!values->empty() && values->size() == extras.columns.size())
      writer.doubles(constant, name, {axes.feature(0, extras.columns.size())}, values->data());
  write_rows(writer, observed, constant, extras);
}

/// Writes replicates: one variable for each column, over chain, draw and row.
void write_predictive(const NetcdfWriter& writer, const char* name, const PredictiveDraws& drawn,
                      const DrawSet& draws, const NetcdfExtras& extras) {
  const int group = writer.group(name);
  write_attributes(writer, group, draws, extras);
  if (drawn.is_thinned())
    writer.attribute(group, "thinned",
                     std::to_string(drawn.draws.size()) + " of " + std::to_string(drawn.num_draws_of_chain) +
                         " draws of each chain, at equal distances");
  const std::vector<int> dims{writer.counted(group, "chain", drawn.num_chains),
                              writer.numbered(group, "draw", {drawn.draws.begin(), drawn.draws.end()}),
                              writer.counted(group, "row", drawn.num_rows)};
  const std::map<std::string, std::string> names = variable_names(extras);
  const std::set<std::string> integers = integer_columns(extras);
  for (std::size_t v = 0; v < drawn.variables.size(); ++v)
    if (integers.contains(drawn.variables[v]))
      writer.integers(group, names.at(drawn.variables[v]), dims, of_variable(drawn, v).data());
    else
      writer.doubles(group, names.at(drawn.variables[v]), dims, of_variable(drawn, v).data());
}

void write_log_prior(const NetcdfWriter& writer, const DrawSet& draws, const NetcdfExtras& extras) {
  const auto end = draws.names.begin() + static_cast<std::ptrdiff_t>(draws.num_log_densities);
  const auto at = std::find(draws.names.begin(), end, "log_prior");
  if (at == end) return;
  const int group = writer.group("log_prior");
  write_attributes(writer, group, draws, extras);
  const std::vector<int> dims{writer.counted(group, "chain", draws.num_chains()),
                              writer.counted(group, "draw", draws.num_draws)};
  const auto q = static_cast<std::size_t>(at - draws.names.begin());
  writer.doubles(group, "log_prior", dims, draws.values.data() + q * draws.num_chains() * draws.num_draws);
}
}  // namespace

bool has_netcdf() { return true; }

void write_netcdf(const std::filesystem::path& file, const DrawSet& draws, const NetcdfExtras& extras,
                  FileWriter write) {
  NetcdfWriter writer(file, write);
  write_attributes(writer, writer.root(), draws, extras);
  write_posterior(writer, writer.group("posterior"), draws, extras);
  write_statistics(writer, draws, extras);
  write_log_prior(writer, draws, extras);
  write_data(writer, draws, extras);
  if (!extras.log_likelihood.empty()) {
    const int group = writer.group("log_likelihood");
    write_attributes(writer, group, draws, extras);
    const int chain = writer.counted(group, "chain", draws.num_chains()),
              draw = writer.counted(group, "draw", draws.num_draws),
              row = writer.counted(group, "row",
                                   extras.log_likelihood.size() / (draws.num_chains() * draws.num_draws));
    writer.doubles(group, "x", {chain, draw, row}, extras.log_likelihood.data());
  }
  if (extras.warmup && extras.warmup->num_draws > 0)
    write_posterior(writer, writer.group("warmup_posterior"), *extras.warmup, extras);
  if (extras.posterior_predictive)
    write_predictive(writer, "posterior_predictive", *extras.posterior_predictive, draws, extras);
  if (extras.prior) {
    write_posterior(writer, writer.group("prior"), extras.prior->prior, extras);
    write_predictive(writer, "prior_predictive", extras.prior->predictive, draws, extras);
  }
  writer.close();
}

}  // namespace emomc::app
