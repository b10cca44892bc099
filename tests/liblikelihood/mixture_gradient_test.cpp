// Tests gradients of mixtures: compares the reference's rows and the cpu's sums with JAX, and the cpu with
// the reference on random shapes, and tests edge cases.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "emomc/device/log_gamma_ratio.hpp"
#include "mixture_model.hpp"
#include "random_shape.hpp"
#include "with_model.hpp"

namespace emomc {
namespace {

std::shared_ptr<const RowModel> model_of(const ModelSpec& spec, int d) {
  return with_model(spec, d, [](const auto& model) -> std::shared_ptr<const RowModel> {
    return std::make_shared<MixtureModel<std::decay_t<decltype(model)>>>(model);
  });
}

ModelSpec spec_of(const std::string& kind, int K) {
  if (kind == "student_t") return {"student_t_mixture", K};
  if (kind == "two_gaussian") return {"two_gaussian", 2};
  return {"gaussian_mixture", K, kind};
}

struct Gradient {
  std::vector<double> value;
  std::vector<double> size;  ///< for the reference: the sum over rows of absolute values
  double log_likelihood = 0;
};

Gradient reference_gradient(const RowModel& model, const std::vector<double>& theta,
                            const std::vector<double>& rows) {
  const auto n = static_cast<std::size_t>(model.layout().dim());
  const auto d = static_cast<std::size_t>(model.num_columns()), count = rows.size() / d;
  Gradient result{std::vector<double>(n), std::vector<double>(n)};
  std::vector<double> gradients(n), log_density(1);
  for (std::size_t i = 0; i < count; ++i) {
    model.gradients(theta.data(), rows.data() + i * d, 1, log_density.data(), gradients.data());
    EXPECT_EQ(log_density[0], model.log_density(theta.data(), rows.data() + i * d));
    result.log_likelihood += log_density[0];
    for (std::size_t j = 0; j < n; ++j) {
      result.value[j] += gradients[j];
      result.size[j] += std::abs(gradients[j]);
    }
  }
  return result;
}

template <class Real>
std::unique_ptr<TileArithmetic<Real>> arithmetic_of(const RowModel& model) {
  if constexpr (sizeof(Real) == sizeof(float))
    return model.float32();
  else
    return model.float64();
}

/// Computes the gradient by tiles whose later rows are NaN. The products must have the bits of
/// partial_sums().
template <class Real>
Gradient tile_gradient_of(const RowModel& model, const std::vector<double>& theta,
                          const std::vector<double>& rows) {
  const auto arithmetic = arithmetic_of<Real>(model);
  const auto d = static_cast<std::size_t>(model.num_columns()), count = rows.size() / d;
  std::vector<Real> coefficients(static_cast<std::size_t>(arithmetic->num_coefficients()));
  std::vector<double> scratch(static_cast<std::size_t>(arithmetic->num_scratch()));
  const double common = arithmetic->prepare(theta.data(), coefficients.data(), scratch.data());
  std::vector<double> sums(static_cast<std::size_t>(arithmetic->num_gradient_sums()));
  double log2_densities = 0;
  for (std::size_t first = 0; first < count; first += kTileRows) {
    const std::size_t in_tile = std::min<std::size_t>(kTileRows, count - first);
    std::vector<Real> tile(d * kTileRows, std::numeric_limits<Real>::quiet_NaN());
    for (std::size_t i = 0; i < in_tile; ++i)
      for (std::size_t j = 0; j < d; ++j)
        tile[j * kTileRows + i] = static_cast<Real>(rows[(first + i) * d + j]);
    std::vector<double> out(kTileRows), plain(kTileRows);
    const int num_rows = static_cast<int>(in_tile);
    const std::size_t n =
        arithmetic->add_gradient_sums(coefficients.data(), tile.data(), num_rows, out.data(), sums.data());
    EXPECT_EQ(arithmetic->partial_sums(coefficients.data(), tile.data(), num_rows, plain.data()), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], plain[i]);
    log2_densities += std::accumulate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), 0.0);
  }
  Gradient result{std::vector<double>(theta.size(), std::numeric_limits<double>::quiet_NaN()), {}};
  arithmetic->gradient_of(theta.data(), sums.data(), count, result.value.data());
  result.log_likelihood = arithmetic->log_likelihood(log2_densities, count, common);
  return result;
}

