#include "evaluation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/posterior/text_table.hpp"
#include "regression_text.hpp"
#include "score_text.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;

// The key in scores.json of the method that is compared with the posterior, and the method's name in texts;
// empty: there is no such method.
struct Other {
  std::string key, name;
};
Other other_method(const Json& scores) {
  if (scores.contains("posterior_minus_mixtures")) return {"mixtures", "mixtures"};
  if (scores.contains("posterior_minus_em")) return {"em", "EM"};
  if (scores.contains("posterior_minus_penalised")) return {"penalised", "penalised"};
  return {};
}

// All methods except the posterior.
std::vector<Other> other_methods(const Json& scores) {
  std::vector<Other> methods;
  for (const Other& one : std::vector<Other>{
           {"mixtures", "mixtures"}, {"em", "EM"}, {"softmax", "softmax"}, {"penalised", "penalised"}})
    if (scores.contains(one.key)) methods.push_back(one);
  return methods;
}

// A table of a method's scores of cut utterances, for each length. `name` is that of the method; empty: the
// posterior.
std::string cut_text(const std::string& name, const Json& entries, std::size_t width) {
  TextTable table({{name.empty() ? "cut to frames" : name + ", cut to frames"},
                   {"utterances", 2},
                   {"accuracy"},
                   {"mean confidence"},
                   {"UAR", 1},
                   {"log loss"}});
  for (const Json& one : entries)
    table.add({std::to_string(one["frames"].get<std::size_t>()),
               std::to_string(one["utterances"].get<std::size_t>()), three(real(one["accuracy"])),
               three(real(one["confidence"])), three(real(one["uar"])), three(real(one["log_loss"]))});
  return "\n" + table.text(width);
}

// A table of the scores for each kind of knowledge of the test speaker.
std::string known_text(const Json& entries, std::size_t width) {
  TextTable table({{"known of the speaker"},
                   {"UAR"},
                   {"95 % interval", 2},
                   {"less all recordings", 3},
                   {"log loss"},
                   {"ECE", 4},
                   {"99 % if calibrated", 5}});
  for (const Json& one : entries) {
    const Json& range = one["calibration_error_99_percent_range"];
    std::string less;
    if (one.contains("uar_less_own"))
      less = fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", real(one["uar_less_own"]),
                         real(one["uar_less_own_interval"][0]), real(one["uar_less_own_interval"][1]));
    table.add({words_of_knowledge(one["knowledge"].get<std::string>()), three(real(one["uar"])),
               interval(real(one["uar_interval"][0]), real(one["uar_interval"][1])), less,
               three(real(one["log_loss"])), three(real(one["calibration_error"])),
               interval(real(range[0]), real(range[1]))});
  }
  return "\n" + table.text(width);
}

// Tables of the scores for each value of the columns in by.columns.
std::string by_text(const Json& columns, std::size_t width) {
  std::string text;
  for (const Json& entry : columns) {
    TextTable table({{"by " + entry["column"].get<std::string>()},
                     {"utterances", 2},
                     {"speakers", 3},
                     {"UAR"},
                     {"95 % interval", 4},
                     {"macro-F1", 5},
                     {"log loss"}});
    for (const Json& one : entry["values"]) {
      const std::string value = one["value"].get<std::string>();
      table.add({value.empty() ? "(empty)" : value, std::to_string(one["utterances"].get<std::size_t>()),
                 std::to_string(one["speakers"].get<std::size_t>()), three(real(one["uar"])),
                 one.contains("uar_interval")
                     ? interval(real(one["uar_interval"][0]), real(one["uar_interval"][1]))
                     : "",
                 three(real(one["macro_f1"])), three(real(one["log_loss"]))});
    }
    text += "\n" + table.text(width);
  }
  return text;
}

}  // namespace

std::string words_of_knowledge(const std::string& knowledge) {
  if (knowledge == "own") return "all recordings";
  if (knowledge == "five") return "five others";
  return knowledge == "one" ? "one other" : "no recording";
}

