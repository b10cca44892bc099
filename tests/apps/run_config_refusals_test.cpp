// Tests configurations that are refused, with their complete messages.
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>

#include "config_text.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

/// An input and the complete message with which it must be refused.
struct BadInput {
  std::string yaml;
  std::string message;
};

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.message; }

class RefusedConfig : public testing::TestWithParam<BadInput> {};

TEST_P(RefusedConfig, HasAOneLineMessageWithPlaceKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(refusal(GetParam().yaml), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedConfig,
    testing::Values(
        BadInput{data + "likelihood:\n  componets: 4\n",
                 "configs/x.yaml:3: likelihood.componets: unknown key; did you mean likelihood.components? "
                 "allowed in "
                 "likelihood: model, components, covariance, precision, parameters, linear, constants, "
                 "prepare, where, log_density, source, type, columns, rows, simulate, derived"},
        BadInput{data + "liklihood: {components: 4}\n",
                 "configs/x.yaml:2: liklihood: unknown key; did you mean likelihood? allowed here: data, "
                 "likelihood, "
                 "prior, sampler, backend, shard, threads, devices, checkpoint, output"},
        BadInput{data + "components: 8\n",
                 "configs/x.yaml:2: components: unknown key; did you mean likelihood.components? allowed "
                 "here: data, "
                 "likelihood, prior, sampler, backend, shard, threads, devices, checkpoint, output"},
        BadInput{data + "sampler:\n  chains: 2\n  proposal: {knid: random_walk}\n",
                 "configs/x.yaml:4: sampler.proposal.knid: unknown key; did you mean sampler.proposal.kind? "
                 "allowed in "
                 "sampler.proposal: kind, shape, target_acceptance"},
        BadInput{
            data + "devices: [0, 0]\n",
            "configs/x.yaml:2: devices: 0 is listed twice; allowed: all, or a list of different numbers of "
            "GPUs, from 0 (emomc devices lists them)"},
        BadInput{data + "devices: [-1]\n",
                 "configs/x.yaml:2: devices: a list is out of range; allowed: all, or a list of different "
                 "numbers of GPUs, from 0 (emomc devices lists them)"},
        BadInput{data + "devices: [[0, 1], [2, 3]]\n",
                 "configs/x.yaml:2: devices: a list is out of range; allowed: all, or a list of different "
                 "numbers of GPUs, from 0 (emomc devices lists them)"},
        BadInput{data + "devices: 0\n", "configs/x.yaml:2: devices: 0 is unknown; allowed: all"},
        BadInput{data + "sampler: {until: {rhat: 1.01}}\n",
                 "configs/x.yaml:2: sampler.until.rhat: unknown key; allowed in sampler.until: ess, "
                 "max_draws, seconds"},
        BadInput{
            data + "sampler: {burn: 5}\n",
            "configs/x.yaml:2: sampler.burn: unknown key; allowed in sampler: chains, warmup, draws, thin, "
            "seed, init, init_tries, superchains, max_nan_share, until, proposal, tempering"},
        BadInput{"data: {files: a.csv}\n",
                 "configs/x.yaml:1: data.files: unknown key; did you mean data.file? allowed in data: file, "
                 "columns, header, separator, decimal, standardize, rename, weights, categories, kinds"},
        BadInput{
            data + "sampler.chains: 4\n",
            "configs/x.yaml:2: sampler.chains: unknown key; did you mean sampler.chains? allowed here: data, "
            "likelihood, prior, sampler, backend, shard, threads, devices, checkpoint, output"},
        BadInput{data + "output:\n  pointwise: true\n  pointwise: false\n",
                 "configs/x.yaml:4: pointwise: this key is there twice (first in line 3); remove one"},
        BadInput{data + "\"data\": {file: b.csv}\n",
                 "configs/x.yaml:2: data: this key is there twice (first in line 1); remove one"},
        BadInput{two + "prior: {order: means.0}\n",
                 "configs/x.yaml:3: prior.order: means.0 is unknown; allowed: none, sigma"},
        BadInput{two + "prior: {order: sigma, fraction: {beta: {a: 1, b: 2}}}\n",
                 "configs/x.yaml:3: prior.order: sigma needs a prior of fraction that is the same for 1 - "
                 "fraction, such as {beta: {a: 1, b: 1}}; allowed here: none"},
        BadInput{data + "likelihood:\n  components: 2\n  model: two_gaussian\n",
                 "configs/x.yaml:3: likelihood.components: model two_gaussian does not use this key, only "
                 "gaussian_mixture, student_t_mixture do; remove it"},
        BadInput{data + "prior: {fraction: {beta: {a: 1, b: 1}}}\n",
                 "configs/x.yaml:2: prior.fraction: model gaussian_mixture does not use this key, only "
                 "two_gaussian "
                 "does; remove it"},
        BadInput{
            data + "prior:\n  correlations: {lkj: 1}\n",
            "configs/x.yaml:3: prior.correlations: covariance diagonal does not use this key, only tied, "
            "full do; remove it"},
        BadInput{
            "data: {standardize: true}\n",
            "configs/x.yaml:1: data.file: this key is missing; write the data to sample, as in data: {file: "
            "features/sad.csv}"},
        BadInput{
            "threads: 2\n",
            "configs/x.yaml: data.file: this key is missing; write the data to sample, as in data: {file: "
            "features/sad.csv}"}));

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedConfig,
    testing::Values(
        BadInput{data + "likelihood: {components: 0}\n",
                 "configs/x.yaml:2: likelihood.components: 0 is out of range; allowed: 1 to 4096"},
        BadInput{data + "likelihood: {components: 1.5}\n",
                 "configs/x.yaml:2: likelihood.components: expected a whole number from 1 to 4096, not 1.5"},
        BadInput{
            data + "likelihood: {components: [8]}\n",
            "configs/x.yaml:2: likelihood.components: expected a whole number from 1 to 4096, not a list"},
        BadInput{data + "likelihood: {components: \"8\"}\n",
                 "configs/x.yaml:2: likelihood.components: expected a whole number from 1 to 4096, not the "
                 "text \"8\""},
        BadInput{data + "likelihood: {components: 010}\n",
                 "configs/x.yaml:2: likelihood.components: expected a whole number from 1 to 4096, not 010"},
        BadInput{
            data + "likelihood:\n  components:\n",
            "configs/x.yaml:3: likelihood.components: expected a whole number from 1 to 4096, not nothing"},
        BadInput{data + "likelihood: 8\n",
                 "configs/x.yaml:2: likelihood: expected a map with keys: model, components, covariance, "
                 "precision, parameters, linear, constants, prepare, where, log_density, source, type, "
                 "columns, rows, simulate, derived, "
                 "not 8"},
        BadInput{
            data + "likelihood: {model: gausian_mixture}\n",
            "configs/x.yaml:2: likelihood.model: gausian_mixture is unknown; did you mean gaussian_mixture? "
            "allowed: gaussian_mixture, two_gaussian, student_t_mixture"},
        BadInput{data + "likelihood: {covariance: full}\nprior: {correlations: {lkj: 0}}\n",
                 "configs/x.yaml:3: prior.correlations.lkj: 0 is out of range; allowed: numbers above 0"},
        BadInput{data + "likelihood: {covariance: full}\nprior: {correlations: {dirichlet: 1}}\n",
                 "configs/x.yaml:3: prior.correlations: dirichlet is no prior for correlations; allowed for "
                 "correlations: lkj, fixed"},
        BadInput{
            data +
                "likelihood: {covariance: tied, components: 2}\nprior: {scales: {half_normal: [[1], [2]]}}\n",
            "configs/x.yaml:3: prior.scales.half_normal: nested 2 deep; allowed for scales: a number or a "
            "list of numbers"},
        BadInput{
            data + "prior: {scales: {gamma: {shape: {half_normal: 1}, rate: 1}}}\n",
            "configs/x.yaml:2: prior.scales.gamma.shape: a prior stands where a number is expected; allowed: "
            "a number or a list of them"},
        BadInput{data + "prior: {means: {normal: {mean: {gamma: {shape: 1, rate: 1}}, sd: 1}}}\n",
                 "configs/x.yaml:2: prior.means.normal.mean: gamma is no prior for means.mean; allowed for "
                 "means.mean: normal, student_t, cauchy, uniform, fixed"},
        BadInput{data + "prior: {means: {normal: {mean: {normal: {mean: {normal: {mean: 0, sd: 1}}, sd: 1}}, "
                        "sd: 1}}}\n",
                 "configs/x.yaml:2: prior.means.normal.mean.normal.mean: a prior stands where a number is "
                 "expected; allowed: a number or a list of them"},
        BadInput{
            data + "likelihood: {covariance: spherical, components: 2}\n"
                   "prior: {scales: {half_normal: [[1, 2], [3, 4]]}}\n",
            "configs/x.yaml:3: prior.scales.half_normal: nested 2 deep; allowed for scales: a number or a "
            "list of numbers"},
        BadInput{data + "likelihood: {covariance: spherical, components: 2}\n"
                        "prior: {scales: {half_normal: [1, 2, 3]}}\n",
                 "configs/x.yaml:3: prior.scales.half_normal: a list of 3; allowed: one number or 2, one for "
                 "each component"},
        BadInput{data + "likelihood: {covariance: diag}\n",
                 "configs/x.yaml:2: likelihood.covariance: diag is unknown; allowed: diagonal, spherical, "
                 "tied, full"},
        BadInput{data + "likelihood: {precision: float}\n",
                 "configs/x.yaml:2: likelihood.precision: float is unknown; allowed: mixed, double"},
        BadInput{data + "sampler: {thin: 0}\n",
                 "configs/x.yaml:2: sampler.thin: 0 is out of range; allowed: 1 to 1000000000"},
        BadInput{
            data + "sampler: {draws: 1000000000000, thin: 2}\n",
            "configs/x.yaml:2: sampler.thin: 2 is out of range; allowed: draws * thin up to 1000000000000"},
        BadInput{data + "sampler: {thin: 1000000000}\n",
                 "configs/x.yaml:2: sampler.thin: 1000000000 is out of range; allowed: draws * thin up to "
                 "1000000000000"},
        BadInput{data + "sampler: {draws: yes}\n",
                 "configs/x.yaml:2: sampler.draws: expected a whole number from 1 to 1000000000000, not yes"},
        BadInput{data + "sampler: {warmup: -1}\n",
                 "configs/x.yaml:2: sampler.warmup: -1 is out of range; allowed: 0 to 1000000000000"},
        BadInput{
            data + "sampler: {chains: 99999999999999999999}\n",
            "configs/x.yaml:2: sampler.chains: 99999999999999999999 is out of range; allowed: 1 to 1048576"},
        BadInput{data + "sampler: {seed: -3}\n",
                 "configs/x.yaml:2: sampler.seed: -3 is out of range; allowed: 0 to 18446744073709551615"},
        BadInput{data + "sampler: {init: kmean}\n",
                 "configs/x.yaml:2: sampler.init: kmean is unknown; did you mean kmeans? allowed: prior, "
                 "kmeans, em, clusters, or "
                 "a parameter file that ends in .json"},
        BadInput{data + "sampler: {until: {ess: -1}}\n",
                 "configs/x.yaml:2: sampler.until.ess: -1 is out of range; allowed: 0 to 1e9"},
        BadInput{data + "sampler: {max_nan_share: 1.01}\n",
                 "configs/x.yaml:2: sampler.max_nan_share: 1.01 is out of range; allowed: 0 to 1"},
        BadInput{data + "sampler: {max_nan_share: .nan}\n",
                 "configs/x.yaml:2: sampler.max_nan_share: expected a finite number, not .nan"},
        BadInput{data + "sampler: {proposal: random_walk}\n",
                 "configs/x.yaml:2: sampler.proposal: expected a map with keys: kind, shape, "
                 "target_acceptance, not "
                 "random_walk"},
        BadInput{data + "sampler: {proposal: {kind: component-wise}}\n",
                 "configs/x.yaml:2: sampler.proposal.kind: component-wise is unknown; did you mean "
                 "component_wise? "
                 "allowed: auto, component_wise, random_walk, adaptive_metropolis, delayed_rejection, "
                 "independence, "
                 "differential_evolution, stretch, split_merge, crank_nicolson, mala, hmc, nuts, chees"},
        BadInput{data + "sampler: {proposal: {target_acceptance: 0.9}}\n",
                 "configs/x.yaml:2: sampler.proposal.target_acceptance: each kind of proposal has its own "
                 "target; write sampler.proposal.kind too, or remove it"},
        BadInput{
            data + "sampler: {proposal: {kind: stretch, shape: dense}}\n",
            "configs/x.yaml:2: sampler.proposal.shape: proposal stretch does not use this key; remove it"},
        BadInput{
            data + "sampler: {proposal: {kind: differential_evolution, target_acceptance: 0.3}}\n",
            "configs/x.yaml:2: sampler.proposal.target_acceptance: proposal differential_evolution does not "
            "use this key; remove it"},
        BadInput{data + "sampler: {proposal: {kind: hmc, target_acceptance: 1}}\n",
                 "configs/x.yaml:2: sampler.proposal.target_acceptance: 1 is out of range; allowed: above 0 "
                 "and below "
                 "1"},
        BadInput{data + "backend: gpu\n",
                 "configs/x.yaml:2: backend: gpu is unknown; did you mean cuda? allowed: auto, reference, "
                 "cpu, cuda"},
        BadInput{data + "backend: coda\n",
                 "configs/x.yaml:2: backend: coda is unknown; did you mean cuda? allowed: auto, reference, "
                 "cpu, cuda"},
        BadInput{data + "threads: 4097\n",
                 "configs/x.yaml:2: threads: 4097 is out of range; allowed: 0 to 4096"},
        BadInput{data + "checkpoint: 60\n",
                 "configs/x.yaml:2: checkpoint: expected a map with keys: seconds, steps, not 60"},
        BadInput{data + "checkpoint: {seconds: .inf}\n",
                 "configs/x.yaml:2: checkpoint.seconds: expected a finite number, not .inf"},
        BadInput{
            data + "checkpoint: {seconds: 1e999}\n",
            "configs/x.yaml:2: checkpoint.seconds: 1e999 is out of range; allowed: numbers that a double can "
            "hold"},
        BadInput{data + "output: {keep_warmup: yes}\n",
                 "configs/x.yaml:2: output.keep_warmup: expected true or false, not yes"},
        BadInput{data + "output:\n  directory: [a]\n",
                 "configs/x.yaml:3: output.directory: expected a directory, not a list"},
        BadInput{data + "output: {directory: \"a\\nb\"}\n",
                 "configs/x.yaml:2: output.directory: expected a directory without control characters, not "
                 "the text "
                 "\"a?b\""},
        BadInput{"data: {file: []}\n",
                 "configs/x.yaml:1: data.file: an empty list; allowed: a file, a glob, or a list of them"},
        BadInput{"data:\n  file:\n    - a.csv\n    - a.csv\n",
                 "configs/x.yaml:4: data.file: a.csv is listed twice; remove one"},
        BadInput{"data: {file: a.csv, columns: [x, y]}\nlikelihood: {model: two_gaussian}\n",
                 "configs/x.yaml:1: data.columns: 2 columns; model two_gaussian allows one"}));

