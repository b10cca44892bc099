// Likelihoods that are functions of the program that uses the library.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_linker.hpp"
#include "emomc/likelihood/density_model.hpp"
#include "function_header.hpp"
#include "generate.hpp"
#include "gradient_plan.hpp"
#include "plan.hpp"

namespace emomc {
namespace {

constexpr std::size_t kStride = device::kTileRows;

/// The step of central differences for a parameter: expression::kRelativeStep times its distance from the
/// boundary of its support, so that both points are inside; for a real number or an angle, kRelativeStep
/// times its absolute value or 1, whichever is larger.
double step_of_differences(Support support, double value) {
  switch (support) {
    case Support::positive:
      return expression::kRelativeStep * value;
    case Support::unit_interval:
      return expression::kRelativeStep * std::min(value, 1 - value);
    case Support::simplex:
      return expression::kRelativeStep * value;
    default:
      return expression::kRelativeStep * std::max(1.0, std::abs(value));
  }
}

/// Derivatives of a function's rows with respect to theta, from the source that the plan names.
class RowDerivatives {
 public:
  explicit RowDerivatives(const ExpressionPlan& plan) : plan_(plan), theta_(size()) {
    for (const ParameterBlock& block : plan.layout.blocks)
      supports_.insert(supports_.end(), static_cast<std::size_t>(block.size()), block.support);
  }

  /// Writes the derivatives of at most kAtOnce rows to out[num_rows x size()]. `rows` has the layout that
  /// RowFunction expects.
  static constexpr std::int64_t kAtOnce = 64;
  void write(const double* theta, const double* rows, std::int64_t stride, std::int64_t num_rows,
             double* out) {
    const std::size_t dim = size();
    std::fill(out, out + static_cast<std::size_t>(num_rows) * dim, 0.0);
    if (plan_.code.gradient_by == FunctionGradient::function) {
      plan_.code.gradient(theta, rows, stride, num_rows, out);
      return;
    }
    std::copy(theta, theta + dim, theta_.begin());
    for (std::size_t j = 0; j < dim; ++j) {
      const double step = step_of_differences(supports_[j], theta[j]);
      const double above = theta[j] + step, below = theta[j] - step;
      theta_[j] = above;
      plan_.code.function(theta_.data(), rows, stride, num_rows, above_);
      theta_[j] = below;
      plan_.code.function(theta_.data(), rows, stride, num_rows, below_);
      theta_[j] = theta[j];
      for (std::int64_t i = 0; i < num_rows; ++i)
        out[static_cast<std::size_t>(i) * dim + j] = (above_[i] - below_[i]) / (above - below);
    }
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(plan_.layout.dim()); }

  const ExpressionPlan& plan_;
  std::vector<Support> supports_;
  std::vector<double> theta_;
  double above_[kAtOnce], below_[kAtOnce];
};

/// The tile arithmetic of a function. The coefficients are theta itself.
class FunctionTiles final : public TileArithmetic<double> {
 public:
  explicit FunctionTiles(std::shared_ptr<const ExpressionPlan> plan) : plan_(std::move(plan)) {}
  int num_coefficients() const override { return plan_->layout.dim(); }
  int num_scratch() const override { return 0; }
  double prepare(const double* theta, double* coefficients, double* /*scratch*/) const override {
    std::copy(theta, theta + num_coefficients(), coefficients);
    return 0;
  }
  void log_densities(const double* coefficients, const double* tile, int num_rows,
                     double* out) const override {
    plan_->code.function(coefficients, tile, kStride, num_rows, out);
    if (plan_->weights < 0) return;
    const double* const weights = weights_of(tile);
    for (int i = 0; i < num_rows; ++i) out[i] *= weights[i];
  }
  std::size_t partial_sums(const double* coefficients, const double* tile, int num_rows,
                           double* out) const override {
    log_densities(coefficients, tile, num_rows, out);
    return static_cast<std::size_t>(num_rows);
  }
  int num_gradient_sums() const override {
    return plan_->code.gradient_by == FunctionGradient::none ? 0 : plan_->layout.dim();
  }
  std::size_t add_gradient_sums(const double* coefficients, const double* tile, int num_rows, double* out,
                                double* sums) const override {
    const auto dim = static_cast<std::size_t>(plan_->layout.dim());
    RowDerivatives derivatives(*plan_);
    std::vector<double> of_rows(static_cast<std::size_t>(RowDerivatives::kAtOnce) * dim);
    for (std::int64_t first = 0; first < num_rows; first += RowDerivatives::kAtOnce) {
      const std::int64_t count = std::min<std::int64_t>(RowDerivatives::kAtOnce, num_rows - first);
      derivatives.write(coefficients, tile + first, kStride, count, of_rows.data());
      for (std::int64_t i = 0; i < count; ++i) {
        const double weight = plan_->weights < 0 ? 1 : weights_of(tile)[first + i];
        const double* const row = of_rows.data() + static_cast<std::size_t>(i) * dim;
        for (std::size_t j = 0; j < dim; ++j) sums[j] += weight * row[j];
      }
    }
    return partial_sums(coefficients, tile, num_rows, out);
  }
  void gradient_of(const double* /*theta*/, const double* sums, std::size_t /*num_rows*/,
                   double* gradient) const override {
    std::copy(sums, sums + num_gradient_sums(), gradient);
  }
  double log_likelihood(double sum, std::size_t /*num_rows*/, double /*common*/) const override {
    return sum;
  }
  double log_density(double of_row, double /*common*/) const override { return of_row; }

