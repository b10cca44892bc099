// Tests the page of `emomc report`, opened in headless Chromium if it is installed.
#include "report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "browser.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class Report : public ::testing::Test {
 protected:
  testing::ProgramFolder folder;

  void SetUp() override {
    if (!app::has_report()) GTEST_SKIP() << "a build without libjs-chart.js";
    folder.write(
        "simulation.yaml",
        "model: gaussian_mixture\nparameters: {weights: [0.4, 0.6], means: [[-20, 3], [30, 5]], scales: "
        "[[4, 0.5], [6, 1]]}\nrows: 300\ncolumns: [a, '<b>']\nseed: 5\n");
    ASSERT_EQ(folder.run("simulate simulation.yaml -o data").exit_code, 0);
  }
  void sample(const std::string& sampler) {
    folder.write("run.yaml",
                 "# </script><script>alert(1)</script>\ndata: {file: data/data.csv}\n"
                 "likelihood: {components: 2}\nsampler: {" +
                     sampler + "}\noutput: {directory: run}\n");
    const auto run = folder.run("run run.yaml -q --force");
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  json self_test(const std::string& page) const { return testing::self_test(folder, page); }
  /// Returns the data inside a page.
  json data_of(const std::string& page) const {
    const std::string text = folder.read(page), mark = "<script id=\"data\" type=\"application/json\">";
    const std::size_t begin = text.find(mark) + mark.size();
    return json::parse(text.substr(begin, text.find("</script>", begin) - begin));
  }
};

TEST_F(Report, OpensInABrowserWithoutErrorsAndEveryChartShowsSomething) {
  sample("chains: 3, warmup: 300, draws: 300, seed: 3");
  ASSERT_EQ(folder.run("report run --vars 'weights*'").exit_code, 0);
  const std::string page = folder.read("run/report.html");
  // The page fetches nothing and executes nothing that the user wrote.
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  const json result = self_test("run/report.html");
  EXPECT_EQ(result["errors"], json::array());
  EXPECT_EQ(result["charts"].size(),
            6u + 2u);  // trace, ranks, density, autocorrelation, pairs, moves; one fit for each column
  for (const auto& [name, colors] : result["charts"].items()) EXPECT_GT(colors.get<int>(), 30) << name;
  EXPECT_EQ(result["sorted"], true);
  EXPECT_EQ(result["filtered"], true);
}

TEST_F(Report, SaysWhatDiagnoseSays) {
  sample("chains: 3, warmup: 20, draws: 30, seed: 3");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  const json findings = json::parse(folder.run("diagnose run --json").out)["findings"];
  const std::string page = folder.read("page.html");
  ASSERT_GE(findings.size(), 1u);
  for (const auto& finding : findings)
    EXPECT_NE(page.find("\"text\":" + finding["text"].dump(-1, ' ', true)), std::string::npos)
        << finding["text"];
}

TEST_F(Report, OfForeignFilesHasWhatTheyKnow) {
  std::string text = "lp__,mu.1,mu.2,constant\n";
  for (int i = 0; i < 200; ++i)
    text += std::to_string(-i % 7) + "," + std::to_string(i % 11) + "," + std::to_string(i % 13) + ",1\n";
  folder.write("a.csv", text);
  ASSERT_EQ(folder.run("report a.csv -o page.html").exit_code, 0);
  EXPECT_EQ(folder.run("report a.csv").exit_code, 2);  // the page has no default location
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  const json result = self_test("page.html");
  EXPECT_EQ(result["errors"], json::array());
  EXPECT_EQ(result["charts"].size(), 5u);
}

TEST_F(Report, SaysRowsDateBackendAndHowToCite) {
  sample("chains: 2, warmup: 20, draws: 30");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  const json data = data_of("page.html");
  const std::string facts = data["facts"];
  EXPECT_NE(facts.find("300 rows of 2 columns (a, <b>) from data/data.csv"), std::string::npos) << facts;
  EXPECT_NE(facts.find("Backend cpu, mixed"), std::string::npos) << facts;
  const json manifest = json::parse(folder.read("run/manifest.json"));
  EXPECT_NE(facts.find("Run of " + manifest["updated_at"].get<std::string>()), std::string::npos) << facts;
  EXPECT_NE(data["cite"].get<std::string>().find("emomc: Metropolis-Hastings"), std::string::npos);
  EXPECT_NE(data["bibtex"].get<std::string>().find("@software{emomc,"), std::string::npos);
}

