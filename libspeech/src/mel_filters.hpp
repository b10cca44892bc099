// Applies triangular filters that are equally spaced on a mel scale. Only their nonzero weights are stored.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/speech/mfcc.hpp"

namespace emomc {

class MelFilters {
 public:
  /// Makes filters for spectra of fft_size / 2 + 1 bins. Throws InputError if a filter contains no bin.
  MelFilters(const MfccSettings& settings, double sample_rate, int fft_size);
  /// Writes the weighted sum of `spectrum` [fft_size / 2 + 1] under each filter to `outputs` [num_filters].
  void apply(const double* spectrum, double* outputs) const;

 private:
  struct Range {
    std::size_t first_bin, first_weight, count;
  };
  std::vector<Range> ranges_;
  std::vector<double> weights_;
};

}  // namespace emomc
