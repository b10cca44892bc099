#include "pointwise.hpp"

#include <algorithm>
#include <map>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "expression_run.hpp"
#include "run_data.hpp"
#include "run_setup.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 26;  // draws x groups in memory: 512 MB

// The group of each row, numbered in order of appearance.
std::vector<std::size_t> groups_of(const Table& table, const std::string& by, std::size_t& num_groups) {
  std::vector<std::size_t> group(table.num_rows);
  if (by == "row") {
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = i;
    num_groups = group.size();
    return group;
  }
  const auto label =
      std::find_if(table.labels.begin(), table.labels.end(), [&](const auto& l) { return l.name == by; });
  const auto speaker = std::find_if(table.labels.begin(), table.labels.end(),
                                    [&](const auto& l) { return l.name == "speaker"; });
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
      key = {label->codes[i]};
    }
    group[i] = known.try_emplace(key, known.size()).first->second;
  }
  num_groups = known.size();
  return group;
}

std::string choose_grouping(const Table& table, const std::string& asked, const std::string& run) {
  const auto has = [&](const std::string& name) {
    return std::any_of(table.labels.begin(), table.labels.end(),
                       [&](const auto& l) { return l.name == name; });
  };
  if (asked.empty()) return has("utterance") ? "utterance" : "row";
  if (asked == "row" || asked == "file" || has(asked)) return asked;
  std::string allowed = "row, file";
  for (const auto& label : table.labels) allowed += ", " + label.name;
  throw InputError("--loo-by " + asked + ": the data of " + run +
                   " have no such column; allowed: " + allowed);
}

}  // namespace

ParameterLayout layout_of_likelihood(const ParameterLayout& layout, const ModelSpec& model, int dim,
                                     const std::string& run) {
  ParameterLayout own = model_layout(model, dim);
  const bool fits = layout.blocks.size() >= own.blocks.size() &&
                    std::equal(own.blocks.begin(), own.blocks.end(), layout.blocks.begin());
  if (!fits)
    throw InputError(run + ": the parameters of its chains are not those of " + model.name + " in " +
                     std::to_string(dim) + " columns");
  return own;
}

namespace {

/// A run's likelihood with its data, on the CPU.
struct RunLikelihood {
  LoadedData loaded;
  ParameterLayout layout;  ///< of the likelihood's parameters, without sampled arguments of priors
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;
};

RunLikelihood likelihood_of_run(const std::filesystem::path& directory, const RunData& known,
                                const ParameterLayout& drawn) {
  RunLikelihood result;
  const std::string run = directory.string();
  check_data_files(directory, known);
  const DataConfig data{known.paths, known.columns, true, known.format, known.categories};
  Backend backend = Backend::cpu;
  if (const auto expression = expression_of_run(directory)) {
    const RunConfig config = parse_run_config(read_config_text(directory / "config.yaml"), run);
    LoadedExpression own = load_expression(data, config.likelihood.expression, Backend::automatic, 1);
    backend = own.backend == Backend::cuda ? Backend::cpu : own.backend;
    if (own.backend == Backend::cuda) own = load_expression(data, config.likelihood.expression, backend, 1);
    result.loaded = std::move(own.loaded);
    result.layout = expression->layout();
    result.device = make_device(backend);
    result.engine =
        make_engine(backend, std::move(own.model), Precision::float64, result.loaded.data, *result.device);
  } else {
    const ModelSpec model = model_of(drawn);
    // The data are standardised for accuracy; an offset converts the values to the data's own units.
    result.loaded = load_data(data, model);
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
  if (known.files.empty()) throw InputError(run + ": its manifest names no data");
  const RunLikelihood likelihood = likelihood_of_run(request.directory, known, draws.layout);
  const LoadedData& loaded = likelihood.loaded;
  const ParameterLayout& layout = likelihood.layout;
  const auto dim = static_cast<std::size_t>(layout.dim());

  PointwiseRun result;
  result.data_sha256 = known.sha256;
  for (const auto& label : loaded.table.labels) result.label_columns.push_back(label.name);
  result.grouping.by = choose_grouping(loaded.table, request.by, run);
  const std::vector<std::size_t> group =
      groups_of(loaded.table, result.grouping.by, result.grouping.num_groups);
  const std::size_t all = draws.num_chains() * draws.num_draws;
  const std::size_t S = result.num_draws = std::min(all, request.most_draws);
  if (result.grouping.num_groups > request.most_values / S)
    throw InputError(run + ": log likelihoods of " + std::to_string(S) + " draws in each of " +
                     std::to_string(result.grouping.num_groups) + " rows would take more than " +
                     std::to_string(request.most_values * sizeof(double) / 1'000'000'000) +
                     " GB; `emomc compare` does without storing them");
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
  for (std::size_t first = 0; first < result.grouping.num_groups; first += at_once) {
    const std::size_t count = std::min(at_once, result.grouping.num_groups - first);
    std::vector<double> sums(count * S, 0.0);
    for (std::size_t s = 0; s < S; ++s) {
      engine->evaluate_rows(theta.data() + s * dim, rows.data());
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (group[i] >= first && group[i] < first + count)
          sums[(group[i] - first) * S + s] += rows[i] + offset;
    }
    for (std::size_t g = 0; g < count; ++g) use({sums.data() + g * S, S}, result.relative_efficiency);
  }
  return result;
}

}  // namespace emomc::app
