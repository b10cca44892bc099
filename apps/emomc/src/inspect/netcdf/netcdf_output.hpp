// Writes a netCDF-4 file that is made in memory.
#pragma once

#include <netcdf.h>
#include <netcdf_mem.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/output_file.hpp"

namespace emomc::app {

/// Writes a netCDF file in memory. HDF5 writes hundreds of small pieces and ends the program in its close
/// function if the disk fails. Throws MachineError where the library fails.
class NetcdfWriter {
 public:
  NetcdfWriter(const std::filesystem::path& file, FileWriter write) : file_(file), write_(write) {
    check(nc_create_mem(file.c_str(), NC_NETCDF4, std::size_t{1} << 20, &root_));
  }
  ~NetcdfWriter() {
    if (root_ >= 0) nc_close(root_);
  }
  NetcdfWriter(const NetcdfWriter&) = delete;
  NetcdfWriter& operator=(const NetcdfWriter&) = delete;

  int root() const { return root_; }
  /// Finishes the file and passes its bytes to the writing function.
  void close() {
    NC_memio image{};
    check(nc_close_memio(std::exchange(root_, -1), &image));
    const std::unique_ptr<void, decltype(&std::free)> owned(image.memory, &std::free);
    write_(file_, {static_cast<const char*>(image.memory), image.size});
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
  // Defines a dimension with the coordinate values 0, 1, ...
  int counted(int group, const std::string& name, std::size_t size) const {
    std::vector<long long> index(size);
    std::iota(index.begin(), index.end(), 0);
    return numbered(group, name, index);
  }
  int numbered(int group, const std::string& name, const std::vector<long long>& index) const {
    const int id = dimension(group, name, index.size());
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
    numbers(group, name, dims, values, NC_DOUBLE);
  }
  /// Defines a variable of integers from whole numbers.
  void integers(int group, const std::string& name, const std::vector<int>& dims,
                const double* values) const {
    numbers(group, name, dims, values, NC_INT64);
  }
  bool has(int group, const std::string& name) const {
    int variable = -1;
    return nc_inq_varid(group, name.c_str(), &variable) == NC_NOERR;
  }
  /// Defines a variable of truth values in xarray's representation.
  void flags(int group, const std::string& name, const std::vector<int>& dims,
             const signed char* values) const {
    int variable = -1;
    check(nc_def_var(group, name.c_str(), NC_BYTE, static_cast<int>(dims.size()), dims.data(), &variable));
    check(nc_put_att_text(group, variable, "dtype", 4, "bool"));
    check(nc_put_var_schar(group, variable, values));
  }
  void attribute(int group, const std::string& name, const std::string& value) const {
    check(nc_put_att_text(group, NC_GLOBAL, name.c_str(), value.size(), value.c_str()));
  }
  void check(int status) const {
    if (status != NC_NOERR)
      throw MachineError(file_.string() + ": making its content failed: " + nc_strerror(status));
  }

 private:
  void numbers(int group, const std::string& name, const std::vector<int>& dims, const double* values,
               nc_type type) const {
    int variable = -1;
    check(nc_def_var(group, name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &variable));
    check(nc_put_var_double(group, variable, values));
  }

  std::filesystem::path file_;
  FileWriter write_;
  int root_ = -1;
};

}  // namespace emomc::app
