// Tests prior.order by number and by name, without a statement of units.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

class Order : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void SetUp() override {
    std::string rows = "eruptions,waiting\n";
    for (int i = 0; i < 80; ++i)
      rows += std::to_string(2 + i % 7 * 0.1 + 2 * (i % 2)) + "," +
              std::to_string(50 + i % 9 + 30 * (i % 2)) + "\n";
    folder.write("data.csv", rows);
  }
  void write(const std::string& data, const std::string& order) {
    folder.write("config.yaml",
                 "data: {file: data.csv" + data + "}\nlikelihood: {components: 2}\nprior: {order: " + order +
                     "}\nsampler: {chains: 2, warmup: 200, draws: 100}\noutput: {directory: run}\n");
  }
  void expect_ordered() {
    const auto result = folder.run("run config.yaml -q --force");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json rows =
        json::parse(folder.run("summary run --raw --json --vars 'means[0,0]' 'means[1,0]'").out);
    EXPECT_LT(rows["parameters"][0]["q95"].get<double>(), rows["parameters"][1]["q5"].get<double>());
    EXPECT_EQ(json::parse(folder.read("run/manifest.json"))["order"], "means");
  }
};

TEST_F(Order, NeedsNoStatementOfUnits) {
  for (const char* data : {"", ", standardize: true", ", standardize: false"}) {
    write(data, "means.0");
    expect_ordered();
  }
}

TEST_F(Order, NamesTheFirstColumn) {
  write("", "means.eruptions");
  expect_ordered();
  EXPECT_NE(folder.read("run/config.yaml").find("order: means.eruptions\n"), std::string::npos);
  // The written configuration can be read again, and the run continues with it.
  EXPECT_EQ(folder.run("run run/config.yaml --output run --resume -q --set sampler.draws=150").exit_code, 0);
  write("", "means.waiting");
  testing::expect_refused(folder, "run config.yaml --force",
                          {"prior.order", "the first column, which is eruptions",
                           "data.columns: [waiting, eruptions] makes waiting the first"});
  write(", columns: [waiting, eruptions]", "means.waiting");
  expect_ordered();
  write("", "means.erruptions");
  testing::expect_refused(folder, "check config.yaml", {"means.erruptions", "did you mean eruptions?"});
  write("", "means.1");
  testing::expect_refused(folder, "check config.yaml",
                          {"config.yaml:3", "means.1", "means.0", "data.columns"});
}

}  // namespace
}  // namespace emomc
