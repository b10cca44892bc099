// Reads and prepares the data of a run, from files or from tables in memory, in the form that the likelihood
// uses.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/run_config.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

/// The data as they were read and in the form that the likelihood uses.
struct LoadedData {
  Table table;  ///< table, whose values have been moved to `data`
  DataSet data;
  /// The shift and scale of the columns of `data`: mean and sd if the columns are standardised, or, with
  /// data.standardize false, powers of two close to them.
  ColumnUnits units;
  std::vector<double> column_sd;  ///< [num_columns], standard deviations of the columns of `data`
  std::vector<std::string> constant_columns;
  DataFingerprint fingerprint;  ///< fingerprint of the values of the columns in use
};

/// Facts about the data that are written to the headers of chain files and to manifests.
struct DataFacts {
  DataFingerprint fingerprint;
  std::vector<std::string> files, columns, skipped_columns, constant_columns;
  std::vector<CategoryColumn> categories;
  std::size_t num_rows = 0, num_duplicate_rows = 0;
  ColumnUnits units;  ///< LoadedData::units; identity if draws are already in the data's own units
  std::vector<double> column_sd;  ///< LoadedData::column_sd
};
DataFacts facts_of(const LoadedData& loaded);

/// The fingerprint of the rows [first_row, first_row + num_rows) of `values`, which are row-major with `dim`
/// columns.
DataPart data_part(const std::string& name, const std::vector<double>& values, std::size_t dim,
                   std::size_t first_row, std::size_t num_rows);

/// The request for `columns` of the data of a user-defined likelihood, with `labels` as columns of labels.
TableRequest table_request(const DataConfig& config, const ExpressionSpec& spec,
                           std::vector<std::string> columns, std::vector<std::string> labels = {});

/// Reads, checks and standardises the data. The table also has the label columns `labels`. Throws InputError.
LoadedData load_data(const DataConfig& config, const ModelSpec& model,
                     const std::vector<std::string>& labels = {});

/// Prepares the data of a table in memory as load_data does: the columns `config.columns`, or all columns if
/// that list is empty.
LoadedData prepare_data(const Table& table, const DataConfig& config, const ModelSpec& model);

/// The mean and sd of the columns that data.standardize lists, and 0 and 1 for the other columns; empty if no
/// column is listed. `values` are rows x columns, row-major. Throws InputError if a column is constant or out
/// of range.
ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               std::span<const double> values);
/// Determines the same units from the columns' ranges, means and sds.
ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               const std::vector<ColumnRange>& ranges, const ColumnUnits& of_all);

/// The backend that samples a table: cuda if the table is on a GPU, and otherwise `asked`. Throws InputError
/// if the table is on a GPU and `asked` is another backend.
Backend backend_for(Backend asked, const Table& table);

/// A user-defined likelihood with its data. The data stay in their own units, except for the columns that
/// data.standardize lists. `loaded.data` has the columns of `model`; `loaded.table` and the fingerprint cover
/// the columns that the expressions name.
struct LoadedExpression {
  LoadedData loaded;
  std::shared_ptr<const Expression> expression;
  std::shared_ptr<const RowModel> model;
  Backend backend = Backend::cpu;
  std::string compiler;      ///< name of the compiler; empty if there is no host code
  std::string generated;     ///< Expression::Bound::header
  std::string code;          ///< the text of likelihood.source; empty: there is none
  ColumnUnits standardized;  ///< units of the table's columns; empty: no column is standardised
  /// Reason why a GPU that would sample cannot call a function of the likelihood; empty: there is no such
  /// function.
  std::string why_no_gpu;
};
/// Reads the data and binds the expressions to them. If `backend` is automatic, the amount of work determines
/// the backend. Throws InputError, or MachineError if there is no compiler.
LoadedExpression load_expression(const DataConfig& config, const ExpressionSpec& spec, Backend backend,
                                 int num_chains, const std::vector<std::string>& labels = {});
/// Binds the expressions to a table in memory, of which they use some columns.
LoadedExpression prepare_expression(const Table& table, const ExpressionSpec& spec, Backend backend,
                                    int num_chains);
/// Lines about the columns in use, notes on the data, and the columns that are skipped.
std::vector<std::string> describe(const LoadedData& loaded);

/// The name of a DataPart on a GPU. Its hash differs from that of the same values on the host.
inline constexpr const char* kMemoryOfGpu = "memory of a GPU";

/// A hash of the names and values of the columns in use, as hexadecimal digits.
std::string hash_table(const Table& table);

}  // namespace emomc