/// Returns the largest error in units of `size`.
double largest_error(const std::vector<double>& value, const std::vector<double>& expected,
                     const std::vector<double>& size) {
  double worst = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    EXPECT_TRUE(std::isfinite(value[i])) << i;
    const double error = std::abs(value[i] - expected[i]);
    if (error > 0) worst = std::max(worst, error / size[i]);
  }
  return worst;
}

TEST(MixtureGradient, IsThatOfJax) {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/liblikelihood/data/mixture_gradients.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 38u);
  for (const auto& c : cases) {
    const std::string name =
        c["kind"].get<std::string>() + " " + c["components"].dump() + " x " + c["columns"].dump();
    const auto model = model_of(spec_of(c["kind"], c["components"]), c["columns"]);
    const std::vector<double> theta = c["theta"], rows = c["rows"], expected = c["gradient"],
                              size = c["size"];
    ASSERT_EQ(theta.size(), static_cast<std::size_t>(model->layout().dim())) << name;
    const Gradient reference = reference_gradient(*model, theta, rows);
    EXPECT_LE(largest_error(reference.value, expected, size), 1e-9) << name;
    EXPECT_LE(largest_error(tile_gradient_of<double>(*model, theta, rows).value, expected, size), 1e-9)
        << name;
  }
}

/// A mixture of `kind` and rows drawn from the mixture.
struct Problem {
  std::shared_ptr<const RowModel> model;
  std::vector<double> theta, rows;
};

Problem problem_of(const std::string& kind, int K, int d, std::size_t num_rows, std::uint64_t seed) {
  if (kind == "two_gaussian") {
    const auto p = testing::random_problem(2, 1, 0, seed);
    const std::vector<double> theta{p.theta[0], p.theta[2], p.theta[4], 3 * p.theta[5]};
    return {model_of(spec_of(kind, 2), 1), theta, simulate_rows(spec_of(kind, 2), 1, theta, num_rows, seed)};
  }
  auto p = testing::random_problem(K, d, num_rows, seed);
  if (kind == "full" || kind == "tied") p = testing::with_correlations(p, kind, seed);
  if (kind == "spherical") p.theta.resize(static_cast<std::size_t>(K * (2 + d)));
  if (kind == "student_t")
    for (int k = 0; k < K; ++k) p.theta.push_back(k % 3 == 2 ? 1e7 : 1.5 + 4 * k);
  return {model_of(spec_of(kind, K), d), p.theta, p.data.values};
}

const std::vector<std::string> kKinds{"diagonal", "spherical", "full", "tied", "student_t", "two_gaussian"};

/// Returns the sizes with a minimum of 1e-6 of the largest one of their block. Smaller sizes belong to
/// components that are far from all rows, whose terms single precision cannot represent.
std::vector<double> sizes_for_mixed(const RowModel& model, std::vector<double> size) {
  for (std::size_t b = 0; b < model.layout().blocks.size(); ++b) {
    const auto begin = size.begin() + model.layout().offset(b), end = begin + model.layout().blocks[b].size();
    const double least = 1e-6 * *std::max_element(begin, end);
    for (auto it = begin; it != end; ++it) *it = std::max(*it, least);
  }
  return size;
}

/// Returns, in units of `size`, how far the reference's gradient moves if parameters and rows move by single
/// precision's rounding: the largest of eight random moves.
double single_precision_moves(const RowModel& model, const std::vector<double>& theta,
                              const std::vector<double>& rows, const std::vector<double>& expected,
                              const std::vector<double>& size, std::mt19937_64& random) {
  std::uniform_real_distribution<double> rounding(-0x1p-24, 0x1p-24);
  double worst = 0;
  for (int i = 0; i < 8; ++i) {
    std::vector<double> near_theta = theta, near_rows = rows;
    for (std::vector<double>* values : {&near_theta, &near_rows})
      for (double& x : *values) x *= 1 + rounding(random);
    worst = std::max(worst,
                     largest_error(reference_gradient(model, near_theta, near_rows).value, expected, size));
  }
  return worst;
}

