// The kernels of a likelihood of the user's own, which are compiled when they are first needed.
#include <string>
#include <utility>

#include "../engine_factories.hpp"
#include "../gradient_plan.hpp"
#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/team.hpp"
#include "row_kernels.hpp"

namespace emomc {
namespace {

using device::EvaluationView;
using device::KeptView;

template <class Real>
class RuntimeRowKernels final : public RowKernels<Real> {
 public:
  RuntimeRowKernels(std::shared_ptr<const RowModel> model, const DeviceLikelihood& likelihood,
                    bool copies_parameters)
      : model_(std::move(model)),
        arithmetic_(arithmetic_of(*model_)),
        code_(likelihood.code),
        copies_parameters_(copies_parameters),
        prepare_(prepare_source(likelihood, model_->layout().dim())),
        evaluate_(source(code_, "tile_kernel",
                         ", emomc::device::TileWork::full, emomc::device::TileMemory::direct, 1")) {}

  bool has_shared_tiles() const override { return false; }
  bool copies_parameters() const override { return copies_parameters_; }
  void prepare(const double* theta, int ld, ActiveSet active, Real* coefficients, double* common,
               double* scratch, Stream stream) const override {
    void* arguments[] = {&theta, &ld, &active, &coefficients, &common, &scratch};
    launch_function("launch of sized_prepare_kernel", Overlap::yes, prepare_.function(),
                    {dim3(static_cast<unsigned>(active.count)), dim3(device::kTeamLanes)}, stream, arguments);
  }
  void evaluate(const TileLaunch& launch, const EvaluationView<Real>& view, const double* theta, int ld,
                Stream stream) const override {
    EvaluationView<Real> copy = view;
    void* arguments[] = {&copy, &theta, &ld};
    launch_function("launch of sized_tile_kernel", Overlap::yes, evaluate_.function(),
                    {dim3(launch.tiles, launch.groups), dim3(device::kTileThreads), launch.shared_bytes},
                    stream, arguments);
  }
  void prepare_shared() override {
    KernelSource source{
        code_.headers, "emomc::device::sized_finish_shared_kernel<" + code_.type + ">", {}, code_.sources};
    source.headers.push_back("emomc/device/node_sums.cuh");
    finish_shared_ = std::make_unique<RuntimeKernel>(source);
  }
  void finish_shared(const device::NodeSumsView& view, std::size_t shared_bytes,
                     Stream stream) const override {
    device::NodeSumsView copy = view;
    void* arguments[] = {&copy};
    launch_function(
        "launch of sized_finish_shared_kernel", Overlap::no, finish_shared_->function(),
        {dim3(static_cast<unsigned>(view.active.count)), dim3(device::kNodeThreads), shared_bytes}, stream,
        arguments);
  }
  double log_likelihood(double sum, std::size_t num_rows, double common) const override {
    return arithmetic_->log_likelihood(sum, num_rows, common);
  }
  double log_density(double of_row, double common) const override {
    return arithmetic_->log_density(of_row, common);
  }

  std::size_t state_bytes() const override { return 0; }
  void commit(const KeptView&, const std::uint8_t*, ActiveSet, Stream) const override {}
  void forget(const KeptView&, ActiveSet, Stream) const override {}

 private:
  static std::unique_ptr<TileArithmetic<Real>> arithmetic_of(const RowModel& model) {
    if constexpr (sizeof(Real) == sizeof(float))
      return model.float32();
    else
      return model.float64();
  }
  /// `name` is the name of the header; that of the kernel is "sized_" followed by `name`.
  static KernelSource source(const DeviceCode& code, const std::string& name, const std::string& arguments) {
    const std::string real = sizeof(Real) == sizeof(float) ? "float" : "double";
    KernelSource result{code.headers,
                        "emomc::device::sized_" + name + "<" + code.type + ", " + real + arguments + ">",
                        {},
                        code.sources};
    result.headers.push_back("emomc/device/" + name + ".cuh");
    return result;
  }

  std::shared_ptr<const RowModel> model_;  // owns the text of the kernels
  std::unique_ptr<TileArithmetic<Real>> arithmetic_;
  DeviceCode code_;
  bool copies_parameters_;
  RuntimeKernel prepare_, evaluate_;
  std::unique_ptr<RuntimeKernel> finish_shared_;
};

template <class Real>
std::unique_ptr<LikelihoodEngine> make(const std::shared_ptr<const RowModel>& model, const DataSet& data,
                                       Device& device, Communicator* ranks) {
  use_device_of(device.stream());
  constexpr double kCostOfFunctions = 60;  // of each row: about an exponential and a logarithm
  const DeviceModel known = model->device();
  if (known.code.type.empty())
    throw InputError("backend cuda: this likelihood has no code for a GPU; choose the backend cpu");
  DeviceLikelihood likelihood;
  likelihood.code = known.code;
  likelihood.real = sizeof(Real) == sizeof(float) ? "float" : "double";
  likelihood.sizes = known.sizes;
  likelihood.leaves_registers = known.leaves_registers;
  likelihood.cost_of_row = known.sizes.num_coefficients + kCostOfFunctions;
  const int most = known.rows_per_thread;
  likelihood.rows_per_thread = sizeof(Real) == sizeof(float) && most > 0 && most < 4 ? 2 * most : most;
  likelihood.sums_products = known.sums_products;
  likelihood.chains_together = known.chains_together;
  ParameterLayout layout = model->layout();
  auto kernels = std::make_unique<RuntimeRowKernels<Real>>(model, likelihood, known.copies_parameters);
  return make_row_engine<Real>(std::move(layout), std::move(likelihood), std::move(kernels),
                               {"emomc/device/density_gradient.cuh", known.gradient}, data, device, ranks);
}

}  // namespace

std::unique_ptr<LikelihoodEngine> make_cuda_engine(const std::shared_ptr<const RowModel>& model,
                                                   Precision precision, const DataSet& data, Device& device,
                                                   Communicator* ranks) {
  if (const std::string problem = runtime_compiler_problem(); !problem.empty())
    throw InputError("backend cuda: kernels for this likelihood cannot be compiled: " + problem);
  return precision == Precision::mixed ? make<float>(model, data, device, ranks)
                                       : make<double>(model, data, device, ranks);
}

}  // namespace emomc
