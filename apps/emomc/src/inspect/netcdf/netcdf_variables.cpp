#include "netcdf_variables.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 33;
constexpr std::uintmax_t kMostPerByte = 1032;  // maximum expansion by deflate, RFC 1951
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The way in which the values of a variable are read.
struct ValueType {
  nc_type type = NC_NAT;  ///< numeric type; for an enumeration (such as h5netcdf's booleans) its base type
  bool is_enumeration = false, is_text = false, is_number = false;
};

ValueType value_type(const NetcdfInput& input, int group, nc_type type) {
  if (type == NC_CHAR || type == NC_STRING) return {type, false, true, false};
  if (type <= NC_MAX_ATOMIC_TYPE) return {type, false, false, true};
  char name[NC_MAX_NAME + 1];
  std::size_t size = 0, fields = 0;
  nc_type base = NC_NAT;
  int kind = 0;
  input.check(nc_inq_user_type(group, type, name, &size, &base, &fields, &kind));
  return {base, kind == NC_ENUM, false, kind == NC_ENUM};
}

template <class Integer>
void read_enumeration(const NetcdfInput& input, const NetcdfVariable& variable, std::vector<double>& values) {
  std::vector<Integer> raw(values.size());
  input.check(nc_get_var(variable.group, variable.id, raw.data()));
  std::copy(raw.begin(), raw.end(), values.begin());
}

// Reads the stored values, in the file's order.
void read_stored(const NetcdfInput& input, const NetcdfVariable& variable, const ValueType& type,
                 std::vector<double>& values) {
  if (!type.is_enumeration) {
    input.check(nc_get_var_double(variable.group, variable.id, values.data()));
    return;
  }
  switch (type.type) {
    case NC_BYTE:
      return read_enumeration<signed char>(input, variable, values);
    case NC_UBYTE:
      return read_enumeration<unsigned char>(input, variable, values);
    case NC_SHORT:
      return read_enumeration<short>(input, variable, values);
    case NC_USHORT:
      return read_enumeration<unsigned short>(input, variable, values);
    case NC_INT:
      return read_enumeration<int>(input, variable, values);
    case NC_UINT:
      return read_enumeration<unsigned>(input, variable, values);
    case NC_INT64:
      return read_enumeration<long long>(input, variable, values);
    default:
      return read_enumeration<unsigned long long>(input, variable, values);
  }
}

// Returns the numbers of an attribute; empty if there is no such attribute or if it is text.
std::vector<double> numbers_of(const NetcdfInput& input, const NetcdfVariable& variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t size = 0;
  if (nc_inq_att(variable.group, variable.id, name, &type, &size) != NC_NOERR) return {};
  if (type == NC_CHAR || type > NC_UINT64) return {};
  if (size > 1024) input.refuse(variable.name + ": attribute " + name + " has more than 1024 values");
  std::vector<double> numbers(size);
  if (size > 0) input.check(nc_get_att_double(variable.group, variable.id, name, numbers.data()));
  return numbers;
}

double number_of(const NetcdfInput& input, const NetcdfVariable& variable, const char* name,
                 double otherwise) {
  const auto numbers = numbers_of(input, variable, name);
  if (numbers.size() > 1) input.refuse(variable.name + ": attribute " + name + " is more than one number");
  return numbers.empty() ? otherwise : numbers[0];
}

// Returns the number that must be added to negative values if the attribute _Unsigned is "true": classic
// formats have no unsigned integers.
double added_to_negative(const NetcdfVariable& variable, nc_type type) {
  std::size_t size = 0;
  nc_type att_type = NC_NAT;
  if (nc_inq_att(variable.group, variable.id, "_Unsigned", &att_type, &size) != NC_NOERR) return 0;
  std::string text(size, '\0');
  if (att_type != NC_CHAR || size != 4 ||
      nc_get_att_text(variable.group, variable.id, "_Unsigned", text.data()) != NC_NOERR || text != "true")
    return 0;
  return type == NC_BYTE    ? 0x1p8
         : type == NC_SHORT ? 0x1p16
         : type == NC_INT   ? 0x1p32
         : type == NC_INT64 ? 0x1p64
                            : 0;
}

void decode(const NetcdfInput& input, const NetcdfVariable& variable, const ValueType& type,
            std::vector<double>& values) {
  std::vector<double> missing = numbers_of(input, variable, "_FillValue");
  for (double value : numbers_of(input, variable, "missing_value")) missing.push_back(value);
  // For reals, the library's default fill value also marks values that were never written. An integer may
  // have that value as a regular one.
  if (type.type == NC_FLOAT) missing.push_back(static_cast<double>(NC_FILL_FLOAT));
  if (type.type == NC_DOUBLE) missing.push_back(NC_FILL_DOUBLE);
  const double scale = number_of(input, variable, "scale_factor", 1);
  const double offset = number_of(input, variable, "add_offset", 0);
  const double wrapped = added_to_negative(variable, type.type);
  for (double& value : values) {
    const bool is_missing = std::find(missing.begin(), missing.end(), value) != missing.end();
    if (value < 0) value += wrapped;
    if (scale != 1) value *= scale;
    if (offset != 0) value += offset;
    if (is_missing) value = kNan;
  }
}

std::size_t size_of(const NetcdfInput& input, const NetcdfVariable& variable) {
  std::size_t size = 1;
  for (std::size_t extent : variable.extents) {
    if (extent != 0 && size > input.most_values() / extent)
      input.refuse(variable.name + ": more values than its bytes can hold");
    size *= extent;
  }
  return size;
}

}  // namespace

