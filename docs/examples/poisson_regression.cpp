// Samples the posterior of poisson_regression.hpp given simulated rows: poisson_regression cpu|cuda
#include "poisson_regression.hpp"

#include <cmath>
#include <cstdio>
#include <random>

#include "emomc/likelihood/density_model.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/run_chains.hpp"
using namespace emomc;

struct Moments : DrawHandler {
  double sum[3] = {}, squares[3] = {}, count = 0;
  void on_draws(const DrawBatch& d) override {
    for (int i = 0; !d.warmup && i < d.num_draws * d.num_chains; ++i, ++count)
      for (int j = 0; j < 3; ++j) sum[j] += d.theta[3 * i + j], squares[j] += std::pow(d.theta[3 * i + j], 2);
  }
};

int main(int argc, char** argv) {
  const Backend backend = argc > 1 && argv[1] == std::string("cuda") ? Backend::cuda : Backend::cpu;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> rows;
  for (int i = 0; i < 5000; ++i) {  // a = 0.5, b = (0.3, -0.2)
    const double x1 = normal(random), x2 = normal(random);
    const double y = std::poisson_distribution<int>(std::exp(0.5 + 0.3 * x1 - 0.2 * x2))(random);
    rows.insert(rows.end(), {x1, x2, y, std::lgamma(y + 1)});
  }
  const auto model = std::make_shared<DensityModel<PoissonRegression>>(EXAMPLES "/poisson_regression.hpp");
  const auto device = make_device(backend);
  const DataSet data = DataSet::single_segment(4, rows);
  const auto engine = make_engine(backend, model, Precision::float64, data, *device);
  const PriorSpec wide{PriorFamily::normal, {{{}, {0}}, {{}, {10}}}};
  const Target target(model->layout(), {{{"a", wide}, {"b", wide}}}, std::vector<double>(4, 1.0));
  const std::vector<ChainPlan> chains{{0, {0}}, {1, {0}}, {2, {0}}, {3, {0}}};
  Moments moments;
  run_chains(*engine, target, {"random_walk"}, chains, {.draws = 5000, .thin = 5}, std::vector(12, 0.0),
             moments);
  for (int j = 0; j < 3; ++j) {
    const double mean = moments.sum[j] / moments.count, square = moments.squares[j] / moments.count;
    std::printf("%.4f +- %.4f\n", mean, std::sqrt(square - mean * mean));
  }
}
