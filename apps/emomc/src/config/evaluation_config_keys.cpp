#include "evaluation_config_keys.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "emomc/speech/corpus.hpp"
#include "features_config_keys.hpp"
#include "folds_config_keys.hpp"
#include "name_list.hpp"
#include "regression_config_keys.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

bool is_tables(const EvaluationConfig& config) { return config.corpus.kind == "tables"; }
bool has_background(const EvaluationConfig& config) { return config.training.background; }

Names known_corpora() {
  Names kinds = corpus_kinds();
  kinds.insert(kinds.begin(), "tables");
  return kinds;
}

// The names are in the order of ClassifierKind.
const Names& classifier_names() {
  static const Names names{"softmax", "mixtures", "fused", "regression"};
  return names;
}

EvaluationKey classifier_key() {
  return {
      "classifier",
      "softmax: regression on functionals of utterances | mixtures: a mixture of frames for each class | "
      "fused: the product of both | regression: of the numbers in corpus.dimensions on functionals. Default: "
      "regression for a corpus with dimensions, softmax for recordings, fused for tables; mixtures for the "
      "latter two if a key of mixtures is given",
      [](const YamlValue& v, EvaluationConfig& c) {
        const Names& names = classifier_names();
        const auto at = std::find(names.begin(), names.end(), v.choice(names));
        c.classifier = static_cast<ClassifierKind>(at - names.begin());
      },
      [](const EvaluationConfig& c) { return classifier_names()[static_cast<std::size_t>(c.classifier)]; }};
}

void read_labels(const YamlValue& value, EvaluationConfig& config) {
  const YamlNode& node = value.node();
  if (node.kind != YamlNode::Kind::map) value.refuse_type("a map of labels to classes: {joy: happiness}");
  config.corpus.labels.clear();
  for (std::size_t i = 0; i < node.keys.size(); ++i)
    config.corpus.labels[node.keys[i].scalar] =
        YamlValue(node.items[i], value.key() + "." + node.keys[i].scalar).text("a class");
}

std::string write_labels(const EvaluationConfig& config) {
  std::string text;
  for (const auto& [from, to] : config.corpus.labels)
    text += (text.empty() ? "" : ", ") + yaml_text(from) + ": " + yaml_text(to);
  return "{" + text + "}";
}

std::vector<EvaluationKey> corpus_keys() {
  return {
      {"corpus.kind", "tables | emodb | ravdess | cremad | tess | savee | iemocap | folders | manifest",
       [](const YamlValue& v, EvaluationConfig& c) { c.corpus.kind = v.choice(known_corpora()); },
       [](const EvaluationConfig& c) { return c.corpus.kind; }},
      {"corpus.path", "required: a directory; for kind manifest a CSV of path, label, speaker",
       [](const YamlValue& v, EvaluationConfig& c) { c.corpus.path = v.text("a path"); },
       [](const EvaluationConfig& c) { return yaml_text(c.corpus.path.string()); }},
      {"corpus.pattern", "for tables: where a file's name has {emotion} and {speaker}; * matches anything",
       [](const YamlValue& v, EvaluationConfig& c) { c.corpus.pattern = v.text("a pattern"); },
       [](const EvaluationConfig& c) { return yaml_text(c.corpus.pattern); }, is_tables, "corpora of tables"},
      {"corpus.classes", "[]: all that are found; or a list of the classes to use",
       [](const YamlValue& v, EvaluationConfig& c) { c.corpus.classes = read_list(v, "classes"); },
       [](const EvaluationConfig& c) { return write_list(c.corpus.classes); }, has_classes, kOfClasses},
      {"corpus.labels", "{label: class, ...}: labels of the corpus that count as another class", read_labels,
       write_labels, has_classes, kOfClasses},
      {"corpus.unparsed", "files whose names cannot be parsed: refuse | skip",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.corpus.refuse_unparsed = v.choice(Names{"refuse", "skip"}) == "refuse";
       },
       [](const EvaluationConfig& c) { return std::string(c.corpus.refuse_unparsed ? "refuse" : "skip"); }},
      dimensions_key(),
      dimensions_file_key(),
  };
}

