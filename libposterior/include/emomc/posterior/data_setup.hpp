// The data of a run in the form that its likelihood uses, from files or from tables in memory.
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
  Table table;  ///< its values have been moved to `data`
  DataSet data;
  /// The shift and scale of `data`: those of standardised columns, or, with data.standardize false, powers of
  /// two close to them.
  ColumnUnits units;
  std::vector<double> column_sd;  ///< [num_columns], standard deviations of the columns of `data`
  std::vector<std::string> constant_columns;
  DataFingerprint fingerprint;  ///< of the values of the columns in use
};

/// What files of draws say of the data.
struct DataFacts {
  DataFingerprint fingerprint;
  std::vector<std::string> files, columns, skipped_columns, constant_columns;
  std::vector<CategoryColumn> categories;
  std::size_t num_rows = 0, num_duplicate_rows = 0;
  ColumnUnits units;              ///< LoadedData::units; identity: draws are in the data's own units already
  std::vector<double> column_sd;  ///< LoadedData::column_sd
};
DataFacts facts_of(const LoadedData& loaded);

/// The fingerprint of the rows [first_row, first_row + num_rows) of `values`, which are row-major with `dim`
/// columns.
DataPart data_part(const std::string& name, const std::vector<double>& values, std::size_t dim,
                   std::size_t first_row, std::size_t num_rows);

/// The request for `columns` of the data of a likelihood of the user's own, with labels of the columns
/// `labels`.
TableRequest table_request(const DataConfig& config, const ExpressionSpec& spec,
                           std::vector<std::string> columns, std::vector<std::string> labels = {});

/// Reads, checks and standardises the data. The table has labels of the columns `labels` too. Throws
/// InputError.
LoadedData load_data(const DataConfig& config, const ModelSpec& model,
                     const std::vector<std::string>& labels = {});

/// The same for a table in memory: its columns `config.columns`, or all where there are none.
LoadedData prepare_data(const Table& table, const DataConfig& config, const ModelSpec& model);

/// Mean and sd of the columns that data.standardize lists, 0 and 1 of the others; empty where it lists none.
/// `values` are rows x columns, row-major. Throws InputError where a column is constant or out of range.
ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               std::span<const double> values);
/// The same from the columns' ranges, means and sds.
ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               const std::vector<ColumnRange>& ranges, const ColumnUnits& of_all);

/// The backend that samples a table: cuda where it is on a GPU, and otherwise `asked`. Throws InputError
/// where it is on a GPU and another backend is asked for.
Backend backend_for(Backend asked, const Table& table);

/// A likelihood of the user's own with its data, which stay in their own units but for the columns that
/// data.standardize lists. Of LoadedData, `data` has the
/// columns of `model`; `table` and the fingerprint are of those that the expressions name.
struct LoadedExpression {
  LoadedData loaded;
  std::shared_ptr<const Expression> expression;
  std::shared_ptr<const RowModel> model;
  Backend backend = Backend::cpu;
  std::string compiler;      ///< empty where there is no host code
  std::string generated;     ///< Expression::Bound::header
  std::string code;          ///< the text of likelihood.source; empty: there is none
  ColumnUnits standardized;  ///< of the table's columns; empty: none is standardised
  std::string why_no_gpu;  ///< of a function that a GPU would sample and cannot call; empty: none is kept off
};
/// Reads the data and binds the expressions to them, on a backend that is chosen by the amount of work where
/// `backend` is automatic. Throws InputError; MachineError where there is no compiler.
LoadedExpression load_expression(const DataConfig& config, const ExpressionSpec& spec, Backend backend,
                                 int num_chains, const std::vector<std::string>& labels = {});
/// The same for a table in memory, of which the expressions use some columns.
LoadedExpression prepare_expression(const Table& table, const ExpressionSpec& spec, Backend backend,
                                    int num_chains);
/// One line each about the columns that are used and those that are skipped.
std::vector<std::string> describe(const LoadedData& loaded);

/// The name of a DataPart on a GPU, whose hash is another one than that of the same values on the host.
inline constexpr const char* kMemoryOfGpu = "memory of a GPU";

/// A hash of the names and values of the columns in use, as hexadecimal digits.
std::string hash_table(const Table& table);

}  // namespace emomc
