// Tests the findings of diagnose on runs that are each wrong in one known way.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "emomc/device/random.hpp"
#include "program.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

using nlohmann::json;

double normal(std::uint64_t draw, std::uint32_t chain, std::uint32_t index) {
  return device::RandomSource{77, draw, chain}.normal(device::Purpose::simulation, index);
}

class Diagnose : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  /// Writes CSV files in CmdStan's format, one for each chain, with lp__ and the values of `row`(draw,
  /// chain). Returns the names of the files.
  std::string write_chains(const std::string& names, int chains, int draws,
                           const std::function<std::vector<double>(int, int)>& row) {
    std::string files;
    for (int c = 0; c < chains; ++c) {
      std::string text = "lp__," + names + "\n";
      for (int i = 0; i < draws; ++i) {
        const auto values = row(i, c);
        for (std::size_t j = 0; j < values.size(); ++j) text += (j ? "," : "") + std::to_string(values[j]);
        text += "\n";
      }
      const std::string file = "chain" + std::to_string(c) + ".csv";
      folder.write(file, text);
      files += " " + file;
    }
    return files;
  }

  /// Returns the checks that have findings of this severity.
  std::vector<std::string> checks(const json& diagnosis, const std::string& severity) {
    std::vector<std::string> found;
    for (const auto& finding : diagnosis["findings"]) {
      EXPECT_FALSE(finding["advice"].get<std::string>().empty());
      if (finding["severity"] == severity) found.push_back(finding["check"]);
    }
    return found;
  }
  json diagnosis(const std::string& runs, int exit_code) {
    const auto result = folder.run("diagnose --json " + runs);
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    json diagnosis = json::parse(result.out);
    EXPECT_EQ(diagnosis["trusted"], exit_code == 0);
    return diagnosis;
  }
  static std::string text_of(const json& diagnosis, const std::string& check) {
    for (const auto& finding : diagnosis["findings"])
      if (finding["check"] == check) return finding["text"];
    return "";
  }

  void simulate(const std::string& parameters, int rows) {
    folder.write("simulation.yaml", "model: gaussian_mixture\nparameters: " + parameters +
                                        "\nrows: " + std::to_string(rows) + "\nseed: 5\n");
    ASSERT_EQ(folder.run("simulate simulation.yaml -o data").exit_code, 0);
  }
};

using Names = std::vector<std::string>;

TEST_F(Diagnose, IndependentDrawsAreTrusted) {
  const auto files = write_chains("a,b.1,b.2", 4, 500, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1), normal(i, c, 2), normal(i, c, 3)};
  });
  EXPECT_EQ(diagnosis(files, 0)["findings"].size(), 0u);
}

TEST_F(Diagnose, AConstantDensityIsNoStuckChain) {
  const auto files = write_chains("a,b", 4, 500, [](int i, int c) {
    return std::vector<double>{-3.5, normal(i, c, 1), normal(i, c, 2)};
  });
  EXPECT_EQ(text_of(diagnosis(files, 0), "stuck"), "");
}

TEST_F(Diagnose, AStuckChainIsNamed) {
  const auto files = write_chains("a", 4, 500, [](int i, int c) {
    const int at = c == 2 && i > 100 ? 100 : i;
    return std::vector<double>{normal(at, c, 0), normal(at, c, 1)};
  });
  const json found = diagnosis(files, 1);
  EXPECT_EQ(text_of(found, "stuck"), "chain chain2.csv did not move for 400 of 500 draws");
}

TEST_F(Diagnose, AChainFarFromTheOthersIsNamed) {
  const auto files = write_chains("a", 4, 500, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1) + (c == 1 ? 10 : 0)};
  });
  const json found = diagnosis(files, 1);
  const std::string text = text_of(found, "rhat");
  EXPECT_NE(text.find("a ("), std::string::npos) << text;
  EXPECT_NE(text.find("in a chain chain1.csv ("), std::string::npos) << text;
  EXPECT_NE(text.find("lies apart from the others"), std::string::npos) << text;
}