std::vector<EvaluationKey> training_keys() {
  return {
      {"training.background",
       "em: a class's prior is centred on a mixture of all classes' frames, fitted by EM | none: prior below",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.training.background = v.choice(Names{"em", "none"}) == "em";
       },
       [](const EvaluationConfig& c) { return std::string(c.training.background ? "em" : "none"); }},
      {"training.means_sd",
       "sd of a mean about the background's, in the component's sds; above 0, up to 1000 | learned: a "
       "parameter of "
       "each column, in its units",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.training.means_sd.reset();
         if (v.node().kind != YamlNode::Kind::scalar || v.node().scalar != "learned")
           c.training.means_sd = number_above_zero(v, 1000);
       },
       [](const EvaluationConfig& c) {
         return c.training.means_sd ? shortest_text(*c.training.means_sd) : std::string("learned");
       },
       has_background, "priors centred on a background"},
      {"training.scales_sd", "sd of a log scale about the background's; above 0, up to 10",
       [](const YamlValue& v, EvaluationConfig& c) { c.training.scales_sd = number_above_zero(v, 10); },
       [](const EvaluationConfig& c) { return shortest_text(c.training.scales_sd); }, has_background,
       "priors centred on a background"},
      {"training.weights", "rows that the background's weights count as; above 0, up to 1e9",
       [](const YamlValue& v, EvaluationConfig& c) { c.training.weights = number_above_zero(v, 1e9); },
       [](const EvaluationConfig& c) { return shortest_text(c.training.weights); }, has_background,
       "priors centred on a background"},
      {"training.power",
       "power of the likelihood, above 0, up to 1, as neighbouring frames are not independent; 1: the plain "
       "posterior",
       [](const YamlValue& v, EvaluationConfig& c) { c.training.power = number_above_zero(v, 1); },
       [](const EvaluationConfig& c) { return shortest_text(c.training.power); }},
  };
}

void read_temper(const YamlValue& value, EvaluationConfig& config) {
  if (value.node().kind == YamlNode::Kind::scalar && value.node().scalar == "learned") {
    config.classification.temper.reset();
    return;
  }
  const double temper = value.node().kind == YamlNode::Kind::scalar ? value.number() : 0;
  if (!(temper > 0 && temper <= 1000)) value.refuse_range("learned, or a number above 0, up to 1000");
  config.classification.temper = temper;
}

void read_class_prior(const YamlValue& value, EvaluationConfig& config) {
  auto& to = config.classification;
  to.class_probabilities.clear();
  const YamlNode& node = value.node();
  if (node.kind == YamlNode::Kind::map) {
    double sum = 0;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const YamlValue p(node.items[i], value.key() + "." + node.keys[i].scalar);
      const double probability = number_above_zero(p, 1);
      to.class_probabilities[node.keys[i].scalar] = probability;
      sum += probability;
    }
    if (!(sum > 0.999999 && sum < 1.000001))
      value.refuse("the probabilities sum to " + shortest_text(sum) + "; they must sum to 1");
    to.class_prior = ClassPrior::given;
    return;
  }
  if (node.kind != YamlNode::Kind::scalar || (node.scalar != "uniform" && node.scalar != "observed"))
    value.refuse_type("uniform, observed, or the probability of each class: {anger: 0.2, neutral: 0.8}");
  to.class_prior = node.scalar == "uniform" ? ClassPrior::uniform : ClassPrior::observed;
}

std::string write_class_prior(const EvaluationConfig& config) {
  const auto& from = config.classification;
  if (from.class_prior != ClassPrior::given)
    return from.class_prior == ClassPrior::uniform ? "uniform" : "observed";
  std::string text;
  for (const auto& [name, p] : from.class_probabilities)
    text += (text.empty() ? "" : ", ") + yaml_text(name) + ": " + shortest_text(p);
  return "{" + text + "}";
}

