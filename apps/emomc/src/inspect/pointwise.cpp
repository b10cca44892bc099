#include "pointwise.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "code_options.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "expression_run.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 26;  // draws x groups in memory: 512 MB

// Returns, for each level of a label, the first level that means the same. If all levels are numbers, 1 and
// 1.0 mean the same.
std::vector<std::size_t> same_levels(const std::vector<std::string>& levels) {
  std::vector<std::size_t> first(levels.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::map<double, std::size_t> number_of;
  std::vector<std::size_t> of_numbers;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    std::string text = levels[level];
    std::replace(text.begin(), text.end(), ',', '.');  // a decimal comma
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return first;
    of_numbers.push_back(number_of.try_emplace(value, level).first->second);
  }
  return of_numbers;
}

// Returns the group of each row; groups are numbered in order of appearance.
std::vector<std::size_t> groups_of(const Table& table, Grouping& grouping) {
  const std::string& by = grouping.by;
  std::vector<std::size_t> group(table.num_rows);
  if (by == "row") {
    std::iota(group.begin(), group.end(), std::size_t{0});
    grouping.num_groups = group.size();
    return group;
  }
  const auto label =
      std::find_if(table.labels.begin(), table.labels.end(), [&](const auto& l) { return l.name == by; });
  const auto speaker = std::find_if(table.labels.begin(), table.labels.end(),
                                    [&](const auto& l) { return l.name == "speaker"; });
  const bool is_column = label != table.labels.end() && by != "utterance";
  std::vector<std::size_t> same;
  if (is_column) {
    same = same_levels(label->levels);
    const auto blank = std::find(label->levels.begin(), label->levels.end(), "");
    if (blank != label->levels.end()) {
      const auto code = static_cast<std::uint32_t>(blank - label->levels.begin());
      const auto row = std::find(label->codes.begin(), label->codes.end(), code) - label->codes.begin();
      throw InputError("--loo-by " + by + ": the column has no value in row " + std::to_string(row + 1) +
                       " of the data; every row needs one");
    }
  }
  std::map<std::vector<std::size_t>, std::size_t> known;
  std::size_t file = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    while (file + 1 < table.file_first_row.size() && i >= table.file_first_row[file + 1]) ++file;
    std::vector<std::size_t> key;
    if (label == table.labels.end()) {
      key = {file};  // "file" is the only name that is not a column
    } else if (by == "utterance") {
      // Utterances are numbered within each file and each speaker.
      key = {file, speaker == table.labels.end() ? 0 : speaker->codes[i], label->codes[i]};
    } else {
      key = {same[label->codes[i]]};
    }
    const auto [at, is_new] = known.try_emplace(key, known.size());
    group[i] = at->second;
    if (is_new && is_column) grouping.names.push_back(label->levels[key[0]]);
  }
  grouping.num_groups = known.size();
  std::vector<std::size_t> sizes(known.size());
  for (std::size_t g : group) ++sizes[g];
  const auto [least, greatest] = std::minmax_element(sizes.begin(), sizes.end());
  grouping.smallest = *least;
  grouping.largest = *greatest;
  return group;
}

std::string choose_grouping(const Table& table, const std::string& asked, const std::string& run,
                            const TableRequest& from) {
  const auto has = [&](const std::string& name) {
    return std::any_of(table.labels.begin(), table.labels.end(),
                       [&](const auto& l) { return l.name == name; });
  };
  if (asked.empty()) return has("utterance") ? "utterance" : "row";
  if (asked == "row" || asked == "file" || has(asked)) return asked;
  constexpr std::size_t kLongest = 1000;  // characters of the list
  std::vector<std::string> names{"row", "file"};
  const std::vector<std::string> columns = read_column_names(from);
  if (std::find(columns.begin(), columns.end(), asked) != columns.end())
    throw InputError("--loo-by " + asked + ": not all data files of " + run + " have this column");
  for (const std::string& column : columns)
    if (column != "file") names.push_back(column);
  std::string allowed;
  for (const std::string& name : names)
    if (allowed.size() < kLongest) allowed += (allowed.empty() ? "" : ", ") + name;
  throw InputError("--loo-by " + asked + ": the data of " + run + " have no such column; " +
                   did_you_mean(nearest_name(asked, names)) + "allowed: " + allowed);
}

/// A run's likelihood with its data, on the CPU.
struct RunLikelihood {
  LoadedData loaded;
  ParameterLayout layout;  ///< layout of the likelihood's parameters, without sampled arguments of priors
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;
  std::shared_ptr<const Expression> expression;  ///< the likelihood's expression; null: the run has a model
};

