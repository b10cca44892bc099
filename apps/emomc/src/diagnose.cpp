#include "diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foreign_labels.hpp"

namespace emomc::app {
namespace {

constexpr double kFarApart = 3;        // in sds of a chain, if R-hat is above 1.1
constexpr double kSomeDistance = 0.5;  // the same for smaller R-hat
constexpr double kLongStretch = 0.1;   // share of the draws without a move
constexpr double kLowAcceptance = 0.05, kHighAcceptance = 0.9;
constexpr double kTimesTarget = 2.5;  // below the target acceptance rate
constexpr double kStuckAcceptance = 0.001;
constexpr double kSettledDrift = 0.5;  // change of a log scale
constexpr double kNearFloor = 1.25, kShareAtFloor = 0.05;
constexpr double kFaultShare = 1e-3;
constexpr double kIndependent = 0.9;  // ESS per draw
constexpr std::size_t kNamed = 4;     // quantities or chains that a sentence names

class Judge {
 public:
  explicit Judge(const Inspection& run) : run_(run), draws_(run.draws), verdict_(judge_convergence(run)) {}

  std::vector<Finding> judge() {
    check_status();
    check_finite();
    check_stuck();
    check_label_free();
    check_parameters();
    check_foreign_labels();
    check_input();
    check_divergences();
    check_starts();
    check_number_of_chains();
    check_acceptance();
    check_adaptation();
    check_faults();
    check_floor();
    check_duplicates();
    check_thinning();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    return std::move(findings_);
  }

 private:
  void add(Severity severity, const std::string& check, const std::string& text, const std::string& advice) {
    findings_.push_back({severity, check, text, advice});
  }

  const double* chain(std::size_t q, std::size_t c) const {
    return draws_.values.data() + (q * draws_.num_chains() + c) * draws_.num_draws;
  }
  double chain_mean(std::size_t q, std::size_t c) const {
    return std::accumulate(chain(q, c), chain(q, c) + draws_.num_draws, 0.0) /
           static_cast<double>(draws_.num_draws);
  }
  double chain_sd(std::size_t q, std::size_t c) const {
    return draws_sd({chain(q, c), draws_.num_draws, 1, 1, static_cast<std::ptrdiff_t>(draws_.num_draws)});
  }

  // For example "a, b, c and 5 more".
  static std::string list(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < std::min(items.size(), kNamed); ++i) text += (i ? ", " : "") + items[i];
    if (items.size() > kNamed) text += fmt::format(" and {} more", items.size() - kNamed);
    return text;
  }
  static std::string plural(std::size_t n, const std::string& word) {
    return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
  }

  // Whether the draws are from another program, so that their model is unknown.
  bool is_foreign() const { return draws_.layout.blocks.empty(); }

  void check_status() {
    const std::string& status = run_.facts.status;
    if (status == "running" || status == "interrupted")
      add(Severity::note, "status", "the run is " + status + ": what follows is about the draws so far",
          "let it end, or go on with `emomc run ... --resume`");
    if (status == "failed")
      add(Severity::problem, "status", "the run failed before its end", "see its run.log; run it again");
  }

  void check_finite() {
    std::vector<std::string> names;
    for (std::size_t q = 0; q < draws_.num_quantities(); ++q) {
      const double* x = chain(q, 0);
      if (std::any_of(x, x + draws_.num_chains() * draws_.num_draws,
                      [](double v) { return !std::isfinite(v); }))
        names.push_back(run_.quantity_labels[q]);
    }
    if (!names.empty())
      add(Severity::problem, "not_finite", "draws that are NaN or infinite: " + list(names),
          "look at the draws; a density that is not finite is a fault of the model or of its data");
  }

  // Uses the first log density: a chain that rejects every proposal repeats it.
  void check_stuck() {
    std::vector<std::string> stuck;
    for (std::size_t c = 0; c < draws_.num_chains(); ++c) {
      const double* x = chain(0, c);
      std::size_t longest = 1, length = 1;
      for (std::size_t i = 1; i < draws_.num_draws; ++i) {
        length = x[i] == x[i - 1] ? length + 1 : 1;
        longest = std::max(longest, length);
      }
      const auto bound = std::max(20.0, kLongStretch * static_cast<double>(draws_.num_draws));
      if (static_cast<double>(longest) > bound || (longest == draws_.num_draws && longest > 1)) {
        stuck.push_back(fmt::format("chain {} did not move for {} of {} draws", draws_.chains[c], longest,
                                    draws_.num_draws));
      }
    }
    if (!stuck.empty())
      add(Severity::problem, "stuck", list(stuck),
          "a longer warm-up or shorter steps (sampler.proposal.target_acceptance) let it move; a chain in a "
          "spike of the density needs prior.scale_floor or a narrower prior on scales");
  }