TEST_F(Diagnose, TooFewEffectiveDrawsAreCounted) {
  const auto files = write_chains("a", 4, 60, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1)};
  });
  const Names problems = checks(diagnosis(files, 1), "problem");
  EXPECT_NE(std::find(problems.begin(), problems.end(), "ess"), problems.end());
  EXPECT_EQ(std::find(problems.begin(), problems.end(), "stuck"), problems.end());
}

// The tail ESS of 400 independent draws is estimated below 400, by no more than chance explains. A reader of
// a short run does not know that its draws are independent.
TEST_F(Diagnose, EstimatesBeyondTheirBoundsAreNamedEvenIfChanceExplainsThem) {
  const auto files = write_chains("a", 4, 100, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1)};
  });
  const json found = diagnosis(files, 0);
  const Names warnings = checks(found, "warning");
  EXPECT_NE(std::find(warnings.begin(), warnings.end(), "ess"), warnings.end()) << found.dump(1);
  EXPECT_NE(text_of(found, "ess").find("effective sample sizes are below 400, by no more than chance"),
            std::string::npos)
      << found.dump(1);
}

// The chains have hardly moved. They begin with draws from the distribution, so that only R-hat could show
// the difference from independent draws.
TEST_F(Diagnose, ManyChainsOfTenDependentDrawsAreTooFew) {
  std::vector<double> x(256);
  const auto files = write_chains("x", 256, 10, [&](int i, int c) {
    double& at = x[static_cast<std::size_t>(c)];
    at = i == 0 ? normal(i, c, 1) : 0.95 * at + std::sqrt(1 - 0.95 * 0.95) * normal(i, c, 1);
    return std::vector<double>{normal(i, c, 0), at};
  });
  const Names problems = checks(diagnosis(files, 1), "problem");
  EXPECT_NE(std::find(problems.begin(), problems.end(), "ess"), problems.end());
}

// The table has a column with two values, one that is at its maximum in a tenth of the draws, and a constant
// one.
TEST_F(Diagnose, TiesAreNoFault) {
  const auto files = write_chains("binary,top,constant", 4, 500, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1) < 0 ? 0. : 1., std::min(1.2, normal(i, c, 2)),
                               7};
  });
  EXPECT_EQ(diagnosis(files, 0)["findings"].size(), 0u);
}

// The first draws of all chains differ from the later ones in a parameter but not in the density.
TEST_F(Diagnose, AStartUpTransientOfAllChainsIsNamed) {
  const auto files = write_chains("a,b", 4, 500, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1), normal(i, c, 2) + (i < 20 ? 3 : 0)};
  });
  const std::string text = text_of(diagnosis(files, 1), "warmup");
  EXPECT_EQ(text.find("b still falls after warm-up: "), 0u) << text;
}

TEST_F(Diagnose, AHandfulOfDrawsIsNoRun) {
  const auto files = write_chains("a", 4, 5, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1)};
  });
  EXPECT_EQ(text_of(diagnosis(files, 1), "ess"), "5 draws of each chain are too few for any diagnostic");
}

TEST_F(Diagnose, ATrendAndWhatIsNotFiniteAreFound) {
  const auto rising = write_chains("a", 4, 1000, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0) - 4 * std::exp(-i / 60.0), normal(i, c, 1)};
  });
  EXPECT_NE(text_of(diagnosis(rising, 1), "warmup").find("lp__ still rises after warm-up"),
            std::string::npos);
  const auto holes = write_chains("a,b", 2, 500, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1), i == 7 ? NAN : normal(i, c, 2)};
  });
  EXPECT_EQ(text_of(diagnosis(holes, 1), "not_finite"), "draws that are NaN or infinite: b");
}

