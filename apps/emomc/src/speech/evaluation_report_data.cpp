#include "evaluation_report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/csv_records.hpp"
#include "emomc/posterior/json_value.hpp"
#include "evaluation_text.hpp"
#include "progress.hpp"
#include "score_text.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

constexpr std::uintmax_t kMostScoresBytes = 16 << 20, kMostPredictionsBytes = 64 << 20,
                         kMostManifestBytes = 16 << 20;  // JSON takes up to 32 times as much memory
constexpr std::size_t kMostConfigBytes = 200'000, kNumBins = 10;

Names names_of(const JsonValue& value) {
  Names names;
  for (const auto& item : value.items()) names.push_back(item.text());
  if (names.empty()) value.refuse("names");
  return names;
}

json method_of(const JsonValue& method, const std::string& name, const Names& classes,
               const Names& speakers) {
  json result{{"name", name}};
  for (const char* key : {"uar", "mean_uar_of_speakers", "accuracy", "log_loss", "brier", "calibration_error",
                          "calibration_error_if_calibrated"})
    result[key] = method.at(key).number();
  result["macro_f1"] = method.has("macro_f1") ? json(method.at("macro_f1").number()) : json();
  for (const char* key : {"uar_interval", "calibration_error_99_percent_range"})
    result[key] = method.at(key).numbers(2);
  // Evaluations of earlier versions have no slope.
  const bool has_slope = method.has("calibration_slope");
  result["calibration_slope"] = has_slope ? json(method.at("calibration_slope").number()) : json();
  result["calibration_slope_interval"] =
      has_slope ? json(method.at("calibration_slope_interval").numbers(2)) : json::array({json(), json()});
  for (const char* key : {"recall", "precision"}) result[key] = method.at(key).numbers(classes.size());
  result["confusion"] = json::array();
  for (const auto& of_class : method.at("confusion").items(classes.size()))
    result["confusion"].push_back(of_class.counts(classes.size()));
  result["bins"] = json::array();
  for (const auto& bin : method.at("calibration_bins").items(kNumBins))
    result["bins"].push_back({{"count", bin.at("count").count()},
                              {"confidence", bin.at("confidence").number()},
                              {"accuracy", bin.at("accuracy").number()}});
  const JsonValue by_speaker = method.at("uar_by_speaker");
  result["by_speaker"] = json::array();
  for (const auto& speaker : speakers)
    result["by_speaker"].push_back(by_speaker.has(speaker) ? by_speaker.at(speaker).number() : json());
  return result;
}

json difference_of(const JsonValue& difference, const std::string& other) {
  return {{"uar", difference.at("uar").number()},
          {"uar_interval", difference.at("uar_interval").numbers(2)},
          {"posterior_only", difference.at("right_by_posterior_only").count()},
          {"em_only", difference.at("right_by_" + other + "_only").count()},
          {"p", difference.at("mcnemar_p").number()}};
}