// The shapes are random, with rows like the model's. In mixed precision the error may be ten times that of
// one rounding of all numbers, since the squares of z are sums of up to 20.
TEST(MixtureGradient, OfTheCpuIsThatOfTheReference) {
  std::mt19937_64 random(11);
  double worst[2] = {}, ratio = 0;
  for (const std::string& kind : kKinds)
    for (int K = 1; K <= 17; ++K)
      for (const std::size_t rows : {std::size_t{1} + random() % 40, std::size_t{200} + random() % 2500}) {
        const int d = 1 + static_cast<int>(random() % 20);
        const Problem p = problem_of(kind, K, d, rows, random());
        const Gradient reference = reference_gradient(*p.model, p.theta, p.rows);
        const Gradient fast = tile_gradient_of<double>(*p.model, p.theta, p.rows),
                       mixed = tile_gradient_of<float>(*p.model, p.theta, p.rows);
        const std::vector<double> size = sizes_for_mixed(*p.model, reference.size);
        const double errors[] = {largest_error(fast.value, reference.value, reference.size),
                                 largest_error(mixed.value, reference.value, size)};
        EXPECT_LE(errors[0], 1e-9) << kind << " " << K << " x " << d << ", rows " << rows;
        if (rows < 100) {
          const double moves =
              single_precision_moves(*p.model, p.theta, p.rows, reference.value, size, random);
          EXPECT_LE(errors[1], 10 * moves + 1e-6) << kind << " " << K << " x " << d << ", rows " << rows;
          ratio = std::max(ratio, errors[1] / (moves + 1e-7));
        } else {
          EXPECT_LE(errors[1], 1e-5) << kind << " " << K << " x " << d << ", rows " << rows;
        }
        EXPECT_NEAR(fast.log_likelihood, reference.log_likelihood,
                    1e-11 * std::abs(reference.log_likelihood));
        for (int i = 0; i < 2; ++i) worst[i] = std::max(worst[i], errors[i]);
      }
  std::cout << "largest error relative to the sum of absolute values: float64 " << worst[0] << ", mixed "
            << worst[1] << "; mixed by moves " << ratio << '\n';
}

/// Returns the error of a gradient for a move of one posterior sd along each parameter, as the root mean
/// square over parameters. The sd is about 1 / sqrt(sum over rows of squared gradients).
double error_of_moves(const Problem& p, const std::vector<double>& gradient) {
  const auto n = p.theta.size(), d = static_cast<std::size_t>(p.model->num_columns());
  std::vector<double> exact(n), squares(n), of_row(n);
  double log_density = 0;
  for (std::size_t i = 0; i < p.rows.size() / d; ++i) {
    p.model->gradients(p.theta.data(), p.rows.data() + i * d, 1, &log_density, of_row.data());
    for (std::size_t j = 0; j < n; ++j) {
      exact[j] += of_row[j];
      squares[j] += of_row[j] * of_row[j];
    }
  }
  double mean_square = 0;
  for (std::size_t j = 0; j < n; ++j)
    if (squares[j] > 0)
      mean_square +=
          (gradient[j] - exact[j]) * (gradient[j] - exact[j]) / squares[j] / static_cast<double>(n);
  return std::sqrt(mean_square);
}

// The force that a step follows meets the bar of differences of log likelihoods (docs/statistics.md).
TEST(MixtureGradient, OfMixedPrecisionMeetsTheBarOfDifferences) {
  constexpr std::size_t kRows = 50000;
  for (const std::string& kind : kKinds) {
    const Problem p = problem_of(kind, 8, 13, kRows, 21);
    const double error = error_of_moves(p, tile_gradient_of<float>(*p.model, p.theta, p.rows).value);
    const double bar = 2e-3 * std::sqrt(kRows / 1e6);
    std::cout << kind << ": RMS " << error << ", bar " << bar << '\n';
    EXPECT_LE(error, 0.1 * bar) << kind;
  }
}

