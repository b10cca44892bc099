// Describes a run, also before its end: its draws, their diagnostics, and whether the component labels agree.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/convergence.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {

/// Facts from a run's manifest; each is empty if the manifest lacks it.
struct RunFacts {
  std::string status;                   ///< running, interrupted, finished, failed
  bool chose_length = false;            ///< the run was to continue until its draws had converged
  std::string order;                    ///< the block by which the prior orders the components; empty: none
  bool exchangeable_components = true;  ///< the prior does not change if components are permuted
  std::optional<double> target_acceptance;
  std::vector<double> adaptation_drift;  ///< [num_blocks]; NaN: unknown
  std::vector<double> scale_floor;       ///< [num_columns], in the data's units
  std::optional<double> faults, evaluations, rows, duplicate_rows;
  std::vector<std::string> columns, files;  ///< names of the data's columns, and of its files
  std::string engine;                       ///< backend, precision and device
  std::string updated_at;                   ///< time when the manifest was written, in the form of utc_now()
  /// Where the chains started, from the manifest's "starts"; missing in manifests of earlier versions.
  struct Starts {
    double points = 0;                ///< number of distinct starting points
    double optima = 0, left_out = 0;  ///< optima of at least 1 % of the mass: with and without a chain
    double share_left_out = 0;        ///< share of the mass of the optima without a chain
    double fits = 0;                  ///< number of short fits; 0: chains did not start from fits
    double fits_of_best = 0;          ///< number of fits that reached the optimum of largest mass
    double degenerate_fits = 0;
    double followed = 0;  ///< draws that were followed to their optimum at the end of the run
    /// Number of optima at which none of the followed draws is (is_lost), and their share of the mass.
    double num_lost = 0, share_of_lost = 0;
  };
  std::optional<Starts> starts;
  std::optional<TemperingSummary> tempering;  ///< exchanges of runs with rungs
};

/// The draws of a run, their diagnostics and the facts from its manifest.
struct Inspection : DrawDiagnostics {
  RunFacts facts;
  std::vector<std::string> quantity_labels;  ///< [draws.num_quantities()] names for readers (labels_of)
};

/// The name of the state of the labels in files: "as_sampled", "relabelled" or "unmended".
std::string labels_name(Labels labels);
/// For example "components 0 and 1 cannot be told apart in 5.0 % of the draws", for the pair that overlaps
/// most.
std::string overlap_text(const ComponentOverlap& overlap);

/// The draws with their diagnostics and labels.
Inspection inspect_draws(DrawSet draws, RunFacts facts, Numbering numbering);

/// Reads the starts that to_json(StartReport) wrote; empty if they are missing. The values may be untrusted.
std::optional<RunFacts::Starts> starts_of(const nlohmann::json& json);

}  // namespace emomc
