#include "report.hpp"

#include "emomc/core/errors.hpp"

#ifdef EMOMC_HAVE_REPORT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "citation.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/json_value.hpp"
#include "emomc/posterior/quantity_labels.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/posterior/text_table.hpp"
#include "html_page.hpp"
#include "predictive.hpp"
#include "progress.hpp"
#include "report_assets.hpp"

namespace emomc::app {
namespace {

// Number of quantities with the worst diagnostics that are charted in addition to the log density and the
// requested quantities.
constexpr std::size_t kChartedQuantities = 10;
constexpr std::size_t kMostCharted = 24;
constexpr std::size_t kTracePoints = 8000;  // points of a quantity's trace, over all chains
constexpr std::size_t kRankBins = 20, kDensityPoints = 48, kLags = 60, kMoveWindows = 40;
constexpr std::size_t kBandDraws = 200, kFitPoints = 80, kHistogramBins = 50;
constexpr int kReplicates = 100;
constexpr std::size_t kMostRows = 20'000;  // rows of the table of quantities
constexpr std::size_t kMostDataBytes = 400'000'000;

std::string json_text(const std::string& text) { return script_json(text); }

std::string number(double x, int digits = 6) {
  return std::isfinite(x) ? fmt::format("{:.{}g}", x, digits) : "null";
}

template <class Range>
std::string numbers(const Range& values, int digits = 6) {
  std::string text = "[";
  for (double x : values) text += (text.size() > 1 ? "," : "") + number(x, digits);
  return text + "]";
}

template <class Range, class F>
std::string list(const Range& items, F text_of) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? "," : "") + text_of(item);
  return text + "]";
}

class Page {
 public:
  Page(const Inspection& run, const std::filesystem::path& directory, const ReportOptions& options)
      : run_(run), draws_(run.draws), directory_(directory), options_(options) {}

  std::string data() {
    const auto findings = diagnose(run_);
    const RunSummary summary = summarize_run(run_, {});
    std::string facts = fmt::format("{} chains of {} draws", draws_.num_chains(), draws_.num_draws);
    if (draws_.warmup > 0) facts += fmt::format(" after {} steps of warm-up", draws_.warmup);
    if (draws_.thin > 1) facts += fmt::format(", every {}th step kept", draws_.thin);
    if (draws_.sampling_seconds) facts += ", sampled in " + duration_text(*draws_.sampling_seconds);
    if (const std::string text = describe(summary.trajectories); !text.empty()) facts += "; " + text;
    if (summary.tempering) facts += "; " + describe(*summary.tempering);
    facts += ". " + data_and_engine() + draws_.program + ", reported by emomc " EMOMC_VERSION ".";
    std::string labels;
    if (run_.labels != Labels::as_sampled)
      labels = "Components are matched over draws and numbered by " + summary.numbering_label + ".";
    if (run_.labels == Labels::unmended)
      labels += fmt::format(" Components {} and {} cannot be told apart in {:.1f} % of the draws.",
                            run_.overlap.first, run_.overlap.second, 100 * run_.overlap.share);
    std::string text = "{\"title\":" + json_text(draws_.source) + ",\"facts\":" + json_text(facts) +
                       ",\"labels\":" + json_text(labels) +
                       ",\"trusted\":" + (is_trusted(findings) ? "true" : "false");
    text += ",\"findings\":" + list(findings, [](const Finding& f) {
              return "{\"severity\":" + json_text(severity_name(f.severity)) +
                     ",\"text\":" + json_text(f.text) + ",\"advice\":" + json_text(f.advice) + "}";
            });
    text += ",\"rows\":" + rows();
    text += ",\"chains\":" + list(draws_.chains, json_text) +
            fmt::format(",\"draws\":{},\"trace_step\":{}", draws_.num_draws, trace_step());
    text += ",\"quantities\":" + list(charted(), [this](std::size_t q) { return quantity(q); });
    text += ",\"moves\":" + moves() + ",\"moves_note\":" + json_text(note_on_moves(summary)) +
            ",\"acceptance\":" + list(summary.acceptance, [](const BlockAcceptance& b) {
              return "{\"name\":" + json_text(b.name) + ",\"rate\":" + number(b.rate) +
                     ",\"lowest\":" + number(b.lowest) + ",\"highest\":" + number(b.highest) + "}";
            });
    text += fits();
    text += ",\"predictive\":" + predictive();
    text += ",\"config\":" + json_text(config());
    const Citation citation = citation_of(report_citation);
    return text + ",\"cite\":" + json_text(citation.sentence) + ",\"bibtex\":" + json_text(citation.bibtex) +
           "}";
  }

