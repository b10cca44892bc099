#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/host_compiler.hpp"
#include "emomc/likelihood/density_model.hpp"
#include "functions.hpp"
#include "generate.hpp"
#include "generate_gradient.hpp"
#include "plan.hpp"

namespace emomc {
namespace {

using expression::NodeId;

class InterpretedModel final : public RowModel {
 public:
  explicit InterpretedModel(std::shared_ptr<const ExpressionPlan> plan)
      : plan_(std::move(plan)),
        graph_(plan_->graph),
        adjoints_(
            differentiate(graph_, std::array{expression::Seed{plan_->log_density, graph_.constant(1)}})) {
    const expression::Graph& graph = plan_->graph;
    for (NodeId id : needed_by(graph, std::array{plan_->log_density}))
      (graph[id].stage & expression::kData ? of_rows_ : of_parameters_).push_back(id);
    std::vector<NodeId> roots{plan_->log_density};
    for (const auto& [parameter, adjoint] : adjoints_.parameters) roots.push_back(adjoint);
    for (const auto& gathered : adjoints_.gathered) {
      roots.push_back(gathered.index);
      roots.push_back(gathered.adjoint);
    }
    for (NodeId id : needed_by(graph_, roots))
      (graph_[id].stage & expression::kData ? gradient_of_rows_ : gradient_of_parameters_).push_back(id);
  }
  const ParameterLayout& layout() const override { return plan_->layout; }
  int num_columns() const override { return static_cast<int>(plan_->used_columns.size()); }
  double log_density(const double* theta, const double* row) const override {
    double value = 0;
    log_densities(theta, row, 1, &value);
    return value;
  }
  void log_densities(const double* theta, const double* rows, std::size_t num_rows,
                     double* out) const override {
    std::vector<double> values(plan_->graph.size());
    evaluate(plan_->graph, of_parameters_, theta, nullptr, values.data());
    for (std::size_t i = 0; i < num_rows; ++i) {
      evaluate(plan_->graph, of_rows_, theta, rows + i * static_cast<std::size_t>(num_columns()),
               values.data());
      out[i] = values[static_cast<std::size_t>(plan_->log_density)];
    }
  }
  std::string why_no_gradient() const override { return adjoints_.why_not; }
  void gradients(const double* theta, const double* rows, std::size_t num_rows, double* out,
                 double* gradients) const override {
    const auto dim = static_cast<std::size_t>(layout().dim());
    std::vector<double> values(graph_.size());
    evaluate(graph_, gradient_of_parameters_, theta, nullptr, values.data());
    std::fill(gradients, gradients + num_rows * dim, 0.0);
    for (std::size_t i = 0; i < num_rows; ++i) {
      evaluate(graph_, gradient_of_rows_, theta, rows + i * static_cast<std::size_t>(num_columns()),
               values.data());
      const auto value = [&](NodeId id) { return values[static_cast<std::size_t>(id)]; };
      double* const gradient = gradients + i * dim;
      out[i] = value(plan_->log_density);
      for (const auto& [parameter, adjoint] : adjoints_.parameters) gradient[parameter] += value(adjoint);
      for (const auto& gathered : adjoints_.gathered) {
        const double index = value(gathered.index);
        if (index >= 0 && index < gathered.size)
          gradient[gathered.first + static_cast<int>(index)] += value(gathered.adjoint);
      }
    }
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override { refuse(); }
  std::unique_ptr<TileArithmetic<double>> float64() const override { refuse(); }
  DeviceModel device() const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw std::logic_error("an interpreted likelihood is the reference engine's");
  }

