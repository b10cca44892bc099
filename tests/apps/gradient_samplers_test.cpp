// Tests runs with gradient samplers, what is reported about their trajectories, and `emomc gradient`.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/sampler/draw_set.hpp"
#include "netcdf_file.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class GradientRun : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  void SetUp() override {
    std::string csv = "claims,age,years\n";
    for (int i = 0; i < 60; ++i)
      csv += std::to_string((i * 7) % 5) + "," + std::to_string(0.1 * (i % 13) - 0.6) + "," +
             std::to_string(1 + i % 3) + "\n";
    folder.write("claims.csv", csv);
    folder.write("claims.yaml",
                 "data: {file: claims.csv}\n"
                 "likelihood:\n"
                 "  linear: {eta: {intercept: a, columns: [age], coefficients: b, offset: \"log(years)\"}}\n"
                 "  log_density: \"poisson_log_lpmf(claims, eta)\"\n"
                 "prior: {a: {normal: {mean: 0, sd: 5}}, b: {normal: {mean: 0, sd: 2.5}}}\n"
                 "sampler: {proposal: {kind: nuts}, chains: 4, warmup: 400, draws: 300, seed: 4}\n"
                 "backend: cpu\noutput: {directory: run}\n");
  }
  void sample(const std::string& arguments = "") {
    const auto run = folder.run("run claims.yaml -q --force " + arguments);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  json json_of(const std::string& arguments, int exit_code = 0) {
    const auto result = folder.run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return json::parse(result.out, nullptr, false);
  }
};

TEST_F(GradientRun, TellsOfItsTrajectories) {
  for (const std::string kind : {"nuts", "hmc", "mala", "chees"}) {
    SCOPED_TRACE(kind);
    sample("--set sampler.proposal.kind=" + kind);
    EXPECT_EQ(folder.run("diagnose run").exit_code, 0) << folder.run("diagnose run").out;
    const json summary = json_of("summary run --json");
    const json& trajectories = summary["trajectories"];
    EXPECT_GT(trajectories["step_size"].get<double>(), 0.1);
    EXPECT_EQ(trajectories["divergences"], 0);
    EXPECT_EQ(trajectories["draws_at_greatest_depth"], 0);
    // Leapfrogs that are fitted to the metric are accepted more often than the target at their longest time.
    const double target = kind == "mala" ? 0.574 : kind == "chees" ? 0.8 : 0.9;
    EXPECT_GT(trajectories["acceptance"].get<double>(), target - 0.12);
    if (kind == "mala")
      EXPECT_EQ(trajectories["leapfrogs_per_draw"], 1);
    else
      EXPECT_GT(trajectories["leapfrogs_per_draw"].get<double>(), 1);
    const auto text = folder.run("summary run").out;
    EXPECT_NE(text.find("leapfrogs a draw, 0 divergences"), std::string::npos) << text;
  }
}

TEST_F(GradientRun, HasTheBitsOfAnInterruptedOne) {
  sample();
  const std::string whole = folder.run("export run --format csv -o -").out;
  sample("--set checkpoint.steps=50 --threads 1");
  EXPECT_EQ(folder.run("export run --format csv -o -").out, whole);
  // The run is ended by its wall time after the first 100 draws and then continued.
  sample("--set sampler.until.seconds=1e-9");
  const auto resumed = folder.run("run claims.yaml -q --resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(folder.run("export run --format csv -o -").out, whole);
}

TEST_F(GradientRun, StatisticsReachOtherPrograms) {
  sample();
  const json summary = json_of("summary run --json")["trajectories"];
  ASSERT_EQ(folder.run("export run --format stan-csv -o draws.csv").exit_code, 0);
  const DrawSet stan = read_stan_csv(
      {folder / "draws-1.csv", folder / "draws-2.csv", folder / "draws-3.csv", folder / "draws-4.csv"});
  EXPECT_EQ(stan.divergences, (std::vector<std::size_t>(4, 0)));
  const std::string header = folder.read("draws-1.csv");
  EXPECT_NE(header.find("algorithm = hmc\n"), std::string::npos);
  EXPECT_EQ(header.find("Metropolis"), std::string::npos);
  double leapfrogs = 0, acceptance = 0;
  for (int chain = 1; chain <= 4; ++chain) {
    std::istringstream lines(folder.read("draws-" + std::to_string(chain) + ".csv"));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#' || line[0] == 'l') continue;
      std::vector<double> fields;
      std::istringstream parts(line);
      for (std::string part; std::getline(parts, part, ',');) fields.push_back(std::stod(part));
      // The fields are lp__, accept_stat__, stepsize__, treedepth__, n_leapfrog__, divergent__ and energy__.
      acceptance += fields[1] / 1200;
      leapfrogs += fields[4] / 1200;
      EXPECT_LE(fields[4], std::pow(2, fields[3] + 1));
      EXPECT_GE(fields[6] + fields[0], -60);  // H is minus a log density in u plus the kinetic energy
    }
  }
  EXPECT_NEAR(acceptance, summary["acceptance"].get<double>(), 1e-9);
  EXPECT_NEAR(leapfrogs, summary["leapfrogs_per_draw"].get<double>(), 1e-9);
  if (!app::has_netcdf()) GTEST_SKIP() << "built without libnetcdf";
  ASSERT_EQ(folder.run("export run --format netcdf -o draws.nc").exit_code, 0);
  EXPECT_EQ(app::read_netcdf(folder / "draws.nc").divergences, (std::vector<std::size_t>(4, 0)));
}

