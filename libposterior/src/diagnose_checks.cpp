#include "diagnose_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emomc/posterior/text_table.hpp"
#include "emomc/posterior/trajectory_summary.hpp"

namespace emomc {
namespace {

constexpr double kLowAcceptance = 0.05, kHighAcceptance = 0.9;
constexpr double kTimesTarget = 2.5;  // factor below the target acceptance rate
constexpr double kStuckAcceptance = 0.001;
constexpr double kSettledDrift = 0.5;  // change of a log scale
constexpr double kNearFloor = 1.25, kShareAtFloor = 0.05;
constexpr double kFaultShare = 1e-3;
constexpr double kIndependent = 0.9;  // ESS per draw
constexpr double kFewestRows = 2;     // number of rows of a component that describes rows
constexpr std::size_t kNamed = 4;     // number of quantities or chains that a sentence names

class Checks {
 public:
  Checks(const Inspection& run, std::vector<Finding>& findings)
      : run_(run), draws_(run.draws), findings_(findings) {}

  void check_sampler() {
    check_starts();
    check_number_of_chains();
    check_acceptance();
    check_adaptation();
    check_faults();
    check_thinning();
  }
  void check_data() {
    check_floor();
    check_duplicates();
  }

 private:
  void add(Severity severity, const std::string& check, const std::string& text, const std::string& advice) {
    findings_.push_back({severity, check, text, advice});
  }

  // Whether a block is a move of crank_nicolson that uses the distribution fitted in warm-up. The better the
  // fit, the higher the acceptance rate; at a rate of 1 each draw is independent of the one before.
  static bool is_move_by_fit(const std::string& block) { return block.starts_with("all["); }
  static bool is_jump(const std::string& block) { return block.starts_with("split_merge"); }

  void check_acceptance() {
    std::vector<std::string> low, high, none;
    const double target = run_.facts.target_acceptance.value_or(0);
    if (!draws_.statistics.empty()) {
      check_trajectories(draws_, target, findings_);
      return;
    }
    for (const BlockCounts& block : draws_.acceptance) {
      double accepted = 0, proposed = 0;
      std::vector<std::string> dead;
      for (std::size_t c = 0; c < block.accepted.size(); ++c) {
        const auto all = static_cast<double>(block.proposed[c]);
        accepted += static_cast<double>(block.accepted[c]);
        proposed += all;
        if (all >= 100 && static_cast<double>(block.accepted[c]) < kStuckAcceptance * all &&
            !is_jump(block.name))
          dead.push_back(draws_.chains[c]);
      }
      if (proposed < 100 || is_jump(block.name)) continue;
      const double rate = accepted / proposed;
      const std::string text = fmt::format("{} ({:.3f})", block.name, rate);
      if (!dead.empty()) none.push_back(fmt::format("{} in chain {}", block.name, named(dead)));
      // Blocks of one dimension have the target 0.44.
      const double least = target > 0 ? std::min(target, 0.44) / kTimesTarget : kLowAcceptance;
      const double most =
          target > 0 ? std::min(kHighAcceptance, std::max(target, 0.44) * 1.6) : kHighAcceptance;
      if (rate < least) low.push_back(text);
      if (rate > most && !is_move_by_fit(block.name)) high.push_back(text);
    }
    if (!none.empty())
      add(Severity::problem, "acceptance", "almost no proposals are accepted: " + named(none),
          "a longer warm-up, so that its steps are fitted to this chain too, or other starts");
    if (!low.empty())
      add(Severity::warning, "acceptance", "few proposals are accepted: " + named(low),
          "a longer warm-up, so that steps become as short as this posterior requires");
    if (!high.empty())
      add(Severity::warning, "acceptance",
          "nearly all proposals are accepted, so steps are short: " + named(high),
          "a longer warm-up lets the steps grow");
  }

  void check_adaptation() {
    std::vector<std::string> moving;
    for (std::size_t b = 0; b < std::min(run_.facts.adaptation_drift.size(), draws_.acceptance.size()); ++b)
      if (std::abs(run_.facts.adaptation_drift[b]) > kSettledDrift)
        moving.push_back(fmt::format("{} (by a factor of {:.2f})", draws_.acceptance[b].name,
                                     std::exp(run_.facts.adaptation_drift[b])));
    if (!moving.empty())
      add(Severity::warning, "adaptation",
          "step lengths still changed over the last fifth of the warm-up: " + named(moving),
          fmt::format("a longer warm-up than sampler.warmup = {}", draws_.warmup));
  }

