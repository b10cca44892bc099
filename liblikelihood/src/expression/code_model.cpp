// Likelihoods that a C++ header of the user's own defines.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "dual_functions.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/host_compiler.hpp"
#include "emomc/likelihood/density_model.hpp"
#include "generate.hpp"
#include "plan.hpp"

namespace emomc {
namespace {

constexpr const char* kSourceName = "emomc_likelihood_source.hpp";

/// C++ of a likelihood whose log densities of rows are multiplied by a column of weights, which follows the
/// other columns.
std::string weighted() {
  return R"(struct Weighted {
  static constexpr int kUsed = emomc::device::DensityCoefficients<Own>::used();
  static constexpr int num_columns = Own::num_columns + 1;
  static constexpr const auto& parameters = Own::parameters;
  static constexpr int num_coefficients = kUsed + 1;

  // What all rows share is a coefficient, since rows have it as often as their weight says.
  template <class Team, class Number>
  EMOMC_HD Number prepare(const Team& team, const Number* theta, Number* coefficients) const {
    const Number common = emomc::device::prepare_of(Own{}, team, theta, coefficients);
    if (team.rank() == 0) coefficients[kUsed] = common;
    team.sync();
    return 0;
  }
  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {
    return x[Own::num_columns] * (Own{}.template log_density<T>(c, x) + c[kUsed]);
  }
};
)";
}

/// C++ of the generated header, with or without a gradient.
std::string generated_header(const CodeSource& code, bool is_weighted, bool has_gradient) {
  const std::string model = is_weighted ? "Weighted" : "Own";
  return fmt::format(
      R"(// Generated for a header of a configuration.
#ifndef EMOMC_GENERATED_LIKELIHOOD_HPP
#define EMOMC_GENERATED_LIKELIHOOD_HPP

#include "emomc/device/density.hpp"
#include "emomc/device/expression_calls.hpp"
{0}#include "{1}"

namespace emomc_generated {{
using Own = ::{2};
{3}struct Likelihood : {4} {{}};
}}  // namespace emomc_generated

#endif
)",
      has_gradient ? "#include \"emomc/device/dual_numbers.hpp\"\n" + expression::dual_functions() : "",
      kSourceName, code.type, is_weighted ? weighted() : "",
      has_gradient ? "emomc::device::DualGradient<" + model + ", Own>" : model);
}

