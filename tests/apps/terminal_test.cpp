// Tests the output on a terminal: lines that fit, and numbers with as many digits as are known.
#include <fmt/format.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "emomc/emotion/evaluation_results.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "emomc/posterior/text_table.hpp"
#include "evaluation_text.hpp"
#include "inspection.hpp"
#include "program.hpp"

namespace emomc {
namespace {

using testing::ProgramFolder;

// Runs the program on a terminal of `columns` columns; 0 is a terminal that does not report its width.
// Returns the output and the error output together.
std::string on_terminal(const ProgramFolder& folder, const std::vector<std::string>& arguments, int columns,
                        const char* variable = nullptr) {
  winsize size{24, static_cast<unsigned short>(columns), 0, 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    if (::chdir(folder.path().c_str()) != 0) ::_exit(99);
    ::unsetenv("COLUMNS");
    if (variable) ::setenv("COLUMNS", variable, 1);
    std::vector<char*> words{const_cast<char*>(EMOMC_PROGRAM)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    ::execv(EMOMC_PROGRAM, words.data());
    ::_exit(99);
  }
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t got = 0; (got = ::read(terminal, bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(got));
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << text;  // 1: do not trust the run
  return text;
}

constexpr std::array kSentences{"warning:", "left out by", "2 chains,", "acceptance per", "converged:"};

// Returns the lines, and the states of a redrawn line one after another, without the sequence that clears the
// rest of the line.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> all(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "\033[K") == 0)
      i += 2;
    else if (text[i] == '\n' || text[i] == '\r')
      all.emplace_back();
    else
      all.back() += text[i];
  }
  return all;
}

// Returns the lines without sentences, which a terminal may break.
std::vector<std::string> tables_in(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& line : pieces(text)) {
    const bool is_sentence =
        std::any_of(kSentences.begin(), kSentences.end(), [&](const char* s) { return line.starts_with(s); });
    if (!is_sentence) lines.push_back(line);
  }
  return lines;
}

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, width_of(line));
  return width;
}

class Terminal : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    std::string rows = "eruptions,waiting\n";
    for (int i = 0; i < 60; ++i)
      rows += std::to_string(2 + i % 7 * 0.1 + 2 * (i % 2)) + "," +
              std::to_string(50 + i % 9 + 30 * (i % 2)) + "\n";
    folder.write("data.csv", rows);
    folder.write("config.yaml",
                 "data: {file: data.csv}\nlikelihood: {components: 2}\n"
                 "sampler: {chains: 2, warmup: 100, draws: 200, proposal: {kind: component_wise}}\n");
  }
  void sample(const std::string& directory) {
    const auto result = folder.run("run config.yaml -q --output " + directory);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
};

TEST_F(Terminal, TablesAreNotWiderThanTheTerminal) {
  sample("a_run_with_a_name_that_is_long");
  sample("b");
  const std::vector<std::string> summary{"summary", "b", "--vars", "weights*", "means*", "log_*"},
      predictive{"summary", "b", "--predictive", "--vars", "weights*"},
      compare{"compare", "a_run_with_a_name_that_is_long", "b"};
  for (const int width : {30, 45, 60, 80, 100, 200}) {
    for (const auto& command : {summary, predictive}) {
      const auto lines = tables_in(on_terminal(folder, command, width));
      EXPECT_LE(widest(lines), static_cast<std::size_t>(width));
      EXPECT_NE(std::find_if(lines.begin(), lines.end(),
                             [](const auto& line) { return line.find("weights[0]") == 0; }),
                lines.end());
    }
    EXPECT_LE(widest(tables_in(on_terminal(folder, compare, width))), static_cast<std::size_t>(width));
  }
  const std::string narrow = on_terminal(folder, summary, 60), wide = on_terminal(folder, summary, 200);
  EXPECT_EQ(narrow.find("50 %  "), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("--json has"), std::string::npos) << narrow;
  EXPECT_NE(wide.find("ess_tail"), std::string::npos) << wide;
  // The width is 80 if the terminal does not report one, the value of $COLUMNS if that is set, and unlimited
  // without a terminal.
  EXPECT_LE(widest(tables_in(on_terminal(folder, summary, 0))), 80u);
  EXPECT_EQ(widest(tables_in(on_terminal(folder, summary, 0, "200"))), widest(tables_in(wide)));
  EXPECT_EQ(on_terminal(folder, summary, 200, "60"), narrow);
  const auto piped = folder.run("summary b --vars 'weights*' 'means*' 'log_*'");
  EXPECT_EQ(widest(tables_in(piped.out)), widest(tables_in(wide)));
  EXPECT_GT(widest(tables_in(piped.out)), 80u);
}

