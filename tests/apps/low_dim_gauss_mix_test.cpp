// Tests the two mixtures of Stan's benchmarks (github.com/stan-dev/stat_comp_benchmarks; data in
// posteriordb): 1,000 rows from two Gaussians, which are well separated or collapsed.
#include "program.hpp"
#include "reference_posterior.hpp"

namespace emomc {
namespace {

class LowDimGaussMix : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;
  void sample(const std::string& data, const std::string& more) {
    const std::filesystem::path files = EMOMC_SOURCE_DIR "/tests/apps/data";
    std::filesystem::copy_file(files / (data + ".csv"), folder / "low_dim_gauss_mix.csv");
    const auto result = folder.run("run '" + (files / "low_dim_gauss_mix.yaml").string() +
                                   "' -q --output run --set threads=1 " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
};

// The reference is posteriordb's 10,000 draws. There are 5 parameters with 5 numbers each. With z = 5.6 a
// normal error exceeds the bound with probability 2.1e-8, so that a false alarm occurs for less than 1e-6 of
// all seeds.
TEST_F(LowDimGaussMix, SeparatedOneAgreesWithPosteriordb) {
  sample("low_dim_gauss_mix", "");
  const int compared = testing::expect_reference_posterior(
      folder / "run", EMOMC_SOURCE_DIR "/tests/apps/data/low_dim_gauss_mix.json", 5.6,
      [](const std::string& name) { return name; });
  EXPECT_EQ(compared, 25);
}

// For the collapsed mixture, the benchmarks publish the mean and sd of each parameter, without an order of
// the components, from 1,000,000 draws of Stan. Averages over both components do not depend on an order, and
// labels switch in those draws. The errors of the published numbers are not published; 1 % of a posterior sd
// is the error of 10,000 effective draws. Five numbers are compared with z = 5.3: 1.2e-7 each for a normal
// error.
TEST_F(LowDimGaussMix, CollapsedOneAgreesWithThePublishedMoments) {
  constexpr double z = 5.3, published_error = 0.01;
  // A random walk leaves the other modes so rarely that its ESS is 20 to 3,000, depending on the seed.
  sample("low_dim_gauss_mix_collapse",
         "--set sampler.proposal.kind=crank_nicolson --set sampler.warmup=3000 --set sampler.draws=4000");
  const auto chains = read_chains(folder / "run");
  const auto average = [](double a, double b) { return 0.5 * (a + b); };
  const auto second_moment = [](double mean, double sd) { return mean * mean + sd * sd; };
  const double mu[2] = {-0.25086, -0.28534}, mu_sd[2] = {0.76696, 0.76549}, sigma[2] = {1.0306, 1.0258},
               sigma_sd[2] = {0.16101, 0.16091}, theta_sd = 0.16606;
  // `function` receives theta, which contains weights[2], means[2] and scales[2].
  const auto compare = [&](const char* what, double published, const auto& function) {
    const auto values = testing::of_draws(chains, function);
    const DrawsView view = testing::view_of(values, chains);
    EXPECT_GT(ess_mean(view), 4000) << what;  // else the comparison would be too weak
    EXPECT_NEAR(draws_mean(view), published,
                z * std::hypot(mcse_mean(view), published_error * draws_sd(view)))
        << what;
  };
  compare("mu", average(mu[0], mu[1]), [&](const double* t) { return average(t[2], t[3]); });
  compare("mu^2", average(second_moment(mu[0], mu_sd[0]), second_moment(mu[1], mu_sd[1])),
          [&](const double* t) { return average(t[2] * t[2], t[3] * t[3]); });
  compare("sigma", average(sigma[0], sigma[1]), [&](const double* t) { return average(t[4], t[5]); });
  compare("sigma^2", average(second_moment(sigma[0], sigma_sd[0]), second_moment(sigma[1], sigma_sd[1])),
          [&](const double* t) { return average(t[4] * t[4], t[5] * t[5]); });
  compare("(theta - 1/2)^2", theta_sd * theta_sd,
          [](const double* t) { return (t[0] - 0.5) * (t[0] - 0.5); });
}

}  // namespace
}  // namespace emomc
