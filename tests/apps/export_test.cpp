// Tests draws in the file formats of other programs, read by these programs if they are installed.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "netcdf_file.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class Export : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  void sample(const std::string& covariance) {
    folder.write(
        "simulation.yaml",
        "model: gaussian_mixture\nparameters: {weights: [0.4, 0.6], means: [[-20, 3], [30, 5]], scales: "
        "[[4, 0.5], [6, 1]]}\nrows: 300\nseed: 5\n");
    ASSERT_EQ(folder.run("simulate simulation.yaml -o data --force").exit_code, 0);
    folder.write("run.yaml",
                 "data: {file: data/data.csv}\nlikelihood: {components: 2, covariance: " + covariance +
                     "}\nsampler: {chains: 3, warmup: 300, draws: 200, thin: 2, seed: 3, proposal: {kind: "
                     "component_wise}}\n"
                     "output: {directory: run}\n");
    const auto run = folder.run("run run.yaml -q --force");
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  /// Returns the output of a script that gets the folder as argument. Returns nothing if the script exits
  /// with 77, because a package is missing.
  std::optional<json> read_by(const std::string& interpreter, const std::string& script) {
    const std::string command = interpreter + " '" EMOMC_SOURCE_DIR "/tests/apps/readers/" + script + "' '" +
                                folder.path().string() + "' > '" + (folder / "out.json").string() + "' 2> '" +
                                (folder / "err.txt").string() + "'";
    const int status = std::system(command.c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 77 || code == 127) return std::nullopt;
    EXPECT_EQ(code, 0) << folder.read("err.txt");
    const auto read = json::parse(folder.read("out.json"), nullptr, false);
    EXPECT_FALSE(read.is_discarded()) << folder.read("out.json");
    return read;
  }

  /// Compares rows {name, mean, rhat, ess_bulk, ess_tail, mcse_mean} with our summary.
  void expect_our_summary(const json& rows, double tolerance) {
    const json ours = json::parse(folder.run("summary --raw run --json").out)["parameters"];
    std::size_t compared = 0;
    for (const auto& row : rows)
      for (const auto& own : ours) {
        if (own["name"] != row["name"]) continue;
        ++compared;
        for (const auto& [key, value] : row.items()) {
          if (key == "name") continue;
          const double expected = own[key];
          EXPECT_NEAR(value.get<double>(), expected, tolerance * std::abs(expected))
              << row["name"] << " " << key;
        }
      }
    EXPECT_EQ(compared, rows.size());
    EXPECT_GE(compared, 10u);
  }
};

TEST_F(Export, StanFilesReadBackToTheSameBits) {
  for (const char* covariance : {"diagonal", "full"}) {
    sample(covariance);
    ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
    const DrawSet read =
        read_stan_csv({folder / "draws-1.csv", folder / "draws-2.csv", folder / "draws-3.csv"});
    const DrawSet own = draw_set_of(read_chains(folder / "run"), "run");
    EXPECT_EQ(read.num_draws, 200u);
    EXPECT_EQ(read.thin, 2);
    EXPECT_EQ(read.warmup, 300);
    const auto same = [&](const std::string& theirs, const std::string& ours) {
      const auto at = [](const DrawSet& set, const std::string& name) {
        return static_cast<std::size_t>(std::find(set.names.begin(), set.names.end(), name) -
                                        set.names.begin());
      };
      const std::size_t a = at(read, theirs), b = at(own, ours);
      ASSERT_LT(a, read.num_quantities()) << theirs;
      ASSERT_LT(b, own.num_quantities()) << ours;
      for (std::size_t i = 0; i < 600; ++i)
        ASSERT_EQ(read.values[a * 600 + i], own.values[b * 600 + i]) << theirs;
    };
    same("lp__", "log_density");
    same("means.2.1", "means[1,0]");
    if (std::string(covariance) == "full") {
      same("covariances.2.2.1", "covariances[1,1,0]");
      same("covariances.2.1.2", "covariances[1,1,0]");  // covariances are exported as whole matrices
    }
  }
}

