// Tests the table of a summary.
#include "emomc/posterior/run_summary.hpp"

#include "inspection.hpp"
#include "program.hpp"

namespace emomc {
namespace {

// R-hat is NaN for `broken`, some of whose draws are not finite, and for `constant`, where NaN is no fault.
TEST(RunSummary, ACutTableBeginsWithTheWorstQuantities) {
  const testing::ProgramFolder folder;
  std::string text = "lp__,a,b,c,constant,broken\n";
  for (int i = 0; i < 200; ++i) {
    for (int column = 0; column < 4; ++column) text += std::to_string((i * (7 + 2 * column)) % 11) + ",";
    text += i % 50 == 0 ? "1,nan\n" : "1,2\n";
  }
  folder.write("draws.csv", text);
  const auto runs = app::inspect({(folder / "draws.csv").string()}, Numbering::raw);
  const std::string table = to_text(summarize_run(runs.at(0), {}), 2);
  EXPECT_NE(table.find("broken"), std::string::npos) << table;
  EXPECT_EQ(table.find("constant"), std::string::npos) << table;
}

}  // namespace
}  // namespace emomc