  // For example "chain 2 (0.31) lies apart from the others (0.52; ...)": the chains whose mean of quantity q
  // differs from the median of the chains' means by more than `distance` sds of a chain.
  std::string chains_apart(std::size_t q, double distance) const {
    const std::size_t chains = draws_.num_chains();
    std::vector<double> means, sds;
    for (std::size_t c = 0; c < chains; ++c) {
      means.push_back(chain_mean(q, c));
      sds.push_back(chain_sd(q, c));
    }
    const auto middle = [](std::vector<double> x) {
      std::sort(x.begin(), x.end());
      return x.size() % 2 ? x[x.size() / 2] : 0.5 * (x[x.size() / 2 - 1] + x[x.size() / 2]);
    };
    const double centre = middle(means), sd = middle(sds);
    std::vector<std::string> apart;
    for (std::size_t c = 0; c < chains; ++c)
      if (std::abs(means[c] - centre) > distance * std::max(sd, 1e-300))
        apart.push_back(fmt::format("{} ({:.5g})", draws_.chains[c], means[c]));
    if (apart.empty() || apart.size() == chains)
      return chains > 1 && apart.size() == chains
                 ? fmt::format(
                       "every chain has a mean of its own, {:.5g} to {:.5g} with a sd of {:.2g} in a chain",
                       *std::min_element(means.begin(), means.end()),
                       *std::max_element(means.begin(), means.end()), sd)
                 : "";
    return fmt::format("{} {} {} apart from the others ({:.5g}; sd in a chain {:.2g})",
                       apart.size() == 1 ? "chain" : "chains", list(apart),
                       apart.size() == 1 ? "lies" : "lie", centre, sd);
  }

  void report(const FailedQuantities& found, const std::string& kind) {
    if (!found.rhat.empty()) {
      std::vector<std::string> names;
      for (std::size_t q : found.rhat)
        names.push_back(fmt::format("{} ({:.3f})", run_.quantity_labels[q], run_.summaries[q].rhat));
      const std::size_t worst = found.rhat[0];
      const double rhat = run_.summaries[worst].rhat, bound = run_.rhat_bound(worst);
      std::string text =
          fmt::format("R-hat above {:.4g} in {} of {}, and chains differ by more than chance: {}",
                      run_.bounds.rhat, found.rhat.size(), kind, list(names));
      if (bound > run_.bounds.rhat && rhat > bound)
        text += fmt::format("; chance alone gives up to {:.3f} in the first of these", bound);
      const std::string apart = chains_apart(worst, rhat > 1.1 ? kFarApart : kSomeDistance);
      if (!apart.empty()) text += "; in " + run_.quantity_labels[worst] + " " + apart;
      add(Severity::problem, "rhat", text,
          rhat > 1.1 ? "the chains are in different places: look at their traces; other starts "
                       "(sampler.init), a longer warm-up, split_merge or more chains help them to meet"
                     : "run longer: more draws, or a larger thin at the same number of draws");
    }
    if (!found.trend.empty()) report_trend(found.trend);
    if (!found.ess.empty()) {
      const QuantitySummary& s = run_.summaries[found.ess[0]];
      const double least = s.ess_tail < s.ess_bulk ? s.ess_tail : s.ess_bulk;
      std::string advice = "run longer, or try another proposal (docs/proposals.md)";
      if (least > 1)
        advice = fmt::format(
            "at this rate {:.1f} times as many steps would do; or try another proposal "
            "(docs/proposals.md)",
            1.1 * run_.least_ess() / least);
      add(Severity::problem, "ess",
          fmt::format("effective sample sizes below {:.0f} by more than chance in {} of {}, the least in {}: "
                      "{:.0f} bulk, {:.0f} tail",
                      run_.least_ess(), found.ess.size(), kind, run_.quantity_labels[found.ess[0]],
                      s.ess_bulk, s.ess_tail),
          advice);
    }
  }

