#include "emomc/posterior/data_setup.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/core/host_compiler.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/core/runtime_linker.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/likelihood/device_table.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/posterior/own_code.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {
std::string hash_table(const Table& table) {
  std::string header;
  for (const auto& column : table.columns) header += column + "\n";
  for (const CategoryColumn& column : table.categories)
    for (const auto& level : column.levels) header += column.name + "=" + level + "\n";
  if (table.on_device) return sha256_hex(header + "rows " + table.on_device->hash());
  const std::string_view values(reinterpret_cast<const char*>(table.values.data()),
                                table.values.size() * sizeof(double));
  return sha256_hex(header + sha256_hex(values));
}

DataFacts facts_of(const LoadedData& loaded) {
  const Table& table = loaded.table;
  return {.fingerprint = loaded.fingerprint,
          .files = table.files,
          .columns = table.columns,
          .skipped_columns = table.skipped_columns,
          .constant_columns = loaded.constant_columns,
          .categories = table.categories,
          .num_rows = table.num_rows,
          .num_duplicate_rows = table.num_duplicate_rows,
          .units = loaded.units,
          .column_sd = loaded.column_sd};
}

DataPart data_part(const std::string& name, const std::vector<double>& values, std::size_t dim,
                   std::size_t first_row, std::size_t num_rows) {
  constexpr std::size_t kDigits = 16;  // the hash only serves to name the part that differs
  const std::string_view bytes(reinterpret_cast<const char*>(values.data() + first_row * dim),
                               num_rows * dim * sizeof(double));
  return {name, num_rows, sha256_hex(bytes).substr(0, kDigits)};
}

namespace {

DataFingerprint fingerprint_of(const Table& table) {
  constexpr std::size_t kDigits = 16;
  DataFingerprint fingerprint{hash_table(table), table.columns, {}};
  if (table.on_device) {
    fingerprint.parts.push_back({kMemoryOfGpu, table.num_rows, table.on_device->hash().substr(0, kDigits)});
    return fingerprint;
  }
  for (std::size_t f = 0; f < table.files.size(); ++f) {
    const std::size_t first = table.file_first_row[f],
                      end = f + 1 < table.files.size() ? table.file_first_row[f + 1] : table.num_rows;
    fingerprint.parts.push_back(
        data_part(table.files[f], table.values, table.columns.size(), first, end - first));
  }
  return fingerprint;
}

}  // namespace

