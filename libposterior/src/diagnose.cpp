#include "emomc/posterior/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagnose_checks.hpp"
#include "divergence_region.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/posterior/text_table.hpp"
#include "foreign_labels.hpp"

namespace emomc {
namespace {

constexpr double kFarApart = 3;           // in sds of a chain; for R-hat above 1.1
constexpr double kSomeDistance = 0.5;     // in sds of a chain; for smaller R-hat
constexpr double kLongStretch = 0.1;      // share of the draws without a move
constexpr double kMostDivergent = 0.005;  // share of the draws with a divergence

class Judge {
 public:
  explicit Judge(const Inspection& run) : run_(run), draws_(run.draws), verdict_(judge_convergence(run)) {}

  std::vector<Finding> judge() {
    check_status();
    check_finite();
    check_stuck();
    check_label_free();
    check_parameters();
    check_estimates();
    check_foreign_labels();
    check_input();
    check_divergences();
    check_sampler(run_, findings_);
    if (run_.facts.tempering) check_exchanges(*run_.facts.tempering, draws_.num_chains(), findings_);
    check_data(run_, findings_);
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
      add(Severity::problem, "not_finite", "draws that are NaN or infinite: " + named(names),
          "look at the draws; a density that is not finite is a fault of the model or of its data");
  }

  // Whether a chain repeats all quantities of the draw before, as after a rejected proposal.
  bool repeats(std::size_t c, std::size_t draw) const {
    for (std::size_t q = 0; q < draws_.num_quantities(); ++q)
      if (chain(q, c)[draw] != chain(q, c)[draw - 1]) return false;
    return true;
  }

  void check_stuck() {
    std::vector<std::string> stuck;
    for (std::size_t c = 0; c < draws_.num_chains(); ++c) {
      std::size_t longest = 1, length = 1;
      for (std::size_t i = 1; i < draws_.num_draws; ++i) {
        length = repeats(c, i) ? length + 1 : 1;
        longest = std::max(longest, length);
      }
      const auto bound = std::max(20.0, kLongStretch * static_cast<double>(draws_.num_draws));
      if (static_cast<double>(longest) > bound || (longest == draws_.num_draws && longest > 1)) {
        stuck.push_back(fmt::format("chain {} did not move for {} of {} draws", draws_.chains[c], longest,
                                    draws_.num_draws));
      }
    }
    if (!stuck.empty())
      add(Severity::problem, "stuck", named(stuck),
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
                       "every chain has a different mean, {:.5g} to {:.5g} with a sd of {:.2g} in a chain",
                       *std::min_element(means.begin(), means.end()),
                       *std::max_element(means.begin(), means.end()), sd)
                 : "";
    return fmt::format("{} {} {} apart from the others ({:.5g}; sd in a chain {:.2g})",
                       apart.size() == 1 ? "chain" : "chains", named(apart),
                       apart.size() == 1 ? "lies" : "lie", centre, sd);
  }

  // Whether each chain stays where few other chains are: the chain means differ by more than the chains move.
  bool are_in_modes_of_their_own(std::size_t q) const {
    double within = 0, between = 0, mean = 0;
    const auto chains = static_cast<double>(draws_.num_chains());
    for (std::size_t c = 0; c < draws_.num_chains(); ++c) mean += chain_mean(q, c) / chains;
    for (std::size_t c = 0; c < draws_.num_chains(); ++c) {
      within += chain_sd(q, c) * chain_sd(q, c) / chains;
      between += (chain_mean(q, c) - mean) * (chain_mean(q, c) - mean) / (chains - 1);
    }
    return between > within;
  }

  std::string way_to_meet(std::size_t q, double rhat) const {
    if (!(rhat > 1.1)) return "run longer: more draws, or a larger thin at the same number of draws";
    const std::string others =
        "other starts (sampler.init), a longer warm-up, split_merge or more chains help them to agree";
    if (is_foreign() || run_.facts.tempering || !are_in_modes_of_their_own(q))
      return "the chains have different distributions: look at their traces; " + others;
    return "each chain seems to be in a different mode, so there may be more modes that no chain has found: "
           "--set sampler.tempering.rungs=12 lets chains pass between modes in proportion to their mass "
           "(docs/tempering.md); " +
           others;
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
                      run_.bounds.rhat, found.rhat.size(), kind, named(names));
      if (bound > run_.bounds.rhat && rhat > bound)
        text += fmt::format("; chance alone gives up to {:.3f} in the first of these", bound);
      const std::string apart = chains_apart(worst, rhat > 1.1 ? kFarApart : kSomeDistance);
      if (!apart.empty()) text += "; in " + run_.quantity_labels[worst] + " " + apart;
      add(Severity::problem, "rhat", text, way_to_meet(worst, rhat));
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
    add(Severity::problem, "warmup", others.empty() ? text : text + "; likewise " + named(others),
        fmt::format("a longer warm-up than sampler.warmup = {}; the first draws are not from the posterior",
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
          fmt::format("components {} and {} cannot be told apart in all draws: exchanging them makes almost "
                      "no difference in {:.1f} % of the draws (allowed: {:.0f} %), so results for each of "
                      "them depend on how they are matched",
                      run_.overlap.first, run_.overlap.second, 100 * run_.overlap.share,
                      100 * run_.bounds.overlap),
          "quantities that do not depend on labels are not affected; for the components use fewer of them, "
          "or a prior that tells them apart (prior.order)");
    else if (is_matched)
      add(Severity::note, "labels",
          "nothing in the model numbers the components, so chain files have them in any order; here they are "
          "matched, draw by draw",
          "take components from summary, report or export --relabel; prior.order numbers them from the "
          "start");
    report(verdict_.parameters, is_matched ? "the parameters (components renumbered)" : "the parameters");
  }