// The scores for each kind of knowledge of the test speaker; empty if there are none.
json known_of(const JsonValue& scores) {
  json list = json::array();
  if (!scores.has("known_of_speaker")) return list;
  for (const auto& one : scores.at("known_of_speaker").items()) {
    json entry{{"knowledge", one.at("knowledge").text()}};
    for (const char* key : {"uar", "accuracy", "log_loss", "brier", "calibration_error"})
      entry[key] = one.at(key).number();
    for (const char* key : {"uar_interval", "calibration_error_99_percent_range"})
      entry[key] = one.at(key).numbers(2);
    if (one.has("uar_less_own")) {
      entry["uar_less_own"] = one.at("uar_less_own").number();
      entry["uar_less_own_interval"] = one.at("uar_less_own_interval").numbers(2);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

// The scores for each value of the columns in by.columns, in the order of scores.json; empty if there are
// none.
json groups_of(const JsonValue& posterior) {
  json list = json::array();
  if (!posterior.has("by")) return list;
  for (const auto& entry : posterior.at("by").items()) {
    json rows = json::array();
    for (const auto& one : entry.at("values").items()) {
      json row{{"value", one.at("value").text()},
               {"utterances", one.at("utterances").count()},
               {"speakers", one.at("speakers").count()},
               {"uar_interval", one.at("uar_interval").numbers(2)}};
      for (const char* key : {"uar", "accuracy", "macro_f1", "log_loss"}) row[key] = one.at(key).number();
      rows.push_back(std::move(row));
    }
    list.push_back({{"column", entry.at("column").text()}, {"rows", std::move(rows)}});
  }
  return list;
}

// The scores of each method of mixtures for utterances that are cut to several lengths; empty if there are
// none.
json cuts_of(const JsonValue& scores) {
  json list = json::array();
  for (const auto& [key, name] :
       {std::pair{"posterior", "posterior"}, {"mixtures", "mixtures"}, {"em", "EM"}}) {
    if (!scores.has(key) || !scores.at(key).has("cut_to_frames")) continue;
    for (const auto& one : scores.at(key).at("cut_to_frames").items()) {
      json row{{"method", name},
               {"frames", one.at("frames").count()},
               {"utterances", one.at("utterances").count()}};
      for (const char* of : {"accuracy", "confidence", "uar", "log_loss"}) row[of] = one.at(of).number();
      list.push_back(std::move(row));
    }
  }
  return list;
}

// `least` is the smallest share of the evaluation's chains, which the verdict is about.
json convergence_of(const JsonValue& convergence, const Names& classes, double least) {
  json result{{"pairs", convergence.at("pairs").count()},
              {"share", least},
              {"share_asked_for", kShareAskedFor},
              {"most_rhat", kMostRhat},
              {"least_ess", kLeastEss},
              {"classes", json::array()}};
  const JsonValue of_class = convergence.at("classes");
  for (const auto& name : classes) {
    const JsonValue one = of_class.at(name);
    result["classes"].push_back({{"share", one.at("converged").number()},
                                 {"rhat", one.at("worst_rhat").number()},
                                 {"ess", one.at("least_ess_bulk").number()}});
  }
  return result;
}

// A field in the form in which messages show it: shortened and without control characters.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string result(text.substr(0, kMost));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return "'" + result + (text.size() > kMost ? "...'" : "'");
}

double probability(std::string_view text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1 + 1e-9))
    throw InputError(place + ": expected a probability, not " + shown(text));
  return value;
}

// Rows [utterance, speaker, truth, predicted, p(truth), p(predicted)], with classes as indices. Throws
// InputError if they do not agree with `confusion`.
json predictions_of(const std::filesystem::path& file, const Names& classes, const json& confusion) {
  const std::string text = read_text(file, kMostPredictionsBytes);
  CsvRecords records(file.string(), text);
  Names expected{"utterance", "speaker", "truth", "predicted"};
  for (const auto& name : classes) expected.push_back("p_" + name);
  std::vector<std::string_view> fields;
  if (!records.next(fields) || !std::equal(fields.begin(), fields.end(), expected.begin(), expected.end()))
    throw InputError(file.string() + ": its columns are not those of the classes in scores.json");
  const std::size_t K = classes.size(), first = expected.size() - K;
  std::vector<std::vector<std::size_t>> counts(K, std::vector<std::size_t>(K, 0));
  json rows = json::array();
  while (records.next(fields)) {
    const std::string place = file.string() + ":" + std::to_string(records.line());
    if (fields.size() != expected.size())
      throw InputError(fmt::format("{}: {} fields, expected {}", place, fields.size(), expected.size()));
    const auto class_of = [&](std::string_view name) {
      const auto at = std::find(classes.begin(), classes.end(), name);
      if (at == classes.end())
        throw InputError(place + ": there is no class " + shown(name) + " in scores.json");
      return static_cast<std::size_t>(at - classes.begin());
    };
    const std::size_t truth = class_of(fields[2]), predicted = class_of(fields[3]);
    std::vector<double> p;
    for (std::size_t c = 0; c < K; ++c) p.push_back(probability(fields[first + c], place));
    ++counts[truth][predicted];
    rows.push_back(
        {std::string(fields[0]), std::string(fields[1]), truth, predicted, p[truth], p[predicted]});
  }
  if (json(counts) != confusion)
    throw InputError(file.string() + ": its predictions are not those that scores.json counts");
  return rows;
}

json row(const std::string& name, const std::string& text) { return {name, text}; }

}  // namespace

