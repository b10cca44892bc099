// Tests netCDF files with layouts of programs other than ArviZ. The file is empty in a build without the
// library.
#ifdef EMOMC_TEST_NETCDF
#include <netcdf.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "netcdf_file.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using testing::ProgramFolder;
using testing::ProgramResult;

constexpr int kChains = 2, kDraws = 40, kSchools = 3;

// A file that is written with the functions of the netCDF library.
class NetcdfOutput {
 public:
  explicit NetcdfOutput(const std::filesystem::path& file) {
    EXPECT_EQ(nc_create(file.c_str(), NC_NETCDF4 | NC_CLOBBER, &root_), NC_NOERR);
  }
  ~NetcdfOutput() { EXPECT_EQ(nc_close(root_), NC_NOERR); }
  NetcdfOutput(const NetcdfOutput&) = delete;
  NetcdfOutput& operator=(const NetcdfOutput&) = delete;

  int group(const char* name) {
    int id = -1;
    EXPECT_EQ(nc_def_grp(root_, name, &id), NC_NOERR);
    for (const auto& [dim, size] : {std::pair{"chain", kChains}, {"draw", kDraws}, {"school", kSchools}}) {
      int ignored = -1;
      EXPECT_EQ(nc_def_dim(id, dim, static_cast<std::size_t>(size), &ignored), NC_NOERR);
    }
    return id;
  }
  static int variable(int group, const char* name, nc_type type, const std::vector<const char*>& dims) {
    std::vector<int> ids(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) EXPECT_EQ(nc_inq_dimid(group, dims[i], &ids[i]), NC_NOERR);
    int id = -1;
    EXPECT_EQ(nc_def_var(group, name, type, static_cast<int>(ids.size()), ids.data(), &id), NC_NOERR);
    return id;
  }
  static void put(int group, int id, const std::vector<double>& values) {
    EXPECT_EQ(nc_put_var_double(group, id, values.data()), NC_NOERR);
  }
  static void doubles(int group, const char* name, const std::vector<const char*>& dims,
                      const std::vector<double>& values) {
    put(group, variable(group, name, NC_DOUBLE, dims), values);
  }

 private:
  int root_ = -1;
};

// Returns the value for school s, chain c and draw i; all values differ.
double theta(int s, int c, int i) { return 1000 * s + 100 * c + i; }

class NetcdfReader : public ::testing::Test {
 protected:
  ProgramFolder folder;
  std::filesystem::path file = folder / "x.nc";

  // Returns the values in a given order of axes; `order` consists of the letters s, c and d.
  static std::vector<double> in_order(const std::string& order) {
    std::vector<double> values;
    int at[3] = {0, 0, 0};
    const auto extent = [](char axis) { return axis == 's' ? kSchools : axis == 'c' ? kChains : kDraws; };
    for (at[0] = 0; at[0] < extent(order[0]); ++at[0])
      for (at[1] = 0; at[1] < extent(order[1]); ++at[1])
        for (at[2] = 0; at[2] < extent(order[2]); ++at[2])
          values.push_back(theta(at[order.find('s')], at[order.find('c')], at[order.find('d')]));
    return values;
  }
  static void expect_theta(const DrawSet& set, const std::string& of) {
    ASSERT_EQ(set.num_chains(), kChains) << of;
    ASSERT_EQ(set.num_draws, kDraws) << of;
    ASSERT_EQ(set.num_quantities(), kSchools) << of;
    for (int s = 0; s < kSchools; ++s) {
      const auto q = static_cast<std::size_t>(s);
      EXPECT_EQ(set.names[q], "theta[" + std::to_string(s) + "]");
      for (int c = 0; c < kChains; ++c)
        for (int i = 0; i < kDraws; ++i)
          ASSERT_EQ(set.view(q).data[static_cast<std::size_t>(c * kDraws + i)], theta(s, c, i)) << of;
    }
  }
  std::string refusal() const {
    try {
      app::read_netcdf(file);
    } catch (const InputError& error) {
      const std::string message = error.what();
      return message.substr(message.find("x.nc"));
    }
    return "accepted";
  }
};