std::string scores_text(const Json& scores, std::size_t width) {
  if (scores.contains("regression")) return regression_text(scores, width);
  TextTable methods({{""},
                     {"accuracy", 2},
                     {"UAR"},
                     {"95 % interval", 1},
                     {"macro-F1", 7},
                     {"log loss", 3},
                     {"Brier", 5},
                     {"ECE", 4},
                     {"99 % if calibrated", 6},
                     {"slope", 8},
                     {"95 % of slope", 9}});
  // Evaluations of earlier versions have no slope.
  const auto slope = [](const Json& of_method, bool with_interval) -> std::string {
    if (!of_method.contains("calibration_slope") || of_method["calibration_slope"].is_null()) return "-";
    if (!with_interval) return three(real(of_method["calibration_slope"]));
    const Json& range = of_method["calibration_slope_interval"];
    return interval(real(range[0]), real(range[1]));
  };
  const auto line = [&](const std::string& name, const Json& s) {
    const Json& range = s["calibration_error_99_percent_range"];
    methods.add({name, three(s["accuracy"].get<double>()), three(s["uar"].get<double>()),
                 interval(real(s["uar_interval"][0]), real(s["uar_interval"][1])), three(real(s["macro_f1"])),
                 three(real(s["log_loss"])), three(s["brier"].get<double>()),
                 three(s["calibration_error"].get<double>()),
                 interval(range[0].get<double>(), range[1].get<double>()), slope(s, false), slope(s, true)});
  };
  line("posterior", scores["posterior"]);
  const auto [key, name_of_other] = other_method(scores);
  for (const Other& other : other_methods(scores)) line(other.name, scores[other.key]);
  std::string text = methods.text(width);
  std::string speakers = "UAR of speakers:";
  for (const auto& [name, value] : scores["posterior"]["uar_by_speaker"].items()) {
    speakers += fmt::format("  {} {:.3f}", name, value.get<double>());
    if (!key.empty() && scores[key]["uar_by_speaker"].contains(name))
      speakers +=
          fmt::format(" ({} {:.3f})", name_of_other, scores[key]["uar_by_speaker"][name].get<double>());
  }
  speakers += fmt::format("; mean {:.3f}", scores["posterior"]["mean_uar_of_speakers"].get<double>());
  text += "\n" + wrapped(speakers, width) + "\n";
  if (!key.empty()) {
    const Json& d = scores["posterior_minus_" + key];
    text += fmt::format("posterior minus {}: UAR {:+.3f} [{:+.3f}, {:+.3f}], McNemar p {:.3g}\n",
                        name_of_other, d["uar"].get<double>(), real(d["uar_interval"][0]),
                        real(d["uar_interval"][1]), d["mcnemar_p"].get<double>());
  }
  if (const double inner = real(scores["posterior"]["inner_log_loss"]); !std::isnan(inner)) {
    text +=
        fmt::format("log loss of training speakers left out in turn, to choose settings by: {:.3f}", inner);
    if (!key.empty()) text += fmt::format(" ({} {:.3f})", name_of_other, real(scores[key]["inner_log_loss"]));
    text += "\n";
  }
  if (scores["posterior"].contains("by")) text += by_text(scores["posterior"]["by"], width);
  if (scores.contains("known_of_speaker")) text += known_text(scores["known_of_speaker"], width);
  for (const auto& [of, name] : {std::pair{"posterior", ""}, {"mixtures", "mixtures"}})
    if (scores.contains(of) && scores[of].contains("cut_to_frames"))
      text += cut_text(name, scores[of]["cut_to_frames"], width);
  text += "\ntruth \\ predicted\n";
  const auto& classes = scores["classes"];
  std::vector<TableColumn> columns{{""}};
  for (const auto& name : classes) columns.push_back({name.get<std::string>()});
  columns.push_back({"recall"});
  TextTable confusion(std::move(columns));
  for (std::size_t t = 0; t < classes.size(); ++t) {
    std::vector<std::string> cells{classes[t].get<std::string>()};
    for (const auto& count : scores["posterior"]["confusion"][t])
      cells.push_back(std::to_string(count.get<std::size_t>()));
    const Json& recall = scores["posterior"]["recall"][t];
    cells.push_back(recall.is_null() ? "-" : three(recall.get<double>()));
    confusion.add(std::move(cells));
  }
  text += confusion.text(width);
  if (scores.contains("prior"))
    text += fmt::format("\nprior of the softmax regression: {}\n", scores["prior"].get<std::string>());
  const bool has_both = scores.contains("convergence_of_softmax");
  for (const auto& [chains, of] : {std::pair{"convergence", has_both ? ", mixtures" : ""},
                                   {"convergence_of_softmax", ", softmax regression"}}) {
    if (!scores.contains(chains)) continue;
    const Json& convergence = scores[chains];
    text +=
        fmt::format("\nconverged{}: {:.1f} % of {} (utterance, class) pairs (95 % are required)\n", of,
                    100 * convergence["converged"].get<double>(), convergence["pairs"].get<std::size_t>());
  }
  return text;
}

std::string text_of_seeds(const Json& scores) {
  std::string text = fmt::format("\nmean of seeds {}:\n", scores["seeds"].dump());
  const auto line = [&](const std::string& name, const Json& s) {
    text += fmt::format(
        "{:10} UAR {:.3f} (sd {:.3f}), of speakers {:.3f}, accuracy {:.3f}, log loss {:.3f}, ECE {:.3f}\n",
        name, s["uar"].get<double>(), s["uar_sd_over_seeds"].get<double>(),
        s["mean_uar_of_speakers"].get<double>(), s["accuracy"].get<double>(), real(s["log_loss"]),
        s["calibration_error"].get<double>());
  };
  line("posterior", scores["posterior"]);
  if (const auto [key, name_of_other] = other_method(scores); !key.empty()) {
    line(name_of_other, scores[key]);
    const Json& d = scores["posterior_minus_" + key];
    text += fmt::format("posterior minus {}: UAR {:+.3f} [{:+.3f}, {:+.3f}] over speakers\n", name_of_other,
                        d["uar"].get<double>(), real(d["uar_interval"][0]), real(d["uar_interval"][1]));
  }
  const Json& averaged = scores["averaged"];
  text += fmt::format("probabilities averaged over seeds: UAR {:.3f}, log loss {:.3f}, ECE {:.3f}\n",
                      averaged["uar"].get<double>(), real(averaged["log_loss"]),
                      averaged["calibration_error"].get<double>());
  if (scores.contains("known_of_speaker"))
    for (const Json& one : scores["known_of_speaker"])
      text += fmt::format("known of the speaker: {:14} UAR {:.3f}, log loss {:.3f}, ECE {:.3f}\n",
                          words_of_knowledge(one["knowledge"].get<std::string>()), real(one["uar"]),
                          real(one["log_loss"]), real(one["calibration_error"]));
  if (scores["posterior"].contains("by")) text += by_text(scores["posterior"]["by"], kUnlimited) + "\n";
  text += fmt::format("converged: at least {:.1f} % of pairs with each seed\n",
                      100 * scores["least_share_converged"].get<double>());
  return text;
}

}  // namespace emomc::app