// A Cauchy prior on a log scale with three rows makes a funnel that no step size fits.
TEST_F(GradientRun, DivergencesAreCountedAndJudged) {
  folder.write("funnel.csv", "y\n0.1\n-0.2\n0.05\n");
  folder.write("funnel.yaml",
               "data: {file: funnel.csv}\n"
               "likelihood:\n  parameters: {v: {}, x: {shape: [9]}}\n"
               "  log_density: \"-0.5 * exp(-v) * dot_product(x, x) / 3 - 1.5 * v + 0 * y\"\n"
               "prior: {v: {normal: {mean: 0, sd: 3}}, x: {normal: {mean: 0, sd: 1000}}}\n"
               "sampler: {proposal: {kind: nuts}, warmup: 1000, draws: 1000, seed: 2}\n"
               "backend: cpu\noutput: {directory: funnel}\n");
  const auto run = folder.run("run funnel.yaml -q");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json summary = json_of("summary funnel --json")["trajectories"];
  EXPECT_GT(summary["divergences"].get<int>(), 0);
  const auto verdict = folder.run("diagnose funnel");
  EXPECT_NE(verdict.out.find("divergent transition"), std::string::npos) << verdict.out;
  EXPECT_EQ(verdict.exit_code, 1) << verdict.out;
}

TEST_F(GradientRun, OfAMixtureFindsItsParameters) {
  folder.write(
      "simulation.yaml",
      "model: gaussian_mixture\nparameters: {weights: [0.4, 0.6], means: [[-20, 3], [30, 5]], scales: "
      "[[4, 0.5], [6, 1]]}\nrows: 2000\nseed: 5\n");
  ASSERT_EQ(folder.run("simulate simulation.yaml -o data --force").exit_code, 0);
  for (const std::string covariance : {"diagonal", "full"}) {
    SCOPED_TRACE(covariance);
    folder.write("mixture.yaml",
                 "data: {file: data/data.csv}\nlikelihood: {components: 2, covariance: " + covariance +
                     "}\nsampler: {proposal: {kind: nuts}, chains: 4, warmup: 300, draws: 250, seed: 3}\n"
                     "backend: cpu\noutput: {directory: mixture}\n");
    const auto run = folder.run("run mixture.yaml -q --force");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto verdict = folder.run("diagnose mixture");
    EXPECT_EQ(verdict.exit_code, 0) << verdict.out;
    const json summary = json_of("summary mixture --json");
    for (const auto& row : summary["parameters"]) {
      const double mean = row["mean"], sd = row["sd"];
      const std::string name = row["name"];
      if (name == "weights[0]") {
        EXPECT_NEAR(std::min(mean, 1 - mean), 0.4, 5 * sd);
      } else if (name == "means[0,0]") {
        EXPECT_LT(std::min(std::abs(mean + 20), std::abs(mean - 30)), 5 * sd);
      }
    }
  }
}