 private:
  // Returns sentences about the data, the engine and the date, as far as the manifest contains them.
  std::string data_and_engine() const {
    constexpr std::size_t kMostColumns = 8;
    const RunFacts& facts = run_.facts;
    std::string text;
    if (facts.rows) {
      text += fmt::format("{} of {}", counted(static_cast<std::size_t>(*facts.rows), "row"),
                          counted(facts.columns.size(), "column"));
      for (std::size_t j = 0; j < std::min(facts.columns.size(), kMostColumns); ++j)
        text += (j == 0 ? " (" : ", ") + facts.columns[j];
      if (!facts.columns.empty()) text += facts.columns.size() > kMostColumns ? ", ...)" : ")";
      if (facts.files.size() == 1) text += " from " + facts.files[0];
      if (facts.files.size() > 1) text += fmt::format(" from {} files", facts.files.size());
      text += ". ";
    }
    if (!facts.engine.empty()) text += "Backend " + facts.engine + ". ";
    if (!facts.updated_at.empty()) text += "Run of " + facts.updated_at + ". ";
    return text;
  }

  std::span<const double> chain(std::size_t q, std::size_t c) const {
    return {draws_.values.data() + (q * draws_.num_chains() + c) * draws_.num_draws, draws_.num_draws};
  }
  std::span<const double> all(std::size_t q) const {
    return {draws_.values.data() + q * draws_.num_chains() * draws_.num_draws,
            draws_.num_chains() * draws_.num_draws};
  }

  std::string rows() const {
    std::string text = "[";
    for (std::size_t q = 0; q < std::min(draws_.num_quantities(), kMostRows); ++q) {
      const QuantitySummary& s = run_.summaries[q];
      text += (q ? ",[" : "[") + json_text(run_.quantity_labels[q]);
      for (double x : {s.mean, s.sd, s.q5, s.q50, s.q95, s.mcse_mean, s.ess_bulk, s.ess_tail, s.rhat})
        text += "," + number(x, 14);
      text += (run_.is_converged(q) ? ",0," : ",1,") + json_text(draws_.names[q]) + "]";
    }
    return text + "]";
  }

