// Tests runs in directories: they have the same draws as runs in memory, whatever interrupts them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/program.hpp"
#include "emomc/posterior/expression_json.hpp"
#include "emomc/posterior/run_identity.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::expect_equal;
using testing::kFaithful;
using testing::line;
using testing::refusal;

Posterior mixture() {
  return Posterior(GaussianMixture{.components = 2, .covariance = Covariance::full}, read_table(kFaithful));
}

TEST(DirectoryRun, DrawsAreThoseInMemoryAndProgramsReadThem) {
  const Posterior posterior = mixture();
  SampleOptions options{.chains = 2, .draws = 300, .warmup = 300, .seed = 5, .backend = Backend::cpu};
  const Draws memory = sample(posterior, options);
  const testing::ProgramFolder folder;
  options.directory = folder / "run";
  const Draws draws = sample(posterior, options);
  expect_equal(draws.chains, memory.chains);
  EXPECT_EQ(draws.run.draws.values, memory.run.draws.values);
  EXPECT_EQ(draws.run.quantity_labels, memory.run.quantity_labels);
  EXPECT_TRUE(draws.finished);
  EXPECT_EQ(draws.directory, folder / "run");
  EXPECT_EQ(draws.starts.num_followed, memory.starts.num_followed);
  ASSERT_EQ(diagnose(draws).size(), diagnose(memory).size());
  for (std::size_t i = 0; i < diagnose(draws).size(); ++i)
    EXPECT_EQ(diagnose(draws)[i].text, diagnose(memory)[i].text);

  const Draws read = read_run(folder / "run");
  expect_equal(read.chains, memory.chains);
  EXPECT_EQ(read.run.draws.values, memory.run.draws.values);
  EXPECT_EQ(read.run.draws.names, memory.run.draws.names);
  EXPECT_TRUE(read.finished);
  EXPECT_EQ(read.backend, "cpu");
  EXPECT_EQ(read.run.facts.columns, (std::vector<std::string>{"duration", "waiting"}));

  const auto printed = folder.run("summary run --json");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const auto rows = nlohmann::json::parse(printed.out)["parameters"];
  const RunSummary ours = summary(memory);
  ASSERT_GE(rows.size(), 15u);
  for (const auto& row : rows) {
    const std::string name = row["name"];
    const auto own =
        std::find_if(ours.rows.begin(), ours.rows.end(), [&](const SummaryRow& r) { return r.name == name; });
    ASSERT_NE(own, ours.rows.end()) << name;
    EXPECT_EQ(row["mean"].get<double>(), own->summary.mean) << name;
  }
  EXPECT_EQ(folder.read("run/summary.csv"), to_csv(summary(draws)));
}

TEST(DirectoryRun, DerivedQuantitiesComeFromTheManifest) {
  ExpressionModel model = line();
  model.likelihood.constants = {{"scale", "constants.scale", {}, {10}}};
  model.likelihood.where = {{"centre", {"where.centre", "a + b * duration"}}};
  model.likelihood.log_density.text = "normal_lpdf(waiting, centre, s * scale)";
  const Posterior posterior(model, read_table(kFaithful));
  const testing::ProgramFolder folder;
  const Draws draws = sample(
      posterior,
      {.chains = 2, .draws = 100, .warmup = 200, .directory = folder / "run", .backend = Backend::reference});
  EXPECT_EQ(draws.names().back(), "ratio");
  const Draws read = read_run(folder / "run");
  EXPECT_EQ(read.names(), draws.names());
  EXPECT_EQ(read.run.draws.values, draws.run.draws.values);
  const auto ratio = read.of("ratio"), a = read.of("a"), b = read.of("b");
  for (std::size_t i = 0; i < ratio.size(); ++i) EXPECT_DOUBLE_EQ(ratio[i], a[i] / b[i]);
  EXPECT_NE(folder.run("summary run").out.find("ratio"), std::string::npos);
  EXPECT_EQ(folder.run("report run -o run.html").exit_code, 0);
  // The program can find the data of a file, but not data in memory.
  EXPECT_LE(folder.run("compare run --draws 100").exit_code, 1);  // 1: 100 draws may be too few
  Table table = read_table(kFaithful);
  const Posterior in_memory(model, make_table(table.columns, table.values));
  sample(in_memory, {.chains = 2,
                     .draws = 100,
                     .warmup = 200,
                     .directory = folder / "kept",
                     .backend = Backend::reference});
  const auto refused = folder.run("compare kept");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("the data of this run were in the memory of a program"), std::string::npos)
      << refused.err;

  // Draws from the program's directories have the derived quantities, too, even without config.yaml.
  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood:\n  parameters: {a: {}, b: {}, s: {support: positive}}\n"
                               "  log_density: \"normal_lpdf(waiting, a + b * duration, s)\"\n"
                               "  derived: {twice: \"2 * a\"}\n"
                               "prior: {a: {normal: {mean: 0, sd: 50}}, b: {normal: {mean: 0, sd: 50}}, s: "
                               "{half_normal: 20}}\n"
                               "sampler: {chains: 2, warmup: 100, draws: 50}\nbackend: reference\n");
  ASSERT_EQ(folder.run("run run.yaml -q --output program").exit_code, 0);
  std::filesystem::remove(folder / "program/config.yaml");
  const Draws others = read_run(folder / "program");
  for (std::size_t i = 0; i < others.of("a").size(); ++i)
    EXPECT_DOUBLE_EQ(others.of("twice")[i], 2 * others.of("a")[i]);
}