INSTANTIATE_TEST_SUITE_P(
    Priors, RefusedConfig,
    testing::Values(
        BadInput{data + "prior: {means: {normal: {mean: 0, sd: -1}}}\n",
                 "configs/x.yaml:2: prior.means.normal.sd: -1 is out of range; allowed: numbers above 0"},
        BadInput{data + "prior: {means: {normal: {mean: 0, std: 1}}}\n",
                 "configs/x.yaml:2: prior.means.normal.std: unknown key; did you mean prior.means.normal.sd? "
                 "allowed "
                 "in normal: mean, sd"},
        BadInput{data + "prior: {means: {normal: {mean: 0}}}\n",
                 "configs/x.yaml:2: prior.means.normal: sd is missing; allowed in normal: mean, sd"},
        BadInput{data + "prior: {means: {normal: [0, 10]}}\n",
                 "configs/x.yaml:2: prior.means.normal: expected its arguments by name: {mean: ..., sd: "
                 "...}, not a "
                 "list"},
        BadInput{data + "prior: {means: normal}\n",
                 "configs/x.yaml:2: prior.means: expected one family with its arguments, such as {normal: "
                 "{mean: 0, "
                 "sd: 10}}, not normal"},
        BadInput{data + "prior: {scales: {half_normal: 1, exponential: 1}}\n",
                 "configs/x.yaml:2: prior.scales: expected one family with its arguments, such as "
                 "{half_normal: 1}, "
                 "not a map"},
        BadInput{data + "prior: {means: {nromal: {mean: 0, sd: 1}}}\n",
                 "configs/x.yaml:2: prior.means: nromal is an unknown family; did you mean normal? allowed "
                 "for means: "
                 "normal, student_t, cauchy, uniform, fixed"},
        BadInput{data + "prior: {means: {lkj: 1}}\n",
                 "configs/x.yaml:2: prior.means: lkj is no prior for means; allowed for means: normal, "
                 "student_t, cauchy, uniform, fixed"},
        BadInput{data + "prior: {means: {student_t: {df: 0, mean: 0, scale: 1}}}\n",
                 "configs/x.yaml:2: prior.means.student_t.df: 0 is out of range; allowed: numbers above 0"},
        BadInput{data + "prior: {means: {gamma: {shape: 1, rate: 1}}}\n",
                 "configs/x.yaml:2: prior.means: gamma is no prior for means; allowed for means: normal, "
                 "student_t, cauchy, uniform, fixed"},
        BadInput{data + "prior: {means: {half_normal: 1}}\n",
                 "configs/x.yaml:2: prior.means: half_normal is no prior for means; allowed for means: "
                 "normal, student_t, cauchy, "
                 "uniform, fixed"},
        BadInput{data + "prior: {weights: {normal: {mean: 0, sd: 1}}}\n",
                 "configs/x.yaml:2: prior.weights: normal is no prior for weights; allowed for weights: "
                 "dirichlet, "
                 "fixed"},
        BadInput{
            data + "prior: {weights: {dirichlet: [1, 2]}}\n",
            "configs/x.yaml:2: prior.weights.dirichlet: a list of 2; allowed: one number or 8, one for each "
            "component"},
        BadInput{data + "prior: {weights: {dirichlet: 0}}\n",
                 "configs/x.yaml:2: prior.weights.dirichlet: 0 is out of range; allowed: numbers above 0"},
        BadInput{data + "likelihood: {components: 2}\nprior: {weights: {fixed: [0.5, 0.6]}}\n",
                 "configs/x.yaml:3: prior.weights.fixed: the weights sum to 1.1; they must sum to 1"},
        BadInput{
            data + "likelihood: {components: 2}\nprior:\n  means:\n    fixed:\n    - [1, 2]\n    - [1]\n",
            "configs/x.yaml:7: prior.means.fixed: a ragged list: 1 entries here, 2 before"},
        BadInput{data + "likelihood: {components: 2}\nprior: {means: {fixed: [1, [2]]}}\n",
                 "configs/x.yaml:3: prior.means.fixed: a list is given where a number is expected, as in the "
                 "rows before"},
        BadInput{data + "prior: {means: {fixed: [[[1]]]}}\n",
                 "configs/x.yaml:2: prior.means.fixed: nested 3 deep; allowed for means: a number, a list, "
                 "or a list "
                 "of lists"},
        BadInput{
            "data: {file: a.csv, columns: [x, y], standardize: false}\nprior: {means: {fixed: [1, 2, 3]}}\n",
            "configs/x.yaml:2: prior.means.fixed: a list of 3; allowed: one number or 8, one for each "
            "component, "
            "or 2, one for each column"},
        BadInput{
            data + "prior: {scales: {uniform: {lower: 2, upper: 1}}}\n",
            "configs/x.yaml:2: prior.scales.uniform: lower 2, upper 1 is out of range; allowed: lower below "
            "upper"},
        BadInput{data + "prior: {scales: {uniform: {lower: -1, upper: 1}}}\n",
                 "configs/x.yaml:2: prior.scales.uniform: lower -1, upper 1 is out of range; allowed: lower "
                 "of 0 or "
                 "more"},
        BadInput{data + "prior: {scales: {fixed: -0.5}}\n",
                 "configs/x.yaml:2: prior.scales.fixed: -0.5 is out of range; allowed: numbers above 0"},
        BadInput{data + "prior: {scale_floor: -1}\n",
                 "configs/x.yaml:2: prior.scale_floor: -1 is out of range; allowed: 0 to 1, without 1"},
        BadInput{
            data + "prior: {order: means}\n",
            "configs/x.yaml:2: prior.order: means is unknown; did you mean means.0? allowed: none, means.0"},
        BadInput{data + "prior: {order: means.0, means: {fixed: 0}}\n",
                 "configs/x.yaml:2: prior.order: means.0 cannot order means that are fixed; allowed: none"},
        BadInput{
            data + "likelihood: {components: 2}\nprior:\n  weights: {dirichlet: [1, 2]}\n  order: means.0\n",
            "configs/x.yaml:5: prior.order: means.0 needs the same prior for every component, and "
            "prior.weights "
            "differs between them; allowed here: none"},
        BadInput{two + "prior: {fraction: {uniform: {lower: 0, upper: 1.5}}}\n",
                 "configs/x.yaml:3: prior.fraction.uniform: lower 0, upper 1.5 is out of range; allowed: "
                 "between 0 and "
                 "1"},
        BadInput{two + "prior: {mean: {normal: {mean: [0, 1], sd: 1}}}\n",
                 "configs/x.yaml:3: prior.mean.normal.mean: nested 1 deep; allowed for mean: one number"},
        BadInput{"data: {file: a.csv}\nprior:\n  means: {normal: {mean: 0, sd: 5}}\n",
                 "configs/x.yaml:3: prior.means: a prior of your own needs data.standardize, which sets the "
                 "units of the prior; write standardize: true under data for columns with mean "
                 "0 and sd "
                 "1, or false for the data's own units"}));

