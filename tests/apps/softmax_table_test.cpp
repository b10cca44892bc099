// Tests tables of other programs in place of functionals: `features.table`.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "softmax_corpus.hpp"

namespace emomc {
namespace {

using nlohmann::json;

class SoftmaxTable : public testing::Softmax {
 protected:
  void SetUp() override {
    testing::Softmax::SetUp();
    if (IsSkipped()) return;
    const auto result = folder.run("features --corpus folders corpus -o own --functionals prosody -q");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  // Returns the table of functionals in another format, with a row that belongs to no recording.
  std::string rewritten(bool arff) const {
    const auto rows = testing::csv(folder.read("own/functionals.csv"));
    std::string text = arff ? "@relation r\n" : "name;class";
    for (std::size_t j = 0; arff && j < rows[0].size(); ++j)
      text += "@attribute '" + rows[0][j] + "' " + (j < 3 ? "string" : "numeric") + "\n";
    for (std::size_t j = 3; !arff && j < rows[0].size(); ++j) text += ";" + rows[0][j];
    text += arff ? "@data\n" : "\n";
    for (std::size_t i = rows.size() - 1; i > 0; --i) {
      text += arff ? "'" + rows[i][0] + ".wav',?,?" : "/somewhere/" + rows[i][0] + ".flac;?";
      for (std::size_t j = 3; j < rows[i].size(); ++j)
        text += (arff ? "," : ";") + (arff && rows[i][j].empty() ? "?" : rows[i][j]);
      text += "\n";
    }
    return text;
  }
};

TEST_F(SoftmaxTable, GivesTheResultsOfTheSameFunctionals) {
  // A table does not state from how many frames a row was computed.
  const json own = evaluate("--output one --set features.set=prosody --set softmax.temper_frames=0");
  folder.write("table.csv", rewritten(false));
  folder.write("table.arff", rewritten(true));
  for (const std::string table : {"own/functionals.csv", "table.csv", "table.arff"}) {
    const json scores = evaluate("--force --output two --set features.table=" + table);
    EXPECT_EQ(scores["posterior"], own["posterior"]) << table;
    EXPECT_EQ(scores["known_of_speaker"], own["known_of_speaker"]) << table;
    EXPECT_EQ(scores["functionals"], (json{{"table", table}, {"columns", 810}}));
    EXPECT_EQ(folder.read("two/predictions.csv"), folder.read("one/predictions.csv")) << table;
  }
  EXPECT_NE(folder.read("two/config.yaml").find("table: table.arff"), std::string::npos);
  // The written configuration can be used for another evaluation.
  EXPECT_EQ(folder.run("evaluate two/config.yaml -q --output three").exit_code, 0);
  EXPECT_EQ(folder.read("three/predictions.csv"), folder.read("one/predictions.csv"));
}

TEST_F(SoftmaxTable, TrainsAModelThatClassifiesRows) {
  ASSERT_EQ(folder.run("train config.yaml -o model -q --set features.table=own/functionals.csv").exit_code,
            0);
  const auto result = folder.run("classify model -q --table own/functionals.csv --group-by speaker");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream text(result.out);
  int count = 0, right = 0;
  for (std::string line; std::getline(text, line); ++count) {
    const json one = json::parse(line);
    right += one["file"].get<std::string>().starts_with(one["predicted"].get<std::string>());
    EXPECT_EQ(one["standardised_by"], (json{{"kind", "enrolment"}, {"recordings", 8}}));
    EXPECT_FALSE(one.contains("frames"));
  }
  EXPECT_EQ(count, 36);
  EXPECT_GE(right, 33);
  expect_refused("classify model -q corpus/sad/s1/take0.wav", {"own/functionals.csv", "--table"});
  expect_refused("classify model -q --stdin", {"own/functionals.csv", "--table"});
  expect_refused("classify model -q --table own/functionals.csv --speaker-from corpus/sad/s1/take0.wav",
                 {"--speaker-from"});
  expect_refused("classify model -q --table own/functionals.csv --rate 8000", {"--rate", "--stdin"});
  const std::string rows = folder.read("own/functionals.csv");
  const auto second = rows.find('\n') + 1;
  folder.write("twice.csv", rows + rows.substr(second, rows.find('\n', second) + 1 - second));
  expect_refused("classify model -q --table twice.csv", {"twice.csv:38", "has two rows"});
  std::string empty = rows.substr(0, second) + "nobody";
  for (std::size_t j = 1; j < testing::csv(rows)[0].size(); ++j) empty += ",";
  folder.write("empty.csv", rows + empty.substr(second) + "\n");
  const auto unknown = folder.run("classify model -q --table empty.csv --group-by speaker --corpus folders");
  EXPECT_EQ(unknown.exit_code, 2) << unknown.err;
  EXPECT_NE(unknown.out.find("empty.csv:38: its row has no number"), std::string::npos) << unknown.out;
  folder.write("other.csv", "file,x\na,1\n");
  expect_refused("classify model -q --table other.csv", {"other.csv", "810", "'x'"});
}

TEST_F(SoftmaxTable, NamesColumnsWithoutANumber) {
  const auto rows = testing::csv(folder.read("own/functionals.csv"));
  std::string whole, more;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = rows[i][0];
    for (std::size_t j = 3; j < rows[i].size(); ++j) {
      // Some functionals of these short recordings are undefined in every row.
      const bool has_number =
          std::any_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return !row[j].empty(); });
      if (has_number) line += "," + rows[i][j];
    }
    whole += line + "\n";
    more += line + (i == 0 ? ",jitter_x,shimmer_x\n" : ",nan,\n");
  }
  folder.write("whole.csv", whole);
  folder.write("more.csv", more);
  const json one = evaluate("--output one --set features.table=whole.csv"),
             two = evaluate("--output two --set features.table=more.csv");
  EXPECT_EQ(two["functionals"]["columns"], one["functionals"]["columns"].get<int>() + 2);
  const auto check = folder.run("check config.yaml --set features.table=more.csv");
  for (const std::string& text : {folder.read("two/run.log"), check.out}) {
    EXPECT_NE(text.find("warning: features.table: more.csv: 2 columns have no number"), std::string::npos)
        << text;
    EXPECT_NE(text.find("jitter_x, shimmer_x"), std::string::npos) << text;
  }
  EXPECT_EQ(folder.read("one/run.log").find("no number"), std::string::npos);
}

