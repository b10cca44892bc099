#include "emomc/posterior/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emomc/core/thread_pool.hpp"
#include "emomc/posterior/quantity_labels.hpp"
#include "emomc/posterior/start_report.hpp"

namespace emomc {
namespace {

std::optional<double> number_at(const nlohmann::json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number()) return std::nullopt;
  return json[key].get<double>();
}

}  // namespace

Inspection inspect_draws(DrawSet draws, RunFacts facts, Numbering numbering) {
  ThreadPool threads(0);
  const bool ordered_by_prior = !facts.exchangeable_components;
  Inspection run{
      diagnose_draws(std::move(draws), numbering, ordered_by_prior, threads), std::move(facts), {}};
  run.quantity_labels = labels_of(run.draws, run.first_label_free, run.facts.columns);
  return run;
}

std::optional<RunFacts::Starts> starts_of(const nlohmann::json& json) {
  if (!json.is_object()) return {};
  const auto points = number_at(json, "points");
  if (!points) return {};
  RunFacts::Starts starts;
  starts.points = *points;
  starts.fits = number_at(json, "fits").value_or(0);
  starts.degenerate_fits = number_at(json, "degenerate_fits").value_or(0);
  starts.followed = number_at(json, "followed_draws").value_or(0);
  const auto optima = json.find("optima");
  if (optima == json.end() || !optima->is_array()) return starts;
  for (const auto& optimum : *optima) {
    if (!optimum.is_object()) continue;
    if (&optimum == &optima->front()) starts.fits_of_best = number_at(optimum, "fits").value_or(0);
    const auto chains = optimum.find("chains");
    const bool has_chain = chains != optimum.end() && chains->is_array() && !chains->empty();
    (has_chain ? starts.optima : starts.left_out) += 1;
    const double share = number_at(optimum, "share").value_or(0);
    if (!has_chain) starts.share_left_out += share;
    const auto count = [&](const char* key) {
      return static_cast<std::size_t>(std::clamp(number_at(optimum, key).value_or(0), 0.0, 1e9));
    };
    StartReport::Place place;
    place.share = share;
    place.num_draws = count("draws");
    place.num_examined = count("examined_draws");
    place.recognised = number_at(optimum, "recognised").value_or(1);
    if (optimum.contains("draws") &&
        is_lost(place, static_cast<std::size_t>(std::clamp(starts.followed, 0.0, 1e9)))) {
      starts.num_lost += 1;
      starts.share_of_lost += share;
    }
  }
  return starts;
}

std::string labels_name(Labels labels) {
  switch (labels) {
    case Labels::as_sampled:
      return "as_sampled";
    case Labels::relabelled:
      return "relabelled";
    case Labels::unmended:
      return "unmended";
  }
  return "";
}

std::string overlap_text(const ComponentOverlap& overlap) {
  return fmt::format("components {} and {} cannot be told apart in {:.1f} % of the draws", overlap.first,
                     overlap.second, 100 * overlap.share);
}

}  // namespace emomc
