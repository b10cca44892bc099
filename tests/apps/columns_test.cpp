// Tests columns of the data for likelihoods of the user's own: names, kinds and units (data.rename,
// data.kinds, data.standardize).
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "run_config.hpp"

namespace emomc {
namespace {

using testing::expect_refused;
using testing::ProgramFolder;
using testing::replaced;

/// Returns 40 rows of a mass, an island, a number of equal birds, a note that no expression uses, and a
/// length. No expression can contain the names of these columns.
std::string birds(double shift = 0) {
  std::string text = "\"Body Mass (g)\",The Island,2nd,a note,\"length, mm\"\n";
  for (int i = 0; i < 40; ++i)
    text += std::to_string(3.5 + (i * 13 % 40) / 40.0 + shift) + (i % 2 ? ",Dream" : ",\"Torgersen, old\"") +
            "," + std::to_string(1 + i % 3) + ",\"n " + std::to_string(i) + "\"," +
            std::to_string(180 + i % 7) + "\n";
  return text;
}

const std::string kBirds =
    "data:\n"
    "  file: birds.csv\n"
    "  rename: {mass: \"Body Mass (g)\", island: The Island, count: 2nd, length: \"length, mm\"}\n"
    "  weights: count\n"
    "  categories: {island: auto}\n"
    "likelihood:\n"
    "  parameters: {m: {shape: [2]}}\n"
    "  linear: {eta: {columns: [length], coefficients: b}}\n"
    "  log_density: \"normal_lpdf(mass, m[island] + 0.01 * eta, 1)\"\n"
    "  rows: {expected: \"m[island] + 0.01 * eta\"}\n"
    "  simulate: {mass: \"normal_rng(m[island] + 0.01 * eta, 1e-9)\"}\n"
    "prior: {m: {normal: {mean: 0, sd: 10}}, b: {normal: {mean: 0, sd: 0.1}}}\n"
    "sampler: {warmup: 500, draws: 500, seed: 1}\n";

class Columns : public ::testing::Test {
 protected:
  Columns() {
    folder.write("birds.csv", birds());
    folder.write("c.yaml", kBirds);
  }
  void expect_config_refused(const std::string& config, const std::vector<std::string>& words) {
    folder.write("c.yaml", config);
    for (const char* command : {"check c.yaml", "run c.yaml"}) expect_refused(folder, command, words);
    EXPECT_FALSE(folder.exists("runs")) << config;
  }
  std::string draws(const std::string& run) { return folder.run("export " + run + " --format csv -o -").out; }
  ProgramFolder folder;
};

TEST_F(Columns, RenamedOnesGiveTheDrawsOfAFileWithThoseNames) {
  ASSERT_EQ(folder.run("run c.yaml -q -o renamed").exit_code, 0) << folder.run("check c.yaml").err;
  folder.write("birds.csv", "mass,island,count,a note,length\n" + birds().substr(birds().find('\n') + 1));
  folder.write("d.yaml", replaced(kBirds,
                                  kBirds.substr(kBirds.find("  rename"),
                                                kBirds.find("  weights") - kBirds.find("  rename")),
                                  ""));
  ASSERT_EQ(folder.run("run d.yaml -q -o plain").exit_code, 0);
  EXPECT_EQ(draws("renamed"), draws("plain"));
  EXPECT_NE(draws("plain"), "");
}

TEST_F(Columns, RenamedOnesAreKnownToWhatReadsARun) {
  ASSERT_EQ(folder.run("run c.yaml -q -o run --set sampler.draws=200").exit_code, 0);
  const auto config = app::parse_run_config(folder.read("run/config.yaml"), "c.yaml");
  EXPECT_EQ(config.data.renames, app::parse_run_config(kBirds, "c.yaml").data.renames);
  const auto manifest = nlohmann::json::parse(folder.read("run/manifest.json"));
  EXPECT_EQ(manifest["data"]["rename"]["mass"], "Body Mass (g)");
  EXPECT_EQ(manifest["data"]["skipped_columns"], nlohmann::json({"a note"}));
  // Other data need only the columns that predictions read, under the names of the file.
  folder.write("new.csv", "\"length, mm\",The Island\n180,Dream\n0,Dream\n");
  const auto predicted = nlohmann::json::parse(folder.run("predict run --data new.csv --json").out);
  const auto& mean = predicted["outputs"]["expected"]["mean"];
  EXPECT_NEAR(mean[0].get<double>(), 4, 0.5);
  EXPECT_GT(std::abs(mean[0].get<double>() - mean[1].get<double>()), 1e-3);
  folder.write("new.csv", "length,The Island\n180,Dream\n");
  expect_refused(folder, "predict run --data new.csv", {"new.csv:1: there is no column 'length, mm'"});
  EXPECT_EQ(folder.run("predict run").exit_code, 0);
  EXPECT_EQ(folder.run("summary run --predictive").exit_code, 0);
  EXPECT_EQ(folder.run("compare run").exit_code, 0);
  EXPECT_NE(folder.run("compare run --by island").out.find("left out by island: 2"), std::string::npos);
  EXPECT_EQ(folder.run("run c.yaml -q -o run --resume").exit_code, 0);
  folder.write("c.yaml", replaced(kBirds, "count: 2nd", "count: 2nd, unused: a note"));
  expect_refused(folder, "run c.yaml -o run --resume",
                 {"the configuration has changed since: data.rename was"});
}

TEST_F(Columns, RenamedOnesAreWrittenUnderTheNamesOfTheFile) {
  folder.write("truth.json", "{\"m\": [2, 3], \"b\": [0]}");
  const auto loglik = folder.run("loglik --config c.yaml --parameters truth.json");
  ASSERT_EQ(loglik.exit_code, 0) << loglik.err;
  const auto simulated = folder.run("simulate c.yaml -o made --parameters truth.json");
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  const std::string table = folder.read("made/birds.csv");
  const std::string first = "\"Body Mass (g)\",The Island,2nd,a note,\"length, mm\"\n";
  EXPECT_EQ(table.substr(0, table.find('\n') + 1), replaced(first, "\"Body Mass (g)\"", "Body Mass (g)"));
  const std::string row =
      table.substr(table.find('\n') + 1, table.find('\n', table.find('\n') + 1) - table.find('\n'));
  EXPECT_NE(row.find(",\"Torgersen, old\",1,n 0,180\n"), std::string::npos) << row;
  EXPECT_NEAR(std::stod(row), 3, 1e-6) << "the second level, as they are sorted";
  // The same configuration can read the written files, which have the density of these values.
  const auto again = folder.run("loglik --config c.yaml --data made/birds.csv --parameters truth.json");
  EXPECT_NEAR(std::stod(again.out.substr(15)), -0.9189385332046727 * 79, 1e-6) << again.err << again.out;
}

TEST_F(Columns, NamesThatAreNotThereOrNotFreeAreRefused) {
  expect_config_refused(
      replaced(kBirds, "Body Mass (g)", "Body Mas (g)"),
      {"c.yaml:3: data.rename.mass: birds.csv has no column 'Body Mas (g)'; did you mean Body "
       "Mass (g)? there are: Body Mass (g), The Island"});
  expect_config_refused(replaced(kBirds, "mass: \"Body", "2mass: \"Body"),
                        {"c.yaml:3: data.rename.2mass: 2mass is no name; allowed: a letter"});
  expect_config_refused(replaced(kBirds, "count: 2nd", "count: The Island"),
                        {"c.yaml:3: data.rename.count: column The Island is renamed to island already"});
  expect_config_refused(replaced(kBirds, "count: 2nd", "mass: 2nd"),
                        {"c.yaml:3: mass: this key is there twice"});
  expect_config_refused(
      replaced(replaced(kBirds, "{m: {shape", "{mass: {shape"), "prior: {m", "prior: {mass"),
      {"mass is a column of the data already; choose another name"});
  expect_config_refused(replaced(kBirds, "weights: count", "weights: 2nd"),
                        {"data.weights: the data have no column 2nd"});
  expect_config_refused(
      "data: {file: birds.csv, rename: [mass]}\n" + kBirds.substr(kBirds.find("likelihood")),
      {"c.yaml:1: data.rename: expected a map of names"});
  expect_config_refused(replaced(kBirds, "{mass: \"Body Mass (g)\", ", "{mass: {a: b}, "),
                        {"data.rename.mass: expected the name of a column in the file"});
  folder.write("birds.csv", replaced(birds(), "a note", "mass"));
  expect_config_refused(kBirds, {"c.yaml:3: data.rename.mass: birds.csv has a column mass already"});
}

TEST_F(Columns, TextsThatNothingUsesAreCopied) {
  folder.write("names.csv", "name,y\nan owl,0\n\"a, \"\"b\"\"\",0\n");
  folder.write("c.yaml",
               "data: {file: names.csv}\nlikelihood: {parameters: {m: {}}, log_density: \"normal_lpdf(y, m, "
               "1)\", simulate: {y: \"bernoulli_rng(1)\"}}\nprior: {m: {normal: {mean: 0, sd: 1}}}\n");
  folder.write("m.json", "{\"m\": 2}");
  const auto made = folder.run("simulate c.yaml -q -o made --parameters m.json");
  EXPECT_EQ(folder.read("made/names.csv"), "name,y\nan owl,1\n\"a, \"\"b\"\"\",1\n") << made.err;
}

TEST_F(Columns, TwoMayChangeTheirNames) {
  folder.write("swap.csv", "x,y\n0,5\n1,5\n2,5\n");
  folder.write("c.yaml",
               "data: {file: swap.csv, rename: {x: y, y: x}}\nlikelihood: {parameters: {m: {}}, log_density: "
               "\"m * x\"}\nprior: {m: {normal: {mean: 0, sd: 1}}}\n");
  folder.write("m.json", "{\"m\": 1}");
  EXPECT_EQ(folder.run("loglik --config c.yaml --parameters m.json").out, "log_likelihood 15\n");
}

TEST_F(Columns, WithoutAHeaderAreRenamedByTheirNumbers) {
  folder.write("numbers.csv", "1,4\n2,5\n3,7\n");
  folder.write("c.yaml",
               "data: {file: numbers.csv, header: false, rename: {t: c0}}\nlikelihood: {parameters: {m: {}}, "
               "log_density: \"m * t\", simulate: {t: \"normal_rng(m, 1e-9)\"}}\n"
               "prior: {m: {normal: {mean: 0, sd: 1}}}\n");
  folder.write("m.json", "{\"m\": 2}");
  EXPECT_EQ(folder.run("loglik --config c.yaml --parameters m.json").out, "log_likelihood 12\n");
  // The same configuration can read the simulated table.
  EXPECT_EQ(folder.run("simulate c.yaml -q -o made --parameters m.json").exit_code, 0);
  const auto made = folder.run("loglik --config c.yaml --data made/numbers.csv --parameters m.json");
  EXPECT_NEAR(std::stod(made.out.substr(15)), 12, 1e-6) << made.err << folder.read("made/numbers.csv");
}

TEST_F(Columns, TheErrorForAnUnknownNameSuggestsARename) {
  const std::string plain =
      "data: {file: birds.csv}\nlikelihood: {parameters: {m: {}}, log_density: \"NAME * m\"}\n"
      "prior: {m: {normal: {mean: 0, sd: 1}}}\n";
  const auto suggests = [&](const std::string& name, const std::string& column) {
    expect_config_refused(
        replaced(plain, "NAME", name),
        {"there is no column, parameter or constant " + name + "; the name of the column \"" + column +
         "\" cannot be used in expressions, data.rename: {" + name + ": \"" + column + "\"} changes it"});
  };
  suggests("body_mass", "Body Mass (g)");
  suggests("island", "The Island");
  suggests("a_nte", "a note");
  expect_config_refused(replaced(plain, "NAME", "zzz"), {"constant zzz; allowed here: m"});
}

/// Each row has an integer below or above 0, a number of events, and a real number.
const std::string kCounts = "id,n,x\n-2,0,0.5\n5,3,1\n7,1,2\n";

const std::string kKinds =
    "data: {file: counts.csv, kinds: {id: integer, x: real}}\n"
    "likelihood:\n"
    "  parameters: {a: {}}\n"
    "  log_density: \"poisson_log_lpmf(n, a + 0.1 * x + 0.01 * id)\"\n"
    "  rows: {rate: \"exp(a + 0.01 * id)\"}\n"
    "prior: {a: {normal: {mean: 0, sd: 1}}}\n"
    "sampler: {warmup: 200, draws: 200, seed: 1}\n";

TEST_F(Columns, OfIntegersHaveNothingElse) {
  folder.write("counts.csv", kCounts);
  folder.write("c.yaml", kKinds);
  EXPECT_NE(folder.run("check c.yaml").out.find("id: integer"), std::string::npos);
  ASSERT_EQ(folder.run("run c.yaml -q -o run").exit_code, 0);
  EXPECT_EQ(folder.run("run c.yaml -q -o run --resume").exit_code, 0);
  EXPECT_EQ(folder.run("compare run").exit_code, 0);
  folder.write("new.csv", "id\n1\n2.5\n");
  expect_refused(folder, "predict run --data new.csv",
                 {"new.csv:3: column id: 2.5 is no integer, as data.kinds says it is"});
  expect_refused(folder, "run c.yaml -o run --resume --set data.kinds.x=integer",
                 {"counts.csv:2: column x: 0.5 is no integer"});
  folder.write("counts.csv", replaced(kCounts, "7,1,2", "9007199254740994,1,2"));
  expect_config_refused(kKinds, {"counts.csv:4: column id: 9007199254740994 is no integer"});
  folder.write("counts.csv", replaced(replaced(kCounts, "id,n,x", "\"the id\",n,x"), "5,3,1", "5.5,3,1"));
  expect_config_refused(replaced(kKinds, "{file", "{rename: {id: the id}, file"),
                        {"counts.csv:3: column the id: 5.5 is no integer"});
}

TEST_F(Columns, OfRealNumbersAreNoCounts) {
  folder.write("counts.csv", kCounts);
  expect_config_refused(replaced(kKinds, "x: real", "n: real"),
                        {"poisson_log_lpmf needs a count for n, and column n is real, as data.kinds says; "
                         "allowed: a column of"});
  expect_config_refused(
      replaced(replaced(kKinds, "x: real", "n: real"), "poisson_log_lpmf(n,", "[a, 1][n] + ("),
      {"counts from 0, and column n is real, as data.kinds says"});
}

TEST_F(Columns, KindsThatAreNoneAreRefused) {
  folder.write("counts.csv", kCounts);
  expect_config_refused(
      replaced(kKinds, "x: real", "x: categorical"),
      {"c.yaml:1: data.kinds.x: categorical: write data.categories: {x: auto} for this; allowed here: "
       "integer, real"});
  expect_config_refused(replaced(kKinds, "x: real", "x: int"),
                        {"c.yaml:1: data.kinds.x: int is unknown; allowed: integer, real"});
  expect_config_refused(replaced(kKinds, "x: real", "z: real"),
                        {"c.yaml:1: data.kinds.z: no expression uses this column;", "allowed: id, n, x"});
  expect_config_refused(replaced(kKinds, "x: real", "x: real}, categories: {x: auto"),
                        {"data.kinds.x: this column is a category in data.categories"});
  expect_config_refused("data: {file: counts.csv, kinds: {x: real}}\n",
                        {"data.kinds: model gaussian_mixture does not use this key"});
}

/// Returns rows of an age from 40 to 58 and a response of about 2 + 0.5 age.
std::string ages(double shift = 0) {
  std::string text = "age,y,w,g\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(40 + shift + (i * 7 % 19)) + "," +
            std::to_string(2 + 0.5 * (40 + i * 7 % 19) + 0.01 * (i % 3)) + "," + std::to_string(1 + i % 2) +
            "," + std::to_string(i % 2) + "\n";
  return text;
}

const std::string kAges =
    "data: {file: ages.csv, standardize: [age], weights: w}\n"
    "likelihood:\n"
    "  parameters: {s: {support: positive}, c: {shape: [2]}}\n"
    "  linear: {eta: {intercept: a, columns: [age], coefficients: b}}\n"
    "  log_density: \"normal_lpdf(y, eta + c[g], s)\"\n"
    "  rows: {expected: eta, seen: age}\n"
    "  simulate: {y: \"normal_rng(eta, 1e-9)\"}\n"
    "prior: {s: {half_normal: 1}, c: {fixed: [0, 0]}, a: {normal: {mean: 25, sd: 10}}, b: {normal: {mean: 0, "
    "sd: "
    "10}}}\n"
    "sampler: {warmup: 500, draws: 500, seed: 1}\n";

TEST_F(Columns, StandardizedOnesHaveTheMeanAndSdOfTheRun) {
  folder.write("ages.csv", ages());
  folder.write("c.yaml", kAges);
  ASSERT_EQ(folder.run("run c.yaml -q -o run").exit_code, 0) << folder.run("check c.yaml").err;
  // The ages are 40 plus 0 to 18, with one more 0. The following are their mean and population sd.
  const double mean = 40 + 171.0 / 20, sd = std::sqrt(2109.0 / 20 - 8.55 * 8.55);
  const auto manifest = nlohmann::json::parse(folder.read("run/manifest.json"))["data"];
  for (std::size_t j = 0; j < manifest["columns"].size(); ++j) {
    const bool is_age = manifest["columns"][j] == "age";
    EXPECT_NEAR(manifest["mean"][j].get<double>(), is_age ? mean : 0, 1e-12);
    EXPECT_NEAR(manifest["sd"][j].get<double>(), is_age ? sd : 1, 1e-12);
  }
  const auto json = nlohmann::json::parse(folder.run("summary run --json").out);
  std::map<std::string, double> means_of{
      {"a", 2.01 + 0.5 * mean}, {"b[0]", 0.5 * sd}, {"a.data_units", 2.01}, {"b.data_units[0]", 0.5}};
  for (const auto& quantity : json["parameters"]) {
    const std::string name = quantity["name"];
    if (!means_of.contains(name)) continue;
    EXPECT_NEAR(quantity["mean"].get<double>(), means_of.extract(name).mapped(), 0.05) << name;
  }
  EXPECT_TRUE(means_of.empty()) << means_of.begin()->first;
  // Other rows are standardised by the run's mean and sd, not by their own.
  folder.write("new.csv", "age\n30\n40\n");
  const auto predicted =
      nlohmann::json::parse(folder.run("predict run --data new.csv --json").out)["outputs"];
  EXPECT_NEAR(predicted["seen"]["mean"][0].get<double>(), (30 - mean) / sd, 1e-12);
  EXPECT_NEAR(predicted["expected"]["mean"][0].get<double>(), 17.01, 0.05);
  EXPECT_NEAR(predicted["expected"]["mean"][1].get<double>(), 22.01, 0.05);
  // The following commands read the run's own data.
  EXPECT_EQ(folder.run("compare run").exit_code, 0);
  EXPECT_EQ(folder.run("run c.yaml -q -o run --resume").exit_code, 0);
  const auto checks = nlohmann::json::parse(folder.run("summary run --predictive --json").out);
  EXPECT_NEAR(checks["predictive"][0]["observed"].get<double>(),
              checks["predictive"][0]["mean"].get<double>(), 0.1)
      << checks["predictive"];
  expect_refused(folder, "run c.yaml -o run --resume --set data.standardize=false",
                 {"the configuration has changed since: data.standardize was [age], is false"});
}

TEST_F(Columns, StandardizedOnesAreASimulationsToo) {
  folder.write("ages.csv", ages());
  folder.write("c.yaml", kAges);
  folder.write("truth.json", "{\"s\": 1, \"c\": [0, 0], \"a\": 5, \"b\": [0]}");
  ASSERT_EQ(folder.run("simulate c.yaml -q -o made --parameters truth.json").exit_code, 0);
  EXPECT_EQ(folder.read("made/ages.csv").substr(0, 13), "age,y,w,g\n40,") << "age is written as it was";
  folder.write("truth.json", "{\"s\": 1, \"c\": [0, 0], \"a\": 0, \"b\": [1]}");
  ASSERT_EQ(folder.run("simulate c.yaml -q -o made --force --parameters truth.json").exit_code, 0);
  const std::string made = folder.read("made/ages.csv");
  const double y = std::stod(made.substr(made.find(',', 10) + 1));
  EXPECT_NEAR(y, -8.55 / std::sqrt(2109.0 / 20 - 8.55 * 8.55), 1e-6);
}

TEST_F(Columns, ThatCannotBeStandardizedAreRefused) {
  folder.write("ages.csv", ages());
  const auto listed = [](const std::string& columns) {
    return replaced(kAges, "[age], weights", columns + ", weights");
  };
  expect_config_refused(listed("[age, w]"),
                        {"c.yaml:1: data.standardize: w is the column of weights (data.weights)"});
  expect_config_refused(listed("[g]"), {"an index of c [2] counts from 0, and column g is standardised"});
  expect_config_refused(listed("[y]"), {"data.standardize: y is drawn by likelihood.simulate"});
  expect_config_refused(replaced(listed("[y]"), "{y: \"normal_rng(eta", "{z: \"normal_rng(eta"),
                        {"c.yaml:5: likelihood.log_density, column 13: column y is standardised, as "
                         "data.standardize says, and its density would be of other units"});
  expect_config_refused(replaced(listed("[age]"), "weights: w", "weights: w, kinds: {age: integer}"),
                        {"data.standardize: age is an integer (data.kinds)"});
  expect_config_refused(replaced(listed("[g]"), "weights: w", "weights: w, categories: {g: auto}"),
                        {"data.standardize: g is a category"});
  expect_config_refused(listed("[agee]"), {"no expression uses the column agee; did you mean age?"});
  expect_config_refused(listed("[age, age]"), {"age is listed twice"});
  expect_config_refused(listed("[]"), {"data.standardize: expected false, or a list of columns"});
  expect_config_refused(listed("true"), {"data.standardize: true is not for a likelihood of your own"});
  expect_config_refused("data: {file: ages.csv, standardize: [age]}\n",
                        {"data.standardize: a list of columns is only for a likelihood of your own"});
  std::string constant = "age,y,w,g\n";
  for (int i = 0; i < 5; ++i) constant += "40,1,1,0\n";
  folder.write("ages.csv", constant);
  expect_config_refused(kAges, {"data.standardize: column age is constant"});
}

}  // namespace
}  // namespace emomc