std::string absolute_path(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::absolute(file, ignored).lexically_normal().string();
}
/// The file's path for #line, so that messages and debuggers name the user's own file.
std::string quoted_path(const std::string& file) {
  std::string quoted = "\"";
  for (char c : absolute_path(file)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + '"';
}

std::string words_of(const std::string& name, Support support, int size) {
  return fmt::format("{} ({}{})", name, expression::name_of(support),
                     size == 0 ? "" : fmt::format(", shape [{}]", size));
}

class CodeModel final : public RowModel {
 public:
  /// `declared`: the parameters that a configuration declares; null: the header's declaration is used.
  CodeModel(CodeSource code, const ParameterLayout* declared, bool is_weighted, HostBuild build)
      : source_(std::move(code)), is_weighted_(is_weighted) {
    const std::string& file = source_.file;
    if (declared && declared->dim() > kMostDifferentiated) {
      why_no_gradient_ = why_so_many_have_none();
    } else {
      try {
        compile(build, true);
      } catch (const InputError& error) {
        why_no_gradient_ = std::string("its header cannot be differentiated, ") + error.what();
      }
    }
    if (!code_) compile(build, false);
    layout_ = declared ? *declared
                       : layout_of({library_.parameters, static_cast<std::size_t>(library_.num_blocks)});
    if (declared) check_declarations();
    if (why_no_gradient_.empty() && layout_.dim() > kMostDifferentiated) {
      why_no_gradient_ = why_so_many_have_none();
      compile(build, false);
    }
    if (why_no_gradient_.empty() && library_.num_gradient_sums == 0)
      why_no_gradient_ =
          file + ": prepare() of " + source_.type +
          " takes numbers of type double only; with a gradient it is a template of their type, "
          "template <class Team, class Number> ... prepare(const Team&, const Number* theta, "
          "Number* coefficients) const";
  }
  const std::string& compiler() const { return code_->compiler(); }
  std::string header() const { return source_.text + sources_[1].text; }

  const ParameterLayout& layout() const override { return layout_; }
  int num_columns() const override { return library_.num_columns; }
  double log_density(const double* theta, const double* row) const override {
    double value = 0;
    log_densities(theta, row, 1, &value);
    return value;
  }
  void log_densities(const double* theta, const double* rows, std::size_t num_rows,
                     double* out) const override {
    const auto dim = static_cast<std::size_t>(num_columns());
    std::vector<double> coefficients(static_cast<std::size_t>(library_.num_coefficients)),
        scratch(static_cast<std::size_t>(library_.num_scratch)), tile(dim * device::kTileRows);
    const double common = library_.float64.prepare(theta, coefficients.data(), scratch.data());
    for (std::size_t first = 0; first < num_rows; first += device::kTileRows) {
      const std::size_t count = std::min<std::size_t>(device::kTileRows, num_rows - first);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < dim; ++j) tile[j * device::kTileRows + i] = rows[(first + i) * dim + j];
      library_.float64.log_densities(coefficients.data(), tile.data(), static_cast<int>(count), out + first);
      for (std::size_t i = 0; i < count; ++i) out[first + i] += common;
    }
  }
  std::string why_no_gradient() const override { return why_no_gradient_; }
  void gradients(const double* theta, const double* rows, std::size_t num_rows, double* out,
                 double* gradients) const override {
    const auto columns = static_cast<std::size_t>(num_columns()),
               dim = static_cast<std::size_t>(layout().dim());
    std::vector<double> coefficients(static_cast<std::size_t>(library_.num_coefficients)),
        scratch(static_cast<std::size_t>(library_.num_scratch)), tile(columns * device::kTileRows);
    const double common = library_.float64.prepare(theta, coefficients.data(), scratch.data());
    const double* const of_chain = coefficients.data();
    std::vector<double> sums(static_cast<std::size_t>(library_.num_gradient_sums));
    double* const sums_of_chain = sums.data();
    for (std::size_t i = 0; i < num_rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) tile[j * device::kTileRows] = rows[i * columns + j];
      std::fill(sums.begin(), sums.end(), 0.0);
      double* const value = out + i;
      library_.float64.gradient_sums_of_chains(&of_chain, 1, tile.data(), 1, &value, &sums_of_chain);
      out[i] += common;
      sums.back() = 1;
      library_.gradient(theta, sums.data(), gradients + i * dim);
    }
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    return std::make_unique<DensityTiles<float>>(library_, library_.float32, code_);
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<DensityTiles<double>>(library_, library_.float64, code_);
  }
  DeviceModel device() const override {
    return device_model_of(expression::kGeneratedType, sources_[1].name, sources_,
                           device::sizes_of_density(num_columns(), library_.num_scratch),
                           library_.sums_products, gradient_sizes());
  }

 private:
  static constexpr int kMostDifferentiated = 64;

  std::string why_so_many_have_none() const {
    return fmt::format("{}: a header with a gradient has at most {} parameters", source_.file,
                       kMostDifferentiated);
  }
  void compile(HostBuild build, bool has_gradient) {
    const std::string& file = source_.file;
    sources_ = {{kSourceName, "#line 1 " + quoted_path(file) + "\n" + source_.text},
                {expression::kGeneratedHeader, generated_header(source_, is_weighted_, has_gradient)}};
    const std::string text = fmt::format(
        "#define EMOMC_VECTOR_ROWS 1\n#include \"{}\"\n#include \"emomc/device/density_library.hpp\"\n"
        "EMOMC_DENSITY_LIBRARY({})\n",
        expression::kGeneratedHeader, expression::kGeneratedType);
    code_ = compile_host_library({text, {&likelihood_device_sources(), &sources_}, absolute_path(file), file},
                                 build);
    using Get = const device::DensityLibrary* (*)();
    library_ = *reinterpret_cast<Get>(code_->symbol("emomc_density_library"))();
    if (library_.version != device::kDensityLibraryVersion)
      throw MachineError("a compiled likelihood is not the one that was generated; clear the cache of emomc");
  }
  /// Sizes for the gradient in kernels: each row has a number for each coefficient.
  device::GradientSizes gradient_sizes() const {
    if (library_.num_gradient_sums == 0) return {};
    device::GradientSizes sizes;
    sizes.num_numbers = sizes.num_slots = library_.num_gradient_sums - 1;
    sizes.num_sums = library_.num_gradient_sums;
    sizes.num_parameters = layout().dim();
    return sizes;
  }

  /// Throws InputError unless header and configuration declare the same columns and parameters.
  void check_declarations() const {
    const CodeSource& code = source_;
    const int columns = library_.num_columns - (is_weighted_ ? 1 : 0);
    if (columns != static_cast<int>(code.columns.size()))
      throw InputError(
          fmt::format("{}: {} has {} columns, and likelihood.columns names {}; allowed: one name for each, "
                      "in the order of "
                      "the header",
                      code.file, code.type, columns, code.columns.size()));
    std::string declared, allowed;
    for (int b = 0; b < library_.num_blocks; ++b) {
      const device::ParameterDescription& p = library_.parameters[b];
      declared += (b == 0 ? "" : ", ") + words_of(p.name, p.support, p.size);
    }
    for (const ParameterBlock& block : layout_.blocks)
      allowed += (allowed.empty() ? "" : ", ") +
                 words_of(block.name, block.support, block.shape.empty() ? 0 : block.size());
    if (declared != allowed)
      throw InputError(
          fmt::format("{}: {} declares the parameters {}, the configuration {}; allowed: the same "
                      "names, supports and shapes in the same order",
                      code.file, code.type, declared, allowed));
  }

  CodeSource source_;
  bool is_weighted_;
  ParameterLayout layout_;
  DeviceSources sources_;
  std::shared_ptr<const HostLibrary> code_;
  device::DensityLibrary library_{};
  std::string why_no_gradient_;
};

}  // namespace

std::shared_ptr<const RowModel> make_code_model(const std::shared_ptr<const ExpressionPlan>& plan,
                                                HostBuild build, std::string& compiler, std::string& header) {
  auto model = std::make_shared<CodeModel>(plan->code, &plan->layout, plan->weights >= 0, build);
  compiler = model->compiler();
  header = model->header();
  return model;
}

std::shared_ptr<const RowModel> compile_density(const std::string& header, const std::string& type,
                                                HostBuild build) {
  CodeSource code;
  code.file = header;
  code.text = read_device_source(header).text;
  code.type = type;
  return std::make_shared<CodeModel>(std::move(code), nullptr, false, build);
}

}  // namespace emomc