  // Returns the log density, the requested quantities and the worst ones, in this order.
  std::vector<std::size_t> charted() const {
    std::vector<std::size_t> chosen{0}, rest;
    const auto add = [&](std::size_t q) {
      if (chosen.size() < kMostCharted && std::find(chosen.begin(), chosen.end(), q) == chosen.end())
        chosen.push_back(q);
    };
    for (std::size_t q = 0; q < draws_.num_quantities(); ++q) {
      if (!options_.vars.empty() && is_selected(draws_.names[q], run_.quantity_labels[q], options_.vars))
        add(q);
      const auto values = all(q);
      if (!run_.is_constant(q) &&
          std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }))
        rest.push_back(q);
    }
    std::stable_sort(rest.begin(), rest.end(), [this](std::size_t a, std::size_t b) {
      return badness(run_.summaries[a], run_.is_constant(a)) >
             badness(run_.summaries[b], run_.is_constant(b));
    });
    for (std::size_t i = 0; i < std::min(rest.size(), kChartedQuantities); ++i) add(rest[i]);
    return chosen;
  }

  std::size_t trace_step() const {
    return std::max<std::size_t>(1, draws_.num_chains() * draws_.num_draws / kTracePoints);
  }

  // Returns the number of digits that distinguishes draws whose spread is small compared with their
  // magnitude.
  int digits_of(std::size_t q) const {
    const QuantitySummary& s = run_.summaries[q];
    const double size = std::max(std::abs(s.q5), std::abs(s.q95));
    const double extra = s.sd > 0 && size > s.sd ? std::ceil(std::log10(size / s.sd)) : 0.0;
    return 4 + static_cast<int>(std::min(extra, 12.0));
  }

  std::string quantity(std::size_t q) const {
    const std::size_t chains = draws_.num_chains(), n = draws_.num_draws;
    std::vector<std::size_t> index(chains);
    std::iota(index.begin(), index.end(), std::size_t{0});
    const QuantitySummary& s = run_.summaries[q];
    std::string text = "{\"name\":" + json_text(run_.quantity_labels[q]) + ",\"rhat\":" + number(s.rhat) +
                       ",\"ess_bulk\":" + number(s.ess_bulk) + ",\"ess_tail\":" + number(s.ess_tail);
    text += ",\"trace\":" + list(index, [&](std::size_t c) {
              std::vector<double> thinned;
              for (std::size_t i = 0; i < n; i += trace_step()) thinned.push_back(chain(q, c)[i]);
              return numbers(thinned, digits_of(q));
            });

    std::vector<double> sorted(all(q).begin(), all(q).end());
    std::erase_if(sorted, [](double x) { return !std::isfinite(x); });
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty()) sorted.push_back(0);
    const std::size_t bins = std::min(kRankBins, std::max<std::size_t>(1, n / 5));
    text += ",\"ranks\":" + list(index, [&](std::size_t c) {
              std::vector<double> counts(bins, 0.0);
              for (double x : chain(q, c)) {
                const auto rank = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), x) -
                                                           sorted.begin());
                counts[std::min(bins - 1, rank * bins / sorted.size())] +=
                    static_cast<double>(bins) / static_cast<double>(n);
              }
              return numbers(counts);
            });

    // The range is between outer quantiles, so that one extreme draw does not flatten the curve.
    const auto at = [&](double p) {
      return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1))];
    };
    double low = at(0.001), high = at(0.999);
    if (!(high > low)) {
      low -= 0.5;
      high += 0.5;
    }
    const double width = (high - low) / static_cast<double>(kDensityPoints);
    std::vector<double> x;
    for (std::size_t i = 0; i < kDensityPoints; ++i)
      x.push_back(low + (static_cast<double>(i) + 0.5) * width);
    text += ",\"density_x\":" + numbers(x, digits_of(q)) + ",\"density\":" + list(index, [&](std::size_t c) {
              return numbers(density(chain(q, c), x, sorted));
            });

    std::vector<double> correlation = autocorrelation(draws_.view(q));
    correlation.resize(std::min(correlation.size(), kLags));
    return text + ",\"autocorrelation\":" + numbers(correlation) + "}";
  }

  // Returns a Gaussian kernel density estimate from binned draws, with Silverman's bandwidth for all draws of
  // the quantity.
  static std::vector<double> density(std::span<const double> values, const std::vector<double>& x,
                                     const std::vector<double>& sorted) {
    const double n = static_cast<double>(values.size()), step = x[1] - x[0];
    const double quartiles = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
    const double width = std::max(0.9 * std::max(quartiles / 1.34, 1e-300) * std::pow(n, -0.2), 0.75 * step);
    std::vector<double> counts(x.size(), 0.0), result(x.size(), 0.0);
    for (double value : values) {
      const double bin = (value - x[0]) / step + 0.5;
      if (bin >= 0 && bin < static_cast<double>(x.size())) counts[static_cast<std::size_t>(bin)] += 1 / n;
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j) {
        const double z = (x[i] - x[j]) / width;
        result[i] += counts[j] * std::exp(-0.5 * z * z) / (width * 2.5066282746310002);
      }
    return result;
  }

  std::string note_on_moves(const RunSummary& summary) const {
    std::string text =
        "Share of kept draws in which a part of the parameters differs from the draw before, over the run. ";
    if (summary.trajectories.num_draws > 0)
      return text +
             "A trajectory moves all parameters and nearly always ends at another point, so that the share "
             "is "
             "near 1 whatever the acceptance is. The table has the mean acceptance statistic of the "
             "trajectories, by which the step size was adapted.";
    if (summary.tempering) return text + "Exchanges with other temperatures change all parameters, too.";
    if (draws_.thin > 1) return text + "Several steps lie between two kept draws.";
    return text + "For a part that is moved as one block this is the acceptance of the block.";
  }

  std::string moves() const {
    const std::size_t n = draws_.num_draws, windows = std::min(kMoveWindows, n / 10);
    if (draws_.layout.blocks.empty() || windows == 0) return "[]";
    std::string text = "[";
    for (std::size_t b = 0; b < draws_.layout.blocks.size(); ++b) {
      const ParameterBlock& block = draws_.layout.blocks[b];
      const std::size_t begin = draws_.num_log_densities + static_cast<std::size_t>(draws_.layout.offset(b));
      const std::size_t slices = block.component_axis == 0 && block.support != Support::simplex
                                     ? static_cast<std::size_t>(block.shape[0])
                                     : 1;
      const std::size_t slice = static_cast<std::size_t>(block.size()) / slices;
      std::vector<double> share, where;
      for (std::size_t w = 0; w < windows; ++w) {
        const std::size_t first = std::max<std::size_t>(1, w * n / windows), last = (w + 1) * n / windows;
        double moved = 0, looked = 0;
        for (std::size_t k = 0; k < slices; ++k)
          for (std::size_t c = 0; c < draws_.num_chains(); ++c) {
            const auto values = chain(begin + k * slice, c);
            for (std::size_t i = first; i < last; ++i) moved += values[i] != values[i - 1] ? 1 : 0;
            looked += static_cast<double>(last - first);
          }
        share.push_back(looked > 0 ? moved / looked : 0);
        where.push_back(0.5 * static_cast<double>(first + last));
      }
      text += (b ? ",{\"name\":" : "{\"name\":") + json_text(block.name) + ",\"at\":" + numbers(where) +
              ",\"share\":" + numbers(share) + "}";
    }
    return text + "]";
  }

  // Returns the mixture's density in each column, as the mean over draws and a 90 % band, with the data's
  // histogram.
  std::string fits() const {
    const auto mixture = find_mixture(draws_, 1);
    if (!mixture || !mixture->is_gaussian) return ",\"fits\":[],\"fit_note\":\"\"";
    const RunData data = directory_.empty() ? RunData{} : read_run_data(directory_, kMostDataBytes);
    const auto columns = static_cast<std::size_t>(mixture->num_columns);
    const std::size_t draws = draws_.num_chains() * draws_.num_draws, used = std::min(draws, kBandDraws);
    std::string text;
    for (std::size_t j = 0; j < columns; ++j) {
      const auto [low, high] = range_of(*mixture, data, columns, j);
      std::vector<double> x;
      for (std::size_t i = 0; i < kFitPoints; ++i)
        x.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(kFitPoints - 1));
      std::vector<std::vector<double>> densities(kFitPoints, std::vector<double>(used));
      for (std::size_t s = 0; s < used; ++s) {
        const auto values = column_densities(draws_, *mixture, s * draws / used, j, x);
        for (std::size_t i = 0; i < kFitPoints; ++i) densities[i][s] = values[i];
      }
      std::vector<double> mean, below, above;
      for (auto& at : densities) {
        std::sort(at.begin(), at.end());
        mean.push_back(std::accumulate(at.begin(), at.end(), 0.0) / static_cast<double>(used));
        below.push_back(at[used / 20]);
        above.push_back(at[used - 1 - used / 20]);
      }
      const Histogram histogram = histogram_of(data, columns, j, low, high);
      const std::string name =
          data.columns.size() == columns ? data.columns[j] : "column " + std::to_string(j);
      text += (j ? ",{\"name\":" : "{\"name\":") + json_text(name) + ",\"x\":" + numbers(x) +
              ",\"mean\":" + numbers(mean) + ",\"low\":" + numbers(below) + ",\"high\":" + numbers(above) +
              ",\"histogram_x\":" + numbers(histogram.centres) +
              ",\"histogram\":" + numbers(histogram.density) + "}";
    }
    const std::string note =
        directory_.empty() ? "Posterior mean of the density of each column, with a band of 90 % of the draws."
        : data.values.empty()
            ? "Posterior mean of the density of each column, with a band of 90 % of the draws. The data are "
              "not shown: they are missing, have changed, or are too large."
            : "The data's histogram (grey) and the posterior mean of the density of each column (red), "
              "with a band of 90 % of the draws.";
    return ",\"fits\":[" + text + "],\"fit_note\":" + json_text(note);
  }

  struct Histogram {
    std::vector<double> centres, density;
  };
  // The histogram is empty without data. In a column of whole numbers each bin has the same number of whole
  // numbers; other bins would show gaps and peaks that the data do not have.
  static Histogram histogram_of(const RunData& data, std::size_t columns, std::size_t j, double low,
                                double high) {
    Histogram histogram;
    if (data.values.empty()) return histogram;
    constexpr double kLargestWhole = 9e15;
    bool whole = true;
    double least = data.values[j], most = least;
    for (std::size_t i = j; i < data.values.size(); i += columns) {
      const double x = data.values[i];
      whole = whole && x == std::floor(x) && std::abs(x) < kLargestWhole;
      least = std::min(least, x);
      most = std::max(most, x);
    }
    double begin = low, width = (high - low) / static_cast<double>(kHistogramBins);
    std::size_t bins = kHistogramBins;
    if (whole) {
      width = std::ceil((most - least + 1) / static_cast<double>(kHistogramBins));
      bins = static_cast<std::size_t>(std::ceil((most - least + 1) / width));
      begin = least - 0.5;
    }
    histogram.density.assign(bins, 0.0);
    const std::size_t rows = data.values.size() / columns;
    const double per_row = 1 / (width * static_cast<double>(rows));
    for (std::size_t i = j; i < data.values.size(); i += columns) {
      const double bin = (data.values[i] - begin) / width;
      if (bin >= 0 && bin < static_cast<double>(bins))
        histogram.density[static_cast<std::size_t>(bin)] += per_row;
    }
    for (std::size_t i = 0; i < bins; ++i)
      histogram.centres.push_back(begin + (static_cast<double>(i) + 0.5) * width);
    return histogram;
  }

  std::pair<double, double> range_of(const MixtureNames& mixture, const RunData& data, std::size_t columns,
                                     std::size_t j) const {
    if (!data.values.empty()) {
      double low = data.values[j], high = low;
      for (std::size_t i = j; i < data.values.size(); i += columns) {
        low = std::min(low, data.values[i]);
        high = std::max(high, data.values[i]);
      }
      const double margin = high > low ? 0.03 * (high - low) : 1;
      return {low - margin, high + margin};
    }
    const auto [mean, sd] = column_moments(draws_, mixture, 0, j);
    return {mean - 4 * sd, mean + 4 * sd};
  }

  // The checks, and the reason if there are none.
  std::string predictive() const {
    std::vector<PredictiveCheck> checks;
    std::string reason;
    if (!directory_.empty() && !draws_.layout.blocks.empty()) {
      try {
        checks = predictive_checks(directory_, kReplicates);
      } catch (const InputError& error) {
        reason = error.what();
      }
    }
    return list(checks,
                [](const PredictiveCheck& c) {
                  return "[" + json_text(c.column) + "," + json_text(c.statistic) + "," + number(c.observed) +
                         "," + number(c.mean) + "," + number(c.q5) + "," + number(c.q95) + "," + number(c.p) +
                         "]";
                }) +
           ",\"no_predictive\":" + json_text(reason);
  }

  std::string config() const {
    return directory_.empty() ? "" : beginning_of(directory_ / "config.yaml", 200'000);
  }

  const Inspection& run_;
  const DrawSet& draws_;
  std::filesystem::path directory_;  // empty for draws of other programs
  ReportOptions options_;
};

}  // namespace

bool has_report() { return true; }

std::string report_html(const Inspection& run, const std::filesystem::path& directory,
                        const ReportOptions& options) {
  return fill_page(report_frame, {{"BODY", report_page},
                                  {"SCRIPT", std::string(report_common) + report_script},
                                  {"CHART", report_chart},
                                  {"STYLE", report_style},
                                  {"DATA", Page(run, directory, options).data()},
                                  {"TITLE", html_text("emomc: " + run.draws.source)}});
}

}  // namespace emomc::app

#else

namespace emomc::app {

bool has_report() { return false; }
std::string report_html(const Inspection&, const std::filesystem::path&, const ReportOptions&) {
  throw InputError("report: this build has no charts; install libjs-chart.js and build again");
}

}  // namespace emomc::app

#endif