TEST_F(Terminal, ProgressIsNotWiderThanTheTerminal) {
  for (const int width : {24, 40, 80}) {
    const auto lines = pieces(on_terminal(
        folder, {"run", "config.yaml", "--force", "--set", "sampler.draws=20000", "--output", "run"}, width));
    std::vector<std::string> progress, table;
    bool in_table = false;
    for (const auto& line : lines) {
      const bool is_progress = line.find(" %  warm-up") < 40 || line.find(" %  sampling") < 40;
      if (is_progress) progress.push_back(line);
      in_table = (in_table || line.starts_with("name ")) && !line.empty();
      if (in_table && !line.starts_with("components are") && !line.starts_with("warning"))
        table.push_back(line);
    }
    EXPECT_FALSE(progress.empty());
    EXPECT_LT(widest(progress), static_cast<std::size_t>(width));
    EXPECT_FALSE(table.empty());
    EXPECT_LE(widest(table), static_cast<std::size_t>(width));
    // The file contains the whole table.
    EXPECT_GT(widest(pieces(folder.read("run/run.log"))), 80u);
  }
}

TEST_F(Terminal, TimesAndScoresAreNotWiderThanTheTerminal) {
  const std::vector<std::string> bench{"bench",    "--method", "cpu",       "--rows", "100",
                                       "--chains", "1",        "--seconds", "0.001"};
  for (const int width : {50, 80}) {
    const auto lines = pieces(on_terminal(folder, bench, width));
    EXPECT_LE(widest({lines.begin(), lines.begin() + 2}), static_cast<std::size_t>(width));
  }
  const nlohmann::ordered_json one{{"accuracy", 0.8},
                                   {"uar", 0.8},
                                   {"uar_interval", {0.7, 0.9}},
                                   {"macro_f1", 0.79},
                                   {"log_loss", 0.4},
                                   {"brier", 0.3},
                                   {"calibration_error", 0.02},
                                   {"calibration_error_99_percent_range", {0.01, 0.1}},
                                   {"uar_by_speaker", {{"a", 0.7}, {"b", 0.8}, {"c", 0.9}}},
                                   {"mean_uar_of_speakers", 0.8},
                                   {"inner_log_loss", nullptr},
                                   {"confusion", {{3, 1}, {0, 4}}},
                                   {"recall", {0.75, 1.0}}};
  const nlohmann::ordered_json scores{{"posterior", one},
                                      {"classes", {"happy", "hot anger"}},
                                      {"convergence", {{"converged", 1.0}, {"pairs", 8}}}};
  const auto tables = [&](std::size_t width) { return tables_in(app::scores_text(scores, width)); };
  EXPECT_EQ(widest(tables(kUnlimited)), widest(tables(200)));
  for (const std::size_t width : {30, 50, 70}) EXPECT_LE(widest(tables(width)), width);
}

// Returns four chains of 500 draws of each quantity. `draw` receives the number of the quantity and a normal
// number, and returns the draw.
template <class Draw>
std::string draw_table(std::size_t num_quantities, Draw draw) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::string text = "chain,draw";
  for (std::size_t q = 0; q < num_quantities; ++q) text += ",q" + std::to_string(q);
  for (int c = 0; c < 4; ++c)
    for (int i = 0; i < 500; ++i) {
      text += "\n" + std::to_string(c) + "," + std::to_string(i);
      for (std::size_t q = 0; q < num_quantities; ++q) {
        std::array<char, 40> number{};
        std::snprintf(number.data(), number.size(), ",%.17g", draw(q, i, normal(random)));
        text += number.data();
      }
    }
  return text + "\n";
}