RunLikelihood likelihood_of_run(const std::filesystem::path& directory, const RunData& known,
                                const ParameterLayout& drawn, const std::vector<std::string>& labels) {
  RunLikelihood result;
  const std::string run = directory.string();
  check_data_files(directory, known);
  const DataConfig data{known.paths, known.columns, true, known.format, known.categories, known.renames};
  Backend backend = Backend::cpu;
  if (const auto expression = expression_of_run(directory)) {
    const std::optional<ExpressionSpec> stated = specification_of_run(directory);
    if (!stated) throw std::logic_error(run + ": an expression without its specification");
    ExpressionSpec spec = *stated;
    // The run directory has the header with which the run was made; the user may have changed the original.
    if (!spec.code.file.empty()) spec.code.file = code_file(directory).string();
    LoadedExpression own = load_expression(data, spec, Backend::automatic, 1, labels);
    backend = own.backend == Backend::cuda ? Backend::cpu : own.backend;
    if (own.backend == Backend::cuda) own = load_expression(data, spec, backend, 1, labels);
    result.loaded = std::move(own.loaded);
    result.layout = expression->layout();
    result.expression = expression;
    result.device = make_device(backend);
    result.engine =
        make_engine(backend, std::move(own.model), Precision::float64, result.loaded.data, *result.device);
  } else {
    const ModelSpec model = model_of(drawn);
    // The data are standardised for accuracy; an offset converts the values to the data's own units.
    result.loaded = load_data(data, model, labels);
    result.layout = layout_of_likelihood(drawn, model, result.loaded.data.dim, run);
    result.device = make_device(backend);
    result.engine = make_engine(backend, model, Precision::float64, result.loaded.data, *result.device, 0);
  }
  if (result.loaded.fingerprint.sha256 != known.sha256)
    throw InputError(known.paths[0] + ": these are not the data that " + run +
                     " was made with (another SHA-256)");
  return result;
}

}  // namespace

PointwiseRun pointwise(const PointwiseRequest& request,
                       const std::function<void(std::span<const double>, double)>& use) {
  const std::string run = request.directory.string();
  refuse_many_posteriors(request.directory);
  const auto chains = read_chains(request.directory);
  const DrawSet draws = draw_set_of(chains, run);
  const RunData known = read_run_data(request.directory, 0);
  if (known.files.empty()) refuse_without_columns(request.directory);
  const RunLikelihood likelihood = likelihood_of_run(
      request.directory, known, draws.layout,
      request.by.empty() ? std::vector<std::string>() : std::vector<std::string>{request.by});
  const LoadedData& loaded = likelihood.loaded;
  const ParameterLayout& layout = likelihood.layout;
  const auto dim = static_cast<std::size_t>(layout.dim());

  PointwiseRun result;
  result.data_sha256 = known.sha256;
  if (const auto spec = specification_of_run(request.directory)) result.weights = spec->weights;
  for (const auto& label : loaded.table.labels) result.label_columns.push_back(label.name);
  result.grouping.by =
      choose_grouping(loaded.table, request.by, run, {known.paths, known.columns, known.format});
  const std::vector<std::size_t> group = groups_of(loaded.table, result.grouping);
  result.groups_have_parameters =
      likelihood.expression && likelihood.expression->is_index(result.grouping.by);
  const std::size_t all = draws.num_chains() * draws.num_draws;
  const std::size_t S = result.num_draws = std::min(all, request.most_draws);
  if (result.grouping.num_groups > request.most_values / S)
    throw InputError(run + ": log likelihoods of " + std::to_string(S) + " draws in each of " +
                     std::to_string(result.grouping.num_groups) + " rows would take more than " +
                     std::to_string(request.most_values * sizeof(double) / 1'000'000'000) +
                     " GB; `emomc compare` does not need to store them");
  const double ess = ess_bulk(draws.view(1));
  result.relative_efficiency = ess > 0 ? std::min(1.0, ess / static_cast<double>(S)) : 1.0;

  std::vector<double> theta(S * dim);
  for (std::size_t s = 0; s < S; ++s) {
    const std::span<double> point(theta.data() + s * dim, dim);
    for (std::size_t j = 0; j < dim; ++j)
      point[j] = draws.values[(draws.num_log_densities + j) * all + s * all / S];
    from_written(layout, point);
    to_sampler_units(layout, loaded.units, point);
  }
  LikelihoodEngine* const engine = likelihood.engine.get();
  engine->allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  const double offset = log_likelihood_offset(loaded.units, 1);
  std::vector<double> rows(loaded.data.num_rows);
  const std::size_t at_once = std::max<std::size_t>(1, kMostValues / S);
  const std::size_t parts = (result.grouping.num_groups + at_once - 1) / at_once;
  CountLine progress(run + ": log likelihoods of draws", S * parts, Verbosity::normal);
  CountLine groups_done(run + ": by " + result.grouping.by, result.grouping.num_groups, Verbosity::normal);
  for (std::size_t first = 0; first < result.grouping.num_groups; first += at_once) {
    const std::size_t count = std::min(at_once, result.grouping.num_groups - first);
    std::vector<double> sums(count * S, 0.0);
    for (std::size_t s = 0; s < S; ++s) {
      engine->evaluate_rows(theta.data() + s * dim, rows.data());
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (group[i] >= first && group[i] < first + count)
          sums[(group[i] - first) * S + s] += rows[i] + offset;
      progress.add();
    }
    for (std::size_t g = 0; g < count; ++g) {
      use({sums.data() + g * S, S}, result.relative_efficiency);
      groups_done.add();
    }
  }
  progress.end();
  groups_done.end();
  return result;
}

}  // namespace emomc::app