TEST_F(Diagnose, SwitchedLabelsInForeignFilesAreNamed) {
  const auto vector = write_chains("mu.1,mu.2,mu.3,tau", 3, 400, [](int i, int c) {
    const double means[3] = {-5, 0, 5};
    std::vector<double> row{normal(i, c, 0)};
    for (int k = 0; k < 3; ++k) row.push_back(means[c == 1 ? (k + 1) % 3 : k] + normal(i, c, 1 + k));
    row.push_back(normal(i, c, 4));
    return row;
  });
  EXPECT_EQ(
      text_of(diagnosis(vector, 1), "labels"),
      "label switching: the components of mu change places between chains (chain1.csv has them as 3 1 2, "
      "against chain0.csv); in one order the chains agree");
  const auto arrays = write_chains("mu1,mu2", 2, 400, [](int i, int c) {
    const double a = normal(i, c, 1), b = 8 + normal(i, c, 2);
    return std::vector<double>{normal(i, c, 0), c ? b : a, c ? a : b};
  });
  EXPECT_NE(text_of(diagnosis(arrays, 1), "labels").find("the arrays mu1, mu2, ... change places"),
            std::string::npos);
  // Chains in different modes must not be taken for chains with switched labels.
  const auto apart = write_chains("mu.1,mu.2", 2, 400, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), 9.0 * c + normal(i, c, 1), 30 + normal(i, c, 2)};
  });
  EXPECT_EQ(text_of(diagnosis(apart, 1), "labels"), "");
}

// Labels switch at every draw: all components have the same mean, and R-hat is 1.
TEST_F(Diagnose, LabelsThatSwitchFromDrawToDrawInForeignFilesAreNamed) {
  const auto labels = [&](const std::function<std::vector<double>(int, int)>& parts) {
    const auto files = write_chains("mu.1,mu.2,mu.3", 4, 400, [&](int i, int c) {
      std::vector<double> row{normal(i, c, 0)};
      for (const double x : parts(i, c)) row.push_back(x);
      return row;
    });
    return text_of(json::parse(folder.run("diagnose --json" + files).out), "labels");
  };
  const auto which = [](int i, int c) {
    return static_cast<int>(
        3 * device::RandomSource{78, static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(c)}.uniform(
                device::Purpose::choice, 0));
  };
  const double means[3] = {-5, 0, 7};
  const std::string switched = labels([&](int i, int c) {
    std::vector<double> x;
    for (int k = 0; k < 3; ++k) x.push_back(means[(k + which(i, c)) % 3] + normal(i, c, 1 + k));
    return x;
  });
  EXPECT_NE(switched.find("label switching: the components of mu change places from draw to draw (in 6"),
            std::string::npos)
      << switched;
  // These four files must not be taken for switched labels: exchangeable errors, which overlap; components
  // with two modes each; components that overlap slightly; ranks.
  EXPECT_EQ(labels([](int i, int c) {
              return std::vector<double>{normal(i, c, 1), normal(i, c, 2), normal(i, c, 3)};
            }),
            "");
  EXPECT_EQ(labels([](int i, int c) {
              std::vector<double> x;
              for (int k = 1; k < 4; ++k) x.push_back((normal(i, c, 10 + k) > 0 ? 6 : 0) + normal(i, c, k));
              return x;
            }),
            "");
  EXPECT_EQ(labels([](int i, int c) {
              return std::vector<double>{normal(i, c, 1), 2 + normal(i, c, 2), 4 + normal(i, c, 3)};
            }),
            "");
  EXPECT_EQ(labels([&](int i, int c) {
              return std::vector<double>{0.0 + which(i, c), 0.0 + (which(i, c) + 1) % 3,
                                         0.0 + (which(i, c) + 2) % 3};
            }),
            "");
}

// Overlapping components are switched between chains. In the right order, one component still has an R-hat
// that is slightly too high.
TEST_F(Diagnose, SwitchedLabelsInForeignFilesNeedNotAgreeInEverything) {
  const auto files = write_chains("mu.1,mu.2", 4, 400, [](int i, int c) {
    const double a = normal(i, c, 1) + (c > 1 ? 0.8 : 0.0), b = 4 + normal(i, c, 2);
    return std::vector<double>{normal(i, c, 0), c % 2 ? b : a, c % 2 ? a : b};
  });
  EXPECT_NE(text_of(diagnosis(files, 1), "labels").find("the components of mu change places between chains"),
            std::string::npos);
}

