// Samples the posterior of a mixture of two Gaussians with full covariances. Usage: mixture TABLE.csv
// [RUN_DIRECTORY]
#include <emomc/posterior.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "faithful.csv";
  const std::string directory = argc > 2 ? argv[2] : "";  // empty: draws are only in memory
  auto posterior =
      emomc::Posterior(emomc::GaussianMixture{.components = 2, .covariance = emomc::Covariance::full},
                       emomc::read_table(file));
  auto draws = emomc::sample(posterior, {.chains = 4, .seed = 1, .directory = directory});
  auto summary = emomc::summary(draws);
  std::cout << summary;
  for (const emomc::SummaryRow& row : summary.rows) {
    if (row.summary.rhat > 1.01) return 1;
  }
  return emomc::is_trusted(emomc::diagnose(draws)) ? 0 : 1;
}