namespace {

LoadedData prepared(Table table, const ModelSpec& model, bool standardize) {
  LoadedData loaded;
  loaded.table = std::move(table);
  const std::size_t dim = loaded.table.columns.size();
  const std::shared_ptr<const DeviceTable> on_device = loaded.table.on_device;
  loaded.fingerprint = fingerprint_of(loaded.table);
  const std::vector<ColumnRange> ranges =
      on_device ? on_device->ranges() : column_ranges(loaded.table.values, dim);
  for (std::size_t j : columns_out_of_range(ranges))
    throw InputError(
        "data: column " + loaded.table.columns[j] +
        ": its numbers are too large or too close together for float64 to hold their squares; "
        "allowed: sizes up to 1e150 and differences from 1e-150; state the column in another unit");
  const std::vector<std::size_t> constant = constant_columns(ranges);
  for (std::size_t j : constant) {
    loaded.constant_columns.push_back(loaded.table.columns[j]);
    // The rounding errors of a constant column carry no information, but would seem to do so after centring.
    for (std::size_t i = j; i < loaded.table.values.size(); i += dim)
      loaded.table.values[i] = loaded.table.values[j];
  }
  const ColumnUnits units =
      column_units_for(model_layout(model, static_cast<int>(dim)),
                       on_device ? on_device->column_units() : column_units(loaded.table.values, dim));
  // Rows are always shifted and scaled: otherwise a column far from 0 would lose all accuracy in float32 and
  // some in float64. If priors are stated in the data's own units, the factor is a power of two, which causes
  // no rounding.
  loaded.units = standardize ? units : exact_units(units);
  for (std::size_t j = 0; j < dim; ++j) loaded.column_sd.push_back(units.sd[j] / loaded.units.sd[j]);
  if (on_device) {
    loaded.data = data_on_device(shifted_rows(on_device, loaded.units, constant));
    return loaded;
  }
  emomc::standardize(loaded.units, loaded.table.values);
  loaded.data = DataSet::single_segment(static_cast<int>(dim), std::move(loaded.table.values));
  loaded.table.values.clear();
  return loaded;
}

/// The reason why a GPU cannot call the function of `code`; empty if there is no reason.
std::string why_no_function_on_gpu(const CodeSource& code) {
  if (!code.lto_ir) return "cannot call this function";
  std::string problem = runtime_compiler_problem();
  if (problem.empty()) problem = runtime_linker_problem();
  return problem.empty() ? "" : "cannot link a function into its kernels: " + problem;
}

/// Binds result.expression to `table`, which has the columns that the expression uses, and sets the other
/// members of `result`.
void bind(Table table, const ExpressionSpec& spec, Backend backend, int num_chains,
          LoadedExpression& result) {
  LoadedData& loaded = result.loaded;
  loaded.table = std::move(table);
  loaded.fingerprint = fingerprint_of(loaded.table);
  const std::shared_ptr<const DeviceTable> on_device = loaded.table.on_device;
  backend = backend_for(backend, loaded.table);
  result.standardized = on_device ? standardized_units(spec, loaded.table.columns, on_device->ranges(),
                                                       on_device->column_units())
                                  : standardized_units(spec, loaded.table.columns, loaded.table.values);
  if (!result.standardized.is_identity()) {
    standardize(result.standardized, loaded.table.values);
    result.expression = std::make_shared<Expression>(result.expression->with_data_units(result.standardized));
  }
  const bool is_function = spec.code.function != nullptr;
  const std::string no_function = is_function ? why_no_function_on_gpu(spec.code) : "";
  if (!no_function.empty() && on_device)
    throw InputError("data: they are in the memory of a GPU, and backend cuda " + no_function +
                     "; allowed: an expression, or a copy of the data in the host's memory");
  if (!no_function.empty() && backend == Backend::cuda)
    throw InputError("backend: cuda " + no_function + "; allowed: auto, reference, cpu");
  result.backend = resolve_backend(
      !no_function.empty() && backend == Backend::automatic ? Backend::cpu : backend,
      static_cast<double>(loaded.table.num_rows) * result.expression->cost_of_row() * num_chains);
  if (backend == Backend::automatic && host_build() == HostBuild::debug) result.backend = Backend::cpu;
  if (backend == Backend::automatic && result.backend == Backend::cpu && spec.code.file.empty())
    if (const std::string problem = host_compiler_problem(); !problem.empty()) {
      result.backend = Backend::reference;
      loaded.table.notes.push_back("the likelihood is interpreted by backend reference, which is slow: " +
                                   problem);
    }
  const auto bind_to = [&](Backend to) {
    return on_device ? result.expression->bind(shifted_rows(on_device, result.standardized, {}), host_build())
                     : result.expression->bind(to, loaded.table.values, host_build());
  };
  Expression::Bound bound;
  try {
    bound = bind_to(result.backend);
  } catch (const InputError& error) {
    // The backend was chosen automatically, and only the CPU can call this function.
    if (!is_function || on_device || backend != Backend::automatic || result.backend != Backend::cuda) throw;
    result.backend = Backend::cpu;
    bound = bind_to(result.backend);
    result.why_no_gpu = error.what();
  }
  result.model = std::move(bound.model);
  result.compiler = std::move(bound.compiler);
  result.generated = std::move(bound.header);
  if (spec.code.function == nullptr) result.code = spec.code.text;
  loaded.data = std::move(bound.data);
  loaded.table.values.clear();
}

}  // namespace

TableRequest table_request(const DataConfig& config, const ExpressionSpec& spec,
                           std::vector<std::string> columns, std::vector<std::string> labels) {
  return {config.files,      std::move(columns), config.format, config.categories,
          std::move(labels), config.renames,     spec.integers};
}

