// Creates likelihood engines for a model and a data set, on the reference, cpu or cuda backend.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// A model and its number of components. `components` is ignored for a model with a fixed number of
/// components. `covariance` selects among models of one name.
struct ModelSpec {
  std::string name = "gaussian_mixture";
  int components = 1;
  std::string covariance = "diagonal";
  bool operator==(const ModelSpec&) const = default;
};

enum class Precision {
  mixed,    ///< terms in float32, sums over rows in float64
  float64,  ///< everything in float64
};

enum class Backend { automatic, reference, cpu, cuda };

/// Names of the models in this build.
std::vector<std::string> model_names();

/// Blocks and shapes of a model's parameters for data of `dim` columns. Throws InputError where there is no
/// such model or the model does not take this number of columns or components.
ParameterLayout model_layout(const ModelSpec& model, int dim);

/// Resolves `automatic` from the work of one step, rows x components x columns x chains: cuda where the
/// machine has a GPU and the work exceeds kCudaWorthwhileWork, otherwise cpu.
Backend resolve_backend(Backend asked, const ModelSpec& model, const DataSet& data, int num_chains);
inline constexpr double kCudaWorthwhileWork = 2e5;
/// Resolves `automatic` for a likelihood of which one step takes `work`, in the same unit.
Backend resolve_backend(Backend asked, double work);

/// The device on which a backend computes. Throws InputError where the device is not available,
/// std::invalid_argument for Backend::automatic.
std::unique_ptr<Device> make_device(Backend backend);

/// Name of the SIMD instruction set that the cpu engine uses on this machine, e.g. "AVX3"; "none" without
/// Highway.
std::string cpu_simd_name();

class Communicator;
class RowModel;

/// Copies `data` into the engine's own layout and memory; neither `data` nor `model` is kept. `device` must
/// outlive the engine and be of the kind that make_device(backend) returns. `num_threads` applies to cpu
/// only; 0 uses all processors. `reference` is serial and always float64.
///
/// With `ranks`, which must outlive the engine, the rows are divided over several ranks: each rank makes an
/// engine of the same `data`, which are all rows, and the engine holds the rank's part. All ranks must then
/// call allocate(), allocate_gradients(), and the functions that evaluate and that wait for results, in the
/// same order; each rank gets the results of an engine with all rows, bit for bit. Such an engine has no
/// device_likelihood(), and gradients only for chains that read one segment. Throws InputError for
/// `reference` with several ranks, and as connect_devices() does.
std::unique_ptr<LikelihoodEngine> make_engine(Backend backend, const ModelSpec& model, Precision precision,
                                              const DataSet& data, Device& device, int num_threads = 0,
                                              Communicator* ranks = nullptr);
/// Makes an engine for a likelihood of the caller's own (row_model.hpp), which the engine shares. Throws
/// InputError also where the data have another number of columns than the likelihood.
std::unique_ptr<LikelihoodEngine> make_engine(Backend backend, std::shared_ptr<const RowModel> model,
                                              Precision precision, const DataSet& data, Device& device,
                                              int num_threads = 0, Communicator* ranks = nullptr);

}  // namespace emomc