bool has_softmax(const EvaluationConfig& config) {
  return config.classifier == ClassifierKind::softmax || config.classifier == ClassifierKind::fused;
}
bool has_horseshoe(const EvaluationConfig& config) {
  return has_softmax(config) && config.softmax.prior == SoftmaxPrior::horseshoe;
}

void read_temper_frames(const YamlValue& value, EvaluationConfig& config) {
  config.softmax.temper_frames.reset();
  if (value.node().kind == YamlNode::Kind::scalar && value.node().scalar == "learned") return;
  const double frames = value.node().kind == YamlNode::Kind::scalar ? value.number() : -1;
  if (!(frames >= 0 && frames <= 1e6)) value.refuse_range("learned, or a number, 0 to 1e6");
  config.softmax.temper_frames = frames;
}

template <auto kMember, int kLeast>
EvaluationKey softmax_count(std::string name, std::string comment) {
  return {std::move(name),
          std::move(comment),
          [](const YamlValue& v, EvaluationConfig& c) {
            c.softmax.*kMember = static_cast<int>(v.integer(kLeast, 100'000));
          },
          [](const EvaluationConfig& c) { return std::to_string(c.softmax.*kMember); },
          has_softmax,
          "evaluations of softmax regression"};
}

std::vector<EvaluationKey> softmax_keys() {
  const std::string user = "evaluations of softmax regression";
  const std::string horseshoe = "evaluations of softmax regression with softmax.prior: horseshoe";
  return {
      {"softmax.prior",
       "ridge: normal(0, sd) for all weights, averaged over sds by inner folds | horseshoe: with scales of "
       "columns that are parameters; up to 200 columns",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.softmax.prior = softmax_prior(v.choice(softmax_prior_names()));
       },
       [](const EvaluationConfig& c) { return softmax_prior_name(c.softmax.prior); }, has_softmax, user},
      {"softmax.prior_sds",
       "prior sds of a logit; inner folds weight the posteriors that are averaged, and choose the sd of the "
       "penalised fit; with the horseshoe for the penalised fit alone",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.softmax.prior_sds = read_positive_numbers(v, 1000);
         if (std::set<double>(c.softmax.prior_sds.begin(), c.softmax.prior_sds.end()).size() <
             c.softmax.prior_sds.size())
           v.refuse_range("different numbers");
       },
       [](const EvaluationConfig& c) { return write_numbers(c.softmax.prior_sds); }, has_softmax, user},
      {"softmax.relevant_share",
       "share of the columns that is expected to matter, from which the horseshoe's global scale follows; "
       "above 0 and below 1",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.softmax.relevant_share = v.number();
         if (!(c.softmax.relevant_share > 0 && c.softmax.relevant_share < 1))
           v.refuse_range("above 0 and below 1");
       },
       [](const EvaluationConfig& c) { return shortest_text(c.softmax.relevant_share); }, has_horseshoe,
       horseshoe},
      {"softmax.slab_scale",
       "scale of the weights of standardised columns that matter, a Student's t of 4 degrees of freedom; "
       "above 0, up to 1000",
       [](const YamlValue& v, EvaluationConfig& c) { c.softmax.slab_scale = number_above_zero(v, 1000); },
       [](const EvaluationConfig& c) { return shortest_text(c.softmax.slab_scale); }, has_horseshoe,
       horseshoe},
      {"softmax.temperature",
       "draws are from the posterior to the power 1 / temperature; above 0, up to 1: the plain one, the "
       "horseshoe's default",
       [](const YamlValue& v, EvaluationConfig& c) { c.softmax.temperature = number_above_zero(v, 1); },
       [](const EvaluationConfig& c) { return shortest_text(c.softmax.temperature); }, has_softmax, user},
      {"softmax.temper",
       "a factor of logits: learned (by log loss, training speakers left out in turn) | a number",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.softmax.temper.reset();
         if (v.node().kind != YamlNode::Kind::scalar || v.node().scalar != "learned")
           c.softmax.temper = number_above_zero(v, 1000);
       },
       [](const EvaluationConfig& c) {
         return c.softmax.temper ? shortest_text(*c.softmax.temper) : std::string("learned");
       },
       has_softmax, user},
      {"softmax.temper_frames",
       "the temper of n frames is temper n / (n + this): learned (on clips of training speakers' recordings, "
       "with the temper) | a number, 0 to 1e6",
       read_temper_frames,
       [](const EvaluationConfig& c) {
         return c.softmax.temper_frames ? shortest_text(*c.softmax.temper_frames) : std::string("learned");
       },
       has_softmax, user},
      softmax_count<&SoftmaxConfig::chains, 2>("softmax.chains", "chains of each fold"),
      softmax_count<&SoftmaxConfig::warmup, 10>(
          "softmax.warmup", "steps of each chain that are not kept; with the horseshoe 400"),
      softmax_count<&SoftmaxConfig::draws, 10>("softmax.draws", "kept per chain, for each posterior"),
  };
}