/// Returns value and gradient of the last one of `num_chains` chains at one point, computed by a GPU.
std::vector<double> cuda_gradient(Precision precision, const ModelSpec& spec, const DataSet& data,
                                  const std::vector<double>& theta, int num_chains) {
  const auto device = make_device(Backend::cuda);
  const auto engine = make_engine(Backend::cuda, spec, precision, data, *device);
  if (!engine->capabilities().gradient) return {};
  engine->allocate(std::vector<ChainPlan>(static_cast<std::size_t>(num_chains), ChainPlan{0, {0}, 1.0, 0}),
                   ComponentCaches::off);
  engine->allocate_gradients();
  const int dim = engine->layout().dim();
  const auto chains = static_cast<std::size_t>(num_chains);
  std::vector<double> points;
  for (int c = 0; c < num_chains; ++c) points.insert(points.end(), theta.begin(), theta.end());
  DeviceArray<double> at(*device, points.size()), values(*device, chains), slopes(*device, points.size());
  at.upload(points);
  engine->evaluate_with_gradient({num_chains, dim, dim, at.data(), values.data()}, {slopes.data(), dim},
                                 {nullptr, num_chains});
  const std::vector<double> all = slopes.download();
  std::vector<double> result{values.download().back()};
  result.insert(result.end(), all.end() - dim, all.end());
  engine->evaluate({num_chains, dim, dim, at.data(), values.data()}, {nullptr, num_chains});
  EXPECT_EQ(values.download().back(), result[0]);
  return result;
}

// A GPU rounds responsibilities to 11 bits. The error is therefore about 2^-12, whatever the number of rows,
// times what moments about the columns' means lose.
TEST(MixtureGradient, OfAGpuInMixedPrecisionIsAGoodForce) {
  if (list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  for (const std::string& kind : kKinds) {
    const Problem p = problem_of(kind, 8, 13, 50000, 21);
    const DataSet data = DataSet::single_segment(p.model->num_columns(), p.rows);
    const std::vector<double> one = cuda_gradient(Precision::mixed, spec_of(kind, 8), data, p.theta, 1);
    ASSERT_FALSE(one.empty());
    const double error = error_of_moves(p, {one.begin() + 1, one.end()});
    std::cout << kind << ": RMS " << error << '\n';
    EXPECT_LE(error, 0x1p-10) << kind;
  }
}

// The shapes have far rows, weights of 1e-300 and 0, and scales from 1e-6 to 1e6 (random_shape.hpp). The
// rounding of z is relative to (|x| + |mean|) / scale.
TEST(MixtureGradient, OfTheCpuIsThatOfTheReferenceOnDifficultShapes) {
  double worst = 0;
  for (std::uint32_t index = 0; index < 40; ++index) {
    const testing::RandomShape shape = testing::random_shape(index);
    if (shape.data.num_rows > 5000) continue;
    const auto model = model_of(shape.model, shape.data.dim);
    Gradient reference = reference_gradient(*model, shape.theta, shape.data.values);
    Gradient fast = tile_gradient_of<double>(*model, shape.theta, shape.data.values);
    const bool extreme = shape.description.find("extreme") != std::string::npos;
    // The gradient by a weight is compared after multiplication by the weight: the cpu has 0 for a component
    // that no row belongs to.
    if (shape.model.name != "two_gaussian")
      for (std::size_t k = 0; k < static_cast<std::size_t>(shape.model.components); ++k) {
        for (std::vector<double>* values : {&reference.value, &reference.size, &fast.value})
          (*values)[k] *= shape.theta[k];
        reference.size[k] += 1e-250;
      }
    for (double& size : reference.size) size += 1e-200;
    const double error = largest_error(fast.value, reference.value, reference.size);
    EXPECT_LE(error, extreme ? 1e-6 : 1e-9) << shape.description;
    worst = std::max(worst, error);
  }
  std::cout << "largest error " << worst << '\n';
}

TEST(MixtureGradient, OfNoRowsIsZeroAndSumsAreAdded) {
  for (const std::string& kind : kKinds) {
    const Problem p = problem_of(kind, 3, 4, 2, 5);
    for (const double x : tile_gradient_of<double>(*p.model, p.theta, {}).value) EXPECT_EQ(x, 0.0) << kind;
    const auto arithmetic = p.model->float64();
    std::vector<double> coefficients(static_cast<std::size_t>(arithmetic->num_coefficients()));
    std::vector<double> scratch(static_cast<std::size_t>(arithmetic->num_scratch()));
    arithmetic->prepare(p.theta.data(), coefficients.data(), scratch.data());
    std::vector<double> tile(static_cast<std::size_t>(p.model->num_columns()) * kTileRows, 0.25),
        out(kTileRows);
    std::vector<double> once(static_cast<std::size_t>(arithmetic->num_gradient_sums())), twice = once;
    arithmetic->add_gradient_sums(coefficients.data(), tile.data(), 77, out.data(), once.data());
    for (int i = 0; i < 2; ++i)
      arithmetic->add_gradient_sums(coefficients.data(), tile.data(), 77, out.data(), twice.data());
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(twice[i], once[i] + once[i]) << kind << " " << i;
  }
}

// Two equal components of equal weights have equal shares of each row.
TEST(MixtureGradient, OfEqualComponentsIsEqual) {
  for (const std::string kind : {"diagonal", "spherical", "full", "student_t"}) {
    const Problem one = problem_of(kind, 1, 3, 300, 8);
    const auto model = model_of(spec_of(kind, 2), 3);
    std::vector<double> theta{0.5, 0.5};
    std::size_t at = 1;
    for (std::size_t b = 1; b < model->layout().blocks.size(); ++b) {
      const auto size = static_cast<std::size_t>(model->layout().blocks[b].size()) / 2;
      for (int k = 0; k < 2; ++k)
        theta.insert(theta.end(), one.theta.begin() + static_cast<std::ptrdiff_t>(at),
                     one.theta.begin() + static_cast<std::ptrdiff_t>(at + size));
      at += size;
    }
    const Gradient single = reference_gradient(*one.model, one.theta, one.rows),
                   both = tile_gradient_of<double>(*model, theta, one.rows);
    EXPECT_NEAR(both.value[0], 300, 1e-9);
    EXPECT_NEAR(both.value[1], 300, 1e-9);
    at = 2;
    std::size_t from = 1;
    for (std::size_t b = 1; b < model->layout().blocks.size(); ++b) {
      const auto size = static_cast<std::size_t>(model->layout().blocks[b].size()) / 2;
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(both.value[at + i], both.value[at + size + i]) << kind;
        EXPECT_NEAR(both.value[at + i], 0.5 * single.value[from + i], 1e-11 * single.size[from + i]) << kind;
      }
      at += 2 * size;
      from += size;
    }
  }
}