  // Names estimates beyond their bounds that chance alone would explain, so that nobody takes few draws for
  // converged ones. A run that chose its length was to continue until its estimates reached the bounds.
  void check_estimates() {
    if (!verdict_.converged() || !draws_.approximation.empty()) return;
    std::vector<std::string> rhat, ess;
    for (std::size_t q = 0; q < draws_.num_quantities(); ++q) {
      if (!run_.is_judged(q) || (verdict_.labels_unmended && !run_.is_label_free(q) && !is_foreign()))
        continue;
      const QuantitySummary& s = run_.summaries[q];
      const double least = std::min(s.ess_bulk, s.ess_tail);
      if (!verdict_.reaches_rhat && s.rhat > run_.bounds.rhat)
        rhat.push_back(fmt::format("{} ({:.3f})", run_.quantity_labels[q], s.rhat));
      if (!verdict_.reaches_ess && least < run_.least_ess())
        ess.push_back(fmt::format("{} ({:.0f})", run_.quantity_labels[q], least));
    }
    const bool fell_short = run_.facts.chose_length && run_.facts.status == "finished";
    const std::string why = fell_short ? ", and the run reached its limit before it had converged: "
                                       : ", by no more than chance can explain: ";
    const std::string advice =
        fell_short
            ? "a higher sampler.until.max_draws or until.seconds; another proposal (docs/proposals.md) or "
              "parameterisation if many more draws would be needed"
            : "run longer: in so few draws chance and slow mixing look alike" +
                  std::string(is_foreign() ? "" : "; sampler.draws: auto chooses the number of draws");
    const Severity severity = fell_short ? Severity::problem : Severity::warning;
    if (!rhat.empty())
      add(severity, "rhat", fmt::format("R-hat is above {:.4g}{}{}", run_.bounds.rhat, why, named(rhat)),
          advice);
    if (!ess.empty())
      add(severity, "ess",
          fmt::format("effective sample sizes are below {:.0f}{}{}", run_.least_ess(), why, named(ess)),
          advice);
  }

  void check_foreign_labels() {
    if (!is_foreign()) return;
    for (const std::string& text : switched_labels(draws_))
      add(Severity::problem, "labels", text,
          "the model does not tell these components apart: give it an order, or renumber the draws, before "
          "means of them are taken");
  }

  // Reports the notes of the program that read the files. Draws of an approximation are a problem, since no
  // diagnostic applies to them.
  void check_input() {
    for (const auto& note : draws_.notes)
      add(Severity::note, "input", note, "check that these are the draws that you mean");
    if (!draws_.approximation.empty())
      add(Severity::problem, "approximation",
          fmt::format("these are independent draws of a {} approximation, not of Markov chains: R-hat and "
                      "ESS do not measure how near it is to the posterior",
                      draws_.approximation),
          "compare it with a run of Markov chains, or by the Pareto k of importance weights");
  }

  // Few divergences may be chance. Many, or some that lie in one region, mean that a part of the posterior
  // cannot be reached at this step size.
  void check_divergences() {
    std::size_t count = 0;
    for (std::size_t n : draws_.divergences) count += n;
    if (count == 0) return;
    const bool is_ours = !draws_.statistics.empty();
    const auto region = is_ours ? region_of_divergences(run_) : std::nullopt;
    const auto draws = static_cast<double>(draws_.num_draws * draws_.num_chains());
    std::string text = fmt::format("{} after warm-up", counted(count, "divergent transition"));
    if (region)
      text += fmt::format(
          ", where {} is {} (mean rank {:.2f} among all draws, from 0 to 1): chains do not enter the part of "
          "the posterior that lies beyond",
          run_.quantity_labels[region->quantity], region->mean_rank < 0.5 ? "small" : "large",
          region->mean_rank);
    add(region || static_cast<double>(count) > kMostDivergent * draws ? Severity::problem : Severity::warning,
        "divergences", text,
        is_ours ? "another parameterisation (docs/your-own-likelihood.md), or a higher "
                  "sampler.proposal.target_acceptance (0.95, say)"
                : "a higher adapt_delta, or another parameterisation");
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

}  // namespace emomc