json read_scores(const std::filesystem::path& directory) {
  const auto file = directory / "scores.json";
  json parsed = parse_json(read_text(file, kMostScoresBytes));
  if (parsed.is_discarded()) throw InputError(file.string() + ": this is no JSON, or its end is missing");
  return parsed;
}

std::string config_text(const std::filesystem::path& directory) {
  return beginning_of(directory / "config.yaml", kMostConfigBytes);
}

json run_facts(const std::filesystem::path& file) {
  json facts = json::array(), m;
  try {
    m = parse_json(read_text(file, kMostManifestBytes));
  } catch (const InputError&) {
  }
  if (!m.is_object()) return facts;
  const auto text = [&](const char* name, const char* key) {
    if (m.contains(key) && m[key].is_string()) facts.push_back(row(name, m[key]));
  };
  const auto number = [&](const char* name, const char* key) {
    if (m.contains(key) && m[key].is_number())
      facts.push_back(row(name, fmt::format("{:.10g}", m[key].get<double>())));
  };
  text("status", "status");
  text("at", "updated_at");
  text("engine", "engine");
  if (m.contains("seconds") && m["seconds"].is_object())
    for (const auto& [key, name] :
         {std::pair{"startup", "preparation"}, {"warmup", "warm-up"}, {"sampling", "sampling"}})
      if (m["seconds"].contains(key) && m["seconds"][key].is_number())
        facts.push_back(row(name, duration_text(m["seconds"][key].get<double>())));
  number("steps of each chain", "steps");
  number("evaluations of a density", "evaluations");
  number("densities that were not finite", "faults");
  number("target acceptance", "target_acceptance");
  if (m.contains("adaptation_drift") && m["adaptation_drift"].is_array()) {
    double most = 0;
    for (const auto& drift : m["adaptation_drift"])
      if (drift.is_number()) most = std::max(most, std::abs(drift.get<double>()));
    facts.push_back(row("late change of step lengths",
                        fmt::format("by at most a factor {:.2f} over the last fifth of the warm-up",
                                    std::exp(std::min(most, 50.0)))));
  }
  return facts;
}

json evaluation_report_data(const std::filesystem::path& directory) {
  const auto file = directory / "scores.json";
  const json parsed = read_scores(directory);
  const JsonValue scores(parsed, file.string());
  const Names classes = names_of(scores.at("classes")), speakers = names_of(scores.at("speakers"));

  json data{{"title", directory.string()},
            {"classes", classes},
            {"speakers", speakers},
            {"difference", json()},
            {"known", known_of(scores)},
            {"by", groups_of(scores.at("posterior"))},
            {"cuts", cuts_of(scores)},
            {"convergence", convergence_of(scores.at("convergence"), classes, share_converged(parsed))},
            {"run", run_facts(directory / "manifest.json")},
            {"config", config_text(directory)}};
  const std::size_t frames = scores.at("frames").count();  // 0: utterances are rows of a table
  data["facts"] = fmt::format(
      "{} utterances{} of {} speakers and {} classes, in {} folds; seed {}. Reported by emomc "
      "" EMOMC_VERSION ".",
      scores.at("utterances").count(), frames > 0 ? fmt::format(" ({} frames)", frames) : "", speakers.size(),
      classes.size(), scores.at("test_speakers_of_fold").items().size(), scores.at("seed").count());
  if (scores.has("prior"))
    data["facts"] = data["facts"].get<std::string>() +
                    " Prior of the softmax regression: " + scores.at("prior").text() + ".";
  data["methods"] = json::array({method_of(scores.at("posterior"), "posterior", classes, speakers)});
  for (const auto& [key, name] :
       {std::pair{"mixtures", "mixtures"}, {"em", "EM"}, {"penalised", "penalised fit"}}) {
    if (!scores.has(key)) continue;
    data["methods"].push_back(method_of(scores.at(key), name, classes, speakers));
    data["difference"] = difference_of(scores.at("posterior_minus_" + std::string(key)), key);
    break;
  }
  data["rows"] = predictions_of(directory / "predictions.csv", classes, data["methods"][0]["confusion"]);
  return data;
}

}  // namespace emomc::app