TEST(DirectoryRun, AnInterruptedRunGoesOnAsIfNothingHadHappened) {
  const Posterior posterior = mixture();
  SampleOptions options{.chains = 2, .draws = 400, .warmup = 200, .seed = 7, .backend = Backend::cpu};
  const Draws whole = sample(posterior, options);
  const testing::ProgramFolder folder;
  options.directory = folder / "run";
  options.existing = ExistingRun::resume;
  options.checkpoint.steps = 25;
  int parts = 0;
  Draws draws;
  do {
    const std::int64_t until = 90 * (++parts);  // the first two parts are in warm-up
    options.on_progress = [&](const Progress& at) { return at.step < until; };
    draws = sample(posterior, options);
    if (!draws.finished && until < 200) {
      EXPECT_EQ(draws.num_draws(), 0u);
    }
    ASSERT_LT(parts, 40);
  } while (!draws.finished);
  EXPECT_GT(parts, 2);
  expect_equal(draws.chains, whole.chains);
  EXPECT_EQ(draws.run.draws.values, whole.run.draws.values);
  // The starts in the record are those that the first part has found.
  ASSERT_TRUE(draws.run.facts.starts && whole.run.facts.starts);
  EXPECT_EQ(draws.run.facts.starts->points, whole.run.facts.starts->points);
  EXPECT_EQ(draws.run.facts.starts->followed, whole.run.facts.starts->followed);
  EXPECT_EQ(draws.starts.optima.size(), whole.starts.optima.size());

  options.on_progress = {};
  options.draws = 500;
  options.existing = ExistingRun::resume;
  const Draws longer = sample(posterior, options);
  options.directory.clear();
  options.existing = ExistingRun::refuse;
  expect_equal(longer.chains, sample(posterior, options).chains);
}

TEST(DirectoryRun, ARunThatChoosesItsLengthDoesSoInADirectoryToo) {
  const Posterior posterior(line(), read_table(kFaithful));
  const testing::ProgramFolder folder;
  SampleOptions options{.seed = 3, .backend = Backend::reference};
  const Draws memory = sample(posterior, options);
  options.directory = folder / "run";
  options.existing = ExistingRun::resume;  // there is no run yet
  const Draws draws = sample(posterior, options);
  expect_equal(draws.chains, memory.chains);
  EXPECT_EQ(draws.ended_by, "converged");
  EXPECT_EQ(draws.ended_by, memory.ended_by);
}

TEST(DirectoryRun, AnotherRunIsRefusedAndNothingIsWritten) {
  const Posterior posterior = mixture();
  const testing::ProgramFolder folder;
  SampleOptions options{
      .chains = 2, .draws = 20, .warmup = 50, .directory = folder / "run", .backend = Backend::cpu};
  const Draws first = sample(posterior, options);
  const std::string manifest = folder.read("run/manifest.json");
  const auto message = [&](const Posterior& of) { return refusal([&] { sample(of, options); }); };
  EXPECT_EQ(message(posterior), "directory: " + (folder / "run").string() +
                                    " is not empty; allowed: another one, or to resume or overwrite the run "
                                    "that it has");
  options.existing = ExistingRun::resume;
  options.seed = 9;
  EXPECT_NE(message(posterior).find("resume: the configuration has changed since: sampler.seed was "),
            std::string::npos)
      << message(posterior);
  options.seed = SampleOptions{}.seed;
  options.draws = 10;
  EXPECT_NE(message(posterior).find("10 is less than the 20 draws that are there"), std::string::npos);
  options.draws = 20;
  Table other = read_table(kFaithful);
  other.values[0] += 1;
  EXPECT_NE(message(Posterior(posterior.config(), other)).find("the data have changed since"),
            std::string::npos);
  GaussianMixture priors_differ{.components = 2, .covariance = Covariance::full};
  priors_differ.priors = {{"means", priors::normal(0, 3)}};
  EXPECT_NE(message(Posterior(priors_differ, read_table(kFaithful))).find("prior.of.means was "),
            std::string::npos);
  EXPECT_EQ(folder.read("run/manifest.json"), manifest);

  options.existing = ExistingRun::overwrite;
  options.seed = 9;
  EXPECT_NE(sample(posterior, options).chains[0].parameters, first.chains[0].parameters);

  folder.write("run.yaml", "data: {file: " + kFaithful +
                               "}\nlikelihood: {components: 2, covariance: full}\n"
                               "sampler: {chains: 2, warmup: 50, draws: 20, seed: 9}\nbackend: cpu\n");
  const auto program = folder.run("run run.yaml -q --output run --resume");
  EXPECT_EQ(program.exit_code, 2);
  EXPECT_NE(program.err.find("the run was begun by a program that uses emomc's libraries"), std::string::npos)
      << program.err;
  ASSERT_EQ(folder.run("run run.yaml -q --output program").exit_code, 0);
  options.existing = ExistingRun::resume;
  options.directory = folder / "program";
  EXPECT_NE(message(posterior).find("the run was begun by emomc run"), std::string::npos);
  EXPECT_NE(refusal([&] { read_run(folder / "nothing"); }), "");
}