// A row that is far from all components belongs to the nearest one. The row's force on this component's mean
// is proportional to z / scale.
TEST(MixtureGradient, OfAFarRowIsFinite) {
  const auto model = model_of(spec_of("diagonal", 2), 1);
  const std::vector<double> theta{0.3, 0.7, -1, 2, 0.5, 0.5};
  for (const double x : {60.0, -3e4, 1e6}) {
    const bool is_first = x < 0;
    for (const Gradient& g :
         {reference_gradient(*model, theta, {x}), tile_gradient_of<double>(*model, theta, {x}),
          tile_gradient_of<float>(*model, theta, {x})}) {
      const double z = (x - (is_first ? -1 : 2)) / 0.5;
      EXPECT_NEAR(g.value[is_first ? 2 : 3], z / 0.5, 1e-6 * std::abs(z));
      EXPECT_NEAR(g.value[is_first ? 4 : 5], (z * z - 1) / 0.5, 2e-6 * z * z);
      EXPECT_NEAR(g.value[is_first ? 0 : 1], 1 / (is_first ? 0.3 : 0.7), 1e-6);
      EXPECT_NEAR(g.value[is_first ? 3 : 2], 0.0, 1e-300);
    }
  }
}

// With very many degrees of freedom the derivative by them is that of their expansion. With q = sum z^2 it is
//  (2 d q - q^2 - d (d - 2)) / (4 nu^2), up to O(1 / nu^3).
TEST(MixtureGradient, OfManyDegreesOfFreedomKeepsItsDigits) {
  const auto model = model_of(spec_of("student_t", 1), 3);
  const std::vector<double> row{0.5, -0.25, 1.5};
  const double q = 0.25 + 0.0625 + 2.25, d = 3;
  for (const double freedom : {1e7, 1e9, 1e12}) {
    const std::vector<double> theta{1, 0, 0, 0, 1, 1, 1, freedom};
    const double expected = (2 * d * q - q * q - d * (d - 2)) / (4 * freedom * freedom);
    EXPECT_NEAR(reference_gradient(*model, theta, row).value[7], expected, 1e-5 * std::abs(expected))
        << freedom;
    EXPECT_NEAR(tile_gradient_of<double>(*model, theta, row).value[7], expected, 1e-5 * std::abs(expected))
        << freedom;
  }
}