TEST_F(Terminal, DigitsFollowTheStandardDeviation) {
  folder.write("draws.csv", draw_table(3, [](std::size_t q, int, double z) {
                 return q == 0 ? -1673912.3 + 1.44 * z : q == 1 ? 12.5 + 1e-7 * z : 3e12 + 2e9 * z;
               }));
  const std::string out = folder.run("summary draws.csv").out;
  const auto cells = [&](const std::string& name) {
    std::istringstream line(out.substr(out.find("\n" + name)));
    std::vector<std::string> words;
    for (std::string word; words.size() < 10 && line >> word;) words.push_back(word);
    return words;
  };
  const auto far = cells("q0 "), close = cells("q1 "), large = cells("q2 ");
  EXPECT_EQ(far[1].substr(0, 8), "-1673912") << out;
  EXPECT_EQ(far[1].size(), std::string("-1673912.30").size()) << out;
  EXPECT_NEAR(std::stod(close[1]), 12.5, 2e-8) << out;
  EXPECT_NE(close[3], close[5]) << out;
  EXPECT_EQ(large[1].substr(0, 4), "3.00") << out;
  EXPECT_NE(large[3], large[5]) << out;
}

TEST(TextTable, ValuesHaveTheDigitsThatTheirSpreadAllows) {
  EXPECT_EQ(value_text(-1673912.3, 1.44), "-1673912.30");
  EXPECT_EQ(value_text(-1673912.3, 9), "-1673912.3");
  EXPECT_EQ(value_text(-73914.23, 759), "-73914");
  EXPECT_EQ(value_text(0.0012345678, 0.0004), "0.00123");
  EXPECT_EQ(value_text(5, 0), "5");
  EXPECT_EQ(value_text(1673912.25, 0), "1673912.25");
  EXPECT_EQ(value_text(1.23456e-20, 1e-21), "1.235e-20");
  EXPECT_EQ(value_text(std::nan(""), 1), "nan");
  EXPECT_EQ(significant_text(12345, 3), "12345");
  EXPECT_EQ(significant_text(0.012345, 2), "0.012");
  EXPECT_EQ(significant_text(0, 2), "0");
}

TEST(TextTable, NaNHasNoSignAndCountsHaveTheirPlural) {
  TextTable table({{"name"}, {"value"}});
  table.add({"a", fmt::format("{:.3f}", std::copysign(std::nan(""), -1.0))});
  EXPECT_EQ(table.text(kUnlimited).find('-'), std::string::npos) << table.text(kUnlimited);
  EXPECT_NE(table.text(kUnlimited).find("nan"), std::string::npos);
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(2, "optimum", "optima"), "2 optima");
}

// The quantity of the verdict has a smaller R-hat than the others, and is a density on a grid.
TEST(TextTable, ATableThatIsCutHasTheQuantitiesOfTheVerdict) {
  RunSummary summary;
  for (int q = 0; q < 30; ++q) {
    SummaryRow row;
    row.name = row.label = "q" + std::to_string(q);
    row.summary.rhat = 1.1 + q;
    summary.rows.push_back(row);
  }
  summary.rows[3].summary.rhat = 1;
  summary.rows[3].named = 1;
  summary.rows[4].name = summary.rows[4].label = "mixture_density[0,2]";
  summary.rows[4].summary.rhat = 1;
  summary.rows[4].named = 0;
  summary.num_failed = 1;
  const std::string text = to_text(summary, 12);
  EXPECT_NE(text.find("\nq3 "), std::string::npos) << text;
  EXPECT_NE(text.find("\nmixture_density[0,2] "), std::string::npos) << text;
  EXPECT_NE(text.find("\nq29 "), std::string::npos) << text;
  EXPECT_EQ(text.find("\nq5 "), std::string::npos) << text;
  EXPECT_NE(text.find("... and 18 more"), std::string::npos) << text;
}

TEST_F(Terminal, TheWorstQuantityIsMarkedForTheTable) {
  double previous = 0;
  folder.write("draws.csv", draw_table(20, [&](std::size_t q, int i, double z) {
                 if (q != 11) return z;
                 previous = i == 0 ? z : 0.95 * previous + z;  // such draws are few effective ones
                 return previous;
               }));
  const auto runs = app::inspect({(folder / "draws.csv").string()}, Numbering::mended);
  const RunSummary summary = summarize_run(runs.at(0), {});
  for (const auto& row : summary.rows)
    EXPECT_EQ(row.named == 0, row.name == "q11") << row.name << " " << row.named;
  EXPECT_GE(summary.num_failed, 1u);
}

}  // namespace
}  // namespace emomc