TEST_F(NetcdfReader, FindsDimensionsByTheirNamesInAnyOrder) {
  for (const std::string order : {"scd", "sdc", "csd", "cds", "dsc", "dcs"}) {
    std::vector<const char*> dims;
    for (char axis : order) dims.push_back(axis == 's' ? "school" : axis == 'c' ? "chain" : "draw");
    {
      NetcdfOutput out(file);
      NetcdfOutput::doubles(out.group("posterior"), "theta", dims, in_order(order));
    }
    expect_theta(app::read_netcdf(file), order);
  }
}

TEST_F(NetcdfReader, FindsDensityAndDivergencesInAnyOrder) {
  {
    NetcdfOutput out(file);
    const int posterior = out.group("posterior"), statistics = out.group("sample_stats");
    std::vector<double> mu(kChains * kDraws), diverging(mu.size(), 0);
    std::iota(mu.begin(), mu.end(), 0.0);
    for (std::size_t i = 0; i < 10; ++i) diverging[i * kChains + 1] = 1;  // chain 1; axes (draw, chain)
    NetcdfOutput::doubles(posterior, "mu", {"draw", "chain"}, mu);
    NetcdfOutput::doubles(statistics, "lp", {"draw", "chain"}, mu);
    const int id = NetcdfOutput::variable(statistics, "diverging", NC_BYTE, {"draw", "chain"});
    NetcdfOutput::put(statistics, id, diverging);
  }
  const DrawSet set = app::read_netcdf(file);
  EXPECT_EQ(set.names, (std::vector<std::string>{"lp", "mu"}));
  EXPECT_EQ(set.num_log_densities, 1u);
  EXPECT_EQ(set.divergences, (std::vector<std::size_t>{0, 10}));
  for (std::size_t q : {0u, 1u}) {
    EXPECT_EQ(set.view(q).data[1], kChains);   // chain 0, draw 1
    EXPECT_EQ(set.view(q).data[kDraws], 1.0);  // chain 1, draw 0
  }
}

// Without the note, such a run would be taken for one without divergences.
TEST_F(NetcdfReader, WhatItCannotUseOfSampleStatsIsNamed) {
  {
    NetcdfOutput out(file);
    const int posterior = out.group("posterior"), statistics = out.group("sample_stats");
    std::vector<double> mu(kChains * kDraws);
    std::iota(mu.begin(), mu.end(), 0.0);
    NetcdfOutput::doubles(posterior, "mu", {"chain", "draw"}, mu);
    NetcdfOutput::doubles(statistics, "diverging", {"chain"}, {0, 10});
    NetcdfOutput::doubles(statistics, "acceptance_rate", {"chain"}, {0.3, 0.4});
  }
  const DrawSet set = app::read_netcdf(file);
  EXPECT_TRUE(set.divergences.empty());
  EXPECT_EQ(set.notes, (std::vector<std::string>{"sample_stats: variable diverging(chain) is left out: it is "
                                                 "of whole chains, not of draws"}));
  const ProgramResult summary = folder.run("summary x.nc");
  EXPECT_NE(summary.out.find("note: sample_stats: variable diverging(chain)"), std::string::npos)
      << summary.out;
}

TEST_F(NetcdfReader, FindsObservationsOfTheLogLikelihoodInAnyOrder) {
  for (const std::string order : {"scd", "cds", "dcs"}) {
    std::vector<const char*> dims;
    for (char axis : order) dims.push_back(axis == 's' ? "school" : axis == 'c' ? "chain" : "draw");
    {
      NetcdfOutput out(file);
      NetcdfOutput::doubles(out.group("log_likelihood"), "y", dims, in_order(order));
    }
    const auto read = app::read_netcdf_log_likelihood(file);
    ASSERT_EQ(read.num_draws, kChains * kDraws);
    EXPECT_EQ(read.values, in_order("scd")) << order;
  }
}

