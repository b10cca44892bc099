#include "regression_config_keys.hpp"

#include "emomc/emotion/dimension_labels.hpp"
#include "name_list.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

const char* const kUser = "regressions (classifier: regression)";

bool is_regression(const EvaluationConfig& config) { return config.classifier == ClassifierKind::regression; }

void read_dimensions(const YamlValue& value, EvaluationConfig& config) {
  config.corpus.dimensions = read_list(value, "columns of numbers");
  for (const std::string& name : config.corpus.dimensions)
    if (is_taken_in_results(name)) value.refuse(name + " names something else in results; rename the column");
}

void read_sd_factor(const YamlValue& value, EvaluationConfig& config) {
  config.regression.sd_factor.reset();
  if (value.node().kind == YamlNode::Kind::scalar && value.node().scalar == "learned") return;
  const double factor = value.node().kind == YamlNode::Kind::scalar ? value.number() : 0;
  if (!(factor > 0 && factor <= 1000)) value.refuse_range("learned, or a number above 0, up to 1000");
  config.regression.sd_factor = factor;
}

}  // namespace

bool has_classes(const EvaluationConfig& config) { return !is_regression(config); }

double number_above_zero(const YamlValue& value, double most) {
  const double number = value.number();
  if (!(number > 0 && number <= most)) value.refuse_range("above 0, up to " + shortest_text(most));
  return number;
}

std::vector<double> read_positive_numbers(const YamlValue& value, double most) {
  if (value.node().kind != YamlNode::Kind::list || value.node().items.empty())
    value.refuse_type("a list of numbers above 0, up to " + shortest_text(most));
  std::vector<double> numbers;
  for (const YamlNode& item : value.node().items)
    numbers.push_back(number_above_zero(YamlValue(item, value.key()), most));
  return numbers;
}

std::string write_numbers(const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += (text.empty() ? "" : ", ") + shortest_text(x);
  return "[" + text + "]";
}

EvaluationKey dimensions_key() {
  return {"corpus.dimensions", "columns of numbers that a regression predicts: [arousal, valence]",
          read_dimensions,     [](const EvaluationConfig& c) { return write_list(c.corpus.dimensions); },
          is_regression,       kUser};
}

EvaluationKey dimensions_file_key() {
  return {"corpus.dimensions_file",
          "the CSV that has them, with a column recording, path, utterance or file; \"\": the corpus's "
          "manifest",
          [](const YamlValue& v, EvaluationConfig& c) {
            const bool is_none = v.node().kind == YamlNode::Kind::scalar && v.node().scalar.empty();
            c.corpus.dimensions_file = is_none ? "" : v.text("a path");
          },
          [](const EvaluationConfig& c) { return yaml_text(c.corpus.dimensions_file.string()); },
          is_regression,
          kUser};
}

std::vector<EvaluationKey> regression_keys() {
  return {
      {"regression.prior_sds",
       "prior sds of what functionals explain, in the noise's sd, of which inner folds choose one",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.regression.prior_sds = read_positive_numbers(v, 1000);
       },
       [](const EvaluationConfig& c) { return write_numbers(c.regression.prior_sds); }, is_regression, kUser},
      {"regression.sd_factor",
       "factor of predictive sds: learned (by log density, training speakers left out in turn) | a number; "
       "1: the "
       "plain posterior",
       read_sd_factor,
       [](const EvaluationConfig& c) {
         return c.regression.sd_factor ? shortest_text(*c.regression.sd_factor) : std::string("learned");
       },
       is_regression, kUser},
  };
}

void refuse_without_dimensions(const YamlNode& root, const EvaluationConfig& config) {
  if (!is_regression(config)) return;
  const char* written = find_value(root, "corpus.dimensions") != nullptr ? "corpus.dimensions" : "classifier";
  if (config.corpus.dimensions.empty())
    refuse_at(key_place(root, written), "corpus.dimensions",
              "this key is missing; write the columns of numbers to predict, as corpus: {dimensions: "
              "[arousal, valence]}");
  if (config.corpus.dimensions_file.empty() && config.corpus.kind != "manifest")
    refuse_at(
        key_place(root, "corpus.dimensions"), "corpus.dimensions",
        "only a manifest has columns of its own; write corpus.dimensions_file, a CSV with these columns");
}

}  // namespace emomc::app