  std::shared_ptr<const ExpressionPlan> plan_;
  std::vector<NodeId> of_parameters_, of_rows_;
  expression::Graph graph_;  ///< the plan's graph with the nodes of derivatives
  expression::Adjoints adjoints_;
  std::vector<NodeId> gradient_of_parameters_, gradient_of_rows_;
};

class CompiledModel final : public RowModel {
 public:
  CompiledModel(std::shared_ptr<const BoundProgram> bound, bool for_host, HostBuild build)
      : bound_(std::move(bound)), sources_{{expression::kGeneratedHeader, bound_->header}} {
    if (!for_host) return;
    const std::string text = "#define EMOMC_VECTOR_ROWS 1\n#include \"" + sources_.front().name +
                             "\"\n#include \"emomc/device/density_library.hpp\"\nEMOMC_DENSITY_LIBRARY(" +
                             expression::kGeneratedType + ")\n";
    code_ = compile_host_library({text, {&likelihood_device_sources(), &sources_}}, build);
    using Get = const device::DensityLibrary* (*)();
    library_ = *reinterpret_cast<Get>(code_->symbol("emomc_density_library"))();
    if (library_.version != device::kDensityLibraryVersion || library_.num_columns != num_columns() ||
        library_.num_parameters != layout().dim())
      throw MachineError("a compiled likelihood is not the one that was generated; clear the cache of emomc");
  }
  /// Name and version of the compiler; empty where there is no host code.
  std::string compiler() const { return code_ ? code_->compiler() : ""; }

  const ParameterLayout& layout() const override { return bound_->layout; }
  int num_columns() const override { return static_cast<int>(bound_->program.inputs.size()); }
  double log_density(const double*, const double*) const override {
    throw std::logic_error("the reference engine interprets expressions");
  }
  std::string why_no_gradient() const override { return bound_->gradient.why_not; }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    return std::make_unique<DensityTiles<float>>(library_, library_.float32, code_);
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<DensityTiles<double>>(library_, library_.float64, code_);
  }
  DeviceModel device() const override {
    const int used = static_cast<int>(bound_->program.coefficients.size()) +
                     (bound_->program.common != expression::kNoNode ? 1 : 0);
    // Four chains would need more code, and in float64 more registers than there are.
    constexpr int kTogetherWithoutProducts = 2;
    const bool is_short = may_be_evaluated_together(), has_products = !bound_->program.product_sums.empty();
    DeviceModel model = device_model_of(
        expression::kGeneratedType, sources_.front().name, sources_,
        device::sizes_of_density(num_columns(), used == 0 ? 1 : used), is_short && has_products,
        expression::gradient_sizes(bound_->program, bound_->gradient, layout().dim()));
    if (is_short && !has_products) model.chains_together = kTogetherWithoutProducts;
    model.copies_parameters = !expression::parameter_runs(bound_->program).empty();
    return model;
  }

 private:
  /// Whether the code of a row is short enough to evaluate the rows of several parameter vectors together:
  /// with more calls of functions the registers would not suffice. Calls of square() do not count.
  bool may_be_evaluated_together() const {
    constexpr int kMostCalls = 2;
    static const expression::Primitive square = expression::primitive_named("square");
    const expression::RowProgram& program = bound_->program;
    int calls = 0;
    for (NodeId id : needed_by(program.rows, std::array{program.log_density})) {
      const expression::Node& node = program.rows[id];
      const bool counts = node.operation == expression::Operation::call && node.function != square;
      calls += counts ? 1 : 0;
    }
    return calls <= kMostCalls;
  }

  std::shared_ptr<const BoundProgram> bound_;
  DeviceSources sources_;
  std::shared_ptr<const HostLibrary> code_;
  device::DensityLibrary library_{};
};

}  // namespace

std::shared_ptr<const RowModel> make_interpreted_model(std::shared_ptr<const ExpressionPlan> plan) {
  return std::make_shared<InterpretedModel>(std::move(plan));
}
std::shared_ptr<const RowModel> make_compiled_model(std::shared_ptr<const BoundProgram> bound, bool for_host,
                                                    HostBuild build, std::string& compiler) {
  auto model = std::make_shared<CompiledModel>(std::move(bound), for_host, build);
  compiler = model->compiler();
  return model;
}

}  // namespace emomc