std::vector<EvaluationKey> classification_keys() {
  return {
      {"classification.rule",
       "predictive: log mean over draws of exp(temper * log likelihood) | mean_log: temper * its mean",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.classification.rule =
             v.choice(Names{"predictive", "mean_log"}) == "predictive" ? Rule::predictive : Rule::mean_log;
       },
       [](const EvaluationConfig& c) {
         return std::string(c.classification.rule == Rule::predictive ? "predictive" : "mean_log");
       }},
      {"classification.evidence",
       "an utterance's log likelihood: sum over its n frames | mean | learned: sum / (n + n0), with "
       "n0 "
       "learned on cut utterances",
       [](const YamlValue& v, EvaluationConfig& c) {
         const std::string name = v.choice(Names{"learned", "sum", "mean"});
         c.classification.evidence.reset();
         if (name != "learned") c.classification.evidence = name == "sum" ? Evidence::sum : Evidence::mean;
       },
       [](const EvaluationConfig& c) {
         if (!c.classification.evidence) return std::string("learned");
         return std::string(*c.classification.evidence == Evidence::sum ? "sum" : "mean");
       }},
      {"classification.temper", "learned (by log loss, training speakers left out in turn) | a number",
       read_temper,
       [](const EvaluationConfig& c) {
         return c.classification.temper ? shortest_text(*c.classification.temper) : "learned";
       }},
      {"classification.class_prior",
       "uniform | observed (shares of the training utterances) | {class: probability, ...}", read_class_prior,
       write_class_prior, has_classes, kOfClasses},
      {"classification.draws",
       "draws of each class that score an utterance, 1 to 1e6; all if there are fewer",
       [](const YamlValue& v, EvaluationConfig& c) { c.classification.draws = v.integer(1, 1'000'000); },
       [](const EvaluationConfig& c) { return std::to_string(c.classification.draws); }},
      {"baseline", "em: maximum likelihood mixtures beside the posteriors | none",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.em_baseline = v.choice(Names{"em", "none"}) == "em";
       },
       [](const EvaluationConfig& c) { return std::string(c.em_baseline ? "em" : "none"); }},
  };
}

}  // namespace

const std::vector<EvaluationKey>& evaluation_keys() {
  static const std::vector<EvaluationKey> keys = [] {
    std::vector<EvaluationKey> all;
    const auto append = [&](std::vector<EvaluationKey> section) {
      for (EvaluationKey& key : section) all.push_back(std::move(key));
    };
    append(corpus_keys());
    append({classifier_key()});
    for (const auto part : {features_keys, folds_keys, training_keys, group_keys, classification_keys,
                            softmax_keys, regression_keys})
      append(part());
    return all;
  }();
  return keys;
}

}  // namespace emomc::app
