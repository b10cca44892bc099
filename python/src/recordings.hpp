// Converts recordings from Python, and computes their functionals for evaluations and estimators.
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

/// A recording given by Python code: an audio file, or samples in memory.
struct Source {
  std::filesystem::path file;  ///< path of the audio file; empty: the recording is `samples`
  Matrix samples;              ///< [num_frames x num_channels]
  double sample_rate = 0;      ///< sample rate of `samples` in Hz
};
/// Each item is the path of a file, or a pair of samples and their rate in Hz.
std::vector<Source> sources_of(const nb::list& items);

/// Exception that ends the work of Watch::run() after Python code has raised an exception.
struct Raised {};

/// Shows progress: calls `show(stage, done, all)`, unless `show` is None, and Python's signal handlers. An
/// exception that Python code raises ends the work, and run() raises the exception again.
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

/// Reads the recordings and computes their functionals. If CorpusConfig::classes is not empty, recordings of
/// other classes are left out.
CorpusFeatures features_of(const std::vector<Source>& sources, const Texts& names, const Texts& emotions,
                           const Texts& speakers, bool refuse, const EvaluationConfig& config, Watch& watch);

/// Returns the folds. `kind` is "leave_one_out", "k" (`count` folds), "speakers" or "file". `names` are the
/// test speakers or, if folds are read from a file, the values that are tested together.
FoldsConfig folds_of(const std::string& kind, int count, const Texts& names, const std::string& file,
                     const std::string& column);

/// Returns the functionals of recordings [rows x columns] for a model that was trained on `set`, and the
/// number of frames of each recording. `table` names the table on which the model was trained; empty: none.
/// Throws InputError if there is a table, or a recording cannot be used.
nb::tuple functionals_of(FunctionalSet set, const std::string& table, std::size_t columns,
                         const nb::list& recordings, const Texts& names, int threads);

/// Returns the rows of a matrix, whose memory they share.
std::vector<std::span<const double>> rows_of(const Matrix& values);

}  // namespace emomc::python
