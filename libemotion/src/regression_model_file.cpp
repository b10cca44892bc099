#include "emomc/emotion/regression_model_file.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/model_files.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "json_number.hpp"
#include "row_model_json.hpp"

namespace emomc {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 2;  // version 1 belongs to mixtures

Json dimension_json(const Regressor::Dimension& dimension) {
  Json factors = Json::object();
  for (std::size_t k = 0; k < kNumKnowledge; ++k) {
    const SdFactor& one = dimension.factors[k];
    factors[knowledge_name(static_cast<SpeakerKnowledge>(k))] = {
        {"factor", one.factor}, {"inner_log_density", number(one.inner_log_density)}};
  }
  return {{"name", dimension.name},
          {"prior_sd", dimension.prior_sd},
          {"mean", dimension.mean},
          {"noise_sd", dimension.noise_sd},
          {"sd_factors", factors}};
}

// Reads a dimension except for its weights, which are in weights.npy.
Regressor::Dimension read_dimension(const nlohmann::json& json) {
  Regressor::Dimension dimension;
  dimension.name = json.at("name").get<std::string>();
  dimension.prior_sd = positive(json, "prior_sd");
  dimension.mean = finite_numbers(nlohmann::json::array({json.at("mean")}), 1, "mean")[0];
  dimension.noise_sd = positive(json, "noise_sd");
  for (std::size_t k = 0; k < kNumKnowledge; ++k) {
    const auto& one = json.at("sd_factors").at(knowledge_name(static_cast<SpeakerKnowledge>(k)));
    const auto& density = one.at("inner_log_density");
    dimension.factors[k] = {positive(one, "factor"), density.is_null()
                                                         ? std::numeric_limits<double>::quiet_NaN()
                                                         : density.get<double>()};
  }
  return dimension;
}

void read_regressor(const nlohmann::json& json, const std::filesystem::path& directory,
                    Regressor& regressor) {
  regressor.columns = distinct_names(json, 1, "columns");
  regressor.corpus = read_statistics(json, regressor.columns.size());
  regressor.num_rows = json.at("utterances").get<std::size_t>();
  regressor.rank = json.at("rank").get<std::size_t>();
  if (regressor.num_rows < 4) throw InputError("utterances is out of range");
  if (regressor.rank > regressor.columns.size()) throw InputError("rank is out of range");
  const auto names = json.at("dimensions").size();
  // The rows of weights.npy are the centre, the eigenvalues, and the weights of each dimension.
  const std::vector<std::size_t> rotation{regressor.columns.size(), regressor.rank},
      weights{names + 2, regressor.rank};
  count_of(rotation, "rank");
  count_of(weights, "dimensions");
  regressor.axes =
      read_npy_numbers(directory / "rotation.npy", rotation, json.at("rotation_sha256").get<std::string>());
  const std::vector<double> rows =
      read_npy_numbers(directory / "weights.npy", weights, json.at("weights_sha256").get<std::string>());
  const auto row = [&](std::size_t i) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i * regressor.rank);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(regressor.rank));
  };
  regressor.centre = row(0);
  regressor.eigenvalues = row(1);
  for (const double x : regressor.eigenvalues)
    if (x < 0) throw InputError("weights.npy has an eigenvalue below 0");
  for (const auto& one : json.at("dimensions")) {
    regressor.dimensions.push_back(read_dimension(one));
    regressor.dimensions.back().weights = row(regressor.dimensions.size() + 1);
  }
  if (regressor.dimensions.empty()) throw InputError("dimensions: there is none");
}

}  // namespace

bool is_regression_model(const std::filesystem::path& directory) {
  return has_model_of(directory, "regression");
}

void write_regression_model(const RegressionModel& model, const std::filesystem::path& directory) {
  const Regressor& regressor = model.regressor;
  std::vector<double> rows = regressor.centre;
  rows.insert(rows.end(), regressor.eigenvalues.begin(), regressor.eigenvalues.end());
  Json dimensions = Json::array();
  for (const Regressor::Dimension& dimension : regressor.dimensions) {
    rows.insert(rows.end(), dimension.weights.begin(), dimension.weights.end());
    dimensions.push_back(dimension_json(dimension));
  }
  const std::string weights = npy_of({regressor.dimensions.size() + 2, regressor.rank}, rows);
  const std::string rotation = npy_of({regressor.columns.size(), regressor.rank}, regressor.axes);
  const Json json{{"emomc_model", kVersion},
                  {"classifier", "regression"},
                  {"program", "emomc " EMOMC_VERSION},
                  {"dimensions", dimensions},
                  {"functionals", functionals_of_model({model.set, model.table})},
                  {"trained_on",
                   {{"corpus", model.trained_on.corpus},
                    {"speakers", model.trained_on.speakers},
                    {"data_sha256", model.trained_on.data_sha256}}},
                  {"sample_rate", model.sample_rate},
                  {"seed", model.seed},
                  {"utterances", regressor.num_rows},
                  {"rank", regressor.rank},
                  {"weights_sha256", sha256_hex(weights)},
                  {"rotation_sha256", sha256_hex(rotation)},
                  {"config", model.config},
                  {"columns", regressor.columns},
                  {"corpus", statistics_json(regressor.corpus)}};
  write_file_atomically(directory / "weights.npy", weights);
  write_file_atomically(directory / "rotation.npy", rotation);
  write_file_atomically(directory / "model.json", json.dump(1) + "\n");
}

RegressionModel read_regression_model(const std::filesystem::path& directory) {
  RegressionModel model;
  read_model_json(directory, kVersion, kVersion, [&](const nlohmann::json& json) {
    model.config = json.at("config").get<std::string>();
    model.sample_rate = json.at("sample_rate").get<double>();
    model.seed = json.at("seed").get<std::uint64_t>();
    const auto& trained = json.at("trained_on");
    model.trained_on = {trained.at("corpus").get<std::string>(),
                        trained.at("speakers").get<std::vector<std::string>>(),
                        trained.at("data_sha256").get<std::string>()};
    read_regressor(json, directory, model.regressor);
    const ModelRows rows = read_functionals(json, model.regressor.columns);
    model.set = rows.set;
    model.table = rows.table;
  });
  return model;
}

}  // namespace emomc
