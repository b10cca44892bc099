// Recordings of Python, and what evaluations and estimators of them share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conversions.hpp"
#include "emomc/emotion/corpus_features.hpp"

namespace emomc::python {

using Texts = std::vector<std::string>;

/// A recording as Python gives it: an audio file, or samples in memory.
struct Source {
  std::filesystem::path file;  ///< empty: samples
  Matrix samples;              ///< num_frames x num_channels
  double sample_rate = 0;
};
/// Each of `items` is the path of a file, or a pair of samples and their rate.
std::vector<Source> sources_of(const nb::list& items);

/// Ends the work after an exception of Python.
struct Raised {};

/// Calls `show(stage, done, all)`, unless it is None, and handlers of signals; what they raise is raised
/// again by run().
class Watch {
 public:
  explicit Watch(const nb::object& show) : show_(show) {}
  void operator()(const std::string& stage, std::size_t done, std::size_t all);
  /// Calls `work` without the GIL.
  template <class Work>
  void run(const Work& work) {
    try {
      const nb::gil_scoped_release release;
      work();
    } catch (const Raised&) {
      std::rethrow_exception(raised_);
    }
  }

 private:
  const nb::object& show_;
  std::exception_ptr raised_;
};

/// Reads the recordings, those of CorpusConfig::classes where there are any, and computes their functionals.
CorpusFeatures features_of(const std::vector<Source>& sources, const Texts& names, const Texts& emotions,
                           const Texts& speakers, bool refuse, const EvaluationConfig& config, Watch& watch);

/// Functionals of recordings, rows x columns, and the number of frames of each, as a model that was trained
/// on `set` takes them. Throws InputError where it was trained on a table.
nb::tuple functionals_of(FunctionalSet set, const std::string& table, std::size_t columns,
                         const nb::list& recordings, const Texts& names, int threads);

/// The rows of a matrix.
std::vector<std::span<const double>> rows_of(const Matrix& values);

}  // namespace emomc::python
