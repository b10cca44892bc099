// Likelihoods that are functions of the program which uses the libraries.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_linker.hpp"
#include "emomc/likelihood/density_model.hpp"
#include "generate.hpp"
#include "plan.hpp"

namespace emomc {
namespace {

constexpr std::size_t kStride = device::kTileRows;

/// Coefficients are theta itself.
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
    const double* const weights = tile + plan_->code.columns.size() * kStride;
    for (int i = 0; i < num_rows; ++i) out[i] *= weights[i];
  }
  std::size_t partial_sums(const double* coefficients, const double* tile, int num_rows,
                           double* out) const override {
    log_densities(coefficients, tile, num_rows, out);
    return static_cast<std::size_t>(num_rows);
  }
  double log_likelihood(double sum, std::size_t /*num_rows*/, double /*common*/) const override {
    return sum;
  }
  double log_density(double of_row, double /*common*/) const override { return of_row; }

 private:
  std::shared_ptr<const ExpressionPlan> plan_;
};

/// A likelihood as density.hpp has it, that calls the function.
std::string device_header(const ExpressionPlan& plan) {
  const CodeSource& code = plan.code;
  std::string types, values, parameters;
  for (const std::string& name : code.arguments) {
    const char* const comma = types.empty() ? "" : ", ";
    const auto column = std::find(code.columns.begin(), code.columns.end(), name);
    std::size_t b = 0;
    while (b < plan.layout.blocks.size() && plan.layout.blocks[b].name != name) ++b;
    if (b < plan.layout.blocks.size() && !plan.layout.blocks[b].shape.empty()) {
      const int size = plan.layout.blocks[b].size();
      types += fmt::format("{}void*, void*, long, long, const double*, long, long", comma);
      values += fmt::format("{}nullptr, nullptr, {}, 8, theta + {}, {}, 8", comma, size,
                            plan.layout.offset(b), size);
    } else if (b < plan.layout.blocks.size()) {
      types += fmt::format("{}double", comma);
      values += fmt::format("{}theta[{}]", comma, plan.layout.offset(b));
    } else if (column != code.columns.end()) {
      types += fmt::format("{}double", comma);
      values += fmt::format("{}static_cast<double>(x[{}])", comma, column - code.columns.begin());
    } else {
      throw std::logic_error("log_density: the argument " + name + " is no column and no parameter");
    }
  }
  for (const ParameterBlock& block : plan.layout.blocks)
    parameters += fmt::format("{}{{\"p{}\", emomc::device::Support::{}, {}}}", parameters.empty() ? "" : ", ",
                              &block - plan.layout.blocks.data(), expression::name_of(block.support),
                              block.shape.empty() ? 0 : block.size());
  const bool has_weights = plan.weights >= 0;
  return fmt::format(
      R"(// Generated for a function.
#ifndef EMOMC_GENERATED_LIKELIHOOD_HPP
#define EMOMC_GENERATED_LIKELIHOOD_HPP

#include "emomc/device/density.hpp"

extern "C" __device__ double emomc_row_density({0});

namespace emomc_generated {{
struct Likelihood {{
  static constexpr const char* name = "function";
  static constexpr int num_columns = {1};
  static constexpr emomc::device::ParameterDescription parameters[] = {{{2}}};
  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {{
    double theta[{3}];
    EMOMC_UNROLL
    for (int i = 0; i < {3}; ++i) theta[i] = c[i];
    return static_cast<T>({4}emomc_row_density({5}));
  }}
}};
}}  // namespace emomc_generated

#endif
)",
      types, code.columns.size() + (has_weights ? 1 : 0), parameters, plan.layout.dim(),
      has_weights ? fmt::format("x[{}] * ", code.columns.size()) : "", values);
}

class FunctionModel final : public RowModel {
 public:
  FunctionModel(std::shared_ptr<const ExpressionPlan> plan, std::string lto_ir) : plan_(std::move(plan)) {
    if (lto_ir.empty()) return;
    sources_ = {{expression::kGeneratedHeader, device_header(*plan_)},
                {std::string("emomc_row_density") + kLinkedCode, std::move(lto_ir)}};
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
  std::string why_no_gradient() const override { return "a function has no gradient"; }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    throw InputError("precision: a function is of float64; allowed: float64");
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<FunctionTiles>(plan_);
  }
  DeviceModel device() const override {
    if (sources_.empty()) throw std::logic_error("a function on a GPU without code for it");
    return device_model_of(expression::kGeneratedType, sources_.front().name, sources_,
                           device::sizes_of_density(num_columns(), plan_->layout.dim()), false, {});
  }

 private:
  std::shared_ptr<const ExpressionPlan> plan_;
  DeviceSources sources_;  ///< of kernels; empty: a GPU does not call the function
};

}  // namespace

std::shared_ptr<const RowModel> make_function_model(std::shared_ptr<const ExpressionPlan> plan,
                                                    std::string lto_ir) {
  return std::make_shared<FunctionModel>(std::move(plan), std::move(lto_ir));
}

std::string lto_ir_here(const ExpressionPlan& plan) {
  const std::vector<CudaDeviceInfo> gpus = list_cuda_devices();
  return gpus.empty() ? "" : plan.code.lto_ir(gpus[0].compute_major, gpus[0].compute_minor);
}

std::vector<KernelCode> Expression::compile_function(int major, int minor) const {
  if (!plan_->code.lto_ir) throw InputError("log_density: it is no function that a GPU could call");
  const FunctionModel model(plan_, plan_->code.lto_ir(major, minor));
  const DeviceCode code = model.device().code;
  std::vector<KernelCode> kernels;
  for (const auto& [name, more] :
       {std::pair{"prepare_kernel", ""},
        {"tile_kernel", ", emomc::device::TileWork::full, emomc::device::TileMemory::direct, 1"}}) {
    KernelSource source{code.headers,
                        fmt::format("emomc::device::sized_{}<{}, double{}>", name, code.type, more),
                        {},
                        code.sources};
    source.headers.push_back(fmt::format("emomc/device/{}.cuh", name));
    kernels.push_back(compile_kernel(source, fmt::format("sm_{}{}", major, minor), false));
  }
  return kernels;
}

}  // namespace emomc
