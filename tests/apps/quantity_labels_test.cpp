// Tests that quantities are shown with the names of the data's columns, and that users can name quantities by
// them.
#include "emomc/posterior/quantity_labels.hpp"

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace emomc {
namespace {

using nlohmann::json;
using testing::ProgramFolder;

class QuantityLabels : public ::testing::Test {
 protected:
  ProgramFolder folder;

  void sample(const std::string& covariance) {
    std::string rows = "eruptions,waiting time\n";
    for (int i = 0; i < 60; ++i)
      rows += std::to_string(2 + i % 7 * 0.1 + 2 * (i % 2)) + "," +
              std::to_string(50 + i % 9 + 30 * (i % 2)) + "\n";
    folder.write("data.csv", rows);
    folder.write("config.yaml",
                 "data: {file: data.csv}\nlikelihood: {components: 2, covariance: " + covariance +
                     "}\nsampler: {chains: 2, warmup: 100, draws: 100}\noutput: {directory: run}\n");
    const auto result = folder.run("run config.yaml -q --force");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  std::string label(const std::string& name) {
    const auto result = folder.run("summary run --json --vars '" + name + "'");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json summary = json::parse(result.out);
    const json& rows = summary[summary["parameters"].empty() ? "label_free" : "parameters"];
    EXPECT_EQ(rows.size(), 1u) << name;
    EXPECT_EQ(rows[0]["name"], name);
    return rows[0]["label"];
  }
};

TEST_F(QuantityLabels, HaveColumnsByName) {
  sample("diagonal");
  EXPECT_EQ(label("means[0,1]"), "means[0, waiting time]");
  EXPECT_EQ(label("scales[1,0]"), "scales[1, eruptions]");
  EXPECT_EQ(label("weights[1]"), "weights[1]");
  EXPECT_EQ(label("log_prior"), "log_prior");
  EXPECT_EQ(label("mixture_mean[1]"), "mixture_mean[waiting time]");
  EXPECT_EQ(label("mixture_density[1,3]"), "mixture_density[waiting time, 3]");
  const std::string text = folder.run("summary run").out;
  EXPECT_NE(text.find("\nmeans[1, waiting time] "), std::string::npos) << text;
  EXPECT_EQ(text.find("means[1,1]"), std::string::npos) << text;
  EXPECT_NE(text.find("numbered by means[k, eruptions];"), std::string::npos) << text;
  // Files for programs contain the indices instead.
  EXPECT_NE(folder.read("run/summary.csv").find("\"means[0,1]\""), std::string::npos);
  ASSERT_EQ(folder.run("export run --format csv -o draws.csv").exit_code, 0);
  EXPECT_NE(folder.read("draws.csv").find("\"means[0,1]\""), std::string::npos);
  ASSERT_EQ(folder.run("export run --format stan-csv -o stan.csv").exit_code, 0);
  EXPECT_NE(folder.read("stan-1.csv").find("means.1.2"), std::string::npos);
}

TEST(NumberingLabel, NamesTheColumn) {
  const std::vector<std::string> names{"weights[0]", "means[0,1]"}, labels{"weights[0]", "means[0, waiting]"};
  EXPECT_EQ(numbering_label("means[k,1]", names, labels), "means[k, waiting]");
  EXPECT_EQ(numbering_label("weights[k]", names, labels), "weights[k]");
  EXPECT_EQ(numbering_label("scales[k,0]", names, labels), "scales[k,0]");
  EXPECT_EQ(numbering_label("", names, labels), "");
}

TEST_F(QuantityLabels, HaveBothColumnsOfACovariance) {
  sample("full");
  EXPECT_EQ(label("covariances[0,1,0]"), "covariances[0, waiting time, eruptions]");
  sample("tied");
  EXPECT_EQ(label("covariance[1,1]"), "covariance[waiting time, waiting time]");
  sample("spherical");
  EXPECT_EQ(label("scales[1]"), "scales[1]");
}

TEST_F(QuantityLabels, VarsTakesNamesAndLabels) {
  sample("diagonal");
  const auto chosen = [&](const std::string& vars) {
    const auto result = folder.run("summary run --json --vars " + vars);
    EXPECT_EQ(result.exit_code, 0) << vars << ": " << result.err;
    std::vector<std::string> names;
    const json summary = json::parse(result.out);
    for (const auto& row : summary["parameters"]) names.push_back(row["name"]);
    return names;
  };
  const std::vector<std::string> one{"means[0,1]"}, two{"means[0,1]", "means[1,1]"};
  EXPECT_EQ(chosen("'means[0,1]'"), one);
  EXPECT_EQ(chosen("'means[0, 1]'"), one);
  EXPECT_EQ(chosen("'means[0, waiting time]'"), one);
  EXPECT_EQ(chosen("'means[0,waiting time]'"), one);
  EXPECT_EQ(chosen("'means[*, waiting time]'"), two);
  EXPECT_EQ(chosen("'means[*,1]'"), two);
  EXPECT_EQ(chosen("'means*waiting*'"), two);
  testing::expect_refused(folder, "summary run --vars 'means[0, nothing]'", {"--vars"});
  if (folder.run("report run -o page.html --vars 'means[0, waiting time]'").exit_code == 0) {
    const std::string page = folder.read("page.html");
    EXPECT_NE(page.find("\"name\":\"means[0, waiting time]\""), std::string::npos);
    EXPECT_NE(page.find("[\"means[1, eruptions]\","), std::string::npos);
  }
}

}  // namespace
}  // namespace emomc