TEST_F(NetcdfReader, MissingValuesAreNanAndPackedOnesAreUnpacked) {
  {
    NetcdfOutput out(file);
    const int group = out.group("posterior");
    const std::vector<const char*> dims{"chain", "draw"};
    std::vector<double> values(kChains * kDraws, 7);
    values[3] = -9999;
    const double fill = -9999;
    int id = NetcdfOutput::variable(group, "fill", NC_DOUBLE, dims);
    ASSERT_EQ(nc_put_att_double(group, id, "_FillValue", NC_DOUBLE, 1, &fill), NC_NOERR);
    NetcdfOutput::put(group, id, values);
    id = NetcdfOutput::variable(group, "missing", NC_FLOAT, dims);
    ASSERT_EQ(nc_put_att_double(group, id, "missing_value", NC_FLOAT, 1, &fill), NC_NOERR);
    NetcdfOutput::put(group, id, values);
    id = NetcdfOutput::variable(group, "packed", NC_SHORT, dims);
    const double scale = 0.25, offset = 100;
    ASSERT_EQ(nc_put_att_double(group, id, "_FillValue", NC_SHORT, 1, &fill), NC_NOERR);
    ASSERT_EQ(nc_put_att_double(group, id, "scale_factor", NC_DOUBLE, 1, &scale), NC_NOERR);
    ASSERT_EQ(nc_put_att_double(group, id, "add_offset", NC_DOUBLE, 1, &offset), NC_NOERR);
    NetcdfOutput::put(group, id, values);
    id = NetcdfOutput::variable(group, "unsigned", NC_BYTE, dims);
    ASSERT_EQ(nc_put_att_text(group, id, "_Unsigned", 4, "true"), NC_NOERR);
    values[3] = -1;
    NetcdfOutput::put(group, id, values);
    NetcdfOutput::variable(group, "unwritten", NC_DOUBLE, dims);
    // These are booleans in h5netcdf's representation.
    nc_type boolean = 0;
    const signed char yes = 1, no = 0;
    ASSERT_EQ(nc_def_enum(group, NC_BYTE, "boolean", &boolean), NC_NOERR);
    ASSERT_EQ(nc_insert_enum(group, boolean, "FALSE", &no), NC_NOERR);
    ASSERT_EQ(nc_insert_enum(group, boolean, "TRUE", &yes), NC_NOERR);
    id = NetcdfOutput::variable(group, "truth", boolean, dims);
    std::vector<signed char> truths(values.size(), 0);
    truths[3] = 1;
    ASSERT_EQ(nc_put_var(group, id, truths.data()), NC_NOERR);
  }
  const DrawSet set = app::read_netcdf(file);
  ASSERT_EQ(set.names,
            (std::vector<std::string>{"fill", "missing", "packed", "unsigned", "unwritten", "truth"}));
  const auto at = [&](std::size_t q, std::size_t i) { return set.view(q).data[i]; };
  for (std::size_t q : {0u, 1u, 2u}) EXPECT_TRUE(std::isnan(at(q, 3))) << set.names[q];
  EXPECT_EQ(at(0, 4), 7);
  EXPECT_EQ(at(1, 4), 7);
  EXPECT_EQ(at(2, 4), 101.75);
  EXPECT_EQ(at(3, 3), 255);
  EXPECT_EQ(at(3, 4), 7);
  EXPECT_TRUE(std::isnan(at(4, 0)));
  EXPECT_EQ(at(5, 3), 1);
  EXPECT_EQ(at(5, 4), 0);
  const ProgramResult verdict = folder.run("diagnose x.nc");
  EXPECT_EQ(verdict.exit_code, 1) << verdict.err;
  EXPECT_NE(verdict.out.find("fill"), std::string::npos) << verdict.out;
}