// The numbers of the well separated components differ between chains by chance.
TEST_F(Diagnose, ComponentsOfOurOwnRunsAreMatched) {
  simulate("{weights: [0.3, 0.7], means: [[-8, 1], [9, 2]], scales: [[2, 1], [3, 1]]}", 400);
  folder.write("run.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 2}\n"
               "sampler: {chains: 4, warmup: 2000, draws: 1000, thin: 4, seed: 1, init: prior}\n"
               "output: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  const json found = diagnosis("run", 0);
  EXPECT_EQ(checks(found, "note"), Names{"labels"}) << found;
  const json mended = json::parse(folder.run("summary run --json").out),
             raw = json::parse(folder.run("summary run --raw --json").out);
  EXPECT_EQ(mended["labels"], "relabelled");
  EXPECT_EQ(raw["labels"], "as_sampled");
  const auto value = [](const json& summary, const std::string& name, const char* what) {
    for (const auto& row : summary["parameters"])
      if (row["name"] == name) return row[what].get<double>();
    return std::nan("");
  };
  EXPECT_NEAR(value(mended, "means[0,0]", "mean"), -8, 0.8);
  EXPECT_NEAR(value(mended, "means[1,0]", "mean"), 9, 0.8);
  EXPECT_NEAR(value(mended, "weights[1]", "mean"), 0.7, 0.1);
  EXPECT_LT(value(mended, "means[0,0]", "rhat"), 1.01);
  EXPECT_GT(value(raw, "means[0,0]", "rhat"), 1.5);
  EXPECT_EQ(value(raw, "log_density", "ess_bulk"), value(mended, "log_density", "ess_bulk"));
  EXPECT_NE(
      folder.run("summary run").out.find("components are matched over draws and numbered by means[k, c0]"),
      std::string::npos);
  const json ordered = json::parse(folder.run("summary run --order --json").out);
  for (const char* name : {"means[0,0]", "weights[1]"})
    EXPECT_NEAR(value(ordered, name, "mean"), value(mended, name, "mean"), 1e-12) << name;
  EXPECT_EQ(folder.run("summary run --order --raw").exit_code, 2);
}

// The run has no warm-up and starts far from the posterior.
TEST_F(Diagnose, ARunWithoutWarmUpIsFoundOut) {
  simulate("{weights: [0.5, 0.5], means: [[-2], [2]], scales: [[1], [1]]}", 2000);
  folder.write("start.json", R"({"weights":[0.9,0.1],"means":[[-20],[20]],"scales":[[9],[9]]})");
  folder.write("run.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 2}\n"
               "sampler: {chains: 2, warmup: 0, draws: 2000, init: start.json}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  const Names problems = checks(diagnosis("run", 1), "problem");
  EXPECT_NE(std::find(problems.begin(), problems.end(), "warmup"), problems.end());
}

// One value is repeated a hundred times, and a component collapses onto it.
TEST_F(Diagnose, AComponentAtItsFloorAndRepeatedRowsAreFound) {
  std::string data = "x\n";
  for (int i = 0; i < 200; ++i) data += std::to_string(normal(i, 0, 0)) + "\n";
  for (int i = 0; i < 100; ++i) data += "0.5\n";
  folder.write("data.csv", data);
  folder.write(
      "run.yaml",
      "data: {file: data.csv}\nlikelihood: {components: 2}\n"
      "sampler: {chains: 2, warmup: 2000, draws: 500, thin: 4, init: em}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  const json found = diagnosis("run", 1);
  EXPECT_NE(text_of(found, "floor"), "");
  EXPECT_EQ(text_of(found, "duplicates"), "99 of 300 rows of the data repeat earlier ones");
}

// No Gaussian describes a column of zeros and ones, whatever the number of components.
TEST_F(Diagnose, AColumnOfFewValuesIsNamedAndNotCalledACollapse) {
  std::string data = "height,sex\n";
  for (std::uint64_t i = 0; i < 200; ++i)
    data += std::to_string(normal(i, 0, 0) + (i % 2 ? 6 : 0)) + "," + (i % 2 ? "1" : "0") + "\n";
  folder.write("data.csv", data);
  folder.write("run.yaml", "data: {file: data.csv}\nlikelihood: {components: 2}\noutput: {directory: run}\n");
  const auto result = folder.run("run run.yaml");
  ASSERT_EQ(result.exit_code, 0);
  const std::string text = text_of(diagnosis("run", 1), "floor");
  EXPECT_EQ(text, "the scales of all components are at their floor in column sex");
  // The run ends once its draws have converged, and prints the finding of diagnose, even with --quiet.
  const std::string verdict =
      "warning: this run should not be trusted as it is: diagnose finds 1 problem: " + text;
  EXPECT_NE(result.err.find("the draws have converged after"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(verdict), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("diagnose finds no problem"), std::string::npos) << result.err;
  const auto quiet = folder.run("run run.yaml -q --force");
  ASSERT_EQ(quiet.exit_code, 0);
  EXPECT_NE(quiet.err.find(verdict), std::string::npos) << quiet.err;
}

TEST_F(Diagnose, OneChainIsSaidToBeOne) {
  const std::string files = write_chains("x", 1, 1000, [](int i, int c) {
    return std::vector<double>{normal(i, c, 0), normal(i, c, 1)};
  });
  EXPECT_NE(text_of(diagnosis(files, 0), "chains").find("there is one chain"), std::string::npos);
}

TEST_F(Diagnose, ThinningThatWastesDrawsIsNoted) {
  simulate("{weights: [1], means: [[0]], scales: [[1]]}", 100);
  folder.write("run.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 1}\n"
               "sampler: {chains: 4, warmup: 1000, draws: 1000, thin: 100}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  EXPECT_EQ(checks(diagnosis("run", 0), "note"), (Names{"starts", "thinning"}));
}

// The superchains have one start each and are still far from one another. Nested R-hat detects this.
TEST_F(Diagnose, SuperchainsBeginAtOnePointAndHaveANestedRhat) {
  simulate("{weights: [1], means: [[0]], scales: [[1]]}", 100);
  folder.write("run.yaml",
               "data: {file: data/data.csv}\nlikelihood: {components: 1}\n"
               "sampler: {chains: 64, superchains: 8, warmup: 300, draws: 20, thin: 4, init: prior}\n"
               "output: {directory: run, keep_warmup: false}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  const json summary = json::parse(folder.run("summary run --json").out);
  EXPECT_EQ(summary["rhat"], "nested");
  EXPECT_LT(summary["parameters"][0]["rhat"].get<double>(), 1.05);
  ASSERT_EQ(
      folder.run("run run.yaml -q --output first --set sampler.warmup=0 --set sampler.draws=1").exit_code, 0);
  const json early = json::parse(folder.run("summary first --json").out);
  EXPECT_GT(early["parameters"][0]["rhat"].get<double>(), 1.3);
  EXPECT_EQ(folder.run("check run.yaml --set sampler.superchains=7").exit_code, 2);
}

// With one component, the fitted distribution is almost the posterior. Nearly every move that uses the fit is
// therefore accepted, and this is no fault.
TEST_F(Diagnose, MovesByAFitThatAreNearlyAllAcceptedAreNoFault) {
  std::string data = "x\n";
  for (std::uint64_t i = 0; i < 300; ++i) data += std::to_string(normal(i, 9, 0)) + "\n";
  folder.write("data.csv", data);
  folder.write(
      "run.yaml",
      "data: {file: data.csv}\nlikelihood: {components: 1}\n"
      "sampler: {warmup: 1000, draws: 1000, proposal: {kind: crank_nicolson}}\noutput: {directory: run}\n");
  ASSERT_EQ(folder.run("run run.yaml -q").exit_code, 0);
  const json found = json::parse(folder.run("diagnose run --json").out);
  for (const auto& finding : found["findings"]) EXPECT_NE(finding["check"], "acceptance") << finding.dump();
}

TEST_F(Diagnose, WhatCannotBeReadIsRefused) {
  for (const char* arguments : {"diagnose nowhere", "diagnose", "summary nowhere.csv"})
    EXPECT_EQ(folder.run(arguments).exit_code, 2) << arguments;
  folder.write("cut.csv", "lp__,a\n1,2\n3,");
  const auto cut = folder.run("diagnose cut.csv");
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_EQ(cut.err, "emomc: error: cut.csv:3: the last row has no line break; the file is cut off\n");
  EXPECT_EQ(cut.out, "");
}

}  // namespace
}  // namespace emomc