TEST_F(Report, SaysWhyThereAreNoPredictiveChecks) {
  sample("chains: 2, warmup: 20, draws: 30");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  EXPECT_FALSE(data_of("page.html")["predictive"].empty());
  EXPECT_EQ(data_of("page.html")["no_predictive"], "");
  std::filesystem::remove(folder / "data/data.csv");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  EXPECT_TRUE(data_of("page.html")["predictive"].empty());
  const std::string reason = data_of("page.html")["no_predictive"];
  EXPECT_NE(reason.find("data.csv"), std::string::npos) << reason;
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  EXPECT_EQ(self_test("page.html")["errors"], json::array());
}

TEST_F(Report, SaysWhatTheSharesOfMovesMean) {
  for (const auto& [proposal, text] : std::vector<std::pair<std::string, std::string>>{
           {"{kind: nuts}", "A trajectory moves all parameters"},
           {"{kind: component_wise}", "moved as one block"},
           {"{kind: component_wise}, thin: 2", "Several steps"}}) {
    sample("chains: 2, warmup: 20, draws: 30, proposal: " + proposal);
    ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
    const json data = data_of("page.html");
    EXPECT_NE(data["moves_note"].get<std::string>().find(text), std::string::npos) << data["moves_note"];
    EXPECT_EQ(data["acceptance"][0]["name"] == "trajectories", proposal == "{kind: nuts}") << proposal;
  }
}

TEST_F(Report, HistogramsOfWholeNumbersHaveBinsOfWholeNumbers) {
  std::string rows = "count,many,real\n";
  for (int i = 0; i < 200; ++i)
    rows +=
        std::to_string(3 + i % 12) + "," + std::to_string(i * 7) + "," + std::to_string(0.1 + i % 12) + "\n";
  folder.write("data/data.csv", rows);
  sample("chains: 2, warmup: 20, draws: 30");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  const json fits = data_of("page.html")["fits"];
  ASSERT_EQ(fits.size(), 3u);
  const std::vector<double> counts = fits[0]["histogram_x"], many = fits[1]["histogram_x"];
  ASSERT_EQ(counts.size(), 12u);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(counts[i], 3.0 + static_cast<double>(i));
    EXPECT_NEAR(fits[0]["histogram"][i].get<double>(), 1.0 / 12, 0.01) << i;  // no gaps and no peaks
  }
  EXPECT_LE(many.size(), 50u);
  EXPECT_EQ(many[1] - many[0], std::round(many[1] - many[0]));
  EXPECT_EQ(fits[2]["histogram_x"].size(), 50u);
}

// The test applies the rules for paper on a screen as wide as the text of a page in A4 at 96 dots per inch.
TEST_F(Report, IsNotCutOffOnPaper) {
  if (!testing::has_chromium()) GTEST_SKIP() << "no chromium";
  sample("chains: 3, warmup: 100, draws: 100, seed: 3");
  ASSERT_EQ(folder.run("report run -o page.html").exit_code, 0);
  std::string page = folder.read("page.html");
  const std::string rule = "@media print";
  ASSERT_NE(page.find(rule), std::string::npos);
  page.replace(page.find(rule), rule.size(), "@media all");
  folder.write("paper.html", page);
  const json result = testing::self_test(folder, "paper.html", 703);
  EXPECT_EQ(result["errors"], json::array());
  EXPECT_EQ(result["cut"], 0);
}

// The working directory may be that of another run, whose facts must not appear on the page.
TEST_F(Report, OfForeignFilesHasNothingOfTheWorkingDirectory) {
  sample("chains: 2, warmup: 50, draws: 100, seed: 3");
  ASSERT_EQ(folder.run("export run --format csv -o run/draws.csv").exit_code, 0);
  const auto result = folder.shell("cd run && $EMOMC report draws.csv -o ../page.html");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = folder.read("page.html");
  EXPECT_NE(page.find("\"config\":\"\""), std::string::npos);
  EXPECT_EQ(page.find("components: 2"), std::string::npos);
  EXPECT_EQ(page.find("data.csv"), std::string::npos);
  EXPECT_EQ(page.find("The data's histogram"), std::string::npos);
}

// The page of many chains is still below 5 MB.
TEST_F(Report, IsSmallForManyChains) {
  sample("chains: 64, warmup: 50, draws: 500, seed: 3");
  ASSERT_EQ(folder.run("report run").exit_code, 0);
  EXPECT_LT(std::filesystem::file_size(folder / "run/report.html"), 5'000'000u);
}

TEST_F(Report, RefusesWhatItCannotWrite) {
  sample("chains: 2, warmup: 20, draws: 30");
  for (const char* arguments :
       {"report nowhere", "report run -o nowhere/page.html", "report run -o run", "report run run"}) {
    const auto result = folder.run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace emomc