  // R-hat compares chains: it cannot detect modes that no chain has visited.
  void check_starts() {
    if (!run_.facts.starts) return;
    const RunFacts::Starts& s = *run_.facts.starts;
    // Points that come from the prior through the rungs enter modes according to the mass, which Laplace's
    // approximation only estimates.
    const bool is_tempered = run_.facts.tempering && run_.facts.tempering->round_trips >= draws_.num_chains();
    if (s.num_lost > 0)
      add(is_tempered ? Severity::warning : Severity::problem, "starts",
          fmt::format("{:.0f} of the {:.0f} optima that the starts have found {} lost: about {:.2g} % of the "
                      "posterior mass is there (Laplace's approximation), and none or too few of the draws",
                      s.num_lost, s.optima + s.left_out, s.num_lost == 1 ? "is" : "are",
                      100 * s.share_of_lost),
          is_tempered
              ? "points that came from the prior did not enter these modes either: the approximation is "
                "wrong there, as where a component has few rows, or the modes are too narrow to be found"
              : "chains left these modes and do not come back, so the draws cover only a part of the "
                "posterior: sampler.proposal.kind split_merge and sampler.tempering.rungs move between "
                "modes; more chains alone do not help");
    if (draws_.num_chains() < 2) return;
    if (s.left_out > 0)
      add(Severity::warning, "starts",
          fmt::format(
              "no chain started at {:.0f} of the {:.0f} optima that have 1 % of the posterior mass or more; "
              "they have about {:.2g} % of it",
              s.left_out, s.left_out + s.optima, 100 * s.share_left_out),
          "more chains (sampler.chains), so that one starts at each");
    if (s.points <= 1)
      add(Severity::warning, "starts",
          fmt::format(
              "all {} chains started at one point, so that R-hat cannot tell whether there are other modes",
              draws_.num_chains()),
          "sampler.init: kmeans, em, clusters or prior start them at different ones");
    else if (s.fits > 0 && s.fits_of_best <= 1 && s.optima + s.left_out == 1)
      add(Severity::warning, "starts",
          fmt::format(
              "the best optimum was reached by one of {:.0f} fits only, so there may be better ones; the "
              "chains started at {:.0f} points about it",
              s.fits, s.points),
          "other seeds (sampler.seed) try other starts" + look_for_modes() +
              "; fewer components leave fewer optima");
    else if (s.fits > 0)
      add(Severity::note, "starts",
          fmt::format("the chains started at {} of {} of the posterior, found by {}",
                      counted(static_cast<std::size_t>(s.points), "point"),
                      counted(static_cast<std::size_t>(s.optima), "optimum", "optima"),
                      counted(static_cast<std::size_t>(s.fits), "short fit")),
          "R-hat can only detect modes that a chain has visited");
    else
      check_unused_components();
  }

  // Advice, for runs without rungs, on modes that no chain has found.
  std::string look_for_modes() const {
    return run_.facts.tempering
               ? ""
               : ", and sampler.tempering.rungs with sampler.init: clusters while it samples "
                 "(docs/tempering.md)";
  }

  // A component far from all rows has no rows, and the likelihood does not draw it towards them. Chains that
  // start far out can all end in such a mode, agree with each other, and be wrong.
  void check_unused_components() {
    if (run_.facts.tempering || !run_.facts.rows) return;
    std::size_t components = 0, unused = 0;
    for (std::size_t q = run_.first_label_free; q < draws_.num_quantities(); ++q) {
      if (!draws_.names[q].starts_with("sorted_weights[")) continue;
      components += 1;
      unused += run_.summaries[q].mean * *run_.facts.rows < kFewestRows ? 1 : 0;
    }
    if (unused == 0) return;
    add(Severity::warning, "starts",
        fmt::format("{} of the {} components have fewer than {:.0f} rows, and no fit has chosen the chains' "
                    "starts: a component that starts far from all rows stays there, so that all chains may "
                    "agree on a mode of little mass",
                    unused, components, kFewestRows),
        "sampler.init: kmeans, em or clusters start components among the rows; sampler.tempering.rungs and "
        "sampler.proposal.kind split_merge move between modes (docs/tempering.md)");
  }

  void check_number_of_chains() {
    if (draws_.num_chains() == 1 && draws_.approximation.empty())
      add(Severity::warning, "chains",
          "there is one chain: R-hat compares its halves, which lie in the same mode where the chain does "
          "not leave it",
          "run four chains or more (sampler.chains), from different starts");
  }