TEST_F(GradientRun, CommandGradientHasTheSlopesOfLoglik) {
  folder.write("at.json", "{\"a\": 0.25, \"b\": [-0.5]}");
  const json at = json_of("gradient claims.yaml --at at.json");
  EXPECT_NEAR(at["parameters"]["a"].get<double>(), 0.25, 1e-15);
  const auto log_likelihood = [&](double a, double b) {
    folder.write("p.json", json{{"a", a}, {"b", {b}}}.dump());
    return json_of("loglik --config claims.yaml --parameters p.json --json")["log_likelihood"].get<double>();
  };
  EXPECT_EQ(at["log_likelihood"].get<double>(), log_likelihood(0.25, -0.5));
  const double h = 1e-4, by_a = (log_likelihood(0.25 + h, -0.5) - log_likelihood(0.25 - h, -0.5)) / (2 * h),
               by_b = (log_likelihood(0.25, -0.5 + h) - log_likelihood(0.25, -0.5 - h)) / (2 * h);
  EXPECT_NEAR(at["likelihood_gradient"]["a"].get<double>(), by_a, 1e-5);
  EXPECT_NEAR(at["likelihood_gradient"]["b[0]"].get<double>(), by_b, 1e-5);
  // Both parameters are unconstrained already, so that only the slope of the prior is added.
  EXPECT_NEAR(at["gradient"][0].get<double>(), by_a - 0.25 / 25, 1e-5);
  EXPECT_NEAR(at["gradient"][1].get<double>(), by_b + 0.5 / 6.25, 1e-5);
  const json reference = json_of("gradient claims.yaml --at at.json --backend reference");
  EXPECT_NEAR(reference["gradient"][0].get<double>(), at["gradient"][0].get<double>(), 1e-10);
  EXPECT_TRUE(json_of("check claims.yaml --json")["gradient"]["agrees"].get<bool>());
  EXPECT_FALSE(at.contains("units"));
  const json mixture =
      json_of("gradient '" EMOMC_SOURCE_DIR "/configs/galaxies.yaml' --set data.file='" EMOMC_SOURCE_DIR
              "/configs/galaxies.csv'");
  EXPECT_EQ(mixture["units"]["scale"].size(), 1U);
  EXPECT_EQ(mixture["gradient"].size(), 8U);
}

// The steps of floor() are much shorter than the check's differences, which therefore have a slope where the
// derivative is 0.
TEST_F(GradientRun, CheckSeesAGradientThatIsNotTheSlope) {
  folder.write("steps.yaml",
               "data: {file: claims.csv}\n"
               "likelihood:\n  parameters: {a: {}}\n"
               "  log_density: \"floor(1e9 * a) / 1e9 - square(a - age)\"\n"
               "prior: {a: {normal: {mean: 0, sd: 1}}}\nbackend: cpu\n");
  const json gradient = json_of("check steps.yaml --json")["gradient"];
  EXPECT_FALSE(gradient["agrees"].get<bool>()) << gradient;
  EXPECT_NEAR(gradient["worst"]["difference"].get<double>() - gradient["worst"]["derivative"].get<double>(),
              60, 0.01);
  const auto text = folder.run("check steps.yaml");
  EXPECT_NE(text.out.find("warning: gradient: at the first start element 0 is"), std::string::npos)
      << text.out;
}

TEST_F(GradientRun, ThatHasNoGradientIsRefused) {
  folder.write("bessel.yaml",
               "data: {file: claims.csv}\n"
               "likelihood:\n  parameters: {v: {support: positive}}\n"
               "  log_density: \"log_modified_bessel_first_kind(v, years)\"\n"
               "prior: {v: {half_normal: 1}}\nsampler: {proposal: {kind: nuts}}\nbackend: cpu\n");
  testing::expect_refused(folder, "run bessel.yaml -o x",
                          {"sampler.proposal.kind", "nuts needs a gradient",
                           "log_modified_bessel_first_kind has no derivative", "crank_nicolson"});
  testing::expect_refused(folder, "gradient bessel.yaml --set sampler.proposal.kind=random_walk",
                          {"there is no gradient", "log_modified_bessel_first_kind"});
  testing::expect_refused(folder, "gradient claims.yaml --at nowhere.json", {"nowhere.json"});
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

}  // namespace
}  // namespace emomc
