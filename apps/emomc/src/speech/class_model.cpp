#include "class_model.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/model_files.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "input_kind.hpp"
#include "run_config.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 1;

ColumnUnits units_of(const nlohmann::json& json, std::size_t dim, const std::string& name) {
  ColumnUnits units{finite_numbers(json.at("mean"), dim, name + ".mean"),
                    finite_numbers(json.at("sd"), dim, name + ".sd")};
  for (const double sd : units.sd)
    if (!(sd > 0)) throw InputError(name + ".sd has a value that is not positive");
  return units;
}

void read_draws(const std::filesystem::path& file, const std::string& sha256, ClassModel& model) {
  const ParameterLayout layout = model_layout(model.likelihood(), static_cast<int>(model.columns.size()));
  const auto dim = static_cast<std::size_t>(layout.dim());
  const std::vector<std::size_t> shape{model.classes.size(), model.num_draws, dim};
  count_of(shape, "draws");
  const std::vector<double> values = read_npy_numbers(file, shape, sha256);
  const auto of_class = static_cast<std::ptrdiff_t>(model.num_draws * dim);
  for (std::size_t c = 0; c < model.classes.size(); ++c) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(c) * of_class;
    model.theta.emplace_back(begin, begin + of_class);
  }
}

}  // namespace

void write_class_model(const ClassModel& model, const std::filesystem::path& directory) {
  std::vector<double> values;
  for (const auto& theta : model.theta) values.insert(values.end(), theta.begin(), theta.end());
  const std::string draws =
      npy_of({model.classes.size(), model.num_draws, model.theta[0].size() / model.num_draws}, values);
  const Json json{{"emomc_model", kVersion},
                  {"classes", model.classes},
                  {"columns", model.columns},
                  {"sample_rate", model.sample_rate},
                  {"corpus", {{"mean", model.corpus.mean}, {"sd", model.corpus.sd}}},
                  {"units", {{"mean", model.units.mean}, {"sd", model.units.sd}}},
                  {"evidence", model.classifier.evidence == Evidence::sum ? "sum" : "mean"},
                  {"temper", model.classifier.temper},
                  {"damping_frames", model.classifier.damping_frames},
                  {"log_prior", model.classifier.log_prior},
                  {"draws", model.num_draws},
                  {"draws_sha256", sha256_hex(draws)},
                  {"config", to_yaml(model.config)}};
  write_file_atomically(directory / "draws.npy", draws);
  write_file_atomically(directory / "model.json", json.dump(1) + "\n");
}

ClassModel read_class_model(const std::filesystem::path& directory) {
  refuse_if_no_model(directory);
  ClassModel model;
  read_model_json(directory, kVersion, kVersion, [&](const nlohmann::json& json) {
    model.classes = json.at("classes").get<std::vector<std::string>>();
    model.columns = json.at("columns").get<std::vector<std::string>>();
    const std::size_t dim = model.columns.size();
    if (model.classes.size() < 2 || dim == 0) throw InputError("it has no classes or columns");
    model.config = parse_evaluation_config(json.at("config").get<std::string>(), "config");
    // Models without damping_frames are from older versions, which did not remove the gain.
    const bool is_older = !json.contains("damping_frames");
    if (is_older) model.config.features.remove_gain = false;
    model.sample_rate = json.at("sample_rate").get<double>();
    model.corpus = units_of(json.at("corpus"), dim, "corpus");
    model.units = units_of(json.at("units"), dim, "units");
    model.classifier.rule = model.config.classification.rule;
    const auto evidence = json.at("evidence").get<std::string>();
    if (evidence != "sum" && evidence != "mean") throw InputError("evidence is neither sum nor mean");
    model.classifier.evidence = evidence == "sum" ? Evidence::sum : Evidence::mean;
    model.classifier.temper = json.at("temper").get<double>();
    if (!(model.classifier.temper > 0) || !std::isfinite(model.classifier.temper))
      throw InputError("temper is out of range");
    model.classifier.damping_frames = is_older ? 0 : json.at("damping_frames").get<double>();
    if (!(model.classifier.damping_frames >= 0) || !std::isfinite(model.classifier.damping_frames))
      throw InputError("damping_frames is out of range");
    model.classifier.log_prior = finite_numbers(json.at("log_prior"), model.classes.size(), "log_prior");
    model.num_draws = json.at("draws").get<std::size_t>();
    read_draws(directory / "draws.npy", json.at("draws_sha256").get<std::string>(), model);
  });
  return model;
}

}  // namespace emomc::app
