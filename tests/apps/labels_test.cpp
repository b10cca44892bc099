// Tests that the program prints the same about a run when the labels in its chain files are permuted.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "emomc/device/random.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class LabelsOfRuns : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  // Samples rows in two columns from two groups of 150. `distance` is the distance of the groups in units of
  // their sds.
  void sample(double distance, const std::string& settings, const std::string& data_keys = "") {
    std::string data = "x,y\n";
    for (std::uint32_t i = 0; i < 300; ++i) {
      const device::RandomSource random{3, i, 0};
      const double x = random.normal(device::Purpose::simulation, 0) + (i < 150 ? 0 : distance),
                   y = random.normal(device::Purpose::simulation, 1);
      data += std::to_string(x) + "," + std::to_string(y) + "\n";
    }
    folder.write("data.csv", data);
    folder.write("run.yaml",
                 "data: {file: data.csv" + data_keys + "}\n" + settings + "output: {directory: run}\n");
    const auto result = folder.run("run run.yaml -q");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  // Makes a copy of the run in which the labels of each chain, or of each draw, are permuted.
  void permute(const std::string& copy, bool every_draw, int num_components) {
    std::filesystem::create_directories(folder / (copy + "/chains"));
    folder.write(copy + "/manifest.json", folder.read("run/manifest.json"));
    for (const ChainDraws& chain : read_chains(folder / "run")) {
      ChainWriter writer(chain_file(folder / copy, chain.header.chain_id), chain.header);
      const auto dim = static_cast<std::size_t>(chain.header.layout.dim());
      for (std::size_t i = 0; i < chain.steps.size(); ++i) {
        std::vector<int> order(static_cast<std::size_t>(num_components));
        std::iota(order.begin(), order.end(), 0);
        const device::RandomSource random{7, every_draw ? i : 0,
                                          static_cast<std::uint32_t>(chain.header.chain_id)};
        const double u = random.uniform(device::Purpose::choice, 0);
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(u * num_components),
                    order.end());
        if (random.uniform(device::Purpose::choice, 1) < 0.5) std::swap(order[0], order[1]);
        const std::span<const double> theta(chain.parameters.data() + i * dim, dim);
        writer.append(DrawView{chain.steps[i], chain.log_prior[i], chain.log_likelihood[i],
                               permute_components(chain.header.layout, order, theta)});
      }
      writer.append(AcceptanceView{chain.steps.back(), chain.accepted, chain.proposed});
      writer.commit();
    }
  }

  // Returns the output of a command about a run, without the name of the run.
  std::string say(const std::string& command, const std::string& run) {
    std::string text = folder.run(command + " " + run + " --json").out;
    EXPECT_NE(text, "");
    if (const auto at = text.find("\"run\": \"" + run + "\""); at != std::string::npos)
      text.erase(at, text.find('\n', at) - at);
    return text;
  }
  std::string exported(const std::string& run) {
    const auto result = folder.run("export " + run + " --relabel --format csv -o -");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  void expect_the_same_of_permuted_labels(int num_components) {
    const std::string summary = say("summary", "run"), diagnosis = say("diagnose", "run"),
                      prediction = say("predict", "run");
    for (const bool every_draw : {false, true}) {
      const std::string copy = every_draw ? "by_draw" : "by_chain";
      permute(copy, every_draw, num_components);
      EXPECT_NE(say("summary --raw", copy), say("summary --raw", "run"));
      EXPECT_EQ(say("summary", copy), summary) << copy;
      EXPECT_EQ(say("diagnose", copy), diagnosis) << copy;
      EXPECT_EQ(say("predict", copy), prediction) << copy;
      EXPECT_EQ(exported(copy), exported("run")) << copy;
    }
  }
};

// The copies of runs have no statistics of trajectories. The proposal is therefore of a kind without
// trajectories.
const std::string kSettings =
    "sampler: {chains: 4, warmup: 2000, draws: 1000, thin: 5, seed: 1, proposal: {kind: component_wise}}\n";

TEST_F(LabelsOfRuns, PermutedLabelsChangeNothingThatIsSaid) {
  sample(5, "likelihood: {components: 2}\n" + kSettings);
  expect_the_same_of_permuted_labels(2);
  const json summary = json::parse(folder.run("summary run --json").out);
  EXPECT_EQ(summary["labels"], "relabelled");
  EXPECT_LT(summary["overlap"]["share"], 0.001);
}

TEST_F(LabelsOfRuns, OfComponentsThatOverlapToo) {
  sample(2, "likelihood: {components: 3}\n" + kSettings);
  expect_the_same_of_permuted_labels(3);
  const json summary = json::parse(folder.run("summary run --json").out);
  EXPECT_EQ(summary["labels"], "unmended");
  EXPECT_GT(summary["overlap"]["share"], 0.02);
  EXPECT_LT(summary["overlap"]["components"][0], summary["overlap"]["components"][1]);
  EXPECT_NE(folder.run("summary run").out.find(" cannot be told apart in "), std::string::npos);
  const auto result = folder.run("export run --relabel --format csv -o -");
  EXPECT_NE(result.err.find("warning: run: components "), std::string::npos) << result.err;
}

// Two Gaussians with a common mean have labels, too: (fraction, sigma[0], sigma[1]) and (1 - fraction,
// sigma[1], sigma[0]) are the same density.
TEST_F(LabelsOfRuns, TwoGaussiansHaveLabelsToo) {
  std::string data = "x\n";
  for (std::uint32_t i = 0; i < 600; ++i)
    data += std::to_string((i < 200 ? 1 : 10) *
                           device::RandomSource{4, i, 0}.normal(device::Purpose::simulation, 0)) +
            "\n";
  folder.write("data.csv", data);
  folder.write("run.yaml",
               "data: {file: data.csv}\nlikelihood: {model: two_gaussian}\n"
               "sampler: {chains: 4, warmup: 3000, draws: 1000, thin: 5, seed: 2, init: prior}\n"
               "output: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  const json summary = json::parse(folder.run("summary run --json").out);
  EXPECT_EQ(summary["labels"], "relabelled");
  for (const auto& row : summary["parameters"]) {
    const std::string name = row["name"];
    const double mean = row["mean"], distance = name == "fraction"   ? std::abs(mean - 1.0 / 3) / 0.08
                                                : name == "sigma[0]" ? std::abs(mean - 1) / 0.3
                                                : name == "sigma[1]" ? std::abs(mean - 10) / 1.5
                                                                     : 0;
    EXPECT_LT(distance, 1) << row;
    EXPECT_LT(row["rhat"], 1.02) << row;
  }
}

// If the prior distinguishes the components, their numbers are kept.
TEST_F(LabelsOfRuns, APriorThatTellsComponentsApartNumbersThem) {
  sample(5,
         "likelihood: {components: 2}\nprior: {means: {normal: {mean: [[1, 0], [-1, 0]], sd: 0.3}}}\n" +
             kSettings,
         ", standardize: true");
  const json manifest = json::parse(folder.read("run/manifest.json"));
  EXPECT_EQ(manifest["exchangeable_components"], false);
  const json summary = json::parse(folder.run("summary run --json").out);
  EXPECT_EQ(summary["labels"], "as_sampled");
  EXPECT_EQ(say("summary --raw", "run"), say("summary", "run"));
}

}  // namespace
}  // namespace emomc
