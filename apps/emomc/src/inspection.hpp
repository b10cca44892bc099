// What is known of a run after it: its draws, what their diagnostics are, whether its labels agree.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/convergence.hpp"

namespace emomc::app {

/// What a manifest adds to the draws; empty where there is none.
struct RunFacts {
  std::string status;                   ///< running, interrupted, finished, failed
  std::string order;                    ///< block by which the prior orders components; empty: none
  bool exchangeable_components = true;  ///< the prior is the same when components change places
  std::optional<double> target_acceptance;
  std::vector<double> adaptation_drift;  ///< [num_blocks]; NaN: not known
  std::vector<double> scale_floor;       ///< [num_columns] in the data's units
  std::optional<double> faults, evaluations, rows, duplicate_rows;
  /// Where the chains started, as the manifest's "starts" has it; nothing in manifests of earlier versions.
  struct Starts {
    double points = 0;                ///< distinct ones
    double optima = 0, left_out = 0;  ///< of 1 % of the mass and more: with a chain, without one
    double share_left_out = 0;        ///< of the mass
    double fits = 0;                  ///< 0: chains did not start from fits
    double fits_of_best = 0;          ///< that reached the heaviest optimum
    double degenerate_fits = 0;
    double followed = 0;  ///< draws that were followed to their optimum at the end of the run
    double num_lost = 0,
           share_of_lost = 0;  ///< optima at which none of them is (is_lost), and their share of the mass
  };
  std::optional<Starts> starts;
};

/// The draws of a run, their diagnostics, and what its manifest adds.
struct Inspection : DrawDiagnostics {
  RunFacts facts;
};

/// The runs of a command line: directories by themselves; CSV files together are the chains of one. Throws
/// InputError.
std::vector<Inspection> inspect(const std::vector<std::string>& paths, Numbering numbering);
/// What a manifest says, times and superchains into `draws`. One that is damaged is as good as none.
RunFacts read_facts(const std::filesystem::path& manifest, DrawSet& draws);
Inspection inspect_run(const std::filesystem::path& directory, Numbering numbering);

}  // namespace emomc::app
