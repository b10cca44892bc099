// Variables over chain and draw of netCDF files that other programs wrote.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace emomc::app {

/// A file open for reading; closes itself.
class NetcdfInput {
 public:
  /// Throws InputError where it is no netCDF file, or damaged.
  explicit NetcdfInput(const std::filesystem::path& file);
  ~NetcdfInput();
  NetcdfInput(const NetcdfInput&) = delete;
  NetcdfInput& operator=(const NetcdfInput&) = delete;

  /// The number of a group of the file; nothing where there is none of that name.
  std::optional<int> group(const std::string& name) const;
  /// Of all that is read from it: a file names sizes of values that it never wrote.
  std::size_t most_values() const;
  /// Throws InputError where `status` of a call of the library is an error.
  void check(int status) const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::filesystem::path file_;
  int root_ = -1;
};

/// Numbers over the dimensions `chain`, `draw` and others, in whatever order the file has them.
struct NetcdfVariable {
  int group = -1, id = -1;
  std::string name;
  std::vector<std::string> dimensions;  ///< in the file's order
  std::vector<std::size_t> extents;     ///< of these
  std::size_t chain_axis = 0, draw_axis = 0;

  std::size_t num_chains() const { return extents[chain_axis]; }
  std::size_t num_draws() const { return extents[draw_axis]; }
  /// Extents of the other dimensions, in the file's order.
  std::vector<std::size_t> element_shape() const;
};

/// The variables of a group that have dimensions `chain` and `draw`, in the file's order. Adds a sentence to
/// `notes` for each of the others that is no coordinate. Throws InputError where one has only one of the two
/// dimensions, or values that are no numbers.
std::vector<NetcdfVariable> variables_over_draws(const NetcdfInput& input, int group,
                                                 std::vector<std::string>& notes);

/// Its values as elements x chains x draws: elements row-major by element_shape(). Missing values
/// (_FillValue, missing_value, what was never written) are NaN; scale_factor, add_offset and _Unsigned are
/// applied (netCDF User's Guide, appendix A). Throws InputError where the file cannot hold that many.
std::vector<double> read_values(const NetcdfInput& input, const NetcdfVariable& variable);

}  // namespace emomc::app