  void check_faults() {
    const double faults = run_.facts.faults.value_or(0), evaluations = run_.facts.evaluations.value_or(0);
    if (faults > 0)
      add(faults > kFaultShare * evaluations ? Severity::warning : Severity::note, "faults",
          fmt::format("{:.0f} proposals had a density of NaN or plus infinity and were rejected", faults),
          "a few at the edges of the parameter space do no harm; many indicate a fault in the data or the "
          "prior");
  }

  void check_thinning() {
    if (draws_.thin < 2) return;
    double least = 1e300;
    for (std::size_t q = 0; q < draws_.num_quantities(); ++q)
      if (!run_.is_constant(q) && !std::isnan(run_.summaries[q].ess_bulk))
        least = std::min(least, run_.summaries[q].ess_bulk);
    const auto draws = static_cast<double>(draws_.num_draws * draws_.num_chains());
    if (least < 1e300 && least > kIndependent * draws)
      add(Severity::note, "thinning",
          fmt::format("with thin = {} draws are almost independent (least ESS {:.0f} of {:.0f} draws)",
                      draws_.thin, least, draws),
          "a smaller thin keeps more information");
  }

  // Compares scales with the lower end of their prior, in the units of the draws.
  void check_floor() {
    const auto& floor = run_.facts.scale_floor;
    if (floor.empty()) return;
    std::vector<std::string> names, flat_columns;
    for (std::size_t b = 0; b < draws_.layout.blocks.size(); ++b) {
      const ParameterBlock& block = draws_.layout.blocks[b];
      if (block.unit != DataUnit::scale || block.support != Support::positive || block.component_axis != 0)
        continue;
      const std::size_t begin = draws_.num_log_densities + static_cast<std::size_t>(draws_.layout.offset(b));
      const std::size_t columns = block.shape.size() == 2 ? static_cast<std::size_t>(block.shape[1]) : 1;
      std::vector<std::vector<std::string>> of_column(columns);
      for (std::size_t i = 0; i < static_cast<std::size_t>(block.size()); ++i) {
        const double bound = floor[std::min(i % columns, floor.size() - 1)] * kNearFloor;
        const std::size_t size = draws_.num_chains() * draws_.num_draws;
        const double* x = draws_.values.data() + (begin + i) * size;
        const auto at_floor =
            static_cast<double>(std::count_if(x, x + size, [&](double v) { return v <= bound; }));
        if (bound > 0 && at_floor > kShareAtFloor * static_cast<double>(size))
          of_column[i % columns].push_back(run_.quantity_labels[begin + i]);
      }
      const std::size_t components = static_cast<std::size_t>(block.size()) / columns;
      for (std::size_t j = 0; j < columns; ++j)
        if (of_column[j].size() == components && components > 1)
          flat_columns.push_back(j < run_.facts.columns.size() ? run_.facts.columns[j] : std::to_string(j));
        else
          names.insert(names.end(), of_column[j].begin(), of_column[j].end());
    }
    if (!flat_columns.empty())
      add(Severity::problem, "floor",
          fmt::format("the scales of all components are at their floor in {} {}",
                      flat_columns.size() == 1 ? "column" : "columns", named(flat_columns)),
          "such a column is constant, or has a few values only (0 and 1, say), which no Gaussian density "
          "describes: leave it out (data.columns)");
    if (!names.empty())
      add(Severity::problem, "floor", "scales at their floor: " + named(names),
          "a component has collapsed, perhaps on repeated rows: fewer components, a prior that keeps scales "
          "off zero (lognormal, inverse_gamma), or a higher prior.scale_floor");
  }

  void check_duplicates() {
    const double duplicates = run_.facts.duplicate_rows.value_or(0), rows = run_.facts.rows.value_or(0);
    if (duplicates > 0)
      add(duplicates > 0.01 * rows ? Severity::warning : Severity::note, "duplicates",
          fmt::format("{:.0f} of {:.0f} rows of the data repeat earlier ones", duplicates, rows),
          "values that are rounded repeat and do no harm as long as no scale is at its floor; copies of "
          "whole records, or frames of digital silence in speech, are better dropped");
  }

  const Inspection& run_;
  const DrawSet& draws_;
  std::vector<Finding>& findings_;
};

}  // namespace

std::string named(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kNamed); ++i) text += (i ? ", " : "") + items[i];
  if (items.size() > kNamed) text += fmt::format(" and {} more", items.size() - kNamed);
  return text;
}

void check_sampler(const Inspection& run, std::vector<Finding>& findings) {
  Checks(run, findings).check_sampler();
}

void check_data(const Inspection& run, std::vector<Finding>& findings) { Checks(run, findings).check_data(); }

}  // namespace emomc