TEST_F(SoftmaxTable, WarnsOfColumnsThatAreLabels) {
  const auto rows = testing::csv(folder.read("own/functionals.csv"));
  const std::map<std::string, int> code{{"sad", 0}, {"glad", 1}, {"cross", 2}};
  std::string table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& field : rows[i]) table += field + ",";
    table += i == 0 ? "target,constant\n" : std::to_string(code.at(rows[i][2])) + ",1\n";
  }
  folder.write("table.csv", table);
  const auto check = folder.run("check config.yaml --set features.table=table.csv");
  EXPECT_NE(check.out.find("table.csv: one number for each class in a column: target;"), std::string::npos)
      << check.out;
  EXPECT_EQ(folder.run("check config.yaml --set features.table=own/functionals.csv")
                .out.find("one number for each"),
            std::string::npos);
}

// Takes of one speaker are given to several speakers.
TEST_F(SoftmaxTable, WarnsOfSpeakersWithOneUtterance) {
  std::string manifest = "path,label,speaker\n";
  for (const auto& row : testing::csv(folder.read("own/functionals.csv")))
    if (row[0] != "utterance")
      manifest += "corpus/" + row[0] + ".wav," + row[2] + "," +
                  (row[0].ends_with("s4/take0") ? row[2] : row[1]) + "\n";
  folder.write("corpus.csv", manifest);
  const std::string on =
      " --set 'corpus={kind: manifest, path: corpus.csv}' --set features.table=own/functionals.csv";
  const std::string warning = "3 of 7 speakers have one utterance each (cross, glad, sad)";
  EXPECT_NE(folder.run("check config.yaml" + on).out.find(warning), std::string::npos);
  evaluate(on);
  EXPECT_NE(folder.read("run/run.log").find(warning), std::string::npos) << folder.read("run/run.log");
  ASSERT_EQ(folder.run("train config.yaml -q -o model" + on).exit_code, 0);
  EXPECT_NE(folder.read("model/run.log").find(warning), std::string::npos);
  EXPECT_EQ(
      folder.run("check config.yaml --set features.table=own/functionals.csv").out.find("one utterance each"),
      std::string::npos);
}

TEST_F(SoftmaxTable, RefusesWhatDoesNotJoin) {
  const std::string text = folder.read("own/functionals.csv");
  const auto refused = [&](const std::string& table, const std::vector<std::string>& words,
                           const std::string& more = "") {
    folder.write("t.csv", table);
    expect_refused("evaluate config.yaml -q --set features.table=t.csv " + more, words);
    EXPECT_FALSE(folder.exists("run"));
  };
  const auto second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  const std::string cut = text.substr(0, second) + text.substr(third);
  refused(cut, {"1 recording has no row", "cross/s1/take0 is not in t.csv", "unparsed: skip"});
  refused(text + text.substr(second, third - second), {"t.csv:38", "a second row of", "line 2"});
  refused("utterance,x\nelsewhere,1\n", {"features.table", "t.csv", "none of its 1 names", "elsewhere"});
  // Take 1 gets the numbers of take 0, too.
  const std::string first_row = text.substr(second, third - second);
  refused(text.substr(0, third) + "cross/s1/take1" + first_row.substr(14) +
              text.substr(text.find('\n', third) + 1),
          {"1 row repeats another", "cross/s1/take1: the same numbers as cross/s1/take0"});
  refused("x\n1\n", {"t.csv:1", "features.table_names"});
  // Each recording has a row, whose only column has no number.
  std::string without = "file,f0_mean\n";
  for (std::size_t at = second; at < text.size(); at = text.find('\n', at) + 1)
    without += text.substr(at, text.find(',', at) - at) + ",nan\n";
  for (const char* more : {"", "--set corpus.unparsed=skip"})
    refused(without, {"features.table: t.csv: a column has no number", "f0_mean", "no other column"}, more);
  refused("file,x\ncross/s1/take0,1e300\n", {"t.csv:2", "1e300", "-1e100 to 1e100"});
  refused(text, {"features.set", "remove"}, "--set features.set=full");
  refused(text, {"features.table", "softmax"}, "--set classifier=mixtures --set softmax=");
  expect_refused("evaluate config.yaml -q --set features.table=nowhere.csv", {"nowhere.csv"});
  expect_refused("evaluate config.yaml -q --set features.table_names=x", {"features.table_names"});
  folder.write("t.csv", cut);
  const json scores = evaluate("--set features.table=t.csv --set corpus.unparsed=skip");
  EXPECT_EQ(scores["utterances"], 35);
  EXPECT_NE(folder.read("run/run.log").find("cross/s1/take0 is not in t.csv"), std::string::npos);
  EXPECT_EQ(folder.run("report run -o page.html").exit_code, 0);
  EXPECT_NE(folder.read("page.html").find("35 utterances of 4 speakers"), std::string::npos);
}

}  // namespace
}  // namespace emomc
