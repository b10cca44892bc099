#include "emomc/emotion/softmax_model_file.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/emotion/model_files.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "json_number.hpp"
#include "row_model_json.hpp"

namespace emomc {
namespace {

using Json = nlohmann::ordered_json;
// Version 1 was that of mixtures; models of version 2 have one prior sd.
constexpr int kOldestVersion = 2, kVersion = 3;

// Models of earlier versions do not name their prior, and all their draws have one prior sd.
void read_prior(const nlohmann::json& json, SoftmaxClassifier& classifier) {
  classifier.prior = softmax_prior(json.value("prior", softmax_prior_name(SoftmaxPrior::ridge)));
  const bool is_ridge = classifier.prior == SoftmaxPrior::ridge;
  if (is_ridge && json.contains("prior_sd")) {
    classifier.prior_sds = {{positive(json, "prior_sd"), classifier.num_draws}};
    return;
  }
  if (is_ridge) {
    std::size_t left = classifier.num_draws;
    for (const auto& one : json.at("prior_sds")) {
      const auto draws = one.at("draws").get<std::int64_t>();
      if (draws < 1 || static_cast<std::size_t>(draws) > left)
        throw InputError("the draws of prior_sds, each above 0, do not add up to draws");
      classifier.prior_sds.push_back({positive(one, "prior_sd"), static_cast<std::size_t>(draws)});
      left -= static_cast<std::size_t>(draws);
    }
    if (left != 0) throw InputError("the draws of prior_sds, each above 0, do not add up to draws");
    return;
  }
  classifier.relevant_share = positive(json, "relevant_share");
  classifier.slab_scale = positive(json, "slab_scale");
}

void write_prior(const SoftmaxClassifier& classifier, Json& json) {
  json["prior"] = softmax_prior_name(classifier.prior);
  if (classifier.prior == SoftmaxPrior::ridge) {
    for (const DrawsOfSd& one : classifier.prior_sds)
      json["prior_sds"].push_back({{"prior_sd", one.prior_sd}, {"draws", one.num_draws}});
    return;
  }
  json["relevant_share"] = classifier.relevant_share;
  json["slab_scale"] = classifier.slab_scale;
}

Json tempers_json(const SoftmaxClassifier& classifier) {
  Json json = Json::object();
  for (std::size_t k = 0; k < kNumKnowledge; ++k) {
    const SoftmaxTemper& one = classifier.tempers[k];
    json[knowledge_name(static_cast<SpeakerKnowledge>(k))] = {
        {"temper", one.temper}, {"frames", one.frames}, {"inner_log_loss", number(one.inner_log_loss)}};
  }
  return json;
}

void read_classifier(const nlohmann::json& json, SoftmaxModel& model) {
  SoftmaxClassifier& classifier = model.classifier;
  classifier.columns = distinct_names(json, 1, "columns");
  classifier.num_classes = static_cast<int>(model.classes.size());
  classifier.seed = json.at("seed").get<std::uint64_t>();
  classifier.temperature = positive(json, "temperature");
  for (std::size_t k = 0; k < kNumKnowledge; ++k) {
    const auto& one = json.at("tempers").at(knowledge_name(static_cast<SpeakerKnowledge>(k)));
    const auto& loss = one.at("inner_log_loss");
    const auto frames = one.value("frames", 0.0);  // missing in models of earlier versions
    if (!(frames >= 0) || !std::isfinite(frames)) throw InputError("frames is out of range");
    classifier.tempers[k] = {positive(one, "temper"),
                             loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>(),
                             frames};
  }
  classifier.corpus = read_statistics(json, classifier.columns.size());
  classifier.rank = json.at("rank").get<std::size_t>();
  classifier.num_draws = json.at("draws").get<std::size_t>();
  read_prior(json, classifier);
}

}  // namespace

bool is_softmax_model(const std::filesystem::path& directory) { return has_model_of(directory, "softmax"); }

void write_softmax_model(const SoftmaxModel& model, const std::filesystem::path& directory) {
  const SoftmaxClassifier& classifier = model.classifier;
  const std::string draws =
      npy_of({classifier.num_draws, classifier.rank + 1, model.classes.size() - 1}, classifier.weights);
  const std::string rotation = npy_of({classifier.columns.size(), classifier.rank}, classifier.axes);
  Json json{{"emomc_model", kVersion},
            {"classifier", "softmax"},
            {"program", "emomc " EMOMC_VERSION},
            {"classes", model.classes},
            {"functionals", functionals_of_model({model.set, model.table})},
            {"trained_on",
             {{"corpus", model.trained_on.corpus},
              {"speakers", model.trained_on.speakers},
              {"utterances_of_class", model.trained_on.utterances_of_class},
              {"data_sha256", model.trained_on.data_sha256}}},
            {"sample_rate", model.sample_rate},
            {"seed", classifier.seed},
            {"temperature", classifier.temperature},
            {"tempers", tempers_json(classifier)},
            {"rank", classifier.rank},
            {"draws", classifier.num_draws},
            {"draws_sha256", sha256_hex(draws)},
            {"rotation_sha256", sha256_hex(rotation)},
            {"config", model.config},
            {"columns", classifier.columns},
            {"corpus", statistics_json(classifier.corpus)}};
  write_prior(classifier, json);
  write_file_atomically(directory / "draws.npy", draws);
  write_file_atomically(directory / "rotation.npy", rotation);
  write_file_atomically(directory / "model.json", json.dump(1) + "\n");
}

SoftmaxModel read_softmax_model(const std::filesystem::path& directory) {
  SoftmaxModel model;
  read_model_json(directory, kOldestVersion, kVersion, [&](const nlohmann::json& json) {
    model.classes = distinct_names(json, 2, "classes");
    model.config = json.at("config").get<std::string>();
    model.sample_rate = json.at("sample_rate").get<double>();
    const auto& trained = json.at("trained_on");
    model.trained_on = {trained.at("corpus").get<std::string>(),
                        trained.at("speakers").get<std::vector<std::string>>(),
                        trained.at("utterances_of_class").get<std::map<std::string, std::size_t>>(),
                        trained.at("data_sha256").get<std::string>()};
    read_classifier(json, model);
    const ModelRows rows = read_functionals(json, model.classifier.columns);
    model.set = rows.set;
    model.table = rows.table;
    SoftmaxClassifier& classifier = model.classifier;
    const std::size_t p = classifier.columns.size();
    if (classifier.rank > p) throw InputError("rank is out of range");
    const std::vector<std::size_t> draws{classifier.num_draws, classifier.rank + 1, model.classes.size() - 1},
        rotation{p, classifier.rank};
    count_of(draws, "draws");
    count_of(rotation, "rank");
    classifier.weights =
        read_npy_numbers(directory / "draws.npy", draws, json.at("draws_sha256").get<std::string>());
    classifier.axes =
        read_npy_numbers(directory / "rotation.npy", rotation, json.at("rotation_sha256").get<std::string>());
  });
  return model;
}

}  // namespace emomc
