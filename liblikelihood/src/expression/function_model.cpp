// Likelihoods that are functions of the program which uses the libraries.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/row_model.hpp"
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

class FunctionModel final : public RowModel {
 public:
  explicit FunctionModel(std::shared_ptr<const ExpressionPlan> plan) : plan_(std::move(plan)) {}
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
    throw std::logic_error("a function of the program on a GPU");  // resolve_backend has refused it
  }

 private:
  std::shared_ptr<const ExpressionPlan> plan_;
};

}  // namespace

std::shared_ptr<const RowModel> make_function_model(std::shared_ptr<const ExpressionPlan> plan) {
  return std::make_shared<FunctionModel>(std::move(plan));
}

}  // namespace emomc