NetcdfInput::NetcdfInput(const std::filesystem::path& file) : file_(file) {
  if (const int status = nc_open(file.c_str(), NC_NOWRITE, &root_); status != NC_NOERR)
    throw InputError(file.string() + ": this is no netCDF file, or it is damaged (" + nc_strerror(status) +
                     ")");
}

NetcdfInput::~NetcdfInput() { nc_close(root_); }

std::optional<int> NetcdfInput::group(const std::string& name) const {
  int group = -1;
  if (nc_inq_grp_ncid(root_, name.c_str(), &group) != NC_NOERR) return std::nullopt;
  return group;
}

std::size_t NetcdfInput::most_values() const {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file_, error);
  return error ? 0 : static_cast<std::size_t>(std::min<std::uintmax_t>(kMostValues, bytes * kMostPerByte));
}

void NetcdfInput::check(int status) const {
  if (status != NC_NOERR) throw InputError(file_.string() + ": damaged: " + nc_strerror(status));
}

void NetcdfInput::refuse(const std::string& what) const { throw InputError(file_.string() + ": " + what); }

std::vector<std::size_t> NetcdfVariable::element_shape() const {
  std::vector<std::size_t> shape;
  for (std::size_t a = 0; a < extents.size(); ++a)
    if (a != chain_axis && a != draw_axis) shape.push_back(extents[a]);
  return shape;
}

std::vector<NetcdfVariable> variables_over_draws(const NetcdfInput& input, int group,
                                                 std::vector<std::string>& notes) {
  int count = 0;
  input.check(nc_inq_varids(group, &count, nullptr));
  std::vector<int> ids(static_cast<std::size_t>(count));
  input.check(nc_inq_varids(group, &count, ids.data()));
  std::vector<NetcdfVariable> variables;
  char group_text[NC_MAX_NAME + 1];
  input.check(nc_inq_grpname(group, group_text));
  const std::string_view group_name = group_text;
  for (int id : ids) {
    char name[NC_MAX_NAME + 1];
    nc_type type = 0;
    int num_dims = 0;
    input.check(nc_inq_var(group, id, name, &type, &num_dims, nullptr, nullptr));
    std::vector<int> dims(static_cast<std::size_t>(num_dims));
    input.check(nc_inq_vardimid(group, id, dims.data()));
    NetcdfVariable variable{group, id, name, {}, {}, 0, 0};
    for (int dim : dims) {
      char dim_name[NC_MAX_NAME + 1];
      std::size_t size = 0;
      input.check(nc_inq_dim(group, dim, dim_name, &size));
      variable.dimensions.emplace_back(dim_name);
      variable.extents.push_back(size);
    }
    const auto& dimensions = variable.dimensions;
    const std::string shown = variable.name + "(" + joined(dimensions) + ")";
    if (dimensions.size() == 1 && dimensions[0] == variable.name) continue;  // a coordinate variable
    const auto chain = std::find(dimensions.begin(), dimensions.end(), "chain"),
               draw = std::find(dimensions.begin(), dimensions.end(), "draw");
    if (chain == dimensions.end() && draw == dimensions.end()) {
      notes.push_back("variable " + shown + " is left out: it has neither chains nor draws");
      continue;
    }
    if (draw == dimensions.end() && group_name == "sample_stats") {
      // The variable is a statistic of whole chains, such as a step size. The acceptance rates in files of
      // emomc need no note.
      if (name != std::string_view("acceptance_rate"))
        notes.push_back("variable " + shown + " is left out: it is of whole chains, not of draws");
      continue;
    }
    if (chain == dimensions.end() || draw == dimensions.end())
      input.refuse("variable " + shown + ": it has dimension " +
                   (chain == dimensions.end() ? "draw" : "chain") + ", but no dimension " +
                   (chain == dimensions.end() ? "chain" : "draw") +
                   "; variables with both, or with neither, can be read");
    const ValueType values = value_type(input, group, type);
    if (values.is_text) {
      notes.push_back("variable " + shown + " is left out: it is text");
      continue;
    }
    if (!values.is_number)
      input.refuse("variable " + shown + ": its values are no real numbers (complex ones?); remove it");
    variable.chain_axis = static_cast<std::size_t>(chain - dimensions.begin());
    variable.draw_axis = static_cast<std::size_t>(draw - dimensions.begin());
    variables.push_back(variable);
  }
  return variables;
}

std::vector<double> read_values(const NetcdfInput& input, const NetcdfVariable& variable) {
  const std::size_t size = size_of(input, variable);
  std::vector<double> stored(size), values(size);
  nc_type type = 0;
  input.check(nc_inq_vartype(variable.group, variable.id, &type));
  const ValueType kind = value_type(input, variable.group, type);
  read_stored(input, variable, kind, stored);
  decode(input, variable, kind, stored);
  // step[a] is the distance in `values` of neighbours along dimension a of the file.
  const std::size_t rows = variable.num_chains() * variable.num_draws();
  std::vector<std::size_t> step(variable.extents.size(), 0);
  std::size_t elements = rows;
  for (std::size_t a = step.size(); a-- > 0;) {
    if (a == variable.chain_axis)
      step[a] = variable.num_draws();
    else if (a == variable.draw_axis)
      step[a] = 1;
    else {
      step[a] = elements;
      elements *= variable.extents[a];
    }
  }
  std::vector<std::size_t> index(step.size(), 0);
  std::size_t to = 0;
  for (double value : stored) {
    values[to] = value;
    for (std::size_t a = index.size(); a-- > 0;) {
      to += step[a];
      if (++index[a] < variable.extents[a]) break;
      to -= step[a] * variable.extents[a];
      index[a] = 0;
    }
  }
  return values;
}

}  // namespace emomc::app
