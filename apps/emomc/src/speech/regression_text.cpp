#include "regression_text.hpp"

#include "emomc/posterior/text_table.hpp"
#include "evaluation_text.hpp"
#include "score_text.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;

std::string interval_of(const Json& scores, const std::string& name) {
  const Json& ends = scores[name + "_interval"];
  return interval(real(ends[0]), real(ends[1]));
}

std::string scores_of_dimensions(const Json& scores, std::size_t width) {
  TextTable table({{""},
                   {"CCC"},
                   {"95 % interval", 1},
                   {"of speakers", 3},
                   {"Pearson", 5},
                   {"RMSE"},
                   {"MAE", 6},
                   {"90 % cover", 2},
                   {"95 % interval", 4},
                   {"log density"}});
  for (const auto& [name, one] : scores["regression"].items())
    table.add({name, three(real(one["ccc"])), interval_of(one, "ccc"),
               three(real(one["mean_ccc_of_speakers"])), three(real(one["pearson"])),
               in_unit(real(one["rmse"])), in_unit(real(one["mae"])), three(real(one["coverage_90"])),
               interval_of(one, "coverage_90"), three(real(one["log_density"]))});
  return table.text(width);
}

std::string speakers_text(const std::string& name, const Json& one, std::size_t width) {
  std::string text = "CCC of speakers, " + name + ":";
  for (const auto& [speaker, ccc] : one["ccc_by_speaker"].items())
    text += fmt::format("  {} {:.3f}", speaker, real(ccc));
  return wrapped(text, width) + "\n";
}

// Tables of the scores for each value of the columns in by.columns.
std::string groups_of_numbers_text(const Json& columns, const Json& dimensions, std::size_t width) {
  std::string text;
  for (const Json& dimension : dimensions) {
    const std::string name = dimension.get<std::string>();
    for (const Json& entry : columns) {
      TextTable table({{name + " by " + entry["column"].get<std::string>()},
                       {"utterances", 2},
                       {"speakers", 3},
                       {"CCC"},
                       {"95 % interval", 4},
                       {"RMSE"},
                       {"90 % cover", 1},
                       {"log density"}});
      for (const Json& group : entry["values"]) {
        const std::string value = group["value"].get<std::string>();
        const Json& one = group["dimensions"][name];
        table.add({value.empty() ? "(empty)" : value, std::to_string(group["utterances"].get<std::size_t>()),
                   std::to_string(group["speakers"].get<std::size_t>()), three(real(one["ccc"])),
                   interval_of(one, "ccc"), in_unit(real(one["rmse"])), three(real(one["coverage_90"])),
                   three(real(one["log_density"]))});
      }
      text += "\n" + table.text(width);
    }
  }
  return text;
}

std::string known_numbers_text(const Json& entries, const Json& dimensions, std::size_t width) {
  std::string text;
  for (const Json& dimension : dimensions) {
    const std::string name = dimension.get<std::string>();
    TextTable table({{name + ", known of the speaker"},
                     {"CCC"},
                     {"95 % interval", 2},
                     {"less all recordings", 3},
                     {"RMSE"},
                     {"90 % cover", 1},
                     {"log density"}});
    for (const Json& entry : entries) {
      const Json& one = entry["dimensions"][name];
      std::string less;
      if (one.contains("ccc_less_own")) {
        const Json& ends = one["ccc_less_own_interval"];
        less = fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", real(one["ccc_less_own"]), real(ends[0]),
                           real(ends[1]));
      }
      table.add({words_of_knowledge(entry["knowledge"].get<std::string>()), three(real(one["ccc"])),
                 interval_of(one, "ccc"), less, in_unit(real(one["rmse"])), three(real(one["coverage_90"])),
                 three(real(one["log_density"]))});
    }
    text += "\n" + table.text(width);
  }
  return text;
}

}  // namespace

std::string regression_text(const Json& scores, std::size_t width) {
  std::string text = scores_of_dimensions(scores, width) + "\n", inner;
  for (const auto& [name, one] : scores["regression"].items()) {
    text += speakers_text(name, one, width);
    if (const double density = real(one["inner_log_density"]); !std::isnan(density))
      inner += fmt::format("{} {} {:.3f}", inner.empty() ? "" : ",", name, density);
  }
  if (!inner.empty())
    text +=
        wrapped("log density of training speakers left out in turn, to choose settings by:" + inner, width) +
        "\n";
  if (scores.contains("by")) text += groups_of_numbers_text(scores["by"], scores["dimensions"], width);
  return text + known_numbers_text(scores["known_of_speaker"], scores["dimensions"], width);
}

}  // namespace emomc::app
