#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "config_text.hpp"
#include "emomc/core/nearest_name.hpp"

namespace emomc::app {
namespace {

RunConfig round_trip(const RunConfig& config, YamlComments comments = YamlComments::none) {
  return parse_run_config(to_yaml(config, comments), "elsewhere/other.yaml");
}

std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const std::filesystem::path source_directory = EMOMC_SOURCE_DIR;

TEST(RunConfigDefaults, AreThoseOfTheDesign) {
  const RunConfig config = parsed("data: {file: a.csv}\n");
  EXPECT_EQ(config.data, (DataConfig{{"a.csv"}, {}, true}));
  EXPECT_EQ(config.likelihood, LikelihoodConfig{});
  EXPECT_EQ(config.sampler, SamplerConfig{});
  EXPECT_EQ(config.backend, Backend::automatic);
  EXPECT_EQ(config.threads, 0);
  EXPECT_EQ(config.checkpoint.seconds, 60);
  EXPECT_EQ(config.output.directory, "runs/x");
  EXPECT_EQ(to_yaml(config.prior, "weights"), "{dirichlet: 1}");
  EXPECT_EQ(to_yaml(config.prior, "means"), "{normal: {mean: 0, sd: 10}}");
  EXPECT_EQ(to_yaml(config.prior, "scales"), "{half_normal: 1}");
  EXPECT_EQ(config.prior.blocks.size(), 3u);
}

TEST(RunConfigDefaults, FollowTheModel) {
  const RunConfig config = parsed(two);
  EXPECT_EQ(config.sampler.init, "prior");
  EXPECT_EQ(to_yaml(config.prior, "fraction"), "{beta: {a: 1, b: 1}}");
  EXPECT_EQ(to_yaml(config.prior, "mean"), "{normal: {mean: 0, sd: 10}}");
  EXPECT_EQ(to_yaml(config.prior, "sigma"), "{half_normal: 1}");
  EXPECT_EQ(config.prior.blocks.size(), 3u);
}

TEST(RunConfigDefaults, HoldForASectionWithAllItsKeysCommentedOut) {
  EXPECT_EQ(parsed(data + "sampler:\n  # chains: 2\nprior:\n"), parsed(data));
}

TEST(RunConfigParsing, ReadsEveryKey) {
  const RunConfig config = parsed(
      "data:\n  file: [a.csv, 'b *.npy']\n  columns: [c0, 7]\n  standardize: false\n"
      "likelihood: {model: gaussian_mixture, components: 3, covariance: diagonal, precision: double}\n"
      "prior:\n  weights: {dirichlet: {a: [1, 2, 3.5]}}\n"
      "  means: {cauchy: {location: [[0, 1], [2, 3], [4, 5]], scale: [1, 2]}}\n"
      "  scales: {lognormal: {meanlog: -1, sdlog: +.5}}\n  scale_floor: 1e-4\n  order: none\n"
      "sampler:\n  chains: 16\n  warmup: 0\n  draws: 5\n  thin: 2\n  seed: 18446744073709551615\n"
      "  init: start/em.json\n  init_tries: 7\n  superchains: 4\n  max_nan_share: 0\n"
      "  until: {ess: 400, seconds: 60.5}\n"
      "  proposal: {kind: random_walk, shape: dense, target_acceptance: 0.3}\n"
      "backend: reference\nthreads: 2\ncheckpoint: {seconds: 0.5}\n"
      "output: {directory: 2026, keep_warmup: true, pointwise: True}\n");
  EXPECT_EQ(config.data, (DataConfig{{"a.csv", "b *.npy"}, {"c0", "7"}, false}));
  EXPECT_EQ(config.likelihood, (LikelihoodConfig{"gaussian_mixture", 3, "diagonal", Precision::float64}));
  const PriorSpec means{PriorFamily::cauchy, {{{3, 2}, {0, 1, 2, 3, 4, 5}}, {{2}, {1, 2}}}};
  EXPECT_EQ(config.prior.blocks.at("means"), means);
  EXPECT_EQ(config.prior.blocks.at("weights"), (PriorSpec{PriorFamily::dirichlet, {{{3}, {1, 2, 3.5}}}}));
  EXPECT_EQ(config.prior.blocks.at("scales"), (PriorSpec{PriorFamily::lognormal, {{{}, {-1}}, {{}, {0.5}}}}));
  EXPECT_EQ(config.prior.scale_floor, 1e-4);
  EXPECT_EQ(config.prior.order, "");
  const ProposalConfig proposal{"random_walk", "dense", 0.3};
  EXPECT_EQ(config.sampler,
            (SamplerConfig{16, false, 0, false, 5, 2, std::numeric_limits<std::uint64_t>::max(),
                           "start/em.json", 7, 4, 0.0, UntilConfig{400, 60.5}, proposal}));
  EXPECT_EQ(config.backend, Backend::reference);
  EXPECT_EQ(config.threads, 2);
  EXPECT_EQ(config.checkpoint.seconds, 0.5);
  EXPECT_EQ(config.output, (OutputConfig{"2026", true, true}));
}

TEST(RunConfigParsing, AsksForUnitsOnlyWhereAPriorHasThem) {
  EXPECT_EQ(refusal("data: {file: a.csv}\nprior: {weights: {dirichlet: 2}}\n"), "");
  EXPECT_EQ(refusal(two + "prior: {mean: {normal: {mean: 0, sd: 5}}}\n"), "");
  for (const std::string prior : {"means: {fixed: 0}", "scales: {half_normal: 2}"}) {
    const std::string message = refusal("data: {file: a.csv}\nprior: {" + prior + "}\n");
    EXPECT_NE(message.find("needs data.standardize, which"), std::string::npos) << prior;
    EXPECT_EQ(refusal("data: {file: a.csv, standardize: false}\nprior: {" + prior + "}\n"), "");
  }
  // An order, and a floor that is a share of a column's sd, mean the same in all units.
  EXPECT_EQ(refusal("data: {file: a.csv}\nprior: {order: means.0, scale_floor: 0.01}\n"), "");
}

TEST(RunConfigOverrides, ReplaceAddAndAreApplied) {
  const RunConfig config = parsed(
      data + "sampler: {chains: 2}\nprior: {scales: {half_normal: 1}}\n",
      {"sampler.chains=3", "sampler.chains=8", "sampler.proposal.kind=random_walk", "data.columns=[a, b]",
       "prior.means.normal={mean: [0, 1], sd: 2}", "backend=cpu", "output.directory=\"a=b\""});
  EXPECT_EQ(config.sampler.chains, 8);
  EXPECT_EQ(config.sampler.proposal.kind, "random_walk");
  EXPECT_EQ(config.data.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(to_yaml(config.prior, "means"), "{normal: {mean: [0, 1], sd: 2}}");
  EXPECT_EQ(config.backend, Backend::cpu);
  EXPECT_EQ(config.output.directory, "a=b");
  EXPECT_EQ(parsed("", {"data.file=a.csv"}).data.files, std::vector<std::string>{"a.csv"});
}

TEST(RunConfigOverrides, ErrorsNameTheArgument) {
  const std::vector<std::vector<std::string>> cases{
      {"likelihood.components=0",
       "--set likelihood.components=0: likelihood.components: 0 is out of range; allowed: 1 to 4096"},
      {"likelihood.componets=4",
       "--set likelihood.componets=4: likelihood.componets: unknown key; did you mean likelihood.components? "
       "allowed "
       "in likelihood: model, components, covariance, precision, parameters, linear, constants, prepare, "
       "where, log_density, source, type, columns, rows, simulate, derived"},
      {"threads", "--set threads: not of the form key.path=value, as in sampler.draws=500"},
      {"=3", "--set =3: not of the form key.path=value, as in sampler.draws=500"},
      {"sampler..draws=3", "--set sampler..draws=3: a name between the dots of the key is missing"},
      {"threads=", "--set threads=: threads: expected a whole number from 0 to 4096, not nothing"},
      {"data.file.x=1", "--set data.file.x=1: data.file: is a value and has no keys below it"},
      {"backend.x=1", "--set backend.x=1: backend: expected one of auto, reference, cpu, cuda, not a map"},
      {"prior.means.normal.sd=-1",
       "--set prior.means.normal.sd=-1: prior.means.normal: mean is missing; allowed in "
       "normal: mean, sd"},
      {"data.file=*.csv",
       "--set data.file=*.csv: YAML anchors (&name) and aliases (*name) are not supported; put "
       "quotes around a text that begins with & or *"},
  };
  for (const auto& bad : cases) EXPECT_EQ(refusal(data, {bad[0]}), bad[1]);
  EXPECT_EQ(refusal(data, {"threads=[1"}).find("--set threads=[1: YAML syntax: "), 0u);
}

TEST(RunConfigFiles, ThatCannotBeReadAreRefused) {
  const auto message = [](const std::filesystem::path& file) -> std::string {
    try {
      load_run_config(file);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("/nonexistent/x.yaml"), "/nonexistent/x.yaml: no such configuration file");
  EXPECT_EQ(message("/tmp"), "/tmp is a folder, not a configuration (YAML)");
  EXPECT_EQ(message("/dev/zero"), "/dev/zero: not a regular file; allowed: a configuration file (YAML)");
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("emomc_run_config_" + std::to_string(getpid()) + ".yaml");
  std::ofstream(file) << data << "threads: -1\n";
  EXPECT_EQ(message(file), file.string() + ":2: threads: -1 is out of range; allowed: 0 to 4096");
  std::ofstream(file) << data;
  EXPECT_EQ(load_run_config(file).output.directory, "runs" / file.stem());
  std::filesystem::remove(file);
}

TEST(RunConfigYaml, WritesEveryDefault) {
  const std::string yaml = to_yaml(parsed(data));
  for (const std::string line :
       {"  standardize: true\n", "  components: 8\n", "  scale_floor: 0.001\n", "    kind: auto\n",
        "    shape: auto\n", "  directory: runs/x\n", "  order: none\n"}) {
    EXPECT_NE(yaml.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(yaml.find('#'), std::string::npos);
  EXPECT_EQ(to_yaml(parsed(two)).find("components"), std::string::npos);
}

/// Returns a valid configuration with random values in every key.
RunConfig random_config(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  const auto positive = [&] { return std::exp(40 * (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5)); };
  const auto array = [&](std::vector<int> shape, auto draw) {
    std::size_t size = 1;
    for (const int length : shape) size *= static_cast<std::size_t>(length);
    ArrayArgument values{std::move(shape), {}};
    while (values.values.size() < size) values.values.push_back(draw());
    return values;
  };
  const auto real = [&] { return below(2) == 0 ? positive() : -positive(); };
  const std::vector<std::string> texts{"a.csv",  "null", "~",       "true",         "- x",   "*.csv", "a: b",
                                       "x # y",  "1e5",  "ä ö.csv", "C:\\d\\e",     "\"q\"", "it's",  "{a}",
                                       "[1, 2]", "...",  "a, b",    " lead ",       "!tag",  "%d",    "a\\nb",
                                       "@at",    "`b`",  "a:",      "../x/S_*.csv", "---",   "<<",    "| x"};
  const auto text = [&] { return texts[random() % texts.size()]; };

  const bool mixture = below(2) == 0;
  RunConfig config = parsed(mixture ? data : two);
  config.data = {.files = {text()}, .columns = {}, .standardize = below(2) == 0};
  if (below(2) == 0) config.data.files.push_back(config.data.files[0] + "2");
  if (mixture) {
    const int components = 1 + below(5), columns = 1 + below(4);
    for (int i = 0; i < columns; ++i) config.data.columns.push_back(text() + std::to_string(i));
    config.likelihood.components = components;
    config.prior.blocks["weights"] = {PriorFamily::dirichlet, {array({components}, positive)}};
    config.prior.blocks["means"] = {PriorFamily::normal,
                                    {array({components, columns}, real), array({columns}, positive)}};
    config.prior.blocks["scales"] = {PriorFamily::exponential, {array({}, positive)}};
  } else {
    config.prior.blocks["fraction"] = {PriorFamily::beta, {array({}, positive), array({}, positive)}};
    config.prior.blocks["mean"] = {PriorFamily::fixed, {array({}, real)}};
    config.prior.blocks["sigma"] = {PriorFamily::normal, {array({2}, real), array({}, positive)}};
  }
  config.likelihood.precision = below(2) == 0 ? Precision::mixed : Precision::float64;
  config.prior.scale_floor = positive() / 1e9;
  config.sampler = {.chains = 1 + below(1000),
                    .chooses_warmup = false,
                    .warmup = below(1 << 30),
                    .chooses_draws = below(2) == 0,
                    .draws = 1 + below(1 << 30),
                    .thin = 1 + below(100),
                    .seed = random(),
                    .init = below(2) == 0 ? "prior" : text() + ".json",
                    .init_tries = 1 + below(1000),
                    .max_nan_share = positive() / 1e9,
                    .until = {.ess = positive() / 2, .seconds = positive() / 2},
                    .proposal = {.kind = below(2) == 0 ? "random_walk" : "component_wise",
                                 .shape = below(2) == 0 ? "dense" : "isotropic",
                                 .target_acceptance = positive() / 1e9}};
  Tempering& tempering = config.sampler.tempering;
  tempering.rungs = 1 + below(3);
  if (tempering.is_on()) tempering.every = below(100);
  if (tempering.is_on() && below(2) == 0) {
    tempering.betas = {1, 1 / (1 + positive())};
    if (tempering.rungs == 3) tempering.betas.push_back(0);
  }
  config.backend = static_cast<Backend>(below(4));
  config.threads = below(4097);
  config.checkpoint.seconds = positive();
  config.output = {.directory = text(), .keep_warmup = below(2) == 0, .pointwise = below(2) == 0};
  return config;
}

TEST(RunConfigYaml, RoundTripsExactly) {
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 500; ++i) {
    const RunConfig config = random_config(random);
    EXPECT_EQ(round_trip(config), config) << to_yaml(config);
    EXPECT_EQ(round_trip(config, YamlComments::explained), config) << to_yaml(config);
  }
}

TEST(RunConfigYaml, RoundTripsEveryFamily) {
  const std::vector<std::string> priors{"means: {cauchy: {location: -0.1, scale: 1e-300}}",
                                        "means: {uniform: {lower: -1e300, upper: [1, 2, 3]}}",
                                        "means: {fixed: [[1, 2], [3, 4]]}",
                                        "scales: {half_normal: 0.1}",
                                        "scales: {exponential: {rate: 3}}",
                                        "scales: {lognormal: {meanlog: 0, sdlog: 1}}",
                                        "scales: {uniform: {lower: 0, upper: 5}}",
                                        "weights: {fixed: 0.5}",
                                        "weights: {dirichlet: 0.3333333333333333}",
                                        "order: means.0"};
  for (const std::string& prior : priors) {
    const RunConfig config = parsed(data + "likelihood: {components: 2}\nprior: {" + prior + "}\n");
    EXPECT_EQ(round_trip(config), config) << to_yaml(config);
  }
  for (const std::string& prior :
       {std::string("correlations: {lkj: 2}"), std::string("correlations: {fixed: [[1, 0.5], [0.5, 1]]}"),
        std::string("means: {normal: {mean: {normal: {mean: [1, 2], sd: 3}}, sd: {half_normal: 1}}}"),
        std::string("scales: {lognormal: {meanlog: {normal: {mean: 0, sd: 1}}, sdlog: 0.5}}")})
    for (const char* covariance : {"full", "tied"}) {
      const RunConfig config = parsed(data + "likelihood: {components: 2, covariance: " + covariance +
                                      "}\nprior: {" + prior + "}\n");
      EXPECT_EQ(round_trip(config), config) << to_yaml(config);
    }
}

TEST(RunConfigParsing, ReadsPriorsOfArguments) {
  const RunConfig config = parsed(
      data +
      "prior: {means: {normal: {mean: {student_t: {df: 3, mean: 0, scale: 2}}, sd: {exponential: 2}}}}\n");
  EXPECT_TRUE(config.prior.blocks.at("means").arguments[0].is_sampled);
  EXPECT_EQ(config.prior.blocks.at("means.mean").family, PriorFamily::student_t);
  EXPECT_EQ(config.prior.blocks.at("means.sd").family, PriorFamily::exponential);
}

TEST(ShippedConfigs, AllKeysIsWhatTheProgramWrites) {
  EXPECT_EQ(file_text(source_directory / "configs/all_keys.yaml"),
            to_yaml(default_run_config(), YamlComments::explained));
  EXPECT_EQ(load_run_config(source_directory / "configs/all_keys.yaml"), default_run_config());
}

TEST(ShippedConfigs, AreValid) {
  const RunConfig sad = load_run_config(source_directory / "configs/sad.yaml");
  EXPECT_EQ(sad.data.files, std::vector<std::string>{"../shared/data/thesis/Sad_*.csv"});
  EXPECT_EQ(sad.likelihood.components, 4);
  EXPECT_EQ(sad.sampler.proposal.kind, "component_wise");
  EXPECT_EQ(sad.output.directory, "runs/sad");
  const RunConfig with_rungs = load_run_config(source_directory / "configs/sad_8.yaml");
  EXPECT_EQ(with_rungs.sampler.init, "clusters");
  EXPECT_EQ(with_rungs.sampler.tempering.rungs, 18);
  const RunConfig events = load_run_config(source_directory / "configs/two_gaussian.yaml");
  EXPECT_EQ(events.likelihood.model, "two_gaussian");
  EXPECT_EQ(events.sampler.init, "prior");
}

TEST(NearestName, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sd", "ds"), 1u);
  EXPECT_EQ(edit_distance("Component-Wise", "component_wise"), 0u);
}

TEST(NearestName, SuggestsOnlyWhatIsClose) {
  const std::vector<std::string> names{"auto", "reference", "cpu", "cuda"};
  EXPECT_EQ(nearest_name("cpp", names), "cpu");
  EXPECT_EQ(nearest_name("referenc", names), "reference");
  EXPECT_EQ(nearest_name("opencl", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
}

TEST(PriorFamilies, HaveNamesAndArgumentsInTheOrderOfTheEnumeration) {
  EXPECT_EQ(family_names(),
            (std::vector<std::string>{"normal", "half_normal", "student_t", "cauchy", "lognormal", "gamma",
                                      "inverse_gamma", "exponential", "uniform", "beta", "dirichlet",
                                      "von_mises", "lkj", "fixed"}));
  for (const std::string& name : family_names()) {
    EXPECT_EQ(family_name(*family_from_name(name)), name);
    EXPECT_GE(argument_names(*family_from_name(name)).size(), 1u);
  }
  EXPECT_EQ(argument_names(PriorFamily::cauchy), (std::vector<std::string>{"location", "scale"}));
  EXPECT_EQ(family_from_name("wishart"), std::nullopt);
}

// The default of 20,000 draws would be too many with this thinning.
TEST(RunConfig, ThinIsCheckedWithTheDrawsThatUntilAllows) {
  const RunConfig config =
      parsed(data + "sampler: {draws: auto, thin: 100000000, until: {max_draws: 1000}}\n");
  EXPECT_EQ(config.sampler.draws, 1000);
  EXPECT_EQ(config.sampler.thin, 100'000'000);
}

}  // namespace
}  // namespace emomc::app