INSTANTIATE_TEST_SUITE_P(
    Yaml, RefusedConfig,
    testing::Values(
        BadInput{"", "configs/x.yaml: empty; write at least data: {file: features/sad.csv}"},
        BadInput{"# nothing\n", "configs/x.yaml: empty; write at least data: {file: features/sad.csv}"},
        BadInput{"- a\n- b\n",
                 "configs/x.yaml:1: expected a map with keys such as data and likelihood, not a list"},
        BadInput{"hello\n",
                 "configs/x.yaml:1: expected a map with keys such as data and likelihood, not hello"},
        BadInput{data + "---\n" + data, "configs/x.yaml:3: a second YAML document begins here; allowed: one"},
        BadInput{data + "threads: &n 2\n",
                 "configs/x.yaml:2: YAML anchors (&name) and aliases (*name) are not supported; put quotes "
                 "around a "
                 "text that begins with & or *"},
        BadInput{"data:\n  file: *.csv\n",
                 "configs/x.yaml:2: YAML anchors (&name) and aliases (*name) are not supported; put quotes "
                 "around a "
                 "text that begins with & or *"},
        BadInput{data + "threads: !!int 2\n",
                 "configs/x.yaml:2: the YAML tag tag:yaml.org,2002:int is not supported; remove it"},
        BadInput{data + "? [a, b]\n: 1\n",
                 "configs/x.yaml:2: a key must be a name, not a list, a map or nothing"},
        BadInput{data + std::string("threads: 2\x04\n"),
                 "configs/x.yaml:2: byte 4 does not belong in a text file"},
        BadInput{std::string(1000, '['), "configs/x.yaml:1: nested too deeply; allowed: 32 levels"},
        BadInput{std::string((1 << 20) + 1, ' '),
                 "configs/x.yaml: larger than 1 MiB; this is no configuration"}));