TEST_F(NetcdfReader, WhatItCannotPlaceIsNamed) {
  const std::vector<double> mu(kChains * kDraws, 1), three(kSchools, 1), draws(kDraws, 1);
  {
    NetcdfOutput out(file);
    const int group = out.group("posterior");
    NetcdfOutput::doubles(group, "mu", {"chain", "draw"}, mu);
    NetcdfOutput::doubles(group, "known", {"school"}, three);
    NetcdfOutput::doubles(group, "school", {"school"}, three);  // a coordinate variable
    NetcdfOutput::variable(group, "label", NC_CHAR, {"chain", "draw"});
  }
  const DrawSet set = app::read_netcdf(file);
  EXPECT_EQ(set.names, (std::vector<std::string>{"mu"}));
  EXPECT_EQ(set.notes,
            (std::vector<std::string>{"variable known(school) is left out: it has neither chains nor draws",
                                      "variable label(chain, draw) is left out: it is text"}));
  const ProgramResult summary = folder.run("summary x.nc");
  EXPECT_NE(summary.out.find("note: variable known(school) is left out"), std::string::npos) << summary.out;
  const auto json = nlohmann::json::parse(folder.run("summary x.nc --json").out);
  EXPECT_EQ(json.at("notes").size(), 2u);
  {
    NetcdfOutput out(file);
    const int group = out.group("posterior");
    NetcdfOutput::doubles(group, "mu", {"chain", "draw"}, mu);
    NetcdfOutput::doubles(group, "tau", {"draw"}, draws);
  }
  EXPECT_EQ(
      refusal(),
      "x.nc: variable tau(draw): it has dimension draw, but no dimension chain; variables with both, or "
      "with neither, can be read");
  {
    NetcdfOutput out(file);
    const int group = out.group("posterior");
    nc_type complex = 0;
    ASSERT_EQ(nc_def_compound(group, 16, "complex", &complex), NC_NOERR);
    ASSERT_EQ(nc_insert_compound(group, complex, "r", 0, NC_DOUBLE), NC_NOERR);
    ASSERT_EQ(nc_insert_compound(group, complex, "i", 8, NC_DOUBLE), NC_NOERR);
    NetcdfOutput::doubles(group, "mu", {"chain", "draw"}, mu);
    NetcdfOutput::variable(group, "psi", complex, {"chain", "draw"});
  }
  EXPECT_NE(refusal().find("x.nc: variable psi(chain, draw): its values are no real numbers"),
            std::string::npos)
      << refusal();
}

// Names that netCDF does not allow, or that dimensions have, are changed in the same way in all groups.
TEST_F(NetcdfReader, ColumnsOfAnyNameBecomeVariables) {
  const std::string header = "row,row_,a/b,(x),column_mean,\"\xc3\xbc\"";
  std::string text = header + "\n";
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 6; ++j) text += std::to_string(10 * j + (i * (j + 3)) % 7) + (j < 5 ? "," : "\n");
  folder.write("data.csv", text);
  folder.write("run.yaml",
               "data: {file: data.csv}\nlikelihood: {components: 1}\n"
               "sampler: {chains: 2, warmup: 50, draws: 20}\noutput: {directory: run}\n");
  const ProgramResult run = folder.run("run run.yaml -q");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const ProgramResult written = folder.run("export run --format netcdf --posterior-predictive -o x.nc");
  ASSERT_EQ(written.exit_code, 0) << written.err;
  int root = -1;
  ASSERT_EQ(nc_open(file.c_str(), NC_NOWRITE, &root), NC_NOERR);
  for (const char* name : {"observed_data", "posterior_predictive"}) {
    int group = -1, count = 0, id = -1;
    ASSERT_EQ(nc_inq_ncid(root, name, &group), NC_NOERR);
    for (const char* variable : {"row_", "row__", "a_b", "_(x)", "column_mean_", "\xc3\xbc"})
      EXPECT_EQ(nc_inq_varid(group, variable, &id), NC_NOERR) << name << " " << variable;
    ASSERT_EQ(nc_inq_nvars(group, &count), NC_NOERR);
    EXPECT_EQ(count, std::string(name) == "observed_data" ? 7 : 9);  // with coordinates
  }
  nc_close(root);
}

}  // namespace
}  // namespace emomc
#endif
