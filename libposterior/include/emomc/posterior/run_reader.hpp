// Reads the run directories of emomc's programs and of sample().
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "emomc/likelihood/expression.hpp"
#include "emomc/posterior/inspection.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// Reads a manifest, and stores the durations, ensembles and superchains in `draws`. A damaged manifest is
/// treated as a missing one.
RunFacts read_facts(const std::filesystem::path& manifest, DrawSet& draws);

/// Finds the likelihood of a run directory, which defines the derived quantities of the draws; nullptr if the
/// likelihood is not user-defined.
using FindExpression = std::function<std::shared_ptr<const Expression>(const std::filesystem::path&)>;

/// The likelihood in the manifest of a run; empty if the manifest has none, as in manifests of models and of
/// version 0.1. Throws InputError if the likelihood is damaged.
std::optional<ExpressionSpec> specification_in_manifest(const std::filesystem::path& directory);
/// The likelihood in the manifest, bound to the columns of the run's data; nullptr if there is none.
std::shared_ptr<const Expression> expression_of_manifest(const std::filesystem::path& directory);

/// The proposal that the run of a directory began with, according to its manifest; empty if the manifest does
/// not state a proposal.
std::optional<KeptProposal> kept_proposal(const std::filesystem::path& directory);

/// The leading blocks of a chain's layout, which are the parameters of the likelihood; sampled arguments of
/// priors follow them. Throws InputError, which names `run`, if these blocks are not those of `model` with
/// `dim` columns.
ParameterLayout layout_of_likelihood(const ParameterLayout& layout, const ModelSpec& model, int dim,
                                     const std::string& run);

/// The run in a directory. May be called at any moment of the run. Throws InputError if it is damaged, has no
/// draws after warm-up, or holds the chains of many posteriors.
Inspection inspect_directory(const std::filesystem::path& directory, Numbering numbering,
                             const FindExpression& find = expression_of_manifest);

}  // namespace emomc
