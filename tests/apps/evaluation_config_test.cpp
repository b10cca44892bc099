// Tests configurations of `emomc evaluate` and `emomc train`: defaults, round trips and refusals.
#include "evaluation_config.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <ostream>

#include "emomc/core/errors.hpp"

namespace emomc::app {
namespace {

const std::string corpus = "corpus: {path: features}\n";
const std::string recordings = "corpus: {kind: emodb, path: features}\n";
const std::filesystem::path source_directory = EMOMC_SOURCE_DIR;

EvaluationConfig parsed(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return parse_evaluation_config(yaml, "configs/x.yaml", overrides);
}

std::string refusal(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  try {
    parsed(yaml, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(EvaluationConfigDefaults, AreThoseOfTheDocuments) {
  const EvaluationConfig config = parsed(corpus);
  EXPECT_EQ(config.corpus, (CorpusConfig{"tables", "features", "{emotion}_{speaker}.csv", {}, true}));
  EXPECT_EQ(config.features, FeaturesConfig{});
  EXPECT_EQ(config.folds, FoldsConfig{});
  EXPECT_EQ(config.training, TrainingConfig{});
  EXPECT_EQ(config.classification, ClassificationConfig{});
  EXPECT_TRUE(config.em_baseline);
  EXPECT_EQ(config.run.sampler.proposal.kind, "nuts");
  EXPECT_EQ(config.run.sampler.warmup, 150);
  EXPECT_EQ(config.run.sampler.draws, 150);
  EXPECT_EQ(config.run.sampler.thin, 1);
  EXPECT_EQ(config.run.sampler.chains, 4);
  EXPECT_EQ(config.softmax.prior_sds, (std::vector<double>{0.3, 1, 3}));
  EXPECT_EQ(parsed(recordings).softmax, SoftmaxConfig{});
  EXPECT_EQ(config.run.output.directory, "runs/x");
  EXPECT_EQ(parsed("corpus:\n  path: features\nsampler:\nprior:\ntraining:\n"), config);
}

TEST(EvaluationConfigDefaults, OfTheClassifierFollowTheCorpusAndTheKeysOfMixtures) {
  EXPECT_EQ(parsed(corpus).classifier, ClassifierKind::fused);
  EXPECT_EQ(parsed(corpus + "likelihood: {components: 4}\n").classifier, ClassifierKind::mixtures);
  EXPECT_EQ(parsed(corpus + "likelihood: {components: 4}\nclassifier: fused\n").classifier,
            ClassifierKind::fused);
  EXPECT_EQ(parsed(recordings).classifier, ClassifierKind::softmax);
  EXPECT_EQ(parsed(recordings + "sampler: {seed: 3}\nthreads: 2\n").classifier, ClassifierKind::softmax);
  for (const char* key : {"likelihood: {components: 4}", "sampler: {draws: 9}", "training: {power: 1}",
                          "baseline: none", "features: {deltas: 1}", "features: {gain: kept}",
                          "features: {like: librosa}", "prior: {order: none}"})
    EXPECT_EQ(parsed(recordings + key + "\n").classifier, ClassifierKind::mixtures) << key;
}

TEST(EvaluationConfigDefaults, OfACorpusWithDimensionsAreThoseOfARegression) {
  const std::string numbers = "corpus: {kind: manifest, path: c.csv, dimensions: [arousal, valence]}\n";
  const EvaluationConfig config = parsed(numbers);
  EXPECT_EQ(config.classifier, ClassifierKind::regression);
  EXPECT_EQ(config.corpus.dimensions, (std::vector<std::string>{"arousal", "valence"}));
  EXPECT_EQ(config.regression, RegressionConfig{});
  EXPECT_EQ(config.regression.prior_sds, RegressionSettings().prior_sds);
  const std::string text = to_yaml(config);
  EXPECT_EQ(parsed(text), config);
  for (const char* key : {"classes", "labels", "class_prior", "softmax", "likelihood"})
    EXPECT_EQ(text.find(key), std::string::npos) << key << "\n" << text;
  const EvaluationConfig given =
      parsed(numbers + "classifier: regression\nregression: {prior_sds: [0.5, 2], sd_factor: 1.25}\n");
  EXPECT_EQ(given.regression, (RegressionConfig{{0.5, 2}, 1.25}));
  EXPECT_EQ(parsed(to_yaml(given)), given);
  const EvaluationConfig beside =
      parsed("corpus: {kind: emodb, path: x, dimensions: [arousal], dimensions_file: d.csv}\n");
  EXPECT_EQ(beside.corpus.dimensions_file, "d.csv");
  EXPECT_EQ(parsed(to_yaml(beside)), beside);
}

TEST(EvaluationConfigDefaults, OfSoftmaxRegressionFollowThePrior) {
  const EvaluationConfig config = parsed(recordings + "softmax: {prior: horseshoe}\n");
  EXPECT_EQ(config.softmax.prior, SoftmaxPrior::horseshoe);
  EXPECT_EQ(config.softmax.temperature, 1);
  EXPECT_EQ(config.softmax.warmup, 400);
  EXPECT_EQ(config.softmax.draws, 1000);
  EXPECT_EQ(config.features.set, FunctionalSet::compact);
  const EvaluationConfig given = parsed(
      recordings + "softmax: {prior: horseshoe, temperature: 0.25, warmup: 70}\nfeatures: {set: compact}\n");
  EXPECT_EQ(given.softmax.temperature, 0.25);
  EXPECT_EQ(given.softmax.warmup, 70);
  EXPECT_EQ(parsed(recordings).softmax.temperature, 1.0 / 64);
  EXPECT_EQ(parsed(recordings).features.set, FunctionalSet::full);
}

// Chains that start at draws from a wide prior are far from the posterior, and those of nuts might stay
// there.
TEST(EvaluationConfigDefaults, OfTheProposalFollowTheStarts) {
  const auto sampler_of = [](const std::string& more) { return parsed(corpus + more).run.sampler; };
  EXPECT_EQ(sampler_of("training: {background: none}\n").proposal.kind, "nuts");
  const SamplerConfig far = sampler_of("training: {background: none}\nsampler: {init: prior}\n");
  EXPECT_EQ(far.proposal.kind, "component_wise");
  EXPECT_EQ(far.warmup, 1000);
  EXPECT_EQ(far.draws, 500);
  EXPECT_EQ(far.thin, 8);
  EXPECT_EQ(sampler_of("sampler: {proposal: {kind: component_wise}}\n").thin, 8);
  EXPECT_EQ(sampler_of("sampler: {warmup: 20, draws: 30, thin: 2}\n").warmup, 20);
}

TEST(EvaluationConfigDefaults, OfTheEvidenceFollowTheTemper) {
  EXPECT_EQ(parsed(corpus + "classification: {temper: 0.02}\n").classification.evidence, Evidence::sum);
  EXPECT_EQ(parsed(corpus + "classification: {temper: 2, evidence: mean}\n").classification.evidence,
            Evidence::mean);
  EXPECT_EQ(parsed(corpus + "classification: {evidence: mean}\n").classification.evidence, Evidence::mean);
  EXPECT_EQ(parsed(corpus + "classification: {temper: learned, evidence: learned}\n"),
            parsed(corpus + "classifier: mixtures\n"));
}

TEST(EvaluationConfigDefaults, OfCepstraFollowThePreset) {
  const EvaluationConfig config =
      parsed(recordings + "features: {num_filters: 33, like: librosa, gate_db: 40}\n");
  MfccSettings settings = mfcc_preset("librosa");
  settings.num_filters = 33;
  EXPECT_EQ(config.features.mfcc, settings);
  EXPECT_EQ(config.features.gate_db, 40);
}

TEST(EvaluationConfigParsing, ReadsEveryKey) {
  const EvaluationConfig config = parsed(
      "corpus: {kind: tables, path: 'a b', pattern: '{speaker}-{emotion}.csv', classes: [x, \"y z\"], "
      "unparsed: skip}\n"
      "features: {normalize: utterance, deltas: 2}\nfolds: {k_fold_by_speaker: 5}\n"
      "training: {background: em, means_sd: 0.5, scales_sd: 0.25, weights: 10, power: 1}\n"
      "classification: {rule: mean_log, evidence: mean, temper: 0.5, class_prior: {x: 0.25, 'y z': 0.75}, "
      "draws: 7}\n"
      "baseline: none\nlikelihood: {components: 3, covariance: spherical}\nbackend: reference\nthreads: 2\n"
      "checkpoint: {seconds: 0.5}\noutput: {directory: there}\nsampler: {chains: 3, draws: 5, thin: 1}\n");
  EXPECT_EQ(config.corpus, (CorpusConfig{"tables", "a b", "{speaker}-{emotion}.csv", {"x", "y z"}, false}));
  EXPECT_EQ(config.features.normalize, Normalization::utterance);
  EXPECT_EQ(config.features.deltas, 2);
  EXPECT_EQ(config.folds, (FoldsConfig{FoldsKind::k_fold_by_speaker, 5, {}}));
  EXPECT_EQ(config.training, (TrainingConfig{true, 0.5, 0.25, 10, 1}));
  EXPECT_EQ(config.classification,
            (ClassificationConfig{
                Rule::mean_log, Evidence::mean, 0.5, ClassPrior::given, {{"x", 0.25}, {"y z", 0.75}}, 7}));
  EXPECT_FALSE(config.em_baseline);
  EXPECT_EQ(config.run.likelihood.components, 3);
  EXPECT_EQ(config.run.sampler.draws, 5);
  EXPECT_EQ(config.run.output.directory, "there");
  EXPECT_EQ(parsed(corpus, {"folds={test_speakers: [a, b]}"}).folds,
            (FoldsConfig{FoldsKind::test_speakers, 0, {"a", "b"}}));
  const EvaluationConfig tables = parsed(
      corpus +
          "folds: {file: 'f g.csv', column: part, test: [b, '1']}\nby: {columns: [sex, age], file: s.csv}\n",
      {"corpus.labels={joy: happiness, 'a: b': c}"});
  EXPECT_EQ(tables.folds, (FoldsConfig{FoldsKind::file, 0, {}, "f g.csv", "part", {"b", "1"}}));
  EXPECT_EQ(tables.by, (GroupsConfig{{"sex", "age"}, "s.csv"}));
  EXPECT_EQ(tables.corpus.labels, (std::map<std::string, std::string>{{"joy", "happiness"}, {"a: b", "c"}}));
}

TEST(EvaluationConfigYaml, ReadsBackToTheSameValue) {
  for (const std::string& yaml : {
           corpus,
           recordings,
           corpus + "folds: {k_fold_by_speaker: 2}\nbaseline: none\n",
           corpus + "folds: {test_speakers: ['1', \"a, b\", 'true', 'x: y']}\n",
           corpus + "folds: {file: 'a: b.csv'}\nby: {columns: [x, 'y: z'], file: s.csv}\n",
           corpus + "folds: {file: f.csv, column: 'a, b', test: ['1', x]}\n",
           std::string(
               "corpus: {kind: manifest, path: m.csv, labels: {joy: happiness, 'true': '1'}}\nby: {columns: "
               "[corpus]}\n"),
           corpus + "classification: {temper: 0.1}\n",
           corpus + "classification: {temper: 1e-3, evidence: mean, rule: mean_log}\n",
           corpus + "classification: {evidence: sum, class_prior: observed}\n",
           corpus + "classification: {class_prior: {anger: 0.1, 'a: b': 0.2, 'null': 0.7}, draws: 1}\n",
           recordings + "softmax: {prior_sds: [2, 0.5], temperature: 1, temper: 0.7, chains: 2, draws: 99}\n"
                        "features: {set: prosody}\nclassification: {class_prior: observed}\n",
           recordings + "softmax: {prior: horseshoe}\n",
           recordings + "softmax: {prior: horseshoe, relevant_share: 0.3, slab_scale: 2, warmup: 99}\n",
           corpus + "softmax: {prior: horseshoe, temperature: 0.5}\n",
           recordings + "softmax: {temper_frames: 12.5}\nclassification: {class_prior: {a: 0.25, b: 0.75}}\n",
           recordings + "classifier: mixtures\n",
           recordings + "classifier: fused\nfeatures: {set: cepstra, gain: kept}\nsoftmax: {draws: 99}\n",
           corpus + "classifier: softmax\n",
           corpus + "training: {background: none}\n",
           corpus + "training: {background: none, power: 0.3}\n"
                    "prior: {means: {normal: {mean: [0, 1], sd: 2}}, order: means.0}\n"
                    "sampler: {init: em, seed: 18446744073709551615}\n",
           corpus + "training: {background: none}\nlikelihood: {covariance: full, components: 2}\n"
                    "prior: {correlations: {lkj: 2}}\n",
           corpus + "training: {means_sd: 0.3, scales_sd: 0.01, weights: 1e9}\n",
           std::string(
               "corpus: {kind: folders, path: '#x', classes: [b, a, '3'], unparsed: skip}\n"
               "features: {like: thesis, high_hz: 3700.5, normalize: none, gate_db: 30, lifter: 11}\n"),
           std::string(
               "corpus: {path: '~', pattern: '*{speaker}_{emotion}.csv'}\n"
               "sampler: {proposal: {kind: random_walk, shape: dense}}\noutput: {keep_warmup: true}\n"),
       }) {
    const EvaluationConfig config = parsed(yaml);
    const std::string written = to_yaml(config);
    EXPECT_EQ(parse_evaluation_config(written, "elsewhere/other.yaml"), config) << written;
    EXPECT_EQ(parse_evaluation_config(to_yaml(config, YamlComments::explained), "elsewhere/other.yaml"),
              config)
        << to_yaml(config, YamlComments::explained);
  }
}

TEST(EvaluationConfigYaml, OfAllKeysIsWhatTheProgramWrites) {
  const auto file = source_directory / "configs/all_evaluation_keys.yaml";
  EXPECT_EQ(file_text(file), to_yaml(default_evaluation_config(), YamlComments::explained));
  EXPECT_EQ(load_evaluation_config(file), default_evaluation_config());
}

TEST(ShippedEvaluationConfigs, AreValid) {
  for (const char* name : {"thesis", "emodb"}) {
    const auto config = load_evaluation_config(source_directory / "configs" / (std::string(name) + ".yaml"));
    EXPECT_EQ(config.run.output.directory, std::filesystem::path("runs") / name);
    EXPECT_TRUE(config.em_baseline);
  }
}

struct BadEvaluation {
  std::string yaml;
  std::vector<std::string> words;  ///< words that the message must contain
};

void PrintTo(const BadEvaluation& bad, std::ostream* out) { *out << bad.yaml; }

class RefusedEvaluation : public testing::TestWithParam<BadEvaluation> {};

TEST_P(RefusedEvaluation, HasAOneLineMessageWithPlaceKeyAndWhatIsAllowed) {
  const std::string message = refusal(GetParam().yaml);
  EXPECT_EQ(message.find("configs/x.yaml"), 0u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 500u);
  for (const auto& word : GetParam().words)
    EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedEvaluation,
    testing::Values(
        BadEvaluation{"", {"empty", "corpus: {path: features}"}},
        BadEvaluation{"[]\n", {":1: ", "a map with keys"}},
        BadEvaluation{"likelihood: {components: 2}\n", {"corpus.path", "missing"}},
        BadEvaluation{corpus + "data: {file: a.csv}\n", {":2: data: ", "corpus: {path: ...}"}},
        BadEvaluation{"corpus:\n  path: x\n  clases: [a]\n",
                      {":3: corpus.clases", "did you mean corpus.classes"}},
        BadEvaluation{corpus + "\nclasification: {temper: 1}\n",
                      {":3: clasification", "did you mean classification"}},
        BadEvaluation{corpus + "temper: 1\n", {":2: temper", "did you mean classification.temper"}},
        BadEvaluation{corpus + "sampler:\n  chians: 2\n",
                      {":3: sampler.chians", "did you mean sampler.chains"}},
        BadEvaluation{corpus + "training: {backgroud: em}\n",
                      {":2: training.backgroud", "training.background"}},
        BadEvaluation{corpus + "fold: leave_one_speaker_out\n", {":2: fold", "did you mean folds"}},
        BadEvaluation{corpus + "folds:\n  leave_one_speaker: out\n", {"folds", "leave_one_speaker_out"}},
        BadEvaluation{"corpus: {path: }\n", {"corpus.path", "a path"}},
        BadEvaluation{"corpus: {path: x, kind: emodbb}\n",
                      {":1: corpus.kind", "did you mean emodb", "tables"}},
        BadEvaluation{"corpus: {path: x, classes: [a, b, a]}\n", {"corpus.classes", "a is listed twice"}},
        BadEvaluation{"corpus: {path: x, classes: a}\n", {"corpus.classes", "a list of classes"}},
        BadEvaluation{"corpus: {path: x, unparsed: ignore}\n", {"corpus.unparsed", "refuse, skip"}},
        BadEvaluation{recordings + "features: {like: librosaa}\n", {"features.like", "librosa"}},
        BadEvaluation{recordings + "features: {gate_db: -1}\n", {"features.gate_db", "0 or more"}},
        BadEvaluation{recordings + "classifier: softmax\nlikelihood: {components: 3}\n",
                      {":3: likelihood.components", "write classifier: mixtures"}},
        BadEvaluation{corpus + "features: {gain: 3}\n", {":2: features.gain", "removed", "kept"}},
        BadEvaluation{corpus + "classifier: fused\nclassification: {temper: 1}\n",
                      {":3: classification.temper", "a fused classifier learns it"}},
        BadEvaluation{corpus + "softmax: {temper: 1}\n", {":2: softmax.temper", "a fused classifier"}},
        BadEvaluation{recordings + "classifier: fused\nfeatures: {table: x.csv}\n",
                      {":3: features.table", "without frames"}},
        BadEvaluation{corpus + "classifier: both\n", {":2: classifier", "fused"}},
        BadEvaluation{recordings + "classifier: mixtures\nsoftmax: {draws: 100}\n",
                      {":3: softmax.draws", "softmax regression"}},
        BadEvaluation{recordings + "softmax: {prior_sds: []}\n", {":2: softmax.prior_sds", "above 0"}},
        BadEvaluation{recordings + "softmax: {prior_sds: [1, 0]}\n", {":2: softmax.prior_sds", "above 0"}},
        BadEvaluation{recordings + "softmax: {prior_sds: [3, 1, 3]}\n",
                      {":2: softmax.prior_sds", "different numbers"}},
        BadEvaluation{recordings + "softmax: {temperature: 2}\n", {":2: softmax.temperature", "up to 1"}},
        BadEvaluation{recordings + "softmax: {temper_frames: -1}\n",
                      {":2: softmax.temper_frames", "learned", "0 to 1e6"}},
        BadEvaluation{recordings + "softmax: {prior: horsehoe}\n",
                      {":2: softmax.prior", "did you mean horseshoe", "ridge, horseshoe"}},
        BadEvaluation{recordings + "softmax: {prior: horseshoe}\nfeatures: {set: full}\n",
                      {":3: features.set", "full has 1638 columns",
                       "softmax.prior: horseshoe takes at most 200", "compact"}},
        BadEvaluation{recordings + "softmax: {slab_scale: 1}\n",
                      {":2: softmax.slab_scale", "with softmax.prior: horseshoe use this key"}},
        BadEvaluation{recordings + "softmax: {prior: horseshoe, relevant_share: 1}\n",
                      {":2: softmax.relevant_share", "above 0 and below 1"}},
        BadEvaluation{recordings + "softmax: {prior: horseshoe, slab_scale: 0}\n",
                      {":2: softmax.slab_scale", "above 0, up to 1000"}},
        BadEvaluation{recordings + "features: {set: ful}\n", {":2: features.set", "full"}},
        BadEvaluation{"corpus: {kind: emodb, path: x, pattern: '{emotion}_{speaker}.csv'}\n",
                      {"corpus.pattern", "corpora of tables", "remove it"}},
        BadEvaluation{corpus + "features: {num_filters: 20}\n",
                      {":2: features.num_filters", "corpora of recordings", "remove it"}},
        BadEvaluation{corpus + "features: {like: librosa}\n", {"features.like", "corpora of recordings"}},
        BadEvaluation{corpus + "features: {deltas: 3}\n", {"features.deltas", "0 to 2"}},
        BadEvaluation{corpus + "features: {normalize: speakers}\n",
                      {"features.normalize", "did you mean speaker"}}));

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedEvaluation,
    testing::Values(
        BadEvaluation{corpus + "folds: leave_one_out\n",
                      {":2: folds", "leave_one_speaker_out", "k_fold_by_speaker"}},
        BadEvaluation{corpus + "folds: 5\n", {":2: folds", "leave_one_speaker_out"}},
        BadEvaluation{corpus + "folds: {k_fold_by_speaker: 1}\n", {"folds.k_fold_by_speaker", "2 to 10000"}},
        BadEvaluation{corpus + "folds: {k_fold_by_speaker: many}\n", {"folds.k_fold_by_speaker"}},
        BadEvaluation{corpus + "folds: {k_fold_by_speaker: 2, test_speakers: [a]}\n",
                      {"folds", "k_fold_by_speaker: 5"}},
        BadEvaluation{corpus + "folds: {test_speakers: []}\n", {"folds.test_speakers", "name a speaker"}},
        BadEvaluation{corpus + "folds: {test_speakers: [a, a]}\n", {"folds.test_speakers", "twice"}},
        BadEvaluation{corpus + "folds: {file: f.csv, tests: [a]}\n", {"folds.tests", "column and test"}},
        BadEvaluation{corpus + "folds: {file: f.csv, test: []}\n", {"folds.test", "name a value"}},
        BadEvaluation{corpus + "folds: {file: ''}\n", {"folds.file", "a path"}},
        BadEvaluation{corpus + "by: {columns: [sex]}\n", {"by.columns", "manifest", "by.file"}},
        BadEvaluation{corpus + "by: {file: s.csv}\n", {"by.file", "by.columns"}},
        BadEvaluation{corpus + "by: {columns: [a, a], file: s.csv}\n", {"by.columns", "twice"}},
        BadEvaluation{"corpus: {path: x, labels: [joy]}\n", {"corpus.labels", "{joy: happiness}"}},
        BadEvaluation{"corpus: {path: x, labels: {joy: ''}}\n", {"corpus.labels.joy", "a class"}},
        BadEvaluation{corpus + "training: {power: 0}\n", {":2: training.power", "above 0, up to 1"}},
        BadEvaluation{corpus + "training: {power: 1.5}\n", {"training.power", "above 0, up to 1"}},
        BadEvaluation{corpus + "training: {power: .nan}\n", {"training.power"}},
        BadEvaluation{corpus + "training: {means_sd: -1}\n", {"training.means_sd", "above 0"}},
        BadEvaluation{corpus + "training: {background: kmeans}\n", {"training.background", "em, none"}},
        BadEvaluation{corpus + "training:\n  background: none\n  means_sd: 1\n",
                      {":4: training.means_sd", "remove it"}},
        BadEvaluation{corpus + "classification: {temper: 0}\n",
                      {":2: classification.temper", "above 0, up to 1000"}},
        BadEvaluation{corpus + "classification: {temper: -0.1}\n", {"classification.temper", "learned"}},
        BadEvaluation{corpus + "classification: {temper: lerned}\n", {"classification.temper"}},
        BadEvaluation{corpus + "classification: {temper: [1]}\n", {"classification.temper", "learned"}},
        BadEvaluation{corpus + "classification: {temper: 1, evidence: learned}\n",
                      {"classification.evidence", "sum or mean"}},
        BadEvaluation{corpus + "classification: {class_prior: {a: 0.5, b: 0.4}}\n",
                      {":2: classification.class_prior", "sum to 0.9", "1"}},
        BadEvaluation{corpus + "classification: {class_prior: {a: 1.5, b: -0.5}}\n",
                      {"classification.class_prior.a", "above 0, up to 1"}},
        BadEvaluation{corpus + "classification: {class_prior: {a: 0, b: 1}}\n",
                      {"classification.class_prior.a", "above 0, up to 1"}},
        BadEvaluation{corpus + "classification: {class_prior: flat}\n",
                      {"classification.class_prior", "uniform, observed"}},
        BadEvaluation{corpus + "classification: {draws: 0}\n", {"classification.draws", "1 to 1000000"}},
        BadEvaluation{corpus + "baseline: mle\n", {":2: baseline", "em, none"}}));

INSTANTIATE_TEST_SUITE_P(
    Contradictions, RefusedEvaluation,
    testing::Values(
        BadEvaluation{corpus + "prior:\n  means: {normal: {mean: 0, sd: 5}}\n",
                      {":3: prior.means", "training.background: em", "background: none"}},
        BadEvaluation{corpus + "prior: {weights: {dirichlet: 2}}\n",
                      {":2: prior.weights", "background: none"}},
        BadEvaluation{corpus + "prior: {scales: {half_normal: 2}}\n",
                      {":2: prior.scales", "background: none"}},
        BadEvaluation{corpus + "prior: {order: means.0}\n", {":2: prior.order", "allowed", "none"}},
        BadEvaluation{corpus + "likelihood: {covariance: full}\n",
                      {":2: likelihood.covariance", "covariance full", "background: none"}},
        BadEvaluation{corpus + "training: {background: em}\nlikelihood: {covariance: tied}\n",
                      {":2: training.background", "covariance tied", "background: none"}},
        BadEvaluation{corpus + "likelihood: {model: two_gaussian}\n",
                      {"likelihood.model", "gaussian_mixture"}},
        BadEvaluation{corpus + "sampler: {superchains: 2}\n", {":2: sampler.superchains", "not used here"}},
        BadEvaluation{corpus + "sampler: {until: {ess: 100}}\n", {":2: sampler.until.ess", "not used here"}},
        BadEvaluation{corpus + "sampler: {until: {seconds: 100}}\n", {":2: sampler.until.seconds"}},
        BadEvaluation{corpus + "output: {pointwise: true}\n", {":2: output.pointwise", "not used here"}},
        BadEvaluation{corpus + "sampler: {chains: 8, proposal: {kind: stretch}}\n",
                      {":2: sampler.proposal.kind", "stretch"}}));

TEST(EvaluationConfigOverrides, ErrorsNameTheArgument) {
  EXPECT_EQ(refusal(corpus, {"classification.temper=0"}),
            "--set classification.temper=0: classification.temper: 0 is out of range; allowed: learned, or a "
            "number above 0, up to 1000");
  EXPECT_EQ(refusal(corpus, {"data.file=x"}).find("--set data.file=x: data: "), 0u)
      << refusal(corpus, {"data.file=x"});
  EXPECT_EQ(refusal("", {"corpus.path=x"}), "");
}

}  // namespace
}  // namespace emomc::app
