// Tests the default `sampler.proposal.kind: auto`: which proposal is chosen, that the program reports the
// choice, and that a run keeps it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class AutomaticProposal : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  void SetUp() override {
    std::string csv = "claims,age,years\n", rows = "x\n";
    for (int i = 0; i < 60; ++i) {
      csv += std::to_string((i * 7) % 5) + "," + std::to_string(0.1 * (i % 13) - 0.6) + "," +
             std::to_string(1 + i % 3) + "\n";
      rows += std::to_string(i % 2 * 10 + 0.1 * ((i * 7) % 11)) + "\n";
    }
    folder.write("claims.csv", csv);
    folder.write("rows.csv", rows);
    folder.write("mixture.yaml",
                 "data: {file: rows.csv}\nlikelihood: {components: 2}\nbackend: cpu\n"
                 "sampler: {warmup: 300, draws: 400, seed: 3}\noutput: {directory: run}\n");
    folder.write("claims.yaml",
                 "data: {file: claims.csv}\nlikelihood:\n  parameters: {a: {}}\n"
                 "  log_density: \"poisson_log_lpmf(claims, a)\"\n"
                 "prior: {a: {normal: {mean: 0, sd: 2}}}\nbackend: cpu\noutput: {directory: run}\n");
  }
  json checked(const std::string& arguments) {
    const auto result = folder.run("check --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out, nullptr, false);
  }
  json manifest() { return json::parse(folder.read("run/manifest.json")); }
  std::string draws() { return folder.run("export run --format csv -o -").out; }
};

TEST_F(AutomaticProposal, IsNutsWhereChainsStartNearModes) {
  const json check = checked("mixture.yaml");
  EXPECT_EQ(check["proposal"]["kind"], "nuts");
  EXPECT_EQ(check["proposal"]["shape"], "dense");
  EXPECT_EQ(check["proposal_blocks"], json::parse("[\"all\"]"));
  const std::string text = folder.run("check mixture.yaml").out;
  EXPECT_NE(text.find("proposal: auto, which is nuts: the likelihood has gradients"), std::string::npos)
      << text;
  EXPECT_NE(text.find("one for each leapfrog"), std::string::npos) << text;
  // A shape in the configuration is kept. Without one, a mixture of many parameters has no dense metric,
  // which could not be learnt.
  EXPECT_EQ(checked("mixture.yaml --set sampler.proposal.shape=isotropic")["proposal"]["shape"], "isotropic");
  EXPECT_EQ(checked("mixture.yaml --set likelihood.components=40")["proposal"]["shape"], "diagonal");
}

TEST_F(AutomaticProposal, IsAnotherKindWhereChainsStartAtDrawsFromThePrior) {
  for (const auto& [config, kind] : {std::pair("claims.yaml", "crank_nicolson"),
                                     std::pair("mixture.yaml --set sampler.init=prior", "component_wise")}) {
    const json proposal = checked(config)["proposal"];
    EXPECT_EQ(proposal["kind"], kind) << config;
    EXPECT_NE(proposal["why"].get<std::string>().find("draws from the prior"), std::string::npos) << config;
  }
  // The reason for the choice is that the likelihood has no gradients.
  folder.write("bessel.yaml",
               "data: {file: claims.csv}\nlikelihood:\n  parameters: {v: {support: positive}}\n"
               "  log_density: \"log_modified_bessel_first_kind(v, years)\"\n"
               "prior: {v: {half_normal: 1}}\nbackend: cpu\n");
  const json bessel = checked("bessel.yaml")["proposal"];
  EXPECT_EQ(bessel["kind"], "crank_nicolson");
  EXPECT_EQ(bessel["shape"], "dense");
  EXPECT_NE(bessel["why"].get<std::string>().find("log_modified_bessel_first_kind"), std::string::npos);
}

TEST_F(AutomaticProposal, IsAnotherKindWhereAPriorReachesTheEdgeOfItsSupport) {
  const json sparse = checked("mixture.yaml --set prior.weights.dirichlet=0.02")["proposal"];
  EXPECT_EQ(sparse["kind"], "component_wise");
  EXPECT_NE(sparse["why"].get<std::string>().find("edge of its support"), std::string::npos);
  EXPECT_EQ(checked("mixture.yaml --set prior.weights.dirichlet=0.5")["proposal"]["kind"], "nuts");
}

TEST_F(AutomaticProposal, ANamedKindIsThatKind) {
  const json check = checked("mixture.yaml --set sampler.proposal.kind=random_walk");
  EXPECT_EQ(check["proposal"]["kind"], "random_walk");
  EXPECT_EQ(check["proposal"]["shape"], "diagonal");
  EXPECT_EQ(check["proposal"]["why"], "");
  const std::string text = folder.run("check mixture.yaml --set sampler.proposal.kind=random_walk").out;
  EXPECT_EQ(text.find("proposal: auto"), std::string::npos) << text;
}

TEST_F(AutomaticProposal, IsInLogAndManifestAndStaysWhenTheRunGoesOn) {
  ASSERT_EQ(folder.run("run mixture.yaml -q").exit_code, 0);
  const std::string whole = draws();
  EXPECT_EQ(manifest()["proposal"]["kind"], "nuts");
  EXPECT_EQ(manifest()["proposal"]["shape"], "dense");
  EXPECT_NE(manifest()["proposal"]["chosen"], "");
  EXPECT_EQ(manifest()["target_acceptance"], 0.9);
  EXPECT_NE(folder.read("run/run.log").find("proposal: auto, which is nuts"), std::string::npos);
  // A run that names the chosen kind has the same draws, and so has a run in pieces.
  const std::string force = "run mixture.yaml -q --force ", ended = "--set sampler.until.seconds=1e-9";
  ASSERT_EQ(
      folder.run(force + "--set sampler.proposal.kind=nuts --set sampler.proposal.shape=dense").exit_code, 0);
  EXPECT_EQ(draws(), whole);
  EXPECT_EQ(manifest()["proposal"]["chosen"], "");
  ASSERT_EQ(folder.run(force + ended).exit_code, 0);
  ASSERT_EQ(folder.run("run mixture.yaml -q --resume").exit_code, 0);
  EXPECT_EQ(draws(), whole);
  // A resumed run keeps the kind in its manifest, which another version may have chosen.
  ASSERT_EQ(folder.run(force + ended).exit_code, 0);
  std::string text = folder.read("run/manifest.json");
  folder.write("run/manifest.json", text.replace(text.find("\"nuts\""), 6, "\"mala\""));
  const auto resumed = folder.run("run mixture.yaml -q --resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(manifest()["proposal"]["kind"], "mala");
  EXPECT_NE(draws(), whole);
}

TEST_F(AutomaticProposal, TargetsAndShapesOfOneKindAreRefused) {
  testing::expect_refused(folder, "run mixture.yaml --set sampler.proposal.target_acceptance=0.9",
                          {"sampler.proposal.target_acceptance", "write sampler.proposal.kind too"});
  testing::expect_refused(
      folder, "run mixture.yaml --set sampler.proposal.kind=nuts --set sampler.proposal.shape=auto",
      {"sampler.proposal.shape", "auto goes with kind: auto", "isotropic, diagonal, dense"});
  EXPECT_FALSE(folder.exists("run"));
}

}  // namespace
}  // namespace emomc
