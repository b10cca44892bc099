// The scores as a text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluation_results.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities and no NaN; they are null.
double real(const Json& json) { return json.is_null() ? std::nan("") : json.get<double>(); }

}  // namespace

std::string scores_text(const Json& scores) {
  std::string text;
  const auto line = [&](const std::string& name, const Json& s) {
    text += fmt::format("{:10} {:9.3f} {:7.3f} [{:.3f}, {:.3f}] {:9.3f} {:8.3f} {:7.3f} [{:.3f}, {:.3f}]\n",
                        name, s["accuracy"].get<double>(), s["uar"].get<double>(), real(s["uar_interval"][0]),
                        real(s["uar_interval"][1]), real(s["log_loss"]), s["brier"].get<double>(),
                        s["calibration_error"].get<double>(),
                        s["calibration_error_99_percent_range"][0].get<double>(),
                        s["calibration_error_99_percent_range"][1].get<double>());
  };
  text += "            accuracy     UAR  95 % interval   log loss    Brier     ECE  99 % if calibrated\n";
  line("posterior", scores["posterior"]);
  if (scores.contains("em")) line("EM", scores["em"]);
  text += "\nUAR of speakers:";
  for (const auto& [name, value] : scores["posterior"]["uar_by_speaker"].items()) {
    text += fmt::format("  {} {:.3f}", name, value.get<double>());
    if (scores.contains("em") && scores["em"]["uar_by_speaker"].contains(name))
      text += fmt::format(" (EM {:.3f})", scores["em"]["uar_by_speaker"][name].get<double>());
  }
  text += fmt::format("; mean {:.3f}\n", scores["posterior"]["mean_uar_of_speakers"].get<double>());
  if (scores.contains("posterior_minus_em")) {
    const Json& d = scores["posterior_minus_em"];
    text += fmt::format("posterior minus EM: UAR {:+.3f} [{:+.3f}, {:+.3f}], McNemar p {:.3g}\n",
                        d["uar"].get<double>(), real(d["uar_interval"][0]), real(d["uar_interval"][1]),
                        d["mcnemar_p"].get<double>());
  }
  if (const double inner = real(scores["posterior"]["inner_log_loss"]); !std::isnan(inner)) {
    text +=
        fmt::format("log loss of training speakers left out in turn, to choose settings by: {:.3f}", inner);
    if (scores.contains("em")) text += fmt::format(" (EM {:.3f})", real(scores["em"]["inner_log_loss"]));
    text += "\n";
  }
  text += "\ntruth \\ predicted\n";
  const auto& classes = scores["classes"];
  std::size_t width = 8;
  for (const auto& name : classes) width = std::max(width, name.get<std::string>().size() + 1);
  text += std::string(width, ' ');
  for (const auto& name : classes) text += fmt::format("{:>{}}", name.get<std::string>(), width);
  text += fmt::format("{:>{}}\n", "recall", width);
  for (std::size_t t = 0; t < classes.size(); ++t) {
    text += fmt::format("{:<{}}", classes[t].get<std::string>(), width);
    for (const auto& count : scores["posterior"]["confusion"][t])
      text += fmt::format("{:>{}}", count.get<std::size_t>(), width);
    const Json& recall = scores["posterior"]["recall"][t];
    text += recall.is_null() ? fmt::format("{:>{}}\n", "-", width)
                             : fmt::format("{:>{}.3f}\n", recall.get<double>(), width);
  }
  const Json& convergence = scores["convergence"];
  text += fmt::format("\nconverged: {:.1f} % of {} (utterance, class) pairs (95 % are asked for)\n",
                      100 * convergence["converged"].get<double>(), convergence["pairs"].get<std::size_t>());
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
  if (scores.contains("em")) {
    line("EM", scores["em"]);
    const Json& d = scores["posterior_minus_em"];
    text += fmt::format("posterior minus EM: UAR {:+.3f} [{:+.3f}, {:+.3f}] over speakers\n",
                        d["uar"].get<double>(), real(d["uar_interval"][0]), real(d["uar_interval"][1]));
  }
  text += fmt::format("converged: at least {:.1f} % of pairs with each seed\n",
                      100 * scores["least_share_converged"].get<double>());
  return text;
}

}  // namespace emomc::app