 private:
  const double* weights_of(const double* tile) const { return tile + plan_->code.columns.size() * kStride; }

  std::shared_ptr<const ExpressionPlan> plan_;
};

/// LTO IR of a function and of its gradient for the GPUs of one compute capability. `density` is empty if no
/// GPU calls the function, and `gradient` if the function has no gradient function.
struct FunctionCode {
  std::string density, gradient;
};
FunctionCode code_for(const CodeSource& code, int major, int minor) {
  return {code.lto_ir(major, minor),
          code.gradient_by == FunctionGradient::function ? code.gradient_lto_ir(major, minor) : ""};
}

class FunctionModel final : public RowModel {
 public:
  FunctionModel(std::shared_ptr<const ExpressionPlan> plan, FunctionCode code) : plan_(std::move(plan)) {
    if (code.density.empty()) return;
    sources_ = {{expression::kGeneratedHeader, expression::function_header(*plan_)},
                {std::string("emomc_row_density") + kLinkedCode, std::move(code.density)}};
    if (!code.gradient.empty())
      sources_.push_back({std::string("emomc_row_gradient") + kLinkedCode, std::move(code.gradient)});
  }
  const ParameterLayout& layout() const override { return plan_->layout; }
  int num_columns() const override {
    return static_cast<int>(plan_->code.columns.size()) + (plan_->weights >= 0 ? 1 : 0);
  }
  double log_density(const double* theta, const double* row) const override {
    double value = 0;
    plan_->code.function(theta, row, 1, 1, &value);
    return plan_->weights >= 0 ? value * row[num_columns() - 1] : value;
  }
  std::string why_no_gradient() const override {
    return has_gradient() ? "" : "a function has none unless it is given (gradient= of Model in Python)";
  }
  void gradients(const double* theta, const double* rows, std::size_t num_rows, double* out,
                 double* gradients) const override {
    const auto dim = static_cast<std::size_t>(layout().dim()),
               columns = static_cast<std::size_t>(num_columns());
    RowDerivatives derivatives(*plan_);
    for (std::size_t i = 0; i < num_rows; ++i) {
      const double* const row = rows + i * columns;
      out[i] = log_density(theta, row);
      derivatives.write(theta, row, 1, 1, gradients + i * dim);
      if (plan_->weights < 0) continue;
      for (std::size_t j = 0; j < dim; ++j) gradients[i * dim + j] *= row[columns - 1];
    }
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    throw InputError("precision: a function is of float64; allowed: float64");
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<FunctionTiles>(plan_);
  }
  DeviceModel device() const override {
    if (sources_.empty()) throw std::logic_error("a function on a GPU without code for it");
    return device_model_of(expression::kGeneratedType, sources_.front().name, sources_,
                           device::sizes_of_density(num_columns(), plan_->layout.dim()), false,
                           has_gradient() ? gradient_sizes() : device::GradientSizes{});
  }

 private:
  bool has_gradient() const { return plan_->code.gradient_by != FunctionGradient::none; }
  device::GradientSizes gradient_sizes() const {
    device::GradientSizes sizes;
    sizes.num_numbers = sizes.num_slots = sizes.num_parameters = layout().dim();
    sizes.num_sums = layout().dim() + 1;
    return sizes;
  }

  std::shared_ptr<const ExpressionPlan> plan_;
  DeviceSources sources_;  ///< sources of kernels; empty: no GPU calls the function
};

}  // namespace

std::shared_ptr<const RowModel> make_function_model(std::shared_ptr<const ExpressionPlan> plan,
                                                    bool for_gpu) {
  FunctionCode code;
  if (const std::vector<CudaDeviceInfo> gpus = list_cuda_devices(); for_gpu && !gpus.empty())
    code = code_for(plan->code, gpus[0].compute_major, gpus[0].compute_minor);
  return std::make_shared<FunctionModel>(std::move(plan), std::move(code));
}

std::vector<KernelCode> Expression::compile_function(int major, int minor) const {
  if (!plan_->code.lto_ir) throw InputError("log_density: it is no function that a GPU could call");
  const FunctionModel model(plan_, code_for(plan_->code, major, minor));
  const DeviceModel device = model.device();
  const DeviceCode& code = device.code;
  const std::string architecture = fmt::format("sm_{}{}", major, minor);
  std::vector<KernelCode> kernels;
  for (const auto& [name, more] :
       {std::pair{"prepare_kernel", ""},
        {"tile_kernel", ", emomc::device::TileWork::full, emomc::device::TileMemory::direct, 1"}}) {
    KernelSource source{code.headers,
                        fmt::format("emomc::device::sized_{}<{}, double{}>", name, code.type, more),
                        {},
                        code.sources};
    source.headers.push_back(fmt::format("emomc/device/{}.cuh", name));
    kernels.push_back(compile_kernel(source, architecture, false));
  }
  if (device.gradient.num_numbers > 0) {
    DeviceLikelihood likelihood;
    likelihood.code = code;
    likelihood.sizes = device.sizes;
    likelihood.real = "double";
    kernels.push_back(
        compile_kernel(gradient_source(likelihood, {"emomc/device/density_gradient.cuh", device.gradient},
                                       {gradient_most_chains(likelihood, device.gradient, 4, true)}, true,
                                       GradientStage::rows),
                       architecture, false));
  }
  return kernels;
}

}  // namespace emomc