TEST(RunConfigSyntax, ErrorsNameFileAndLine) {
  for (const std::string broken : {"sampler: {chains: 4\n", "sampler: [1, 2\n", "a: b: c\n", "threads: \"2\n",
                                   "backend: 'cpu\n", "sampler:\n  chains: 4\n thin: 1\n"}) {
    const std::string message = refusal(data + broken);
    EXPECT_EQ(message.find("configs/x.yaml:"), 0u) << message;
    EXPECT_NE(message.find("YAML syntax: "), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(RunConfigSyntax, TabsForIndentationAreNamed) {
  for (const auto& [text, line] :
       std::vector<std::pair<std::string, std::string>>{{"data:\n\tfile: x.csv\n", "2"},
                                                        {"data:\n  file: x.csv\n \tcolumns: [a]\n", "3"},
                                                        {data + "sampler:\n  chains: 2\n\twarmup: 3\n", "4"},
                                                        {"data:\n  file: x.csv\n\n\t\n  columns: [a]\n", "4"},
                                                        {"\tdata: {file: x.csv}\n", "1"}})
    EXPECT_EQ(refusal(text),
              "configs/x.yaml:" + line + ": YAML allows no tabs for indentation; indent by blanks")
        << text;
  EXPECT_EQ(parsed("data: {file:\tx.csv}\t# tabs\n").data.files, std::vector<std::string>{"x.csv"});
  // A fault without tabs before it keeps its message.
  EXPECT_NE(refusal(data + "a: b: c\nsampler:\n\tchains: 2\n").find("x.yaml:2: YAML syntax: "),
            std::string::npos);
}

TEST(RunConfigSyntax, AnEmptyFileIsNamedWhateverIsSet) {
  for (const std::string empty : {"", "# nothing\n", "\n\n"})
    EXPECT_EQ(refusal(empty, {"sampler.draws=5", "output.directory='runs/a'"}),
              "configs/x.yaml: empty; write at least data: {file: features/sad.csv}");
  EXPECT_EQ(parsed("", {"data.file=x.csv"}).data.files, std::vector<std::string>{"x.csv"});
}

TEST(RunConfigSyntax, QuotesAreClosed) {
  for (const std::string open : {"\"cpu", "'cpu", "'cpu''", "\"cpu\\\""}) {
    EXPECT_EQ(refusal(data + "backend: " + open + "\n"),
              "configs/x.yaml:2: YAML syntax: the quote that begins here is not closed");
    EXPECT_NE(refusal("{backend: " + open + ", " + data), "");
  }
  const std::string windows =
      "\xef\xbb\xbf# \xc3\xa4\r\ndata:\r\n  file: 'it''s.csv'\r\n  columns: [\"q\\\"\"]\r\n";
  EXPECT_EQ(parsed(windows).data, (DataConfig{{"it's.csv"}, {"q\""}, true}));
  EXPECT_EQ(refusal(windows + "backend: 'cpu\n"),
            "configs/x.yaml:5: YAML syntax: the quote that begins here is not closed");
}

TEST(RunConfigSyntax, MessagesStayShortAndOnOneLine) {
  const std::string message = refusal(data + "backend: \"" + std::string(5000, 'x') + "\\n\"\n");
  EXPECT_LT(message.size(), 300u);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(RunConfigSyntax, TextsAreUtf8) {
  EXPECT_EQ(refusal(data + "backend: cpu\noutput: {directory: m\xe4rz}\n"),
            "configs/x.yaml:3: the text is not UTF-8");
}

TEST(RunConfigSyntax, HostileTextsAreRefusedQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  std::string keys = "{", lists;
  for (int i = 0; i < 100000; ++i) keys += "k" + std::to_string(i) + ": 1, ";
  for (int i = 0; i < 100000; ++i) lists += "- [";
  EXPECT_NE(refusal(keys + "}"), "");
  EXPECT_NE(refusal(lists), "");
  EXPECT_NE(refusal(std::string(1 << 20, '{')), "");
  EXPECT_NE(refusal(std::string(1 << 20, 'k') + ": 1"), "");
  std::string files = "data: {file: [f";
  for (int i = 0; i < 100000; ++i) files += ", f" + std::to_string(i);
  EXPECT_NE(refusal(files + ", f]}"), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace emomc::app