TEST_F(Export, StanFilesHaveTheLinesThatReadersLookFor) {
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
  std::ifstream stream(folder / "draws-1.csv");
  std::string line, header;
  bool adaptation = false, elapsed = false, generator = false;
  while (std::getline(stream, line)) {
    generator = generator || line == "# generator = emomc";
    adaptation = adaptation || line == "# Adaptation terminated";
    if (line.starts_with("lp__")) header = line;
    if (line.starts_with("#  Elapsed Time: ")) elapsed = line.find_first_of("0123456789") == 17;
  }
  EXPECT_TRUE(generator && adaptation && elapsed);
  // The header must not name another sampler.
  const std::string text = folder.read("draws-1.csv");
  EXPECT_NE(text.find("algorithm = Metropolis\n"), std::string::npos);
  EXPECT_NE(text.find("engine = emomc\n"), std::string::npos);
  for (const char* claim : {"nuts", "hmc", "delta", "kappa"})
    EXPECT_EQ(text.find(claim), std::string::npos) << claim;
  EXPECT_EQ(
      header,
      "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,log_likelihood,log_prior,"
      "weights.1,weights.2,means.1.1,means.2.1,means.1.2,means.2.2,scales.1.1,scales.2.1,scales.1.2,scales.2."
      "2");
}

TEST_F(Export, RstanAndPosteriorAgreeWithOurSummary) {
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
  const auto read = read_by("Rscript", "rstan.R");
  if (!read) GTEST_SKIP() << "no R with rstan, posterior and jsonlite";
  expect_our_summary(*read, 1e-8);
}

TEST_F(Export, PosteriorAloneReadsOurFilesAndBayesplotDrawsThem) {
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
  ASSERT_EQ(folder.run("export run --format csv -o table.csv").exit_code, 0);
  const auto read = read_by("Rscript", "posterior.R");
  if (!read) GTEST_SKIP() << "no R with posterior and jsonlite";
  expect_our_summary((*read)["rows"], 1e-8);
  if (!(*read)["plotted"].get<bool>()) GTEST_SKIP() << "the summary agrees; no R with bayesplot for plots";
  EXPECT_GT(std::filesystem::file_size(folder / "plots.pdf"), 5000u);
}

TEST_F(Export, CmdstanpyReadsOurFiles) {
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
  const auto read = read_by("${EMOMC_TEST_PYTHON:-python3}", "read_cmdstanpy.py");
  if (!read) GTEST_SKIP() << "no python3 with cmdstanpy";
  EXPECT_EQ((*read)["chains"], 3);
  EXPECT_EQ((*read)["draws"], 200);
  EXPECT_EQ((*read)["means"], (json{600, 2, 2}));
  const json ours =
      json::parse(folder.run("summary run --raw --vars 'means[1,0]' --json").out)["parameters"][0];
  EXPECT_NEAR((*read)["mean"].get<double>(), ours["mean"].get<double>(),
              1e-10 * std::abs(ours["mean"].get<double>()));
}

TEST_F(Export, ArvizAgreesWithOurSummary) {
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format netcdf --log-likelihood -o draws.nc").exit_code, 0);
  EXPECT_TRUE(folder.exists("run/draws.nc"));
  const auto read = read_by("${EMOMC_TEST_PYTHON:-python3}", "read_arviz.py");
  if (!read) GTEST_SKIP() << "no python3 with arviz";
  EXPECT_EQ((*read)["observed"], (json{300, 2}));
  expect_our_summary((*read)["rows"], 1e-8);
  // The comparison is with ArviZ's own leave-one-out, whose tail size ignores our relative efficiency.
  const json ours = json::parse(folder.run("compare run --loo-by row --draws 600 --json").out)["runs"][0];
  EXPECT_NEAR((*read)["elpd_loo"].get<double>(), ours["elpd_loo"].get<double>(), 0.02);
  EXPECT_NEAR((*read)["se"].get<double>(), ours["se_elpd_loo"].get<double>(), 0.05);
}