/// Returns values and gradients at three points, the first two of which are equal, in segments.
std::vector<double> engine_gradients(Backend backend, Precision precision, const ModelSpec& spec,
                                     const DataSet& data, const std::vector<double>& theta, int threads) {
  const auto device = make_device(backend);
  const auto engine = make_engine(backend, spec, precision, data, *device, threads);
  EXPECT_TRUE(engine->capabilities().gradient);
  engine->allocate({{0, {0, 1}, 1.0, 0}, {1, {0, 1}, 1.0, 0}, {2, {1}, 1.0, 0}}, ComponentCaches::off);
  const int dim = engine->layout().dim();
  std::vector<double> points(theta);
  points.insert(points.end(), theta.begin(), theta.end());
  points.insert(points.end(), theta.begin(), theta.end());
  engine->allocate_gradients();
  DeviceArray<double> at(*device, points.size()), of_points(*device, 3), slopes(*device, points.size());
  at.upload(points);
  engine->evaluate_with_gradient({3, dim, dim, at.data(), of_points.data()}, {slopes.data(), dim},
                                 {nullptr, 3});
  std::vector<double> values = of_points.download(), gradients = slopes.download();
  // The values equal those of evaluate(), bit for bit.
  engine->evaluate({3, dim, dim, at.data(), of_points.data()}, {nullptr, 3});
  EXPECT_EQ(of_points.download(), values);
  values.insert(values.end(), gradients.begin(), gradients.end());
  return values;
}

std::vector<Backend> fast_backends() {
  if (list_cuda_devices().empty()) return {Backend::cpu};
  return {Backend::cpu, Backend::cuda};
}

TEST(MixtureGradient, OfTheEnginesIsThatOfTheirRows) {
  for (const std::string& kind : kKinds) {
    const Problem p = problem_of(kind, 3, 4, 5000, 31);
    const int d = p.model->num_columns();
    DataSet data = DataSet::single_segment(d, p.rows);
    data.segments = {{0, 1500}, {1500, 3500}};
    const ModelSpec spec = spec_of(kind, 3);
    const Gradient expected = reference_gradient(*p.model, p.theta, p.rows);
    const std::size_t n = p.theta.size();
    for (const Backend backend : fast_backends())
      for (const Precision precision : {Precision::float64, Precision::mixed}) {
        SCOPED_TRACE(kind + (backend == Backend::cpu ? ", cpu" : ", cuda"));
        const auto one = engine_gradients(backend, precision, spec, data, p.theta, 1);
        EXPECT_EQ(engine_gradients(backend, precision, spec, data, p.theta, 3), one);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(one[3 + i], one[3 + n + i]);
        const std::vector<double> of_all(one.begin() + 3, one.begin() + 3 + static_cast<std::ptrdiff_t>(n));
        // A GPU changes a responsibility by at most 2^-12 of its value, and with it each term of these sums.
        const double mixed_bar = backend == Backend::cuda ? 0x1p-12 : 1e-5;
        EXPECT_LE(largest_error(of_all, expected.value, expected.size),
                  precision == Precision::mixed ? mixed_bar : 1e-9);
      }
    const auto reference = engine_gradients(Backend::reference, Precision::float64, spec, data, p.theta, 1);
    const std::vector<double> of_all(reference.begin() + 3,
                                     reference.begin() + 3 + static_cast<std::ptrdiff_t>(n));
    EXPECT_LE(largest_error(of_all, expected.value, expected.size), 1e-12) << kind;
  }
}

