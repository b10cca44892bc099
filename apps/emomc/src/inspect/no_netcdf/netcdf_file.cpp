#include "netcdf_file.hpp"

#include "emomc/core/errors.hpp"

namespace emomc::app {

namespace {
[[noreturn]] void refuse(const std::filesystem::path& file) {
  throw InputError(file.string() + ": this build has no netCDF; install libnetcdf-dev and build again");
}
}  // namespace

bool has_netcdf() { return false; }
void write_netcdf(const std::filesystem::path& file, const DrawSet&, const NetcdfExtras&, FileWriter) {
  refuse(file);
}
DrawSet read_netcdf(const std::filesystem::path& file) { refuse(file); }
ForeignLogLikelihood read_netcdf_log_likelihood(const std::filesystem::path& file) { refuse(file); }

}  // namespace emomc::app