TEST_F(Export, NetcdfFilesReadBackToTheSameBits) {
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  for (const char* covariance : {"diagonal", "tied", "full"}) {
    sample(covariance);
    const DrawSet read = app::read_netcdf(folder / "run/draws.nc"),
                  own = draw_set_of(read_chains(folder / "run"), "run");
    EXPECT_EQ(read.num_chains(), 3u);
    EXPECT_EQ(read.names[0], "lp");
    std::size_t compared = 0;
    for (std::size_t q = own.num_log_densities; q < own.num_quantities(); ++q)
      for (std::size_t r = 1; r < read.num_quantities(); ++r)
        if (read.names[r] == own.names[q]) {
          ++compared;
          for (std::size_t i = 0; i < 600; ++i) ASSERT_EQ(read.values[r * 600 + i], own.values[q * 600 + i]);
        }
    EXPECT_EQ(compared, own.num_quantities() - own.num_log_densities);
  }
}

// Files that are cut at many places, have flipped bits or are of other kinds give an error, never a crash.
TEST_F(Export, DamagedNetcdfFilesAreRefused) {
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  sample("diagonal");
  const std::string whole = folder.read("run/draws.nc");
  const std::size_t content = whole.find_last_not_of('\0') + 1;  // HDF5 fills up to 64 KiB
  for (std::size_t part = 0; part < 20; ++part) {
    folder.write("cut.nc", whole.substr(0, content * part / 20));
    EXPECT_THROW(app::read_netcdf(folder / "cut.nc"), InputError) << part;
  }
  for (std::size_t at = 8; at < content; at += content / 97) {
    std::string turned = whole;
    turned[at] = static_cast<char>(turned[at] ^ 0x5a);
    folder.write("turned.nc", turned);
    try {
      const DrawSet read =
          app::read_netcdf(folder / "turned.nc");  // a changed value does not damage the format
      EXPECT_EQ(read.values.size(), read.num_quantities() * read.num_chains() * read.num_draws);
    } catch (const InputError&) {
    }
  }
  folder.write("text.nc", "lp__,a\n1,2\n");
  EXPECT_EQ(folder.run("summary text.nc").exit_code, 2);
}

TEST_F(Export, TablesReadBackToTheSameBits) {
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format csv -o table.csv").exit_code, 0);
  const DrawSet read = read_draw_table(folder / "table.csv"),
                own = draw_set_of(read_chains(folder / "run"), "run");
  EXPECT_EQ(read.names, own.names);
  EXPECT_EQ(read.chains, own.chains);
  EXPECT_EQ(read.num_log_densities, own.num_log_densities);
  EXPECT_EQ(read.values, own.values);
  const auto parameters = [&](const std::string& of) {
    const testing::ProgramResult summary = folder.run("summary --raw --json " + of);
    EXPECT_EQ(summary.exit_code, 0) << summary.err;
    auto all = nlohmann::json::parse(summary.out).at("parameters");
    for (auto& one : all) {  // a table has no times and no names of columns
      one.erase("ess_bulk_per_second");
      one.erase("label");
    }
    return all;
  };
  EXPECT_EQ(parameters("table.csv"), parameters("run"));
  // A table is a run of its own, even if other files are named, too.
  const testing::ProgramResult both = folder.run("summary table.csv table.csv --json");
  EXPECT_EQ(nlohmann::json::parse(both.out).size(), 2u) << both.err;
}

TEST_F(Export, ForeignFilesAreConverted) {
  sample("diagonal");
  ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
  ASSERT_EQ(folder.run("export draws-1.csv draws-2.csv draws-3.csv --format csv -o table.csv").exit_code, 0);
  EXPECT_EQ(folder.read("table.csv").substr(0, 30), "chain,draw,lp__,log_likelihood");
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  ASSERT_EQ(folder.run("export draws-1.csv draws-2.csv draws-3.csv --format netcdf -o stan.nc").exit_code, 0);
  const DrawSet read = app::read_netcdf(folder / "stan.nc"), own = app::read_netcdf(folder / "run/draws.nc");
  const auto at = [](const DrawSet& set, const std::string& name) {
    const auto q =
        static_cast<std::size_t>(std::find(set.names.begin(), set.names.end(), name) - set.names.begin());
    EXPECT_LT(q, set.num_quantities()) << name;
    return std::vector<double>(set.values.begin() + static_cast<std::ptrdiff_t>(q * 600),
                               set.values.begin() + static_cast<std::ptrdiff_t>((q + 1) * 600));
  };
  for (const char* name : {"lp", "means[1,0]", "weights[1]"})
    EXPECT_EQ(at(read, name), at(own, name)) << name;
  ASSERT_EQ(folder.run("export stan.nc --format stan-csv -o back.csv").exit_code, 0);
  EXPECT_TRUE(folder.exists("back-3.csv"));
}