// 6 groups of rows and 64 chains are the blocks for which three share a multiprocessor of an H100.
TEST(MixtureGradient, OfAGpuHasTheSameBitsInEveryForm) {
  if (list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  for (const std::string& kind : kKinds) {
    const Problem p = problem_of(kind, 8, 5, 6000, 22);
    const DataSet data = DataSet::single_segment(p.model->num_columns(), p.rows);
    const std::vector<double> one = cuda_gradient(Precision::mixed, spec_of(kind, 8), data, p.theta, 1);
    ASSERT_FALSE(one.empty());
    for (const int chains : {40, 64, 200})
      EXPECT_EQ(cuda_gradient(Precision::mixed, spec_of(kind, 8), data, p.theta, chains), one)
          << kind << ", " << chains << " chains";
  }
}

TEST(MixtureGradient, OfAGpuIsThatOfTheReference) {
  if (list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(12);
  double worst = 0;
  for (const std::string& kind : kKinds)
    for (const int K : {1, 2, 8, 17})
      for (const std::size_t rows : {std::size_t{1} + random() % 40, std::size_t{200} + random() % 2500}) {
        // In one column, lanes multiply in float64 (gradient_warp.cuh).
        const int most = kind == "full" || kind == "tied" ? 8 : 20;
        const int d = K % 8 != 1 && rows > 200 ? 1 : 1 + static_cast<int>(random() % most);
        const Problem p = problem_of(kind, K, d, rows, random());
        const Gradient reference = reference_gradient(*p.model, p.theta, p.rows);
        const DataSet data = DataSet::single_segment(p.model->num_columns(), p.rows);
        for (const Precision precision : {Precision::float64, Precision::mixed}) {
          const bool mixed = precision == Precision::mixed;
          SCOPED_TRACE(kind + " " + std::to_string(K) + " x " + std::to_string(d) + ", rows " +
                       std::to_string(rows) + (mixed ? ", mixed" : ""));
          const std::vector<double> one = cuda_gradient(precision, spec_of(kind, K), data, p.theta, 1);
          // With many chains a block of the kernel has several of them.
          EXPECT_EQ(cuda_gradient(precision, spec_of(kind, K), data, p.theta, 601), one);
          ASSERT_FALSE(one.empty()) << "the GPU has no room for it";
          if (!mixed) {
            const double error = largest_error({one.begin() + 1, one.end()}, reference.value, reference.size);
            EXPECT_LE(error, 1e-9);
            worst = std::max(worst, error);
          }
          EXPECT_NEAR(one[0], reference.log_likelihood,
                      (mixed ? 1e-5 : 1e-11) * std::abs(reference.log_likelihood));
        }
      }
  std::cout << "largest error of float64 relative to the sum of absolute values: " << worst << '\n';
}

// A cluster of blocks adds these sums in several turns.
TEST(MixtureGradient, OfAGpuAddsManySumsOfManyGroups) {
  if (list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  constexpr int kComponents = 40, kColumns = 20;
  const Problem p = problem_of("diagonal", kComponents, kColumns, 20000, 31);
  const Gradient reference = reference_gradient(*p.model, p.theta, p.rows);
  const DataSet data = DataSet::single_segment(p.model->num_columns(), p.rows);
  const auto of_chains = [&](Precision precision, int chains) {
    return cuda_gradient(precision, spec_of("diagonal", kComponents), data, p.theta, chains);
  };
  const std::vector<double> one = of_chains(Precision::float64, 1);
  ASSERT_FALSE(one.empty());
  EXPECT_LE(largest_error({one.begin() + 1, one.end()}, reference.value, reference.size), 1e-9);
  EXPECT_NEAR(one[0], reference.log_likelihood, 1e-11 * std::abs(reference.log_likelihood));
  EXPECT_EQ(of_chains(Precision::float64, 70), one);
  const std::vector<double> mixed = of_chains(Precision::mixed, 1);
  // A GPU changes a responsibility by at most 2^-12 of its value, and with it each term of these sums.
  EXPECT_LE(largest_error({mixed.begin() + 1, mixed.end()}, reference.value, reference.size), 0x1p-12);
  EXPECT_EQ(of_chains(Precision::mixed, 70), mixed);
}

// The values were computed by mpmath with 60 digits.
TEST(MixtureGradient, DigammaDeficitsAreThoseOfMpmath) {
  struct Value {
    double x;
    int n;
    double deficit;
  };
  for (const Value& v : {Value{0.2, 1, -1.5690163428942536808},
                         {0.25, 3, 1.5250740130768734282},
                         {0.5, 20, 15.733488939680890145},
                         {3, 1, -0.013705638880109381166},
                         {3.7, 7, 0.21006734103728218436},
                         {17, 13, 0.050293314639985137102},
                         {400, 1, -7.8124938965034483597e-7},
                         {400, 3, 2.3398492370662594087e-6},
                         {1e6, 13, 1.7874928500319514106e-11},
                         {1e9, 5, 1.8749999975000000035e-18}})
    EXPECT_NEAR(device::digamma_deficit(v.x, v.n), v.deficit, 3e-15 * std::abs(v.deficit))
        << v.x << " " << v.n;
  EXPECT_EQ(device::digamma_deficit(0.2, 2), 0.0);
}

}  // namespace
}  // namespace emomc