LoadedData load_data(const DataConfig& config, const ModelSpec& model,
                     const std::vector<std::string>& labels) {
  return prepared(read_table({config.files, config.columns, config.format, {}, labels}), model,
                  config.standardize);
}

LoadedData prepare_data(const Table& table, const DataConfig& config, const ModelSpec& model) {
  return prepared(config.columns.empty() ? table : columns_of(table, config.columns), model,
                  config.standardize);
}

Backend backend_for(Backend asked, const Table& table) {
  if (!table.on_device) return asked;
  if (asked == Backend::automatic || asked == Backend::cuda) return Backend::cuda;
  throw InputError("backend: " + std::string(asked == Backend::cpu ? "cpu" : "reference") +
                   " computes on the host, and the data are in the memory of GPU " +
                   std::to_string(table.on_device->gpu()) +
                   "; allowed: auto, cuda, or a copy of the data in the host's memory");
}

ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               std::span<const double> values) {
  if (spec.standardized.empty()) return {};
  return standardized_units(spec, columns, column_ranges(values, columns.size()),
                            column_units(values, columns.size()));
}

ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               const std::vector<ColumnRange>& ranges, const ColumnUnits& of_all) {
  if (spec.standardized.empty()) return {};
  const std::size_t dim = columns.size();
  const std::vector<std::size_t> out_of_range = columns_out_of_range(ranges),
                                 constant = constant_columns(ranges);
  ColumnUnits units{std::vector<double>(dim, 0.0), std::vector<double>(dim, 1.0)};
  for (std::size_t j = 0; j < dim; ++j) {
    if (std::find(spec.standardized.begin(), spec.standardized.end(), columns[j]) == spec.standardized.end())
      continue;
    const auto refuse_if = [&](const std::vector<std::size_t>& list, const std::string& why) {
      if (std::find(list.begin(), list.end(), j) != list.end())
        throw InputError("data.standardize: column " + columns[j] + why);
    };
    refuse_if(constant, " is constant (but for rounding) and has no sd; remove it from the list");
    refuse_if(out_of_range,
              ": its numbers are too large or too close together for float64 to hold their squares; "
              "allowed: sizes up to 1e150 and differences from 1e-150");
    units.mean[j] = of_all.mean[j];
    units.sd[j] = of_all.sd[j];
  }
  return units;
}

LoadedExpression load_expression(const DataConfig& config, const ExpressionSpec& stated, Backend backend,
                                 int num_chains, const std::vector<std::string>& labels) {
  LoadedExpression result;
  const ExpressionSpec spec = with_code(stated);
  const std::vector<std::string> names =
      read_column_names(table_request(config, spec, names_of_columns(spec)));
  result.expression = std::make_shared<Expression>(spec, names);
  std::vector<std::string> used;
  for (std::size_t j : result.expression->used_columns()) used.push_back(names[j]);
  bind(read_table(table_request(config, spec, used, labels)), spec, backend, num_chains, result);
  return result;
}

LoadedExpression prepare_expression(const Table& table, const ExpressionSpec& stated, Backend backend,
                                    int num_chains) {
  LoadedExpression result;
  const ExpressionSpec spec = with_code(stated);
  result.expression = std::make_shared<Expression>(spec, table.columns);
  std::vector<std::string> used;
  for (std::size_t j : result.expression->used_columns()) used.push_back(table.columns[j]);
  bind(columns_of(table, used), spec, backend, num_chains, result);
  return result;
}
std::vector<std::string> describe(const LoadedData& loaded) {
  const Table& t = loaded.table;
  std::vector<std::string> lines;
  lines.push_back("data: " + counted(t.num_rows, "row") + " x " + counted(t.columns.size(), "column") + " (" +
                  joined(t.columns) + ") from " + counted(t.files.size(), "file"));
  for (const auto& note : t.notes) lines.push_back("data: " + note);
  if (!t.skipped_columns.empty()) lines.push_back("data: skipped columns: " + joined(t.skipped_columns));
  return lines;
}

}  // namespace emomc
