// Reads variables over chains and draws from netCDF files of other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace emomc::app {

/// A file that is open for reading; the destructor closes it.
class NetcdfInput {
 public:
  /// Throws InputError if the file is not netCDF or is damaged.
  explicit NetcdfInput(const std::filesystem::path& file);
  ~NetcdfInput();
  NetcdfInput(const NetcdfInput&) = delete;
  NetcdfInput& operator=(const NetcdfInput&) = delete;

  /// Returns the id of a group of the file, or nothing if there is no group of this name.
  std::optional<int> group(const std::string& name) const;
  /// Returns an upper bound on the number of values that the file can hold, from its size: a damaged file may
  /// state any extent.
  std::size_t most_values() const;
  /// Throws InputError if `status`, returned by a function of the library, is an error.
  void check(int status) const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::filesystem::path file_;
  int root_ = -1;
};

/// A numeric variable over the dimensions `chain`, `draw` and possibly others, in the file's order.
struct NetcdfVariable {
  int group = -1, id = -1;
  std::string name;
  std::vector<std::string> dimensions;  ///< names of the dimensions, in the file's order
  std::vector<std::size_t> extents;     ///< extents of these dimensions
  std::size_t chain_axis = 0, draw_axis = 0;

  std::size_t num_chains() const { return extents[chain_axis]; }
  std::size_t num_draws() const { return extents[draw_axis]; }
  /// Returns the extents of the other dimensions, in the file's order.
  std::vector<std::size_t> element_shape() const;
};

/// Returns the variables of a group that have both dimensions `chain` and `draw`, in the file's order. Adds a
/// sentence to `notes` for each other variable that is not a coordinate. Throws InputError if a variable has
/// only one of the two dimensions (except for a variable of sample_stats without `draw`, which is noted) or
/// has values that are not numbers.
std::vector<NetcdfVariable> variables_over_draws(const NetcdfInput& input, int group,
                                                 std::vector<std::string>& notes);

/// Returns the values as an array elements x chains x draws, where elements are row-major by element_shape().
/// Missing values (_FillValue, missing_value, values never written) become NaN; scale_factor, add_offset and
/// _Unsigned are applied (netCDF User's Guide, appendix A). Throws InputError if the file cannot hold that
/// many values.
std::vector<double> read_values(const NetcdfInput& input, const NetcdfVariable& variable);

}  // namespace emomc::app