  // Compares early draws of all chains with the last half of their draws.
  void report_trend(const std::vector<std::size_t>& found) {
    const std::size_t q = found[0], n = draws_.num_draws;
    const MixingTests& test = run_.tests[q];
    const auto early = static_cast<std::size_t>(std::lround(test.trend_share * static_cast<double>(n)));
    DrawsView first = draws_.view(q), last = first;
    first.num_draws = early;
    last.num_draws = n / 2;
    last.data += n - n / 2;
    const double a = draws_mean(first), b = draws_mean(last);
    // If the means are equal, the width of the distribution changes.
    const bool in_mean = std::abs(b - a) > 0.1 * draws_sd(last);
    std::vector<std::string> others;
    for (std::size_t i = 1; i < found.size(); ++i) others.push_back(run_.quantity_labels[found[i]]);
    const std::string text =
        in_mean ? fmt::format(
                      "{} still {} after warm-up: {:.6g} in the first {} draws of each chain, {:.6g} in "
                      "the last half",
                      run_.quantity_labels[q], b > a ? "rises" : "falls", a, early, b)
                : fmt::format(
                      "{} still changes in width after warm-up: the first {} draws of each chain are not "
                      "distributed like the last half",
                      run_.quantity_labels[q], early);
    add(Severity::problem, "warmup", others.empty() ? text : text + "; likewise " + list(others),
        fmt::format("a longer warm-up than sampler.warmup = {}; the first draws are not of the posterior",
                    draws_.warmup));
  }

  void check_label_free() {
    if (verdict_.too_few_draws) {
      add(Severity::problem, "ess",
          fmt::format("{} draws of each chain are too few for any diagnostic", draws_.num_draws),
          "run longer");
      return;
    }
    const bool has_mixture = run_.first_label_free < draws_.num_quantities();
    report(verdict_.label_free, is_foreign()  ? "the quantities"
                                : has_mixture ? "the quantities that do not depend on labels"
                                              : "the log densities");
  }

  void check_parameters() {
    const bool is_matched = run_.labels != Labels::as_sampled;
    if (verdict_.labels_unmended)
      add(Severity::warning, "labels",
          fmt::format(
              "components {} and {} cannot be told apart in all draws: trading them makes next to no "
              "difference in {:.1f} % (at most {:.0f} % where it does), so what is said of each depends "
              "on how they are matched",
              run_.overlap.first, run_.overlap.second, 100 * run_.overlap.share, 100 * run_.bounds.overlap),
          "what does not depend on labels is not concerned; for the components take fewer of them, or a "
          "prior "
          "that tells them apart (prior.order)");
    else if (is_matched)
      add(Severity::note, "labels",
          "nothing in the model numbers the components, so chain files have them in any order; here they are "
          "matched, draw by draw",
          "take components from summary, report or export --relabel; prior.order numbers them from the "
          "start");
    report(verdict_.parameters, is_matched ? "the parameters (components renumbered)" : "the parameters");
  }

  void check_foreign_labels() {
    if (!is_foreign()) return;
    for (const std::string& text : switched_labels(draws_))
      add(Severity::problem, "labels", text,
          "the model does not tell these components apart: give it an order, or renumber the draws, before "
          "means of them are taken");
  }

  // Repeats what the reader of the files noted. Draws of an approximation are a problem, since no diagnostic
  // judges them.
  void check_input() {
    for (const auto& note : draws_.notes)
      add(Severity::note, "input", note, "check that these are the draws that you mean");
    if (!draws_.approximation.empty())
      add(Severity::problem, "approximation",
          fmt::format(
              "these are independent draws of a {} approximation, not of Markov chains: R-hat and ESS say "
              "nothing of how near it is to the posterior",
              draws_.approximation),
          "compare it with a run of Markov chains, or by the Pareto k of importance weights");
  }

  void check_divergences() {
    std::size_t count = 0;
    for (std::size_t n : draws_.divergences) count += n;
    if (count > 0)
      add(Severity::problem, "divergences",
          fmt::format("{} after warm-up", plural(count, "divergent transition")),
          "a higher adapt_delta, or another parameterisation");
  }

  // Moves of crank_nicolson that use the distribution fitted in warm-up. The better the fit, the higher the
  // acceptance rate; at a rate of 1 each draw is independent of the one before.
  static bool is_move_by_fit(const std::string& block) { return block.starts_with("all["); }
  static bool is_jump(const std::string& block) { return block.starts_with("split_merge"); }

  void check_acceptance() {
    std::vector<std::string> low, high, none;
    const double target = run_.facts.target_acceptance.value_or(0);
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
      if (!dead.empty()) none.push_back(fmt::format("{} in chain {}", block.name, list(dead)));
      // Blocks of one dimension have the target 0.44.
      const double least = target > 0 ? std::min(target, 0.44) / kTimesTarget : kLowAcceptance;
      const double most =
          target > 0 ? std::min(kHighAcceptance, std::max(target, 0.44) * 1.6) : kHighAcceptance;
      if (rate < least) low.push_back(text);
      if (rate > most && !is_move_by_fit(block.name)) high.push_back(text);
    }
    if (!none.empty())
      add(Severity::problem, "acceptance", "next to no proposal is accepted: " + list(none),
          "a longer warm-up, so that its steps are fitted to this chain too, or other starts");
    if (!low.empty())
      add(Severity::warning, "acceptance", "few proposals are accepted: " + list(low),
          "a longer warm-up, so that steps become as short as this posterior asks for");
    if (!high.empty())
      add(Severity::warning, "acceptance",
          "nearly all proposals are accepted, so steps are short: " + list(high),
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
          "step lengths still changed over the last fifth of the warm-up: " + list(moving),
          fmt::format("a longer warm-up than sampler.warmup = {}", draws_.warmup));
  }

