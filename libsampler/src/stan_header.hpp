// Reads information about the rows of a CSV file of Stan from the file's comments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// The comments before the column names, written as `#   key = value (Default)` by CmdStan and as `#
/// key=value` by the sample_file of rstan.
struct StanHeader {
  std::string method;     ///< method in CmdStan: sample, variational, ...; empty: unknown
  std::string algorithm;  ///< in lower case
  std::optional<std::int64_t> num_samples, num_warmup;  ///< iterations, before thinning
  std::int64_t thin = 1;
  std::optional<bool> saves_warmup;

  /// Reads a comment, including its `#`.
  void read(std::string_view comment);
  /// Infers `method` from columns that only one method writes, if the comments do not state it.
  void guess_method(const std::vector<std::string>& names);

  /// Whether the rows are independent draws of an approximation to the posterior.
  bool is_approximation() const;
  /// Number of rows before the draws: those of warm-up, or the mean of a variational approximation.
  /// `adaptation_ended` is the number of rows before the comment "Adaptation terminated", if there is one.
  /// Empty if the two sources contradict each other.
  std::optional<std::size_t> rows_before_draws(std::optional<std::size_t> adaptation_ended) const;
  /// The number of draws that a complete run with this header writes; empty if unknown.
  std::optional<std::size_t> expected_draws() const;

 private:
  std::optional<std::int64_t> rstan_iterations_, rstan_warmup_;
  bool is_fixed_param() const { return algorithm == "fixed_param"; }
};

/// Times in the comments at the end of the file.
struct StanSeconds {
  std::optional<double> warmup, sampling;
  void read(std::string_view comment);
};

/// The reason why a file of this method contains no draws; empty if it contains draws.
std::string why_no_draws(const std::string& method);

/// Whether a column belongs to the sampler, other than the log density lp__.
bool is_stan_sampler_column(std::string_view name);

}  // namespace emomc