// The identity of a run contains each setting on which draws depend.
TEST(DirectoryRun, EverySettingIsPartOfTheIdentity) {
  RunConfig config;
  config.likelihood.components = 2;
  set_likelihood_defaults(config);
  const std::string was = identity_of_settings(config).depends_on;
  const auto changes = [&](const auto& change) {
    RunConfig other = config;
    change(other);
    return identity_of_settings(other).depends_on != was;
  };
  EXPECT_TRUE(changes([](RunConfig& c) { c.data.standardize = false; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.data.columns = {"x"}; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.likelihood.components = 3; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.likelihood.covariance = "tied"; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.likelihood.model = "other"; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.likelihood.precision = Precision::float64; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.likelihood.expression = line().likelihood; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.prior.blocks.begin()->second.arguments[0].values[0] += 1; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.prior.scale_floor = 0.5; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.prior.order = "means"; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.prior.list_orders["s"] = ListOrder::increasing; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.chains = 5; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.chooses_warmup = false; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.thin = 2; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.seed = 2; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.init = "em"; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.init_tries = 2; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.superchains = 2; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.max_nan_share = 1; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.proposal.kind = "nuts"; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.proposal.shape = "dense"; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.sampler.proposal.target_acceptance = 0.5; }));
  EXPECT_TRUE(changes([](RunConfig& c) { c.output.keep_warmup = true; }));
  // The following settings change no draw.
  EXPECT_FALSE(changes([](RunConfig& c) { c.sampler.draws = 3; }));
  EXPECT_FALSE(changes([](RunConfig& c) { c.threads = 3; }));
  EXPECT_FALSE(changes([](RunConfig& c) { c.output.directory = "elsewhere"; }));
}

TEST(ExpressionJson, ReadsWhatItWrites) {
  ExpressionSpec spec;
  spec.parameters = {parameter("a"), parameter("b", Support::positive, 3, ListOrder::increasing),
                     parameter("w", Support::simplex, 2), parameter("f", Support::unit_interval)};
  spec.linear = {{"eta", "linear.eta", "i", {"x", "z"}, "c", {"offset", "log(y)"}}};
  spec.constants = {{"one", "k", {}, {1.5}}, {"three", "k", {3}, {0.1, 2, 1e300}}};
  spec.prepare = {{"p", {"p", "a + 1"}}};
  spec.where = {{"q", {"q", "p * \"x\""}}, {"r", {"r", "q\n+ 1"}}};
  spec.log_density = {"d", "normal_lpdf(y, r, b[0])"};
  spec.derived = {{"d", {"d", "2 * a"}}};
  spec.rows = {{"e", {"e", "a * x"}}};
  spec.simulate = {{"y", {"y", "normal_rng(a, 1)"}}};
  spec.weights = "v";
  spec.integers = {"n"};
  spec.reals = {"x"};
  spec.standardized = {"z"};
  const nlohmann::json json = nlohmann::json::parse(to_json(spec).dump());
  EXPECT_EQ(expression_spec_of({json, "manifest.json", "likelihood"}), spec);
  ExpressionSpec code;
  code.code.file = "likelihood_source.hpp";
  code.code.type = "mine::Density";
  code.code.columns = {"x", "y"};
  const nlohmann::json of_code = nlohmann::json::parse(to_json(code).dump());
  EXPECT_EQ(expression_spec_of({of_code, "m", "l"}), code);

  nlohmann::json damaged = json;
  damaged["parameters"][0]["support"] = "round";
  EXPECT_EQ(refusal([&] {
              expression_spec_of({damaged, "manifest.json", "likelihood"});
            }),
            "manifest.json: likelihood.parameters[0].support: expected one of real, positive, unit_interval, "
            "simplex, matrix, circular, not string");
  damaged = json;
  damaged["constants"][1]["shape"] = {-1};
  EXPECT_NE(refusal([&] { expression_spec_of({damaged, "m", "l"}); }), "");
  damaged = json;
  damaged["constants"][1]["shape"] = {4};
  EXPECT_NE(refusal([&] { expression_spec_of({damaged, "m", "l"}); }), "");
}

}  // namespace
}  // namespace emomc