  // R-hat compares chains: it cannot detect modes that no chain has visited.
  void check_starts() {
    if (!run_.facts.starts) return;
    const RunFacts::Starts& s = *run_.facts.starts;
    if (s.num_lost > 0)
      add(Severity::problem, "starts",
          fmt::format("{:.0f} of the {:.0f} optima that the starts have found {} lost: about {:.2g} % of the "
                      "posterior "
                      "mass is there (Laplace's approximation), and none of {:.0f} draws",
                      s.num_lost, s.optima + s.left_out, s.num_lost == 1 ? "is" : "are",
                      100 * s.share_of_lost, s.followed),
          "chains left these modes during warm-up and do not come back, so the draws are of a part of the "
          "posterior: "
          "sampler.proposal.kind split_merge moves between modes; more chains alone do not help");
    if (draws_.num_chains() < 2) return;
    if (s.left_out > 0)
      add(Severity::warning, "starts",
          fmt::format(
              "no chain started at {:.0f} of the {:.0f} optima that have 1 % of the posterior mass or more; "
              "they have about {:.2g} % of it",
              s.left_out, s.left_out + s.optima, 100 * s.share_left_out),
          "more chains (sampler.chains) have one for each");
    if (s.points <= 1)
      add(Severity::warning, "starts",
          fmt::format(
              "all {} chains started at one point, so that R-hat cannot tell whether there are other modes",
              draws_.num_chains()),
          "sampler.init: kmeans, em or prior start them at different ones");
    else if (s.fits > 0 && s.fits_of_best <= 1 && s.optima + s.left_out == 1)
      add(Severity::warning, "starts",
          fmt::format(
              "the best optimum was reached by one of {:.0f} fits only, so there may be better ones; the "
              "chains started at {:.0f} points about it",
              s.fits, s.points),
          "other seeds (sampler.seed) look elsewhere; fewer components leave fewer optima");
    else if (s.fits > 0)
      add(Severity::note, "starts",
          fmt::format(
              "the chains started at {:.0f} points of {:.0f} {} of the posterior, found by {:.0f} short fits",
              s.points, s.optima, s.optima == 1 ? "optimum" : "optima", s.fits),
          "R-hat speaks of modes that a chain started in or came to");
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
          "a few at the edges of the parameter space do no harm; many point at the data or the prior");
  }

  // Compares scales with the floor at which their prior begins, in the units of the draws.
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
        const double* x = chain(begin + i, 0);
        const std::size_t size = draws_.num_chains() * draws_.num_draws;
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
                      flat_columns.size() == 1 ? "column" : "columns", list(flat_columns)),
          "such a column is constant, or has a few values only (0 and 1, say), which no Gaussian density "
          "describes: "
          "leave it out (data.columns)");
    if (!names.empty())
      add(Severity::problem, "floor", "scales at their floor: " + list(names),
          "a component has collapsed, on repeated rows perhaps: fewer components, a prior that keeps scales "
          "off zero (lognormal, inverse_gamma), or a higher prior.scale_floor");
  }

  void check_duplicates() {
    const double duplicates = run_.facts.duplicate_rows.value_or(0), rows = run_.facts.rows.value_or(0);
    if (duplicates > 0)
      add(duplicates > 0.01 * rows ? Severity::warning : Severity::note, "duplicates",
          fmt::format("{:.0f} of {:.0f} rows of the data repeat earlier ones", duplicates, rows),
          "values that are rounded repeat and do no harm as long as no scale is at its floor; copies of "
          "whole records, or "
          "frames of digital silence in speech, are better dropped");
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
          fmt::format("with thin = {} every draw counts in full (least ESS {:.0f} of {:.0f} draws)",
                      draws_.thin, least, draws),
          "a smaller thin keeps more of what was computed");
  }

  const Inspection& run_;
  const DrawSet& draws_;
  const ConvergenceVerdict verdict_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> diagnose(const Inspection& run) { return Judge(run).judge(); }

bool is_trusted(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Severity::problem; });
}

const char* severity_name(Severity severity) {
  return severity == Severity::problem ? "problem" : severity == Severity::warning ? "warning" : "note";
}

}  // namespace emomc::app