TEST_F(Export, RefusesWhatItCannotWrite) {
  sample("diagonal");
  for (const char* arguments : {"export run --format stan-csv -o -",
                                "export run --format csv -o nowhere/x.csv", "export run --format csv -o run",
                                "export run --format xls -o x", "export nowhere --format csv -o x.csv"}) {
    const auto result = folder.run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

// tests/python/test_predictive.py reads the groups and compares them with Python's.
TEST_F(Export, ReplicatesAreWrittenOrRefusedWithTheReason) {
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  sample("full");
  const auto refused = [&](const std::string& arguments, const std::vector<std::string>& words) {
    testing::expect_refused(folder, "export run -o out.nc --format " + arguments, words);
    EXPECT_FALSE(folder.exists("out.nc"));
  };
  refused("csv --posterior-predictive", {"--posterior-predictive: allowed with netcdf and a run directory"});
  refused("netcdf --predictive-draws 5", {"--predictive-draws: allowed with --posterior-predictive or"});
  refused("netcdf --prior-predictive --predictive-draws 0", {"--predictive-draws"});
  // The replicates would have 300 rows x 2 columns x 1,000,000 draws.
  refused("netcdf --prior-predictive --predictive-draws 1000000",
          {"predictive draws: 1000000 of each of 1 chain with 300 rows of 2 columns take 4.8 GB; allowed: at "
           "most "
           "208333 of each chain"});
  const std::string all = "export run --format netcdf --posterior-predictive --prior-predictive -o ";
  ASSERT_EQ(folder.run(all + "one.nc").exit_code, 0);
  ASSERT_EQ(folder.run(all + "two.nc --predictive-draws 20").exit_code, 0);
  EXPECT_LT(std::filesystem::file_size(folder / "two.nc"), std::filesystem::file_size(folder / "one.nc") / 4);
  EXPECT_EQ(app::read_netcdf(folder / "one.nc").values, app::read_netcdf(folder / "run/draws.nc").values);
  std::filesystem::rename(folder / "run/config.yaml", folder / "config.yaml");
  refused("netcdf --prior-predictive",
          {"run/config.yaml: there is no such file, from which the priors are read"});
  std::filesystem::rename(folder / "config.yaml", folder / "run/config.yaml");
  std::filesystem::rename(folder / "data/data.csv", folder / "data/other.csv");
  refused("netcdf --posterior-predictive", {"data.files", "data/data.csv: there is no such file"});
}

// 130,000 rows x 1,000 draws would take 1.04 GB, whatever number of rows the manifest states.
TEST_F(Export, LogLikelihoodsOfMoreThanAGigabyteAreRefused) {
  if (!app::has_netcdf()) GTEST_SKIP() << "a build without libnetcdf";
  folder.write("simulation.yaml",
               "model: gaussian_mixture\nparameters: {weights: [1], means: [[0]], scales: [[1]]}\n"
               "rows: 130000\nseed: 5\n");
  ASSERT_EQ(folder.run("simulate simulation.yaml -o data").exit_code, 0);
  folder.write("run.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 1}\n"
               "sampler: {chains: 4, warmup: 20, draws: 250, seed: 3, proposal: {kind: random_walk}}\n"
               "output: {directory: run}\n");
  const auto run = folder.run("run run.yaml -q");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string manifest = folder.read("run/manifest.json"), rows = "\"rows\": 130000";
  const auto at = manifest.find(rows);
  ASSERT_NE(at, std::string::npos);
  for (const std::string& claim : {rows, std::string("\"rows\": 1"), std::string("\"lines\": 130000")}) {
    folder.write("run/manifest.json", manifest.substr(0, at) + claim + manifest.substr(at + rows.size()));
    testing::expect_refused(folder, "export run --format netcdf --log-likelihood -o out.nc",
                            {"1000 draws", "130000 rows", "1 GB", "emomc compare"});
    EXPECT_FALSE(folder.exists("out.nc"));
  }
}

}  // namespace
}  // namespace emomc
